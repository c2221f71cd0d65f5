/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_lasting_live.c - waits that are read while they last, on the running
 * kernel.
 */
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/blame/blame_live.h"
#include "support/suite.h"

static struct groups *groups;
static struct live live;
static int cpu;
static int time_on_cpu; /* a counter; -1: none */

static void set_up(void)
{
    const struct hr_blame_options options = {.max_groups = 16, .by_task = true, .lasting = true};

    cpu = live_last_cpu();
    time_on_cpu = -1;
    groups = groups_new();
    live_open(&live, &options, groups);
}

static void tear_down(void)
{
    if (time_on_cpu >= 0)
        close(time_on_cpu);
    live_close(&live);
    groups_free(groups);
}

/* --- Passing a byte ------------------------------------------------------- */

static void become_real_time(pid_t pid, int level)
{
    const struct sched_param priority = {.sched_priority = level};

    if (sched_setscheduler(pid, SCHED_FIFO, &priority) < 0)
        _exit(1);
}

/* Between its trips it leaves the CPU for a moment, and each eighth time for longer than a tick:
 * where the CPUs of an emulated machine share a clock, the other may have it until the end of the
 * moment, so that this one changes to no other task.
 *
 * @return the process, which ends with the test. */
static pid_t start_passing(int from, int to, int trips, int level)
{
    const struct timespec moment = {.tv_nsec = 100 * 1000}, rest = {.tv_nsec = 12 * 1000 * 1000};
    cpu_set_t only;
    char byte = 'x';
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* In this order: on that CPU it would wait for the other process of real time. */
    if (level > 0)
        become_real_time(0, level);
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    sched_setaffinity(0, sizeof(only), &only);
    for (int round = 0;; round++) {
        for (int i = 0; i < trips; i++)
            if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
                _exit(1);
        if (trips > 1)
            nanosleep(round % 8 == 7 ? &rest : &moment, NULL);
    }
}

#define TRIPS 100 /* there and back, as slices fit into a ring */

/* Two processes that have the CPU in turn, and leave it for a moment after so many trips.
 * @param level  of real time; 0: they are ordinary */
static void start_pair(pid_t pair[2], int trips, int level, const char *first, const char *second)
{
    const char *const names[] = {first, second};
    int there[2], back[2];
    char number[16];

    ck_assert(pipe(there) == 0 && pipe(back) == 0);
    pair[0] = start_passing(back[0], there[1], trips, level);
    pair[1] = start_passing(there[0], back[1], 1, level);
    for (int i = 0; i < 2; i++) {
        snprintf(number, sizeof(number), "%d", (int)pair[i]);
        groups_write(groups, names[i], "cgroup.procs", number);
        close(there[i]);
        close(back[i]);
    }
}

static void end_pair(const pid_t pair[2])
{
    for (int i = 0; i < 2; i++) {
        kill(pair[i], SIGKILL);
        waitpid(pair[i], NULL, 0);
    }
}

