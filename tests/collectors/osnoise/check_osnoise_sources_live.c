/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_sources_live.c - the osnoise tracer on the running kernel: where noise
 * comes from, and how long it is, against a process of known behaviour and against counts of the
 * test's own in the kernel.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/osnoise/osnoise_live.h"
#include "support/disturber.h"
#include "support/suite.h"

/* Instances of the test's, in which the kernel counts, whoever runs the tracer: all single noises
 * and the disturber's time; single noises of the size of its spins. */
#define OTHER "headroom-test"
#define SIZED "headroom-test-sized"

/* Well within a power of two: 2^21 ns is 2.1 ms. */
#define SPIN_US            3000
#define SPIN_BUCKET_NS     2097152
#define SPIN_BUCKET_END_NS 4194304

/* The time that a source may have: all of it, but for what began before. */
#define SLACK_NS UINT64_C(200000000)

static struct disturber disturber;

static void set_up(void)
{
    disturber = (struct disturber){0};
    live_set_up();
}

static void tear_down(void)
{
    disturber_end(&disturber);
    live_tear_down();
}

/* --- The kernel's own counts ---------------------------------------------- */

#define STRING(number) #number
#define TEXT(number)   STRING(number)

static void count_in_kernel(void)
{
    live_instance_make(OTHER, "nop");
    live_instance_make(SIZED, "nop");
    live_set("instances/" OTHER "/events/osnoise/sample_threshold/trigger",
             "hist:keys=common_cpu:vals=duration:size=256");
    live_set("instances/" OTHER "/events/osnoise/thread_noise/trigger",
             "hist:keys=common_cpu,comm:vals=duration:size=4096 if comm == \"" DISTURBER "\"");
    live_set("instances/" SIZED "/events/osnoise/sample_threshold/trigger",
             "hist:keys=common_cpu:vals=duration:size=256 if duration > " TEXT(
                 SPIN_BUCKET_NS) " && duration <= " TEXT(SPIN_BUCKET_END_NS));
}

static void end_counting(void)
{
    live_instance_remove(OTHER);
    live_instance_remove(SIZED);
}

struct counts {
    uint64_t count, duration_ns;
};

/* Of CPU 1, from lines such as these:
 *
 *   { common_cpu:          1, comm: disturber        } hitcount:         57  duration:  171553126
 */
static struct counts kernel_counts(const char *instance, const char *event)
{
    static char text[65536];
    char file[128];
    struct counts counts = {0};

    snprintf(file, sizeof(file), "instances/%s/events/osnoise/%s/hist", instance, event);
    live_get(file, text, sizeof(text));
    for (const char *entry = strstr(text, "{ common_cpu:"); entry != NULL;
         entry = strstr(entry + 1, "{ common_cpu:"))
        if (strtoul(entry + strlen("{ common_cpu:"), NULL, 10) == 1 &&
            sscanf(strstr(entry, "hitcount:"), "hitcount: %" SCNu64 " duration: %" SCNu64,
                   &counts.count, &counts.duration_ns) == 2)
            return counts;
    return counts;
}

/* --- A known disturber ---------------------------------------------------- */

struct found {
    uint64_t disturber_ns[2], disturber_count[2];  /* by CPU */
    uint64_t bucket_count, spin_bucket_count;      /* of CPU 1 */
    uint64_t single_noise_count, spin_noise_count; /* of CPU 1; those that it is to blame for */
    uint64_t in_singles_ns;                        /* the disturber's part of all of them */
    uint64_t more_count;                           /* single noises that weren't reported */
    uint64_t spin_noise_ns[1024];
};

static bool is_disturber(enum hr_osnoise_kind kind, const char *name)
{
    return kind == HR_OSNOISE_THREAD && strcmp(name, DISTURBER) == 0;
}

