/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_reading.c - what runs of the osnoise tracer report. Over a stand-in for
 * tracefs, with records made by hand.
 */
#include "collectors/osnoise/run_harness.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "collectors/osnoise/osnoise_pages.h"
#include "headroom/clock.h"
#include "support/fake_tracefs.h"
#include "support/frozen_clock.h"
#include "support/suite.h"

/* --- Time ----------------------------------------------------------------- */

static void stop_time(void)
{
    frozen_ns = 1000 * HR_NS_PER_S;
}

static void let_time_pass(void)
{
    frozen_ns = 0;
}

/* --- Records -------------------------------------------------------------- */

static void put_sample(struct page *page, uint64_t runtime, uint64_t noise, uint64_t max_single)
{
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint64_t noise, runtime, max_sample;
        uint32_t hw, nmi, irq, softirq, thread;
    } __attribute__((packed)) event = {OSNOISE, 0, 0, 1, noise, runtime, max_single, 1, 2, 3, 4, 5};

    put_event(page, &event, sizeof(event));
}

static void put_noise(struct page *page, const char *comm, uint64_t start, uint64_t duration)
{
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t common_pid;
        char comm[16];
        uint64_t start, duration;
        int32_t pid;
    } __attribute__((packed)) thread = {THREAD_NOISE, 0, 0, 1, "", start + 10, duration - 20, 77};
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint64_t start, duration, interference;
    } single_noise = {SAMPLE_THRESHOLD, 0, 0, 1, start, duration, 1};

    snprintf(thread.comm, sizeof(thread.comm), "%s", comm);
    put_event(page, &thread, sizeof(thread));
    put_event(page, &single_noise, sizeof(single_noise));
}

static void hand_over(unsigned cpu, struct page *page)
{
    end_page(page, 0);
    fake_tracefs_add_pages(strchr(instance, '/') + 1, cpu, page->bytes, sizeof(page->bytes));
}

/* --- Reading -------------------------------------------------------------- */

START_TEST(samples_add_up)
{
    struct page pages[2] = {{.used = 0}};

    begin_mode(HR_OSNOISE_WORKLOAD, "1-2");
    put_sample(&pages[0], 10000, 100, 60);
    put_sample(&pages[0], 10002, 300, 40);
    put_sample(&pages[1], 10001, 7, 7);
    hand_over(1, &pages[0]);
    hand_over(2, &pages[1]);
    frozen_ns += 2 * HR_NS_PER_S;
    read_run();
    ck_assert_uint_eq(reading.elapsed_ns, 2 * HR_NS_PER_S);
    const struct hr_osnoise_cpu *cpu = &reading.cpus[0];
    ck_assert_uint_eq(cpu->sample_count, 2);
    ck_assert_uint_eq(cpu->runtime_us, 20002);
    ck_assert_uint_eq(cpu->noise_us, 400);
    ck_assert_uint_eq(cpu->max_single_us, 60);
    ck_assert_uint_eq(cpu->max_period_us, 300);
    ck_assert_uint_eq(cpu->hw_count, 2);
    ck_assert_uint_eq(cpu->thread_count, 10);
    ck_assert_uint_eq(reading.cpus[1].runtime_us, 10001);
    read_run(); /* what was read doesn't come again */
    ck_assert_uint_eq(reading.cpus[0].sample_count, 0);
    ck_assert_uint_eq(reading.cpus[0].runtime_us, 0);
}
END_TEST

/* --- Latencies ------------------------------------------------------------ */

enum { IRQ = HR_OSNOISE_TIMER_IRQ, THREAD = HR_OSNOISE_TIMER_THREAD };

