/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_live.c - counting on the running kernel, compared with its clocks and
 * with /proc for the same processes.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collectors/perf/perf_live.h"
#include "support/descriptor_shortage.h"

/* Built twice, for each way of counting. */
#ifdef LIVE_BY_BPF
static const bool by_bpf = true;
#else
static const bool by_bpf = false;
#endif

static void nap_ms(unsigned ms)
{
    usleep(ms * 1000);
}

/* In Hz, measured with the TSC itself and another clock. */
static double tsc_frequency(void)
{
#if defined(__x86_64__) || defined(__i386__)
    uint64_t time_ns = hr_clock_ns(), tsc = __builtin_ia32_rdtsc();

    nap_ms(200);
    uint64_t later_ns = hr_clock_ns(), later = __builtin_ia32_rdtsc();
    return (double)(later - tsc) * 1e9 / (double)(later_ns - time_ns);
#else
    return 0;
#endif
}

/* --- Time on the CPU ------------------------------------------------------ */

struct sample {
    struct live_counts counts;
    uint64_t time_ns; /* CPU time of the process; without a process, the time */
    uint64_t took_ns; /* of that, reading both */
};

static uint64_t clock_of(pid_t pid)
{
    return pid != 0 ? live_cpu_time_ns(pid) : hr_clock_ns();
}

static struct sample try_sample(struct hr_perf_target *target, pid_t pid)
{
    struct sample sample = {.time_ns = clock_of(pid)};

    sample.counts = live_read(target);
    sample.took_ns = clock_of(pid) - sample.time_ns;
    return sample;
}

/* Reads both at one moment: retries while others come in between, as on a busy machine. */
static struct sample take_sample(struct hr_perf_target *target, pid_t pid)
{
    struct sample sample = try_sample(target, pid);

    for (int i = 0; i < LIVE_TRIES && sample.took_ns > LIVE_SHORT_NS; i++) {
        nap_ms(1);
        const struct sample next = try_sample(target, pid);
        if (next.took_ns < sample.took_ns)
            sample = next;
    }
    return sample;
}

static struct sample sample_since(struct hr_perf_target *target, pid_t pid,
                                  const struct sample *before)
{
    struct sample sample = take_sample(target, pid);

    sample.time_ns -= before->time_ns;
    for (int i = 0; i < LIVE_EVENT_COUNT; i++)
        sample.counts.of[i] -= before->counts.of[i];
    return sample;
}

/* Whether a busy process's time, and cycles of this frequency, agree with the clock. */
static bool agrees_with_clock(const struct sample *sample, double frequency)
{
    const double time_ns = (double)sample->time_ns;
    const double clock_ns = (double)sample->counts.of[LIVE_TASK_CLOCK];
    const double tsc = (double)sample->counts.of[LIVE_TSC];

    return sample->time_ns > 20000000 && fabs(clock_ns - time_ns) <= time_ns / 100 &&
           (!live_has_tsc() || frequency <= 0 ||
            fabs(tsc * 1e9 / frequency - clock_ns) <= clock_ns / 200);
}

/* Time limit for retries until the clocks agree: those of processes exclude interrupts and the host
 * of a virtual machine, which may take much of most windows. */
#define PATIENCE_NS (20 * HR_NS_PER_S)

/* Counts a busy process for a while, and compares with its clock. */
static void assert_agrees(struct hr_perf_target *target, pid_t busy, double frequency)
{
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;
    struct sample sample;

    do {
        sample = take_sample(target, busy);
        live_nap(100, sample.took_ns);
        sample = sample_since(target, busy, &sample);
        if (agrees_with_clock(&sample, frequency))
            return;
    } while (hr_clock_ns() < end_ns);
    ck_abort_msg("of %.9f s: task-clock %.9f s, TSC %.9f s", (double)sample.time_ns / 1e9,
                 (double)sample.counts.of[LIVE_TASK_CLOCK] / 1e9,
                 (double)sample.counts.of[LIVE_TSC] / frequency);
}

START_TEST(counts_the_time_on_the_cpu)
{
    groups_make(groups, "a");
    pid_t busy = groups_start_busy(groups, "a", 0);
    struct hr_perf_target *target = live_open("a");
    const double frequency = tsc_frequency();
    for (int i = 0; i < 3; i++)
        assert_agrees(target, busy, frequency);
}
END_TEST

