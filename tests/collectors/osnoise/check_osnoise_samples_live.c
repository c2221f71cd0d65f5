/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_samples_live.c - the osnoise tracer on the running kernel: its samples
 * against the kernel's own text of them and against rtla's sums; and what it costs.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/osnoise/osnoise_live.h"
#include "support/descriptor_shortage.h"
#include "support/disturber.h"
#include "support/suite.h"

#define OTHER "headroom-test"

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

/* --- Sums of samples ------------------------------------------------------ */

/* Of a CPU, as the kernel has them or as we do. */
struct sums {
    uint64_t count, runtime_us, noise_us, max_single_us, max_period_us;
    uint64_t hw_count, nmi_count, irq_count, softirq_count, thread_count;
};

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add(struct sums *sums, const struct sums *more)
{
    sums->count += more->count;
    sums->runtime_us += more->runtime_us;
    sums->noise_us += more->noise_us;
    sums->max_single_us = greater(sums->max_single_us, more->max_single_us);
    sums->max_period_us = greater(sums->max_period_us, more->max_period_us);
    sums->hw_count += more->hw_count;
    sums->nmi_count += more->nmi_count;
    sums->irq_count += more->irq_count;
    sums->softirq_count += more->softirq_count;
    sums->thread_count += more->thread_count;
}

static bool is_equal(const struct sums *a, const struct sums *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static struct sums of_row(const struct hr_osnoise_cpu *row)
{
    return (struct sums){
        .count = row->sample_count,
        .runtime_us = row->runtime_us,
        .noise_us = row->noise_us,
        .max_single_us = row->max_single_us,
        .max_period_us = row->max_period_us,
        .hw_count = row->hw_count,
        .nmi_count = row->nmi_count,
        .irq_count = row->irq_count,
        .softirq_count = row->softirq_count,
        .thread_count = row->thread_count,
    };
}

static void show(const char *whose, unsigned cpu, const struct sums *sums)
{
    printf("# %s, CPU %u: %" PRIu64 " samples, runtime %" PRIu64 " us, noise %" PRIu64
           " us, single %" PRIu64 ", period %" PRIu64 ", hw %" PRIu64 " nmi %" PRIu64
           " irq %" PRIu64 " softirq %" PRIu64 " thread %" PRIu64 "\n",
           whose, cpu, sums->count, sums->runtime_us, sums->noise_us, sums->max_single_us,
           sums->max_period_us, sums->hw_count, sums->nmi_count, sums->irq_count,
           sums->softirq_count, sums->thread_count);
    fflush(stdout);
}

/* --- The kernel's own text ------------------------------------------------ */

#define MAX_SAMPLES 256

static struct sums samples[MAX_SAMPLES];

/* Of a CPU, from the text of an instance's `trace`, where a sample is a line:
 *
 *      osnoise/0-108     [000] ....1     9.272667: 500000      62103  87.57940    7875    268 …
 *
 * runtime, noise, percentage, longest noise; counts of hw, nmi, irq, softirq, thread. */
static size_t parse_trace(const char *instance, unsigned cpu)
{
    static char text[65536];
    char file[128], *rest = NULL;
    size_t count = 0;

    snprintf(file, sizeof(file), "instances/%s/trace", instance);
    live_get(file, text, sizeof(text));
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        struct sums *one = &samples[count];
        const char *bracket = strchr(line, '['), *values = strstr(line, ": ");
        if (line[0] == '#' || bracket == NULL || values == NULL ||
            strtoul(bracket + 1, NULL, 10) != cpu)
            continue;
        ck_assert_uint_lt(count, MAX_SAMPLES);
        *one = (struct sums){.count = 1};
        int found =
            sscanf(values,
                   ": %" SCNu64 " %" SCNu64 " %*f %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64,
                   &one->runtime_us, &one->noise_us, &one->max_single_us, &one->hw_count,
                   &one->nmi_count, &one->irq_count, &one->softirq_count, &one->thread_count);
        ck_assert_int_eq(found, 8);
        one->max_period_us = one->noise_us;
        count++;
    }
    return count;
}

#define MAX_READINGS 60

/* Of a CPU, one after another. */
struct readings {
    struct sums of[MAX_READINGS];
    size_t count;
};

/* Whether the readings are these samples, one after another, from one on. */
static bool is_run(const struct readings *readings, size_t count, size_t from)
{
    for (size_t i = 0; i < readings->count; i++) {
        struct sums expected = {0};
        for (uint64_t n = 0; n < readings->of[i].count; n++) {
            if (from >= count)
                return false;
            add(&expected, &samples[from++]);
        }
        if (!is_equal(&expected, &readings->of[i]))
            return false;
    }
    return true;
}