START_TEST(latencies_add_up)
{
    struct page page = {.used = 0}, next = {.used = 0};

    begin_mode(HR_OSNOISE_TIMERLAT, "1-2");
    put_latency(&page, 1, 0, 3000);
    put_latency(&page, 1, 1, 19000);
    put_latency(&page, 2, 0, 2049);
    put_latency(&page, 2, 1, 2048);
    put_latency(&page, 3, 0, 9000);
    hand_over(2, &page);
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 2);
    ck_assert_uint_eq(reading.latencies[0].cpu, 1);
    ck_assert_uint_eq(reading.latencies[0].of[IRQ].count, 0);
    ck_assert_uint_eq(reading.cpus[0].sample_count, 0);
    const struct hr_osnoise_cpu_latencies *cpu = &reading.latencies[1];
    const struct hr_osnoise_latency irq = {.count = 3,
                                           .last_ns = 9000,
                                           .min_ns = 2049,
                                           .max_ns = 9000,
                                           .sum_ns = 14049,
                                           .buckets = {[11] = 2, [13] = 1}};
    const struct hr_osnoise_latency thread = {.count = 2,
                                              .last_ns = 2048,
                                              .min_ns = 2048,
                                              .max_ns = 19000,
                                              .sum_ns = 21048,
                                              .buckets = {[10] = 1, [14] = 1}};
    ck_assert_uint_eq(cpu->cpu, 2);
    ck_assert_mem_eq(&cpu->of[IRQ], &irq, sizeof(irq));
    ck_assert_mem_eq(&cpu->of[THREAD], &thread, sizeof(thread));
    ck_assert_uint_eq(reading.cpus[1].sample_count, 2);
    ck_assert_uint_eq(reading.bucket_count + reading.source_count, 0);

    /* Then only what is new: a thread whose interrupt was before. */
    put_latency(&next, 3, 1, 1);
    hand_over(2, &next);
    read_run();
    cpu = &reading.latencies[1];
    ck_assert_uint_eq(cpu->of[IRQ].count, 0);
    ck_assert_uint_eq(cpu->of[THREAD].count, 1);
    ck_assert_uint_eq(cpu->of[THREAD].min_ns, 1);
    ck_assert_uint_eq(cpu->of[THREAD].buckets[0], 1);
}
END_TEST

/* A task of a user that waits for timers is no thread of the kernel; and the kernel reports a
 * thread that was woken too early as about 2^64 ns late. */
START_TEST(what_is_no_latency_is_left_out)
{
    struct page page = {.used = 0};

    begin_mode(HR_OSNOISE_TIMERLAT, "1");
    put_latency(&page, 1, 2, 5000);
    put_latency(&page, 2, 1, UINT64_MAX - 5000);
    put_latency(&page, 3, 7, 1);
    put_sample(&page, 1, 1, 1);
    put_latency(&page, 4, 1, 0);
    hand_over(1, &page);
    read_run();
    ck_assert_uint_eq(reading.latencies[0].of[IRQ].count, 0);
    ck_assert_uint_eq(reading.latencies[0].of[THREAD].count, 1);
    ck_assert_uint_eq(reading.latencies[0].of[THREAD].max_ns, 0);
    ck_assert_uint_eq(reading.latencies[0].of[THREAD].buckets[0], 1);
    ck_assert_uint_eq(reading.cpus[0].sample_count, 1);
}
END_TEST

/* By three seconds, whatever the period of osnoise. */
START_TEST(a_cpu_without_timers_is_silent)
{
    fake_tracefs_set("osnoise/period_us", "3600000000\n");
    begin_mode(HR_OSNOISE_TIMERLAT, "1");
    frozen_ns += 2900 * HR_NS_PER_MS;
    read_run();
    ck_assert_int_eq(reading.cpus[0].state, HR_OSNOISE_CPU_FINE);
    frozen_ns += 200 * HR_NS_PER_MS;
    read_run();
    ck_assert_int_eq(reading.cpus[0].state, HR_OSNOISE_CPU_SILENT);
}
END_TEST

static void put_sample_event(struct page *page, uint64_t runtime, uint64_t noise)
{
    struct __attribute__((packed)) {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint64_t runtime, noise, max_sample;
        int32_t hw, irq, nmi, softirq, thread;
    } event = {FAKE_TRACEFS_SAMPLE, 0, 0, 1, runtime, noise, 60, 1, 2, 3, 4, 5};

    put_event(page, &event, sizeof(event));
}