static uint64_t tsc_on_cpu_0(const struct hr_perf_target *machine)
{
    unsigned cpu;

    ck_assert(hr_perf_target_cpu(machine, 0, &cpu));
    ck_assert_uint_eq(cpu, 0);
    if (!live_has_tsc())
        return 0;
    return hr_perf_target_cpu_value(machine, 0, 0, LIVE_TSC).total;
}

/* Two processes compete for one CPU: each group has its own process's time, the machine both. */
static bool measure_two(struct hr_perf_target *const target[3], const pid_t busy[3],
                        double frequency)
{
    struct sample sample[3];
    uint64_t took_ns = 0;

    for (int i = 0; i < 3; i++) {
        sample[i] = take_sample(target[i], busy[i]);
        took_ns = sample[i].took_ns > took_ns ? sample[i].took_ns : took_ns;
    }
    uint64_t cycles = tsc_on_cpu_0(target[2]);
    live_nap(200, took_ns);
    for (int i = 0; i < 3; i++)
        sample[i] = sample_since(target[i], busy[i], &sample[i]);
    cycles = tsc_on_cpu_0(target[2]) - cycles;
    const uint64_t *a = sample[0].counts.of, *b = sample[1].counts.of;
    const double all = (double)sample[2].time_ns * frequency / 1e9;
    return agrees_with_clock(&sample[0], frequency) && agrees_with_clock(&sample[1], frequency) &&
           (!live_has_tsc() || frequency <= 0 ||
            (fabs((double)cycles - all) <= all / 100 &&
             (double)(a[LIVE_TSC] + b[LIVE_TSC]) < (double)cycles * 1.02));
}

START_TEST(distinguishes_two_groups_on_one_cpu)
{
    static const char *const names[] = {"a", "b"};
    struct hr_perf_target *target[3];
    pid_t busy[3] = {0};

    for (int i = 0; i < 2; i++) {
        groups_make(groups, names[i]);
        busy[i] = groups_start_busy(groups, names[i], 0);
        target[i] = live_open(names[i]);
    }
    target[2] = live_open(NULL);
    const double frequency = tsc_frequency();
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;
    bool agreed = false;
    while (!agreed && hr_clock_ns() < end_ns)
        agreed = measure_two(target, busy, frequency);
    ck_assert(agreed);
}
END_TEST

START_TEST(counts_nested_groups_in_those_above)
{
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    pid_t busy = groups_start_busy(groups, "a/b", 0);
    struct hr_perf_target *above = live_open("a"), *below = live_open("a/b");
    live_read(above);
    assert_agrees(below, busy, 0);
    assert_agrees(above, busy, 0);
}
END_TEST

/* Too little is never right; an excess is the time of the host of a virtual machine. */
static bool is_near(double is, double expected)
{
    ck_assert_double_ge(is, 0.9 * expected);
    return is <= 1.1 * expected;
}

/* Opens counters while a process of the group runs, which isn't preempted meanwhile. */
static bool measure_running_process(struct hr_perf_target *target, double frequency)
{
    const struct sched_param priority = {.sched_priority = 1};
    pid_t busy = groups_start_busy(groups, "a", 0);

    nap_ms(10);
    sched_setscheduler(busy, SCHED_FIFO,
                       &priority); /* without this privilege, the process is merely busy */
    nap_ms(10);
    struct sample sample = take_sample(target, busy);
    live_nap(200, sample.took_ns);
    sample = sample_since(target, busy, &sample);
    printf("# task-clock %.6f s of %.6f s\n", (double)sample.counts.of[LIVE_TASK_CLOCK] / 1e9,
           (double)sample.time_ns / 1e9);
    fflush(stdout);
    groups_end(groups, busy);
    hr_perf_target_pause(target);
    const double time_ns = (double)sample.time_ns;
    return sample.time_ns > 20000000 &&
           is_near((double)sample.counts.of[LIVE_TASK_CLOCK], time_ns) &&
           (!live_has_tsc() || frequency <= 0 ||
            is_near((double)sample.counts.of[LIVE_TSC] * 1e9 / frequency, time_ns));
}

/* Time that the kernel didn't start to account at once it never accounts; so each attempt uses
 * another process and reopens the counters. */