static void take_sources(struct found *found)
{
    ck_assert(live.reading.has_sources);
    ck_assert_uint_eq(live.reading.dropped_count, 0);
    for (size_t i = 0; i < live.reading.source_count; i++) {
        const struct hr_osnoise_source *source = &live.reading.sources[i];
        ck_assert_msg(source->duration_ns <= live.since_ns + SLACK_NS,
                      "%s had %" PRIu64 " of %" PRIu64 " ns", source->name, source->duration_ns,
                      live.since_ns);
        ck_assert_msg(strncmp(source->name, "swapper", 7) != 0, "%s", source->name);
        if (!is_disturber(source->kind, source->name))
            continue;
        found->disturber_ns[source->cpu] += source->duration_ns;
        found->disturber_count[source->cpu] += source->count;
    }
}

static void take_buckets(struct found *found)
{
    for (size_t i = 0; i < live.reading.bucket_count; i++) {
        const struct hr_osnoise_bucket *bucket = &live.reading.buckets[i];
        if (bucket->cpu != 1)
            continue;
        found->bucket_count += bucket->count;
        if (bucket->lower_ns == SPIN_BUCKET_NS)
            found->spin_bucket_count += bucket->count;
    }
}

static void take_single_noise(struct found *found,
                              const struct hr_osnoise_single_noise *single_noise)
{
    uint64_t sum_ns = 0;

    ck_assert_uint_gt(single_noise->duration_ns, live.options.max_single_ns);
    for (size_t i = 0; i < single_noise->part_count; i++) {
        const struct hr_osnoise_part *part = &single_noise->parts[i];
        sum_ns += part->duration_ns;
        ck_assert(i == 0 || part->duration_ns <= single_noise->parts[i - 1].duration_ns);
        if (!is_disturber(part->kind, part->name))
            continue;
        ck_assert_uint_eq(single_noise->cpu, 1);
        found->in_singles_ns += part->duration_ns;
    }
    ck_assert_uint_le(sum_ns, single_noise->duration_ns);
    if (single_noise->cpu != 1)
        return;
    found->single_noise_count++;
    if (single_noise->part_count == 0 ||
        !is_disturber(single_noise->parts[0].kind, single_noise->parts[0].name))
        return;
    ck_assert_int_eq(single_noise->parts[0].number, disturber.pid);
    ck_assert_uint_ge(single_noise->interference_count, 1);
    if (found->spin_noise_count < 1024)
        found->spin_noise_ns[found->spin_noise_count++] = single_noise->duration_ns;
}