static struct sums sum_of(const struct readings *readings)
{
    struct sums sum = {0};

    for (size_t i = 0; i < readings->count; i++)
        add(&sum, &readings->of[i]);
    return sum;
}

/* How many samples of a CPU may have ended since: one each period. */
static size_t max_samples_since(uint64_t time_ns)
{
    return (live_now_ns() - time_ns) / 200000000 + 2;
}

/* Samples may have come between joining and the first reading, and since the last one began. */
static void assert_as_in_trace(unsigned cpu, const struct readings *readings, size_t max_before)
{
    size_t count = parse_trace(OTHER, cpu), max_after = max_samples_since(live.read_ns), from = 0;
    struct sums ours = sum_of(readings), kernel = {0};

    for (size_t i = 0; i < count; i++)
        add(&kernel, &samples[i]);
    show("ours", cpu, &ours);
    show("the kernel's", cpu, &kernel);
    while (from <= max_before && !is_run(readings, count, from))
        from++;
    ck_assert_uint_le(from, max_before);
    ck_assert_uint_le(kernel.count, ours.count + from + max_after);
}

START_TEST(reports_what_the_kernel_reports)
{
    struct readings readings[2] = {0};

    live_begin();
    uint64_t joined_ns = live_now_ns();
    live_instance_make(OTHER, "osnoise");
    ck_assert(live_has_worker(0) && live_has_worker(1));
    live_read();
    size_t max_before = max_samples_since(joined_ns);
    while (sum_of(&readings[0]).count < 4 || sum_of(&readings[1]).count < 4) {
        ck_assert_uint_lt(readings[0].count, MAX_READINGS);
        live_sleep_ms(300);
        live_read();
        ck_assert_uint_eq(live.reading.cpu_count, 2);
        ck_assert_uint_eq(live.reading.source_count + live.reading.bucket_count, 0);
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            readings[cpu].of[readings[cpu].count++] = of_row(live_cpu(cpu));
            ck_assert_uint_eq(live_cpu(cpu)->lost_count, 0);
        }
    }
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        ck_assert_int_eq(live_cpu(cpu)->state, HR_OSNOISE_CPU_FINE);
        assert_as_in_trace(cpu, &readings[cpu], max_before);
    }
    live_instance_remove(OTHER);
}
END_TEST

START_TEST(measures_the_given_cpus_alone)
{
    uint64_t sample_count = 0;

    live_choose_cpus("1");
    live_begin();
    ck_assert(live_has_worker(1) && !live_has_worker(0));
    for (int i = 0; i < 50 && sample_count < 3; i++) {
        live_sleep_ms(200);
        live_read();
        ck_assert_uint_eq(live.reading.cpu_count, 1);
        sample_count += live_cpu(1)->sample_count;
    }
    ck_assert_uint_ge(sample_count, 3);
}
END_TEST

/* --- rtla ----------------------------------------------------------------- */

#define RTLA "rtla osnoise top -q -c 0-1 -p 1000000 -r 500000 -d 5s -T 20"

/* A CPU's row of what rtla prints at its end:
 *
 *   0 #5           2507286      1737421    30.70511      374412        25927         164 …
 *
 * samples, runtime, noise, percentage, the most of a period, longest noise; then the counts. */
static bool parse_rtla(const char *text, unsigned cpu, struct sums *sums)
{
    unsigned number;

    for (const char *line = text; line != NULL; line = strchr(line + 1, '\n')) {
        int found =
            sscanf(line,
                   " %u #%" SCNu64 " %" SCNu64 " %" SCNu64 " %*f %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                   &number, &sums->count, &sums->runtime_us, &sums->noise_us, &sums->max_period_us,
                   &sums->max_single_us, &sums->hw_count, &sums->nmi_count, &sums->irq_count,
                   &sums->softirq_count, &sums->thread_count);
        if (found == 11 && number == cpu)
            return true;
    }
    return false;
}

/* Waits until rtla runs the tracer. @return for how long it may have run before we attached. */
static uint64_t attach(void)
{
    uint64_t start_ns = live_now_ns(), tried_ns = start_ns, last_ns;
    int status;

    live.options.mode = HR_OSNOISE_ATTACH;
    live.options.by_source = true;
    live.options.cpus = (struct hr_cpu_choice){0};
    live_open();
    do {
        live_sleep_ms(10);
        last_ns = tried_ns;
        tried_ns = live_now_ns();
        status = hr_osnoise_begin(live.osnoise, &live.reason);
    } while (status == -EAGAIN && tried_ns - start_ns < UINT64_C(60000000000));
    ck_assert_msg(status == 0, "%s", live.reason.text);
    return live_now_ns() - last_ns;
}

