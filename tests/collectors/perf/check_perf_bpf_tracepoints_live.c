/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_bpf_tracepoints_live.c - a tracepoint counted by BPF and by
 * descriptors at the same time, on the running kernel.
 */
#include <stdio.h>

#include "collectors/perf/perf_live.h"
#include "support/own_mounts.h"

#define TRACEPOINT "signal:signal_generate"

#define PATIENCE_NS (20 * HR_NS_PER_S)
#define SIGNALS     1000

static struct hr_perf_vocabulary *vocabulary;
static struct hr_perf_event *event;

/* @return why not; NULL: it is found. */
static const char *find_tracepoint(void)
{
    static struct hr_perf_event_error error = {.reason = "there is no root"};

    if (hr_root_open("/", &root) < 0)
        return error.reason;
    int status = hr_perf_vocabulary_open(root, &vocabulary);
    if (status == 0)
        status = hr_perf_event_find(vocabulary, TRACEPOINT, &event, &error);
    hr_root_close(root);
    return status == 0 ? NULL : error.reason;
}

static uint64_t count_of(struct hr_perf_target *target)
{
    return live_read(target).of[0];
}

static uint64_t count_by_descriptors(struct hr_perf_target *target)
{
    live_swap();
    const uint64_t count = count_of(target);
    live_swap();
    return count;
}

/* Whether both say how many signals the worker sends. A timer of another process may send one while
 * the worker runs. */
static bool count_signals(struct hr_perf_target *target, struct hr_perf_target *other)
{
    const struct live_work work = {.signals = SIGNALS};
    const uint64_t other_before = count_by_descriptors(other);
    const uint64_t before = count_of(target);

    live_work(&work);
    const uint64_t two = count_by_descriptors(other) - other_before;
    const uint64_t one = count_of(target) - before;
    ck_assert_uint_ge(one, SIGNALS);
    ck_assert_uint_ge(two, SIGNALS);
    printf("# %llu by BPF, %llu by descriptors\n", (unsigned long long)one,
           (unsigned long long)two);
    return one == SIGNALS && two == SIGNALS;
}

START_TEST(both_count_each_event)
{
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;
    bool agreed = false;

    groups_make(groups, "a");
    live_start_worker("a");
    struct hr_perf_target *target = live_open("a");
    live_swap();
    struct hr_perf_target *other = live_open("a");
    live_swap();
    while (!agreed && hr_clock_ns() < end_ns)
        agreed = count_signals(target, other);
    ck_assert(agreed);
}
END_TEST

static const char *find_obstacle(void)
{
    if (!own_mounts_with_tracefs())
        return "tracefs can't be mounted";
    const char *obstacle = live_bpf_obstacle();
    return obstacle != NULL ? obstacle : find_tracepoint();
}

int main(void)
{
    TCase *tests = tcase_create("perf bpf tracepoints live");
    const char *obstacle = find_obstacle();

    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    live_count(event);
    tcase_add_checked_fixture(tests, live_set_up_bpf, live_tear_down);
    tcase_add_test(tests, both_count_each_event);
    tcase_set_timeout(tests, 60);
    const int status = run_suite("perf bpf tracepoints live", tests);
    hr_perf_event_free(event);
    hr_perf_vocabulary_close(vocabulary);
    return status;
}