START_TEST(counts_a_task_that_never_leaves_the_cpu)
{
    const double frequency = tsc_frequency();
    cpu_set_t cpus;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    CPU_CLR(0, &cpus);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    struct hr_perf_target *target = live_open("a");
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;
    bool agreed = false;
    while (!agreed && hr_clock_ns() < end_ns)
        agreed = measure_running_process(target, frequency);
    ck_assert(agreed);
}
END_TEST

/* --- Exact counts --------------------------------------------------------- */

START_TEST(counts_page_faults)
{
    const struct live_work work = {.pages = 5000};

    groups_make(groups, "a");
    live_start_worker("a");
    struct hr_perf_target *target = live_open("a");
    live_read(target);
    for (int i = 0; i < 3; i++) {
        struct live_counts counts = live_read(target);
        live_work(&work);
        counts = live_read_since(target, &counts);
        ck_assert_uint_ge(counts.of[LIVE_FAULTS], work.pages);
        ck_assert_uint_le(counts.of[LIVE_FAULTS], work.pages + 20);
    }
}
END_TEST

static uint64_t count_switches(pid_t pid)
{
    unsigned long long sum = 0, count;
    char path[32], line[256];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &count) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %llu", &count) == 1)
            sum += count;
    fclose(file);
    return sum;
}

/* @return how many more were counted than the process has had. */
static int64_t measure_switches(struct hr_perf_target *target, pid_t pid)
{
    const struct live_work work = {.sleeps = 300};
    struct live_counts counts = live_read(target);
    uint64_t before = count_switches(pid);

    live_work(&work);
    counts = live_read_since(target, &counts);
    /* A sleep that is over before it began costs no switch. */
    ck_assert_uint_ge(counts.of[LIVE_SWITCHES], work.sleeps / 2);
    return (int64_t)(counts.of[LIVE_SWITCHES] - (count_switches(pid) - before));
}

/* By BPF, what a task did whose switch isn't on the tracepoint is counted for the next one, see
 * src/collectors/README.md. */
START_TEST(counts_context_switches)
{
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;
    int64_t excess;

    groups_make(groups, "a");
    pid_t pid = live_start_worker("a");
    struct hr_perf_target *target = live_open("a");
    live_read(target);
    do {
        excess = measure_switches(target, pid);
        ck_assert_int_ge(excess, 0);
    } while (by_bpf && excess > 0 && hr_clock_ns() < end_ns);
    ck_assert_int_eq(excess, 0);
}
END_TEST

/* --- Removed groups ------------------------------------------------------- */

START_TEST(keeps_the_totals_of_a_removed_group)
{
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "b");
    pid_t pid = groups_start_busy(groups, "a", 0);
    struct hr_perf_target *target = live_open("a"), *late = live_open("a");
    live_read(target);
    nap_ms(50);
    groups_end(groups, pid);
    uint64_t total = live_read(target).of[LIVE_TASK_CLOCK];
    groups_remove(groups, "a"); /* open counters don't prevent that */
    ck_assert_int_eq(hr_perf_target_read(target), 0);
    ck_assert_uint_eq(hr_perf_target_value(target, 0, LIVE_TASK_CLOCK).total, total);
    ck_assert_uint_gt(total, 0);
    hr_perf_target_pause(target);
    ck_assert_int_eq(hr_perf_target_read(target), -ENODEV);
    ck_assert_uint_eq(hr_perf_target_value(target, 0, LIVE_TASK_CLOCK).total, total);
    ck_assert_int_eq(hr_perf_target_read(late), -ENODEV);
    live_read(live_open("b"));
}
END_TEST

/* The group that is probed. */
START_TEST(says_nothing_of_others_when_the_first_group_is_gone)
{
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "b");
    pid_t pid = groups_start_sleeper(groups, "a");
    struct hr_perf_target *gone = live_open("a");
    groups_end(groups, pid);
    groups_remove(groups, "a");
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_int_eq(hr_perf_target_read(gone), -ENODEV);
    ck_assert_int_eq(hr_perf_status(perf, HR_PERF_CGROUP, 0, 0), -ECANCELED);
    live_read(live_open("b"));
}
END_TEST