/* An instance without the tracer has samples by an event of newer kernels. */
START_TEST(attached_samples_are_events)
{
    struct page page = {.used = 0};

    fake_tracefs_add_sample_event();
    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    begin_mode(HR_OSNOISE_ATTACH, "1");
    ck_assert_str_eq(instance_file("events/osnoise/osnoise_sample/enable"), "1\n");
    ck_assert_str_eq(instance_file("current_tracer"), "nop\n");
    put_sample_event(&page, 10000, 100);
    put_sample_event(&page, 10002, 300);
    hand_over(1, &page);
    read_run();
    ck_assert(!reading.lacks_samples);
    const struct hr_osnoise_cpu *cpu = &reading.cpus[0];
    ck_assert_uint_eq(cpu->sample_count, 2);
    ck_assert_uint_eq(cpu->runtime_us, 20002);
    ck_assert_uint_eq(cpu->noise_us, 400);
    ck_assert_uint_eq(cpu->max_single_us, 60);
    ck_assert_uint_eq(cpu->irq_count, 4);
    ck_assert_uint_eq(cpu->nmi_count, 6);
    frozen_ns += 4 * HR_NS_PER_S;
    read_run();
    ck_assert_int_eq(cpu->state, HR_OSNOISE_CPU_SILENT);
}
END_TEST

START_TEST(without_samples_no_cpu_is_silent)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_ATTACH, "1");

    options.by_source = true;
    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    begin_run(&options);
    frozen_ns += 100 * HR_NS_PER_S;
    read_run();
    ck_assert(reading.lacks_samples && reading.has_sources);
    ck_assert_int_eq(reading.cpus[0].state, HR_OSNOISE_CPU_FINE);
}
END_TEST

START_TEST(singles_are_reported_with_their_parts)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1-2");
    struct page page = {.used = 0};

    options.max_single_ns = 50000;
    begin_run(&options);
    put_noise(&page, "backup", 1000, 80000);
    hand_over(2, &page);
    read_run();
    ck_assert_uint_eq(reading.single_noise_count, 1);
    ck_assert_uint_eq(reading.cpus[0].single_count + reading.cpus[1].single_count, 1);
    ck_assert_uint_eq(reading.single_noises[0].cpu, 2);
    ck_assert_uint_eq(reading.single_noises[0].duration_ns, 80000);
    ck_assert_str_eq(reading.single_noises[0].parts[0].name, "backup");
    ck_assert_int_eq(reading.single_noises[0].parts[0].number, 77);
}
END_TEST

/* That of "backup", 80 us, is among what was recorded before the end. */
static void assert_last_noise_is_read(void)
{
    ck_assert(!fake_tracefs_has(instance));
    ck_assert_uint_eq(reading.cpu_count, 2);
    ck_assert_uint_eq(reading.cpus[1].sample_count, 1);
    ck_assert_uint_eq(reading.single_noise_count, 1);
    ck_assert_uint_eq(reading.single_noises[0].duration_ns, 80000);
    ck_assert_str_eq(reading.single_noises[0].parts[0].name, "backup");
}

/* As `rtla osnoise top -s` does: the noise that stopped tracing is the one that matters. */
START_TEST(what_stopped_tracing_is_read)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1-2");
    struct page page = {.used = 0};
    char file[128];

    options.max_single_ns = 50000;
    begin_run(&options);
    put_sample(&page, 10000, 100, 60);
    put_noise(&page, "backup", 1000, 80000);
    hand_over(2, &page);
    fake_tracefs_set("osnoise/stop_tracing_us", "70\n");
    snprintf(file, sizeof(file), "%s/tracing_on", instance);
    fake_tracefs_set(file, "0\n");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, "tracing was stopped by a noise");
    assert_last_noise_is_read();
    ck_assert_uint_eq(reading.cpus[1].single_count, 1);
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EINVAL);
}
END_TEST

