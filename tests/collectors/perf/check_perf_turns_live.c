/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_turns_live.c - more events of cgroups than a PMU has counters, on the
 * running kernel: nested groups with the same process must agree with what the kernel counts for
 * the process itself.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/perf/perf_live.h"
#include "perf/calls.h"

#define DEPTH        4           /* nested groups */
#define TARGETS      (DEPTH + 1) /* and the machine */
#define PAIRS        6           /* groups of events */
#define CASES        6
#define FIRST_BY_BPF 3

static const struct {
    int targets, pairs, rounds;
    struct live_work work;
    double tolerance;
    bool by_bpf;
} cases[CASES] = {
    {TARGETS, PAIRS, 25, {.spin_ms = 200}, 0.05, false}, /* 60 events */
    {1, 1, 10, {.spin_ms = 100}, 0.02, false},           /* 2, which any PMU has room for */
    {1, 1, 10, {.spin_ms = 100, .sleeps = 20}, 0.02, false},
    /* The counters are those of the machine, however many groups there are. */
    [FIRST_BY_BPF] = {TARGETS, PAIRS, 25, {.spin_ms = 200}, 0.05, true},
    {TARGETS, 1, 10, {.spin_ms = 100}, 0.02, true},
    {TARGETS, 1, 10, {.spin_ms = 100, .sleeps = 20}, 0.02, true},
};

static const char *const names[TARGETS] = {"a", "a/b", "a/b/c", "a/b/c/d", NULL};
static struct hr_perf_target *targets[TARGETS];

static struct hr_perf_encoding encodings[2] = {
    {.attr = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES}, .every_cpu = true},
    {.attr = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS}, .every_cpu = true},
};
static struct hr_perf_event events[2] = {
    {.encoding_count = 1, .encodings = &encodings[0]},
    {.encoding_count = 1, .encodings = &encodings[1]},
};
static struct hr_perf_event *pair[2] = {&events[0], &events[1]};

/* Beside them, as in most configurations. */
static struct hr_perf_encoding software = {
    .attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK}, .every_cpu = true};
static struct hr_perf_event task_clock = {.encoding_count = 1, .encodings = &software};
static struct hr_perf_event *software_events[1] = {&task_clock};

/* The process's own counters, which keep theirs of the PMU's whatever else is counted. */
static int own[2] = {-1, -1};

static int open_own(pid_t pid, int event)
{
    struct perf_event_attr attr = encodings[event].attr;

    attr.size = sizeof(attr);
    attr.pinned = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return hr_perf_kernel_calls.open(&attr, pid, -1, -1, 0);
}

static double read_own(int event)
{
    uint64_t words[3];

    ck_assert_int_eq(hr_perf_kernel_calls.read(own[event], words, sizeof(words)), sizeof(words));
    ck_assert_uint_eq(words[1], words[2]); /* it took no turns */
    return (double)words[0];
}

/* Replaces the fixture's events. */
static void open_pairs(int pairs, bool by_bpf)
{
    struct hr_perf_event_group groups_of_events[PAIRS + 1];
    const struct hr_perf_options options = {
        .groups = groups_of_events, .group_count = (size_t)pairs + 1, .slice_ns = UINT64_MAX};

    for (int i = 0; i < pairs; i++)
        groups_of_events[i] = (struct hr_perf_event_group){.events = pair, .count = 2};
    groups_of_events[pairs] = (struct hr_perf_event_group){.events = software_events, .count = 1};
    software.attr.size = sizeof(software.attr);
    for (int i = 0; i < 2; i++)
        encodings[i].attr.size = sizeof(encodings[i].attr);
    hr_perf_close(perf);
    ck_assert_int_eq(by_bpf ? hr_perf_open_bpf(root, &options, &perf, NULL)
                            : hr_perf_open(root, &options, &perf),
                     0);
}

static void read_all(int count)
{
    ck_assert_int_eq(hr_perf_read(perf), 0);
    for (int t = 0; t < count; t++)
        ck_assert_int_eq(hr_perf_target_read(targets[t]), 0);
}