/* Reads so often that hardly ever two samples of a CPU come at once. */
static void read_along(struct sums ours[2][MAX_SAMPLES], size_t counts[2], uint64_t irqs[2])
{
    int status;

    while ((status = hr_osnoise_read(live.osnoise, &live.reading, &live.reason)) == 0) {
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            const struct hr_osnoise_cpu *row = live_cpu(cpu);
            if (row->sample_count > 0 && counts[cpu] < MAX_SAMPLES)
                ours[cpu][counts[cpu]++] = of_row(row);
        }
        for (size_t i = 0; i < live.reading.source_count; i++)
            if (live.reading.sources[i].kind == HR_OSNOISE_IRQ)
                irqs[live.reading.sources[i].cpu] += live.reading.sources[i].count;
        live_sleep_ms(200);
    }
    ck_assert_msg(status == -EAGAIN, "%d: %s", status, live.reason.text);
}

/* Whether the other program's samples are this run's, and that many more. */
static bool is_without(const struct sums *theirs, const struct sums *ours, uint64_t missed)
{
    uint64_t runtime_us = ours->runtime_us + missed * 500000;

    return ours->count + missed == theirs->count && theirs->runtime_us >= runtime_us &&
           theirs->runtime_us <= runtime_us + missed * theirs->max_single_us &&
           ours->noise_us <= theirs->noise_us &&
           theirs->noise_us - ours->noise_us <= missed * theirs->max_period_us &&
           ours->irq_count <= theirs->irq_count && ours->max_single_us <= theirs->max_single_us;
}

/* It has all samples that we have. Those before we
 * attached it may have for itself, at most so many; then we have all of the others. */
static void assert_as_rtla(unsigned cpu, const struct sums *theirs, const struct sums *ours,
                           size_t count, uint64_t max_missed)
{
    struct sums sum = {0};
    size_t i = 0;

    show("rtla's", cpu, theirs);
    while (i < count && sum.count + ours[i].count <= theirs->count)
        add(&sum, &ours[i++]);
    show("ours", cpu, &sum);
    ck_assert_uint_ge(theirs->count, 3);
    ck_assert_uint_le(count, i + 2);
    if (is_equal(&sum, theirs))
        return;
    for (uint64_t missed = 1; missed <= max_missed; missed++) {
        struct sums late = {0};
        for (i = 0; i < count && late.count + ours[i].count + missed <= theirs->count; i++)
            add(&late, &ours[i]);
        if (is_without(theirs, &late, missed))
            return;
    }
    ck_abort_msg("they aren't rtla's without 1 to %" PRIu64 " samples", max_missed);
}

START_TEST(attaches_to_rtla)
{
    static struct sums ours[2][MAX_SAMPLES];
    size_t counts[2] = {0}, length;
    uint64_t irqs[2] = {0};
    char text[8192], during[LIVE_LISTING];
    struct sums theirs;
    bool has_samples =
        access("/sys/kernel/tracing/events/osnoise/osnoise_sample/enable", F_OK) == 0;

    if (system("command -v rtla >/dev/null") != 0) {
        ck_assert_ptr_null(getenv("HEADROOM_REQUIRE_ALL"));
        puts("# not tried: there is no rtla");
        return;
    }
    FILE *rtla = popen(RTLA, "r");
    ck_assert_ptr_nonnull(rtla);
    /* One ends 0.5 s after its beginning, and then one each second. */
    uint64_t max_missed = attach() / 1000000000 + 1;
    live_list(during);
    ck_assert_ptr_nonnull(strstr(during, "osnoise/runtime_us: 500000\n"));
    read_along(ours, counts, irqs);
    ck_assert_uint_eq(live_count_workers(), 0); /* rtla's, whose defaults would take all */
    length = fread(text, 1, sizeof(text) - 1, rtla);
    text[length] = '\0';
    ck_assert_int_eq(pclose(rtla), 0);
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        ck_assert_msg(parse_rtla(text, cpu, &theirs), "%s", text);
        ck_assert_uint_gt(irqs[cpu], 0);
        if (!has_samples) {
            puts("# samples not tried: this kernel has them for rtla alone");
            continue;
        }
        assert_as_rtla(cpu, &theirs, ours[cpu], counts[cpu], max_missed);
    }
    live_assert_restored();
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -EAGAIN);
}
END_TEST