/* A late reader finds that the kernel overwrote some. */
static void take_single_noises(struct found *found)
{
    uint64_t lost_count = live_cpu(0)->lost_count + live_cpu(1)->lost_count;

    for (size_t i = 0; i < live.reading.single_noise_count; i++)
        take_single_noise(found, &live.reading.single_noises[i]);
    found->more_count += live.reading.single_noise_more_count + lost_count;
    ck_assert_msg(lost_count == 0 || live.since_ns > 1000000000,
                  "lost %" PRIu64 " within %" PRIu64 " ns", lost_count, live.since_ns);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

static void assert_between(const char *what, double got, double low, double high)
{
    printf("# %s: %.0f, of %.0f to %.0f\n", what, got, low, high);
    fflush(stdout);
    ck_assert_double_ge(got, low);
    ck_assert_double_le(got, high);
}

/* By half of its spins, as half of the time was sampled. An emulated CPU that stands still while
 * others have the machine's takes longer for a spin, and makes noise by itself. */
static void assert_disturbed(struct found *found, struct disturber_counts done)
{
    double spins = (double)done.spin_count / 2, spin_ns = SPIN_US * 1000;
    double stolen_ns = (double)done.wall_ns - (double)done.spin_count * spin_ns;

    printf("# CPU 1: %" PRIu64 " single noises above 1 ms, %" PRIu64 " more; stolen %.0f ns\n",
           found->single_noise_count, found->more_count, stolen_ns);
    assert_between("its time, ns", (double)found->disturber_ns[1], 0.5 * spins * spin_ns,
                   1.5 * spins * spin_ns + stolen_ns);
    assert_between("its count", (double)found->disturber_count[1], 0.5 * spins, 1.5 * spins);
    ck_assert_uint_eq(found->disturber_count[0], 0);

    /* The emulator may keep a CPU from the workload for so long that several spins are one noise,
     * for which its timer is more to blame; and where it makes more noises than are listed singly,
     * the spins may be among the others. */
    bool all_reported = found->more_count == 0;
    assert_between("its part of the singles, ns", (double)found->in_singles_ns,
                   all_reported ? (double)found->disturber_ns[1] - 2 * spin_ns : 0,
                   (double)found->disturber_ns[1] + 2 * spin_ns);
    assert_between("singles of its", (double)found->spin_noise_count, all_reported ? 3 : 0,
                   1.5 * spins);
    qsort(found->spin_noise_ns, found->spin_noise_count, sizeof(uint64_t), by_size);
    if (found->spin_noise_count >= 3)
        assert_between("their median, ns",
                       (double)found->spin_noise_ns[found->spin_noise_count / 2], 0.95 * spin_ns,
                       2 * spin_ns + stolen_ns);
}

START_TEST(names_what_disturbs)
{
    static struct found found;
    struct counts noises_before = {0}, sized_before = {0}, time_before = {0};

    live.options.period_us = 1000000;
    live.options.runtime_us = 500000;
    live.options.by_source = live.options.histogram = true;
    live.options.max_single_ns = 1000000;
    count_in_kernel();
    disturber = disturber_start(1, SPIN_US, 100000);
    live_begin();
    struct disturber_counts from = disturber_read(&disturber);
    /* So often, as there is no room for many singles. */
    for (int i = 0; i < 28; i++) {
        live_sleep_ms(250);
        noises_before = kernel_counts(OTHER, "sample_threshold");
        sized_before = kernel_counts(SIZED, "sample_threshold");
        time_before = kernel_counts(OTHER, "thread_noise");
        live_read();
        take_sources(&found);
        take_buckets(&found);
        take_single_noises(&found);
    }
    struct counts noises_after = kernel_counts(OTHER, "sample_threshold");
    struct counts time_after = kernel_counts(OTHER, "thread_noise");
    assert_disturbed(&found, disturber_since(&disturber, &from));
    assert_between("noises", (double)found.bucket_count, (double)noises_before.count,
                   (double)noises_after.count);
    struct counts sized_after = kernel_counts(SIZED, "sample_threshold");
    assert_between("noises of its size in the kernel", (double)found.spin_bucket_count,
                   (double)sized_before.count, (double)sized_after.count);
    assert_between("its time in the kernel, ns", (double)found.disturber_ns[1],
                   (double)time_before.duration_ns, (double)time_after.duration_ns);
    end_counting();
}
END_TEST

/* The upper bound holds where others leave the emulated machine its CPUs: one that stands still
 * while it enters or leaves the process makes that longer than the process knows. */
static void assert_its_cpu_time(const struct found *found, const struct disturber_counts *done)
{
    double spun_ns = (double)done->spin_count * SPIN_US * 1000, cpu_ns = (double)done->cpu_ns;
    bool is_quiet = (double)done->wall_ns < 1.1 * spun_ns;

    assert_between(is_quiet ? "its time, ns" : "its time on a busy machine, ns",
                   (double)found->disturber_ns[1], 0.8 * (spun_ns < cpu_ns ? spun_ns : cpu_ns),
                   is_quiet ? 1.2 * cpu_ns : 1e18);
}

START_TEST(reports_sources_without_workload)
{
    struct found found = {0};
    struct counts before = {0};
    bool has_irq = false;

    live.options.mode = HR_OSNOISE_SOURCES;
    disturber = disturber_start(1, SPIN_US, 50000);
    count_in_kernel();
    live_begin();
    ck_assert_uint_eq(live_count_workers(), 0);
    ck_assert(live_has_word("osnoise/options", "NO_OSNOISE_WORKLOAD"));
    struct disturber_counts from = disturber_read(&disturber);
    for (int i = 0; i < 6; i++) {
        live_sleep_ms(500);
        before = kernel_counts(OTHER, "thread_noise");
        live_read();
        take_sources(&found);
        for (size_t n = 0; n < live.reading.source_count; n++)
            has_irq |= live.reading.sources[n].kind == HR_OSNOISE_IRQ;
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            ck_assert_int_eq(live_cpu(cpu)->state, HR_OSNOISE_CPU_FINE);
            ck_assert_uint_eq(live_cpu(cpu)->sample_count, 0);
        }
    }
    struct disturber_counts done = disturber_since(&disturber, &from);
    struct counts after = kernel_counts(OTHER, "thread_noise");
    assert_between("its time in the kernel, ns", (double)found.disturber_ns[1],
                   (double)before.duration_ns, (double)after.duration_ns);
    assert_its_cpu_time(&found, &done);
    ck_assert_uint_eq(found.disturber_count[0], 0);
    ck_assert(has_irq);
    ck_assert_uint_eq(live_count_workers(), 0);
    end_counting();
}
END_TEST