/* Also when it is another program that has stopped, or was stopped by the noise. */
START_TEST(what_the_other_has_stopped_at_is_read)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_ATTACH, "1-2");
    struct page page = {.used = 0};

    options.max_single_ns = 50000;
    fake_tracefs_add_sample_event();
    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    begin_run(&options);
    put_sample_event(&page, 10000, 100);
    put_noise(&page, "backup", 1000, 80000);
    hand_over(2, &page);
    fake_tracefs_set(_i == 0 ? "instances/rtla/tracing_on" : "instances/rtla/current_tracer", "%s",
                     _i == 0 ? "0\n" : "nop\n");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EAGAIN);
    assert_reason(-EAGAIN, "has ended");
    assert_last_noise_is_read();
    ck_assert_uint_eq(reading.cpus[1].noise_us, 100);
}
END_TEST

/* What comes while tracing goes on may be of the other's settings. */
START_TEST(what_comes_with_other_settings_is_not_read)
{
    struct page page = {.used = 0};

    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    put_sample(&page, 10000, 100, 60);
    hand_over(1, &page);
    fake_tracefs_set("osnoise/period_us", "2000000\n");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    ck_assert_uint_eq(reading.cpu_count, 0);
}
END_TEST

START_TEST(silence_isnt_quiet)
{
    struct page page = {.used = 0};

    begin_mode(HR_OSNOISE_WORKLOAD, "1-2");
    frozen_ns += 2 * HR_NS_PER_S;
    read_run();
    ck_assert_int_eq(reading.cpus[0].state, HR_OSNOISE_CPU_FINE);
    put_sample(&page, 10000, 1, 1);
    hand_over(1, &page);
    frozen_ns += 1500 * HR_NS_PER_MS;
    read_run();
    ck_assert_int_eq(reading.cpus[0].state, HR_OSNOISE_CPU_FINE);
    ck_assert_int_eq(reading.cpus[1].state, HR_OSNOISE_CPU_SILENT);

    tree_write(tree, "sys/devices/system/cpu/online", "0-1,3\n");
    read_run();
    ck_assert_int_eq(reading.cpus[1].state, HR_OSNOISE_CPU_OFFLINE);
    tree_write(tree, "sys/devices/system/cpu/online", "0-3\n");
    read_run(); /* has time to be heard again */
    ck_assert_int_eq(reading.cpus[1].state, HR_OSNOISE_CPU_FINE);
}
END_TEST

static void write_table(const char *event, unsigned cpu, uint64_t duration_ns)
{
    char file[256];

    snprintf(file, sizeof(file), "%s/events/osnoise/%s/hist", instance, event);
    fake_tracefs_set(file,
                     "# event histogram\n#\n# trigger info: hist:keys=common_cpu,comm [active]\n"
                     "#\n\n{ common_cpu: %10u, comm: %-50s } hitcount: %10d  duration: %10llu\n\n"
                     "Totals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n",
                     cpu, "app", 1, (unsigned long long)duration_ns);
}

static void read_after_1_s(void)
{
    frozen_ns += HR_NS_PER_S;
    read_run();
}

START_TEST(what_a_cpu_reports_after_it_was_offline_isnt_noise)
{
    begin_mode(HR_OSNOISE_SOURCES, "");
    write_table("thread_noise", 2, 1000);
    read_after_1_s();
    ck_assert_uint_eq(reading.source_count, 1);
    ck_assert_uint_eq(reading.sources[0].duration_ns, 1000);

    tree_write(tree, "sys/devices/system/cpu/online", "0-1,3\n");
    read_after_1_s();
    tree_write(tree, "sys/devices/system/cpu/online", "0-3\n");
    write_table("thread_noise", 2, 90000001000); /* as long as it was offline */
    read_after_1_s();
    ck_assert_uint_eq(reading.source_count, 0);
    write_table("thread_noise", 2, 90000002000); /* it may come late */
    read_after_1_s();
    ck_assert_uint_eq(reading.source_count, 0);
    write_table("thread_noise", 2, 90000005000);
    read_after_1_s();
    ck_assert_uint_eq(reading.source_count, 1);
    ck_assert_uint_eq(reading.sources[0].duration_ns, 3000);
}
END_TEST