/* --- Other ways ---------------------------------------------------------- */

START_TEST(turns_interrupts_off_for_hardware)
{
    uint64_t sample_count = 0;

    live.options.mode = HR_OSNOISE_HARDWARE;
    live.options.period_us = 300000;
    live.options.runtime_us = 50000;
    disturber = disturber_start(1, 3000, 20000);
    live_begin();
    ck_assert(live_has_word("osnoise/options", "OSNOISE_IRQ_DISABLE"));
    for (int i = 0; i < 50 && sample_count < 8; i++) {
        live_sleep_ms(200);
        live_read();
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            const struct hr_osnoise_cpu *row = live_cpu(cpu);
            sample_count += row->sample_count;
            ck_assert_uint_ge(row->runtime_us, 50000 * row->sample_count);
            ck_assert_uint_eq(row->irq_count + row->softirq_count + row->thread_count, 0);
        }
    }
    ck_assert_uint_ge(sample_count, 8);
}
END_TEST

/* --- What it takes -------------------------------------------------------- */

START_TEST(leaves_no_descriptor_behind)
{
    live.options.by_source = live.options.histogram = true;
    live_begin();
    live_end();
    int before = count_descriptors();
    for (int i = 0; i < 5; i++) {
        live_begin();
        live_end();
    }
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

START_TEST(allocates_nothing_while_it_reads)
{
    live.options.by_source = live.options.histogram = true;
    live.options.max_single_ns = 100000;
    live.options.causes = live.options.traces = true;
    disturber = disturber_start(1, 1000, 20000);
    live_begin();
    /* More sources than ever before are to be had at the beginning. */
    for (int i = 0; i < 20; i++) {
        live_sleep_ms(50);
        live_read();
    }
    /* The slower the reads, the likelier come some all the same, such as another kworker. */
    size_t before = 0, after = 1;
    for (int round = 0; round < 10 && after != before; round++) {
        before = mallinfo2().uordblks;
        for (int i = 0; i < 300; i++)
            live_read();
        after = mallinfo2().uordblks;
    }
    ck_assert_uint_eq(after, before);
}
END_TEST

/* --- Lost records --------------------------------------------------------- */

/* The other end of both pipes. */
static void answer(int from, int to)
{
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
        ;
    _exit(0);
}

/* Two processes on CPU 1 that wake each other, two hundred times every few milliseconds. */
static pid_t start_switching(void)
{
    cpu_set_t cpu1;
    int there[2], back[2];
    char byte = 0;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CPU_ZERO(&cpu1);
    CPU_SET(1, &cpu1);
    if (sched_setaffinity(0, sizeof(cpu1), &cpu1) < 0 || pipe(there) < 0 || pipe(back) < 0)
        _exit(1);
    if (fork() == 0)
        answer(there[0], back[1]);
    for (unsigned i = 1; write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1; i++)
        if (i % 100 == 0)
            live_sleep_ms(5);
    _exit(1);
}

/* Under one load: those that a small buffer loses, one of the size that is chosen keeps. */
START_TEST(loses_records_of_a_small_buffer_only)
{
    uint64_t lost = 0, threads = 0;
    pid_t pid = start_switching();

    live.options.max_single_ns = 2000000000;
    live.options.buffer_bytes = _i == 0 ? HR_OSNOISE_LEAST_BUFFER : 0;
    live_begin();
    for (int i = 0; i < 5; i++) {
        live_sleep_ms(1000);
        live_read();
        lost += live_cpu(1)->lost_count;
        threads += live_cpu(1)->thread_count;
    }
    live_end();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    printf("# %" PRIu64 " threads interfered, %" PRIu64 " records were lost\n", threads, lost);
    fflush(stdout);
    ck_assert_uint_gt(threads, 2000);
    ck_assert_int_eq(lost > 0, _i == 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise live");

    if (!live_can_run(HR_OSNOISE_WORKLOAD))
        return 0;
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, reports_what_the_kernel_reports);
    tcase_add_test(tests, measures_the_given_cpus_alone);
    tcase_add_test(tests, attaches_to_rtla);
    tcase_add_test(tests, turns_interrupts_off_for_hardware);
    tcase_add_loop_test(tests, loses_records_of_a_small_buffer_only, 0, 2);
    tcase_add_test(tests, leaves_no_descriptor_behind);
    tcase_add_test(tests, allocates_nothing_while_it_reads);
    tcase_set_timeout(tests, 60);
    return run_suite("osnoise live", tests);
}