/* --- A thread that keeps its CPU ------------------------------------------- */

#define LONG_SPIN_US   4000000
#define LONG_PERIOD_US 6000000

/* How long CPU 1 was idle since boot. */
static uint64_t idle_ns(void)
{
    char text[16384];
    uint64_t idle, waiting;

    live_get("/proc/stat", text, sizeof(text));
    const char *line = strstr(text, "\ncpu1 ");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line, "\ncpu1 %*u %*u %*u %" SCNu64 " %" SCNu64, &idle, &waiting), 2);
    return (idle + waiting) * 10000000;
}

struct long_spin {
    uint64_t all_ns, elapsed_ns;
    unsigned busy_count;    /* readings that it had nearly all of */
    unsigned running_count; /* those in which its name wasn't known at the end */
    unsigned named_count;
};

static void take_long_spin(struct long_spin *found)
{
    uint64_t sum_ns = 0, running_ns = 0, named_ns = 0;

    for (size_t i = 0; i < live.reading.source_count; i++) {
        const struct hr_osnoise_source *source = &live.reading.sources[i];
        if (source->cpu != 1)
            continue;
        sum_ns += source->duration_ns;
        if (strcmp(source->name, HR_OSNOISE_RUNNING) == 0)
            running_ns = source->duration_ns;
        if (is_disturber(source->kind, source->name)) {
            named_ns = source->duration_ns;
            found->named_count++;
        }
    }
    printf("# of %" PRIu64 " ns %" PRIu64 ", running %" PRIu64 ", the disturber %" PRIu64 "\n",
           live.reading.elapsed_ns, sum_ns, running_ns, named_ns);
    fflush(stdout);
    ck_assert_uint_le(sum_ns, live.reading.elapsed_ns);
    found->all_ns += sum_ns;
    found->elapsed_ns += live.reading.elapsed_ns;
    found->busy_count += running_ns + named_ns > live.reading.elapsed_ns / 10 * 9;
    found->running_count += running_ns > 0;
}

/* It is told while it runs, and not again when it leaves. */
START_TEST(tells_a_thread_that_keeps_its_cpu)
{
    struct long_spin found = {0};

    live.options.mode = HR_OSNOISE_SOURCES;
    live_set("/proc/sys/kernel/sched_rt_runtime_us", "-1"); /* no pauses for others */
    disturber = disturber_start(1, LONG_SPIN_US, LONG_PERIOD_US);
    live_begin();
    const uint64_t idle_before_ns = idle_ns();
    for (int i = 0; i < 26; i++) {
        live_sleep_ms(500);
        live_read();
        take_long_spin(&found);
    }
    const uint64_t busy_ns = found.elapsed_ns - (idle_ns() - idle_before_ns);
    live_set("/proc/sys/kernel/sched_rt_runtime_us", "950000");
    ck_assert_uint_ge(found.busy_count, 12); /* of two spins */
    ck_assert_uint_ge(found.running_count, 12);
    ck_assert_uint_ge(found.named_count, 1);
    assert_between("all of CPU 1, ns", (double)found.all_ns, 0.97 * (double)busy_ns,
                   1.03 * (double)busy_ns);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise sources live");

    if (!live_can_run(HR_OSNOISE_WORKLOAD))
        return 0;
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, names_what_disturbs);
    tcase_add_test(tests, reports_sources_without_workload);
    tcase_add_test(tests, tells_a_thread_that_keeps_its_cpu);
    tcase_set_timeout(tests, 60);
    return run_suite("osnoise sources live", tests);
}