/* One that may come is reported once it is there, without what its first durations say; of all
 * modes its buffer gets its size then. */
START_TEST(cpus_that_come_later_are_measured)
{
    tree_write(tree, "sys/devices/system/cpu/possible", "0-3\n");
    tree_write(tree, "sys/devices/system/cpu/online", "0-2\n");
    begin_mode(HR_OSNOISE_SOURCES, "");
    ck_assert_str_eq(instance_file("per_cpu/cpu2/buffer_size_kb"), "16\n");
    ck_assert_str_eq(instance_file("per_cpu/cpu3/buffer_size_kb"), "1410\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "0-3\n");
    read_after_1_s();
    ck_assert_uint_eq(reading.cpu_count, 3);

    tree_write(tree, "sys/devices/system/cpu/online", "0-3\n");
    tested_cpus = (struct hr_cpu_set){0};
    write_table("thread_noise", 3, 90000001000);
    read_after_1_s();
    ck_assert_uint_eq(reading.cpu_count, 4);
    ck_assert_uint_eq(reading.cpus[3].cpu, 3);
    ck_assert_int_eq(reading.cpus[3].state, HR_OSNOISE_CPU_FINE);
    ck_assert_uint_eq(reading.source_count, 0);
    ck_assert_str_eq(instance_file("per_cpu/cpu3/buffer_size_kb"), "16\n");
    ck_assert_uint_eq(hr_cpu_set_count(&tested_cpus), 1); /* the others aren't disturbed again */
    ck_assert(hr_cpu_set_has(&tested_cpus, 3));
    read_after_1_s();
    write_table("thread_noise", 3, 90000005000);
    read_after_1_s();
    ck_assert_uint_eq(reading.source_count, 1);
    ck_assert_uint_eq(reading.sources[0].cpu, 3);
    ck_assert_uint_eq(reading.sources[0].duration_ns, 4000);

    tested_cpus = (struct hr_cpu_set){0};
    tree_write(tree, "sys/devices/system/cpu/online", "0-2\n");
    read_after_1_s();
    ck_assert_uint_eq(reading.cpu_count, 4);
    ck_assert_int_eq(reading.cpus[3].state, HR_OSNOISE_CPU_OFFLINE);
    tree_write(tree, "sys/devices/system/cpu/online", "0-3\n");
    read_after_1_s(); /* its buffer was kept */
    ck_assert_uint_eq(hr_cpu_set_count(&tested_cpus), 0);
}
END_TEST

static void write_idle(unsigned long cpu_1, unsigned long cpu_2)
{
    tree_write(tree, "proc/stat",
               "cpu  0 0 0 0 0 0 0\ncpu1 0 0 0 %lu 0 0 0\ncpu2 0 0 0 %lu 0 0 0\n", cpu_1, cpu_2);
}

START_TEST(a_thread_that_keeps_its_cpu_is_reported_while_it_runs)
{
    char file[256], good[4096];

    tree_write(tree, "sys/devices/system/cpu/online", "1-3\n");
    write_idle(100, 100);
    begin_mode(HR_OSNOISE_SOURCES, "");
    for (unsigned long i = 1; i <= 3; i++) {
        write_idle(100, 100 + 100 * i);
        read_after_1_s();
        ck_assert_uint_eq(reading.source_count, 1);
        ck_assert_uint_eq(reading.sources[0].cpu, 1);
        ck_assert_int_eq(reading.sources[0].kind, HR_OSNOISE_THREAD);
        ck_assert_str_eq(reading.sources[0].name, HR_OSNOISE_RUNNING);
        ck_assert_uint_eq(reading.sources[0].count, 0);
        ck_assert_uint_eq(reading.sources[0].duration_ns, HR_NS_PER_S);
    }
    /* What isn't read comes with the next reading, and is of both intervals. */
    snprintf(file, sizeof(file), "%s/events/osnoise/nmi_noise/hist", instance);
    snprintf(good, sizeof(good), "%s", fake_tracefs_get(file));
    fake_tracefs_set(file, "nonsense\n");
    write_idle(100, 500);
    read_after_1_s();
    ck_assert(!reading.has_sources);
    fake_tracefs_set(file, "%s", good);
    write_idle(100, 600);
    read_after_1_s();
    ck_assert(reading.has_sources);
    ck_assert_uint_eq(reading.source_count, 1);
    ck_assert_uint_eq(reading.sources[0].duration_ns, 2 * HR_NS_PER_S);
}
END_TEST

/* A list says which CPUs there should be; a word takes those that there are. */
START_TEST(buffers_of_cpus_that_come_later_are_as_large_as_the_others)
{
    struct hr_osnoise_options options =
        options_of(HR_OSNOISE_WORKLOAD, _i == 0 ? "1,3" : "isolated");
    struct page page = {.used = 0};

    tree_write(tree, "sys/devices/system/cpu/possible", "0-3\n");
    tree_write(tree, "sys/devices/system/cpu/online", "0-2\n");
    tree_write(tree, "sys/devices/system/cpu/isolated", "1,3\n");
    options.max_single_ns = 50000;
    begin_run(&options);
    read_run();
    ck_assert_uint_eq(reading.cpu_count, _i == 0 ? 2 : 1);
    tree_write(tree, "sys/devices/system/cpu/online", "0-3\n");
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 2);
    ck_assert_int_eq(reading.cpus[1].state, HR_OSNOISE_CPU_FINE);
    ck_assert_str_eq(instance_file("per_cpu/cpu1/buffer_size_kb"), "128\n");
    ck_assert_str_eq(instance_file("per_cpu/cpu3/buffer_size_kb"), "128\n");
    put_noise(&page, "backup", 1000, 80000);
    hand_over(3, &page);
    read_run();
    ck_assert_uint_eq(reading.single_noise_count, 1);
    ck_assert_uint_eq(reading.single_noises[0].cpu, 3);
    ck_assert_uint_eq(reading.cpus[1].single_count, 1);
}
END_TEST