START_TEST(pauses_and_resumes)
{
    const struct live_work work = {.pages = 1000};

    groups_make(groups, "a");
    live_start_worker("a");
    struct hr_perf_target *target = live_open("a");
    live_read(target);
    live_work(&work);
    hr_perf_target_pause(target);
    uint64_t paused = hr_perf_target_value(target, 0, LIVE_FAULTS).total;
    ck_assert_uint_ge(paused, work.pages);
    live_work(&work); /* nothing counts it */
    ck_assert_uint_eq(live_read(target).of[LIVE_FAULTS], paused);
    live_work(&work);
    ck_assert_uint_ge(live_read(target).of[LIVE_FAULTS], paused + work.pages);
    ck_assert_uint_lt(live_read(target).of[LIVE_FAULTS], paused + 2 * work.pages);
}
END_TEST

/* --- Descriptors ---------------------------------------------------------- */

/* The number of this process's descriptors of perf events that are numbered from..to. */
static size_t count_events(int from, int to)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    size_t count = 0;

    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)) != NULL) {
        char name[64];
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, name, sizeof(name));
        int fd = atoi(entry->d_name);
        count += length > 0 && memmem(name, (size_t)length, "[perf_event]", 12) != NULL &&
                 fd >= from && fd <= to;
    }
    closedir(directory);
    return count;
}

static void limit_files(rlim_t soft, rlim_t hard)
{
    const struct rlimit limit = {soft, hard};

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* _i: whether the limit allows numbers above those of select(2). */
START_TEST(leaves_low_descriptors_to_others)
{
    const int descriptors = count_descriptors();

    if (_i == 0)
        limit_files(1024, 1024);
    else
        limit_files(4096, 4096);
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    struct hr_perf_target *machine = live_open(NULL), *target = live_open("a");
    live_read(machine);
    live_read(target);
    const size_t open = hr_perf_files(perf).open;
    ck_assert_uint_eq(open % 2, 0);
    ck_assert_uint_gt(open, 0);
    ck_assert_uint_eq(count_events(0, 1023), _i == 0 ? open : 0);
    ck_assert_uint_eq(count_events(1024, 65535), _i == 0 ? 0 : open);
    hr_perf_target_pause(machine);
    hr_perf_target_pause(target);
    ck_assert_uint_eq(count_events(0, 65535), 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
    ck_assert_int_le(count_descriptors(), descriptors + 4); /* those of CPUs and groups */
}
END_TEST

START_TEST(passes_no_descriptor_on)
{
    live_read(live_open(NULL));
    ck_assert_uint_gt(count_events(0, 65535), 0);
    ck_assert_int_eq(system("! ls -l /proc/self/fd | grep -q perf_event"), 0);
}
END_TEST

/* --- Cost ----------------------------------------------------------------- */

START_TEST(leaves_nothing_behind)
{
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    struct hr_perf_target *target = live_open("a");
    live_read(target);
    const size_t open = count_events(0, 65535);
    for (int i = 0; i < 1000; i++) {
        hr_perf_target_pause(target);
        live_read(target);
    }
    ck_assert_uint_eq(count_events(0, 65535), open);
}
END_TEST

static bool may_leave_cpu_0(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_ISSET(0, &cpus) &&
           CPU_COUNT(&cpus) > 1;
}

int main(void)
{
    TCase *tests = tcase_create("perf live");
    const char *obstacle = by_bpf ? live_bpf_obstacle() : live_obstacle();

    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_add_checked_fixture(tests, by_bpf ? live_set_up_bpf : live_set_up, live_tear_down);
    tcase_add_test(tests, counts_the_time_on_the_cpu);
    tcase_add_test(tests, distinguishes_two_groups_on_one_cpu);
    tcase_add_test(tests, counts_nested_groups_in_those_above);
    if (may_leave_cpu_0())
        tcase_add_test(tests, counts_a_task_that_never_leaves_the_cpu);
    else
        puts("# without a task that never leaves its CPU: there is no other, or not CPU 0");
    tcase_add_test(tests, counts_page_faults);
    tcase_add_test(tests, counts_context_switches);
    tcase_add_test(tests, pauses_and_resumes);
    if (!by_bpf) {
        tcase_add_test(tests, keeps_the_totals_of_a_removed_group);
        tcase_add_test(tests, says_nothing_of_others_when_the_first_group_is_gone);
        tcase_add_loop_test(tests, leaves_low_descriptors_to_others, 0, 2);
        tcase_add_test(tests, passes_no_descriptor_on);
        tcase_add_test(tests, leaves_nothing_behind);
    }
    tcase_set_timeout(tests, 120);
    return run_isolated_suite("perf live", tests);
}