/* Ends a task; its sums can be read until the test ends. */
static void end_task(pid_t pid)
{
    siginfo_t info;

    kill(pid, SIGKILL);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

#define READINGS 5000
#define WAITS_MS 200 /* that the readings come in, at least, however slow the machine is */
#define EXACT_MS 0.1

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A wait has as many slices as fit, so counting it takes long when it ends; and a reading may come
 * at any moment of that. Whichever of both counts a part of it, the other doesn't. */
START_TEST(test_a_wait_that_ends_while_it_is_read_counts_once)
{
    pid_t pair[2];

    groups_make(groups, "web");
    groups_make(groups, "fast");
    live_watch_first(&live, 1, "web", "fast", NULL);
    const pid_t web = groups_start_busy(groups, "web", cpu);
    become_real_time(web, 1);
    live_add(&live, "web", web);
    live_read(&live, 0);
    start_pair(pair, TRIPS, 10, "fast", "fast");
    const double begun_ms = live_read_sums(web).waited_ms;
    do {
        for (int i = 0; i < READINGS; i++)
            ck_assert_int_eq(hr_blame_peek(live.blame, &live.after), 0);
    } while (live_read_sums(web).waited_ms - begun_ms < WAITS_MS);
    end_pair(pair);
    /* Also where the kernel takes the CPU from tasks of real time for a while: no wait lasts. */
    end_task(web);
    live_read(&live, 1);
    ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
    live_print(&live);
    const struct live_bounds waited = live_waited(&live, "web");
    ck_assert_double_ge(waited.least_ms, WAITS_MS / 2.0);
    live_expect("waits of web", live_total(&live, "web"), waited, 0, EXACT_MS);
}
END_TEST

/* A wait with four times as many slices as a ring has: who had the CPU before these is unknown, and
 * nothing of the wait is lost, or taken for another's. */
START_TEST(test_what_is_older_than_the_ring_is_unattributed)
{
    const struct hr_blame_options options = {.max_groups = 16};
    pid_t pair[2];

    live_close(&live);
    live_open(&live, &options, groups);
    groups_make(groups, "web");
    groups_make(groups, "fast");
    groups_make(groups, "quick");
    live_watch_first(&live, 1, "web", "fast", "quick", NULL);
    const pid_t web = groups_start_busy(groups, "web", cpu);
    become_real_time(web, 1);
    live_add(&live, "web", web);
    live_read(&live, 0);
    start_pair(pair, 4 * HR_BLAME_SLICES, 10, "fast", "quick");
    live_await_wait(web, live_read_sums(web).waited_ms + WAITS_MS);
    end_pair(pair);
    end_task(web);
    live_read(&live, 1);
    ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
    live_print(&live);
    live_expect("waits of web", live_total(&live, "web"), live_waited(&live, "web"), 0, EXACT_MS);
    ck_assert_uint_eq(live.delta.lost_ns, 0);
    ck_assert_double_gt(live_cell(&live, "web", HR_BLAME_UNKNOWN, NULL), 0);
    ck_assert_double_gt(live_cell(&live, "web", HR_BLAME_GROUP, "fast"), 0);
}
END_TEST

/* --- Intervals ------------------------------------------------------------ */

#define INTERVALS   15
#define INTERVAL_MS 100

static double read_time_on_cpu(const struct live *unused)
{
    (void)unused;
    return live_read_time(time_on_cpu);
}

static void count_time_on_cpu(pid_t pid)
{
    time_on_cpu = live_count_time(pid);
    live.other_sum = read_time_on_cpu;
}

/* A task that wants one CPU all the time, the only one of its group, either has it or waits: in
 * each interval it waits for all of it but what it had the CPU, however long its waits are. */
static void expect_all_of_an_interval(const char *group)
{
    double begun_ms[2], read_ms[2];

    for (int end = 0; end < 2; end++) {
        begun_ms[end] = now_ms();
        live_read(&live, end);
        read_ms[end] = now_ms() - begun_ms[end];
        usleep(INTERVAL_MS * 1000);
    }
    ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
    ck_assert_uint_eq(live.delta.lost_ns, 0);
    const double interval_ms = begun_ms[1] - begun_ms[0];
    const struct live_bounds had = live_other(&live);
    const struct live_bounds waited = {interval_ms - had.most_ms - read_ms[0],
                                       interval_ms - had.least_ms + read_ms[1]};
    live_expect("it waited", live_total(&live, group), waited, LIVE_TAKEN_PCT, LIVE_EDGE_MS);
}

/* Waits that are three times as long. */
START_TEST(test_waits_that_last_are_within_their_interval)
{
    double longest_ms = 0, by_fast_ms = 0;

    groups_make(groups, "web");
    groups_make(groups, "fast");
    live_watch(&live, "web", "fast", NULL);
    const pid_t web = groups_start_busy(groups, "web", cpu);
    live_add(&live, "web", web);
    count_time_on_cpu(web);
    pid_t fast = live_start_real_time(groups, "fast", cpu, 300, 200);
    for (int i = 0; i < INTERVALS; i++) {
        expect_all_of_an_interval("web");
        longest_ms = fmax(longest_ms, live_total(&live, "web"));
        by_fast_ms += live_cell(&live, "web", HR_BLAME_GROUP, "fast");
    }
    kill(fast, SIGKILL);
    waitpid(fast, NULL, 0);
    ck_assert_double_ge(longest_ms, 80);
    ck_assert_double_ge(by_fast_ms, 300);
}
END_TEST

/* What was measured, and for how long the group was throttled, before it had a limit. */
static struct hr_blame_matrix unlimited;
static double throttled_before_ms;

static void set_limit(bool of_version_1, const char *us)
{
    groups_write(groups, "limited", of_version_1 ? "cpu.cfs_quota_us" : "cpu.max", us);
}

/* Starts a task whose group may run for 1 ms a second. */
static void start_limited(bool of_version_1)
{
    const pid_t pid = groups_start_busy(groups, of_version_1 ? NULL : "limited", cpu);
    char number[16];

    if (of_version_1) {
        snprintf(number, sizeof(number), "%d", (int)pid);
        groups_write(groups, "limited", "cgroup.procs", number);
    }
    live_add(&live, "limited", pid);
    count_time_on_cpu(pid);
    ck_assert_int_eq(hr_blame_read(live.blame, &unlimited), 0);
    throttled_before_ms = live_read_throttled(&live);
    if (of_version_1)
        groups_write(groups, "limited", "cpu.cfs_period_us", "1000000");
    set_limit(of_version_1, of_version_1 ? "1000" : "1000 1000000");
}

/* Lifts the limit, so that the task can end; once it runs, all that it waited for is known. It
 * waited for its limit as long as its group was throttled, whatever else the machine did. */
static void expect_limit(bool of_version_1)
{
    const pid_t pid = live.tasks[0].pid;

    set_limit(of_version_1, of_version_1 ? "-1" : "max");
    live_await_run(pid, live_read_sums(pid).ran_ms + 5);
    ck_assert_int_eq(hr_blame_read(live.blame, &live.after), 0);
    ck_assert_int_eq(hr_blame_delta(&unlimited, &live.after, &live.delta), 0);
    hr_blame_matrix_free(&unlimited);
    live_print(&live);
    const double throttled_ms = live_read_throttled(&live) - throttled_before_ms;
    const double limited_ms = live_cell(&live, "limited", HR_BLAME_LIMIT, NULL);
    ck_assert_double_gt(throttled_ms, INTERVAL_MS);
    if (hr_blame_knows_limit(live.blame))
        live_expect("by its limit", limited_ms, (struct live_bounds){throttled_ms, throttled_ms},
                    LIVE_TAKEN_PCT, LIVE_EDGE_MS);
    else /* of an idle CPU it is known on all kernels, but not of what else runs there */
        ck_assert_double_ge(limited_ms, throttled_ms / 2);
}

/* Where nothing else wants the CPU it sleeps meanwhile, and its clock stands still. */
static void expect_limited_waits(bool of_version_1)
{
    start_limited(of_version_1);
    for (int i = 0; i < INTERVALS; i++)
        expect_all_of_an_interval("limited");
    expect_limit(of_version_1);
}

START_TEST(test_waits_pass_where_the_cpu_sleeps)
{
    groups_write(groups, ".", "cgroup.subtree_control", "+cpu");
    groups_make(groups, "limited");
    live_watch(&live, "limited", NULL);
    expect_limited_waits(false);
}
END_TEST

static void open_v1(void)
{
    const struct hr_blame_options options = {
        .controller = "cpu", .max_groups = 16, .lasting = true};

    tear_down();
    groups = groups_new_v1("cpu");
    live_open(&live, &options, groups);
}

START_TEST(test_waits_pass_where_the_cpu_sleeps_v1)
{
    open_v1();
    groups_make(groups, "limited");
    live_watch(&live, "limited", NULL);
    expect_limited_waits(true);
}
END_TEST

/* While the group is throttled, others have the CPU in turn, more often than a ring has slices: how
 * long that was is known all the same. */
START_TEST(test_a_limit_takes_what_is_older_than_the_ring_v1)
{
    pid_t pair[2];

    open_v1();
    groups_make(groups, "limited");
    groups_make(groups, "fast");
    groups_make(groups, "quick");
    live_watch_first(&live, 1, "limited", "fast", "quick", NULL);
    start_limited(true);
    start_pair(pair, HR_BLAME_SLICES, 0, "fast", "quick");
    usleep(INTERVALS * INTERVAL_MS * 1000);
    expect_limit(true);
    end_pair(pair);
}
END_TEST

/* Whether a hierarchy has limits where groups are made; version 1 if it has the controller. */
static bool has_limits(bool of_version_1)
{
    struct groups *some = of_version_1 ? groups_new_v1("cpu") : groups_new();
    bool found = some != NULL;

    if (found && !of_version_1)
        found = faccessat(groups_dirfd(some), "cpu.max", W_OK, 0) == 0;
    if (some != NULL)
        groups_free(some);
    return found;
}

int main(void)
{
    TCase *tests = tcase_create("blame_lasting_live");
    tcase_set_timeout(tests, 600); /* only there to end what hangs */

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!live_can_measure())
        return 0;
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_a_wait_that_ends_while_it_is_read_counts_once);
    tcase_add_test(tests, test_what_is_older_than_the_ring_is_unattributed);
    tcase_add_test(tests, test_waits_that_last_are_within_their_interval);
    if (has_limits(false))
        tcase_add_test(tests, test_waits_pass_where_the_cpu_sleeps);
    if (has_limits(true)) {
        tcase_add_test(tests, test_waits_pass_where_the_cpu_sleeps_v1);
        tcase_add_test(tests, test_a_limit_takes_what_is_older_than_the_ring_v1);
    }
    return run_suite("blame_lasting_live", tests);
}