/* --- Functions and traces ------------------------------------------------- */

static void put_work(struct page *page, uint64_t function)
{
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint64_t work, function;
    } event = {WORK_START, 0, 0, 77, 1, function};

    put_event(page, &event, sizeof(event));
}

/* What hr_osnoise_trace_print() prints of a CPU. */
static const char *trace_of(unsigned cpu)
{
    static char text[8192];
    FILE *file = fmemopen(text, sizeof(text), "w");

    text[0] = '\0';
    hr_osnoise_trace_print(&reading, cpu, file);
    fclose(file);
    return text;
}

/* Of two works of a kworker, in whose page each event is 1 ns later than the one before. */
static void read_works(const struct hr_osnoise_options *options)
{
    struct page page = {.used = 0};
    const uint64_t time_ns = 1009; /* one before the thread's start */
    char file[160];

    begin_run(options);
    memcpy(page.bytes, &time_ns, sizeof(time_ns));
    put_work(&page, 0xffffffff81249dd0);
    put_work(&page, 0xffffffff81249dd1);
    put_noise(&page, "kworker/1:1", 1000, 80000);
    hand_over(1, &page);
    snprintf(file, sizeof(file), "%s/events/workqueue/workqueue_execute_start/hist", instance);
    fake_tracefs_set(file, "%s",
                     "# event histogram\n#\n# trigger info: hist:keys=function.sym:vals=hitcount:"
                     "sort=hitcount:size=512 [active]\n#\n\n"
                     "{ function: [ffffffff81249dd0] vmstat_update                                 "
                     "} hitcount:          1\n\nTotals:\n    Hits: 1\n    Entries: 1\n    "
                     "Dropped: 0\n");
    read_run();
    ck_assert_uint_eq(reading.single_noise_count, 1);
    ck_assert_str_eq(reading.single_noises[0].parts[0].name, "kworker/1:1");
}

