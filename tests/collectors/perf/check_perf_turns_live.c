/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_turns_live.c - more events of cgroups than a PMU has counters, on the
 * running kernel: nested groups with the same process must agree with what the kernel counts for
 * the process itself.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/perf/perf_live.h"
#include "perf/calls.h"

#define DEPTH 4 /* nested groups */
#define PAIRS 6 /* groups of events */

static const struct {
    int depth, pairs, rounds;
    struct live_work work;
    double tolerance;
} cases[] = {
    {DEPTH, PAIRS, 25, {.spin_ms = 200}, 0.05},       /* 48 events */
    {1, 1, 10, {.spin_ms = 100}, 0.02},               /* 2, which any PMU has room for */
    {1, 1, 10, {.spin_ms = 100, .sleeps = 20}, 0.02}, /* switches between groups */
};

static const char *const names[DEPTH] = {"a", "a/b", "a/b/c", "a/b/c/d"};

static struct hr_perf_encoding encodings[2] = {
    {.attr = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES}, .every_cpu = true},
    {.attr = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS}, .every_cpu = true},
};
static struct hr_perf_event events[2] = {
    {.encoding_count = 1, .encodings = &encodings[0]},
    {.encoding_count = 1, .encodings = &encodings[1]},
};
static struct hr_perf_event *pair[2] = {&events[0], &events[1]};

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
static void open_pairs(int pairs)
{
    struct hr_perf_event_group groups_of_events[PAIRS];
    const struct hr_perf_options options = {.groups = groups_of_events,
                                            .group_count = (size_t)pairs};

    for (int i = 0; i < pairs; i++)
        groups_of_events[i] = (struct hr_perf_event_group){.events = pair, .count = 2};
    for (int i = 0; i < 2; i++)
        encodings[i].attr.size = sizeof(encodings[i].attr);
    hr_perf_close(perf);
    ck_assert_int_eq(hr_perf_open(root, &options, &perf), 0);
}

static void read_all(struct hr_perf_target *const targets[DEPTH], int depth)
{
    ck_assert_int_eq(hr_perf_read(perf), 0);
    for (int d = 0; d < depth; d++)
        ck_assert_int_eq(hr_perf_target_read(targets[d]), 0);
}

struct sums {
    double count[DEPTH][PAIRS][2], enabled_ns[DEPTH][PAIRS], running_ns[DEPTH][PAIRS];
};

static void add_values(struct sums *sums, struct hr_perf_target *const targets[DEPTH], int depth,
                       int pairs)
{
    for (int d = 0; d < depth; d++) {
        for (size_t p = 0; p < (size_t)pairs; p++) {
            const struct hr_perf_value value = hr_perf_target_value(targets[d], p, 0);
            sums->enabled_ns[d][p] += (double)value.enabled_ns;
            sums->running_ns[d][p] += (double)value.running_ns;
            for (size_t e = 0; e < 2; e++)
                sums->count[d][p][e] += (double)hr_perf_target_value(targets[d], p, e).delta;
        }
    }
}

/* @return the largest deviation from the process's own count, as a factor - 1. */
static double compare(const struct sums *sums, int depth, int pairs, const double truth[2])
{
    double most = 0;

    for (int d = 0; d < depth; d++) {
        for (int p = 0; p < pairs; p++) {
            printf("# %-8s %d: cycles %.5f, instructions %.5f of the process's, running %.3f %%\n",
                   names[d], p, sums->count[d][p][0] / truth[0], sums->count[d][p][1] / truth[1],
                   100 * sums->running_ns[d][p] / sums->enabled_ns[d][p]);
            for (int e = 0; e < 2; e++)
                most = fmax(most, fabs(sums->count[d][p][e] / truth[e] - 1));
        }
    }
    return most;
}

START_TEST(agrees_with_the_process)
{
    const int depth = cases[_i].depth, pairs = cases[_i].pairs;
    struct hr_perf_target *targets[DEPTH];
    double before[2], truth[2];
    struct sums sums;

    memset(&sums, 0, sizeof(sums));
    for (int d = 0; d < DEPTH; d++)
        groups_make(groups, names[d]);
    pid_t pid = live_start_worker(names[DEPTH - 1]);
    for (int e = 0; e < 2; e++)
        ck_assert_int_ge(own[e] = open_own(pid, e), 0);
    open_pairs(pairs);
    for (int d = 0; d < depth; d++)
        targets[d] = live_open(names[d]);
    read_all(targets, depth);
    for (int e = 0; e < 2; e++)
        before[e] = read_own(e);
    for (int i = 0; i < cases[_i].rounds; i++) {
        live_work(&cases[_i].work);
        read_all(targets, depth);
        add_values(&sums, targets, depth, pairs);
    }
    for (int e = 0; e < 2; e++)
        truth[e] = read_own(e) - before[e];
    const double most = compare(&sums, depth, pairs, truth);
    for (int e = 0; e < 2; e++)
        hr_perf_kernel_calls.close(own[e]);
    ck_assert_msg(most < cases[_i].tolerance, "a count differs by %.1f %%", most * 100);
}
END_TEST

static const char *pmu_obstacle(void)
{
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
    TCase *tests = tcase_create("turns");
    const char *obstacle = live_obstacle();

    if (obstacle == NULL)
        obstacle = pmu_obstacle();
    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_add_checked_fixture(tests, live_set_up, live_tear_down);
    tcase_add_loop_test(tests, agrees_with_the_process, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_set_timeout(tests, 120);
    return run_suite("turns", tests);
}