static struct {
    double count[2], enabled_ns, running_ns;
} sums[TARGETS][PAIRS];

static void add_values(int target, size_t group)
{
    const struct hr_perf_value value = hr_perf_target_value(targets[target], group, 0);

    sums[target][group].enabled_ns += (double)value.enabled_ns;
    sums[target][group].running_ns += (double)value.running_ns;
    for (size_t e = 0; e < 2; e++)
        sums[target][group].count[e] +=
            (double)hr_perf_target_value(targets[target], group, e).delta;
}

static void open_all(const char *process_group, int count, int pairs, bool by_bpf)
{
    pid_t pid = live_start_worker(process_group);

    for (int e = 0; e < 2; e++)
        ck_assert_int_ge(own[e] = open_own(pid, e), 0);
    open_pairs(pairs, by_bpf);
    for (int t = 0; t < count; t++)
        targets[t] = live_open(names[t]);
    read_all(count);
    memset(sums, 0, sizeof(sums));
}

/* Prints the counts of a pair, as shares of the process's own. @return how much they differ; the
 * machine may have counted more. */
static double compare(int target, int pair_number, const double truth[2])
{
    double most = 0;

    for (int e = 0; e < 2; e++) {
        const double share = sums[target][pair_number].count[e] / truth[e];
        most = fmax(most, names[target] != NULL ? fabs(share - 1) : 1 - share);
    }
    printf("# %-8s %d: cycles %.5f, instructions %.5f of the process's, running %.3f %%\n",
           names[target] != NULL ? names[target] : "machine", pair_number,
           sums[target][pair_number].count[0] / truth[0],
           sums[target][pair_number].count[1] / truth[1],
           100 * sums[target][pair_number].running_ns / sums[target][pair_number].enabled_ns);
    return most;
}

START_TEST(agrees_with_the_process)
{
    const int count = cases[_i].targets, pairs = cases[_i].pairs;
    double truth[2], most = 0;

    for (int d = 0; d < DEPTH; d++)
        groups_make(groups, names[d]);
    open_all(names[DEPTH - 1], count, pairs, cases[_i].by_bpf);
    for (int e = 0; e < 2; e++)
        truth[e] = -read_own(e);
    for (int i = 0; i < cases[_i].rounds; i++) {
        live_work(&cases[_i].work);
        read_all(count);
        for (int n = 0; n < count * pairs; n++)
            add_values(n / pairs, (size_t)(n % pairs));
    }
    for (int e = 0; e < 2; e++) {
        truth[e] += read_own(e);
        hr_perf_kernel_calls.close(own[e]);
    }
    for (int n = 0; n < count * pairs; n++)
        most = fmax(most, compare(n / pairs, n % pairs, truth));
    ck_assert_msg(most < cases[_i].tolerance, "a count differs by %.1f %%", most * 100);
}
END_TEST

static const char *pmu_obstacle(void)
{
    if (access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0)
        return "there are several kinds of CPUs";
    for (int e = 0; e < 2; e++) {
        int fd = open_own(0, e);
        if (fd < 0)
            return "no PMU that counts cycles and instructions";
        hr_perf_kernel_calls.close(fd);
    }
    return NULL;
}

int main(void)
{
    const char *obstacle = live_obstacle();

    if (obstacle == NULL)
        obstacle = pmu_obstacle();
    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    TCase *tests = tcase_create("turns"); /* no leak where it can't run */
    tcase_add_checked_fixture(tests, live_set_up, live_tear_down);
    obstacle = live_bpf_obstacle();
    if (obstacle != NULL)
        printf("# without counting by BPF: %s\n", obstacle);
    tcase_add_loop_test(tests, agrees_with_the_process, 0, obstacle == NULL ? CASES : FIRST_BY_BPF);
    tcase_set_timeout(tests, 120);
    return run_suite("turns", tests);
}