START_TEST(what_ran_in_a_noise_is_named_and_kept)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1-2");

    options.max_single_ns = 50000;
    options.causes = options.traces = true;
    read_works(&options);
    ck_assert_str_eq(instance_file("events/workqueue/workqueue_execute_start/enable"), "1\n");
    ck_assert_str_eq(instance_file("events/workqueue/workqueue_execute_start/filter"),
                     "CPU >= 1 && CPU <= 2\n");
    const struct hr_osnoise_part *part = &reading.single_noises[0].parts[0];
    ck_assert_uint_eq(part->function_count, 1); /* the other has no name */
    ck_assert_str_eq(part->functions[0], "vmstat_update");
    ck_assert_ptr_nonnull(
        strstr(trace_of(1), ": workqueue_execute_start: function=vmstat_update\n"));
    ck_assert_ptr_nonnull(strstr(trace_of(1), "interference 1\n"));
    ck_assert_str_eq(trace_of(2), "");
    read_run();
    ck_assert_str_eq(trace_of(1), "");
}
END_TEST

START_TEST(without_the_options_nothing_is_named_or_kept)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1-2");

    options.max_single_ns = 50000;
    read_works(&options);
    ck_assert_str_eq(instance_file("events/workqueue/workqueue_execute_start/enable"), "0\n");
    ck_assert_str_eq(instance_file("events/workqueue/workqueue_execute_start/trigger"), "");
    ck_assert_uint_eq(reading.single_noises[0].parts[0].function_count, 0);
    ck_assert_str_eq(trace_of(1), "");
}
END_TEST

/* With interrupts off nothing runs that has functions. */
START_TEST(with_interrupts_off_no_functions_are_recorded)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_HARDWARE, "1-2");

    options.max_single_ns = 50000;
    options.causes = true;
    begin_run(&options);
    ck_assert_str_eq(instance_file("events/workqueue/workqueue_execute_start/enable"), "0\n");
}
END_TEST

START_TEST(reading_allocates_nothing)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "0-3");

    options.by_source = options.histogram = true;
    options.max_single_ns = 1000;
    options.causes = options.traces = true;
    begin_run(&options);
    read_run();
    size_t used = mallinfo2().uordblks;
    for (int i = 0; i < 100; i++)
        read_run();
    ck_assert_uint_eq(mallinfo2().uordblks, used);
}
END_TEST

int main(void)
{
    TCase *tests = new_run_tests("osnoise reading");

    tcase_add_checked_fixture(tests, stop_time, let_time_pass);
    tcase_add_test(tests, samples_add_up);
    tcase_add_test(tests, latencies_add_up);
    tcase_add_test(tests, what_is_no_latency_is_left_out);
    tcase_add_test(tests, a_cpu_without_timers_is_silent);
    tcase_add_test(tests, attached_samples_are_events);
    tcase_add_test(tests, without_samples_no_cpu_is_silent);
    tcase_add_test(tests, singles_are_reported_with_their_parts);
    tcase_add_test(tests, what_stopped_tracing_is_read);
    tcase_add_loop_test(tests, what_the_other_has_stopped_at_is_read, 0, 2);
    tcase_add_test(tests, what_comes_with_other_settings_is_not_read);
    tcase_add_test(tests, silence_isnt_quiet);
    tcase_add_test(tests, what_a_cpu_reports_after_it_was_offline_isnt_noise);
    tcase_add_test(tests, cpus_that_come_later_are_measured);
    tcase_add_test(tests, a_thread_that_keeps_its_cpu_is_reported_while_it_runs);
    tcase_add_loop_test(tests, buffers_of_cpus_that_come_later_are_as_large_as_the_others, 0, 2);
    tcase_add_test(tests, what_ran_in_a_noise_is_named_and_kept);
    tcase_add_test(tests, without_the_options_nothing_is_named_or_kept);
    tcase_add_test(tests, with_interrupts_off_no_functions_are_recorded);
    tcase_add_test(tests, reading_allocates_nothing);
    return run_suite("osnoise reading", tests);
}
