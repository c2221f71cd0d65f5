/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_throttled_live.c - groups with a limit of CPU time on the running
 * kernel, of version 1 where that has the controller, or else of version 2.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/blame/blame_live.h"
#include "support/suite.h"

#define PERIOD_MS 100

/* It may last for a period more, in which is repaid what ran beyond the quota until a tick. */
#define THROTTLED_MS (2 * PERIOD_MS)

static struct groups *groups;
static struct live live;
static int cpu; /* the last one that may be used */
static bool is_v1;

static void set_up(void)
{
    cpu = live_last_cpu();
    groups = groups_new_v1("cpu");
    is_v1 = groups != NULL;
    if (!is_v1) {
        groups = groups_new();
        groups_write(groups, ".", "cgroup.subtree_control", "+cpu");
    }
    const struct hr_blame_options options = {.controller = is_v1 ? "cpu" : NULL, .max_groups = 16};
    live_open(&live, &options, groups);
    live.other_sum = live_read_throttled;
}

static void tear_down(void)
{
    live_close(&live);
    groups_free(groups);
}

static void spin(const char *group)
{
    live_add(&live, group, groups_start_busy(groups, group, cpu));
}

static void set_limit(const char *us)
{
    groups_write(groups, "limited", is_v1 ? "cpu.cfs_quota_us" : "cpu.max", us);
}

static const char *weight_file(void)
{
    return is_v1 ? "cpu.shares" : "cpu.weight";
}

/* --- Beside others -------------------------------------------------------- */

/* The limit is of the group above. Beside it another group runs all the time. */
START_TEST(test_a_limit_takes_what_it_throttles)
{
    groups_make(groups, "limited");
    groups_make(groups, "limited/web");
    groups_make(groups, "backup");
    live_watch(&live, "limited/web", "backup", NULL);
    for (int i = 0; i < _i; i++)
        spin("limited/web");
    spin("backup");
    set_limit("2000");
    live_measure(&live, 10000);
    if (!hr_blame_knows_limit(live.blame))
        return; /* of what others ran meanwhile nothing is known */
    live_expect_sum(&live, "limited/web");
    /* Each of the tasks waits for as long as the group is throttled. */
    struct live_bounds throttled = live_other(&live);
    throttled.least_ms *= _i;
    throttled.most_ms *= _i;
    ck_assert_double_gt(throttled.most_ms, 0);
    live_expect("limited/web by its limit", live_cell(&live, "limited/web", HR_BLAME_LIMIT, NULL),
                throttled, LIVE_TAKEN_PCT, THROTTLED_MS * _i);
    ck_assert_double_eq(live_cell(&live, "backup", HR_BLAME_LIMIT, NULL), 0);
}
END_TEST

#define ROUNDS 5

/* Lets the limit throttle the task that spins, and lifts it. */
static void throttle(void)
{
    const pid_t pid = live.tasks[0].pid;
    const double before_ms = live_read_throttled(&live);

    set_limit("1000");
    while (live_read_throttled(&live) == before_ms)
        usleep(1000);
    set_limit(is_v1 ? "-1" : "max");
    live_await_run(pid, live_read_sums(pid).ran_ms + 5);
}

/* It is measured once its task runs, which leaves the CPU then as it is throttled. */
START_TEST(test_a_limit_takes_the_first_wait_that_is_measured)
{
    groups_make(groups, "limited");
    groups_make(groups, "limited/web");
    /* Whatever else the machine does, so that it runs when it is measured. */
    groups_write(groups, ".", weight_file(), is_v1 ? "262144" : "10000");
    groups_write(groups, "limited", weight_file(), is_v1 ? "262144" : "10000");
    for (int round = 0; round < ROUNDS; round++) {
        live_watch_first(&live, 0, "limited/web", NULL);
        spin("limited/web");
        live_watch_first(&live, 1, "limited/web", NULL);
        live_read(&live, 0);
        throttle();
        live_read(&live, 1);
        ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
        live_print(&live);
        if (hr_blame_knows_limit(live.blame))
            live_expect("limited/web by its limit",
                        live_cell(&live, "limited/web", HR_BLAME_LIMIT, NULL), live_other(&live),
                        LIVE_TAKEN_PCT, PERIOD_MS / 4.0);
        groups_end(groups, live.tasks[0].pid);
        live.task_count = 0;
    }
}
END_TEST

/* --- On an idle CPU --------------------------------------------------------- */

/* Uses so much CPU time, whether it is throttled meanwhile or not. */
static void use_cpu(long us)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

static void spin_on(void)
{
    for (;;)
        use_cpu(1000000);
}

/* It is queued anew while the group is throttled. */
static void wake_again_and_again(void)
{
    const struct timespec nap = {.tv_nsec = 15 * 1000000};

    for (;;) {
        use_cpu(50);
        nanosleep(&nap, NULL);
    }
}

/* Some of these are queued for the first time. */
static void start_processes(void)
{
    for (;;) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            use_cpu(300);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
}

/* Starts a process in the group of the limit. @return its id; it ends with the test. */
static pid_t start_limited(void (*run)(void))
{
    cpu_set_t only;
    char number[16];
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        CPU_ZERO(&only);
        CPU_SET(cpu, &only);
        if (sched_setaffinity(0, sizeof(only), &only) == 0)
            run();
        _exit(1);
    }
    snprintf(number, sizeof(number), "%d", (int)pid);
    groups_write(groups, "limited", "cgroup.procs", number);
    return pid;
}

/* How long this process has run. */
static double read_own_ms(void)
{
    struct timespec ran;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran);
    return (double)ran.tv_sec * 1e3 + (double)ran.tv_nsec / 1e6;
}

/* While it is throttled nothing else keeps its tasks waiting, but for what else the machine does
 * there; where the kernel doesn't know the limit's part that is unknown, as what this process does.
 *
 * @param own_ms  how long it had run at the beginning. */
static void expect_all_by_limit(double own_ms)
{
    const double others_ms = hr_blame_knows_limit(live.blame) ? 0 : read_own_ms() - own_ms;
    const double limit_ms = live_cell(&live, "limited", HR_BLAME_LIMIT, NULL);
    const double idle_ms = live_cell(&live, "limited", HR_BLAME_IDLE, NULL);
    const double unknown_ms = live_cell(&live, "limited", HR_BLAME_UNKNOWN, NULL);

    live_print(&live);
    ck_assert_double_gt(limit_ms, 1000);
    printf("# this process ran for %.1f ms\n", read_own_ms() - own_ms);
    ck_assert_double_le(idle_ms + unknown_ms, limit_ms * LIVE_TAKEN_PCT / 100 + others_ms);
}

static const struct {
    void (*run[2])(void);
} loads[] = {
    {{spin_on}},
    {{spin_on, wake_again_and_again}},
    {{start_processes}},
    {{start_processes, wake_again_and_again}},
};

START_TEST(test_on_an_idle_cpu_all_is_by_the_limit)
{
    pid_t pids[2] = {0};

    groups_make(groups, "limited");
    live_watch(&live, "limited", NULL);
    for (size_t i = 0; i < 2 && loads[_i].run[i] != NULL; i++)
        pids[i] = start_limited(loads[_i].run[i]);
    set_limit("2000");
    const double own_ms = read_own_ms();
    live_measure(&live, 6000);
    set_limit(is_v1 ? "-1" : "max"); /* so that they can end */
    for (size_t i = 0; i < 2 && pids[i] > 0; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    expect_all_by_limit(own_ms);
    if (_i == 0) { /* one task, which is throttled all the time */
        const double limit_ms = live_cell(&live, "limited", HR_BLAME_LIMIT, NULL);
        live_expect("limited by its limit", limit_ms, live_other(&live), LIVE_TAKEN_PCT,
                    THROTTLED_MS);
    }
}
END_TEST

/* --- On two CPUs ------------------------------------------------------------ */

static void pin(pid_t pid, int to)
{
    cpu_set_t only;

    CPU_ZERO(&only);
    CPU_SET(to, &only);
    ck_assert_int_eq(sched_setaffinity(pid, sizeof(only), &only), 0);
}

/* The first CPU that may be used: another one than the last, if there are two. */
static int find_first_cpu(void)
{
    cpu_set_t usable;
    int first = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(usable), &usable), 0);
    while (!CPU_ISSET(first, &usable))
        first++;
    return first;
}

/* It is moved while it waits, again and again, mostly to where the limit throttles its group, too.
 */
START_TEST(test_a_limit_takes_what_is_left_of_a_wait_that_moves)
{
    const struct timespec rest = {.tv_nsec = 37 * 1000000};
    const int cpus[] = {cpu, find_first_cpu()};

    if (cpus[0] == cpus[1])
        return;
    groups_make(groups, "limited");
    live_watch(&live, "limited", NULL);
    const pid_t pid = start_limited(spin_on);
    set_limit("2000");
    usleep(300 * 1000);
    const double own_ms = read_own_ms();
    live_read(&live, 0);
    for (int i = 1; i < 100; i++) {
        pin(pid, cpus[i % 2]);
        nanosleep(&rest, NULL);
    }
    live_read(&live, 1);
    ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
    set_limit(is_v1 ? "-1" : "max"); /* so that it can end */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    expect_all_by_limit(own_ms);
}
END_TEST

/* Whether the controller is there, of either version. */
static bool has_limits(void)
{
    struct groups *some = groups_new_v1("cpu");
    bool found = some != NULL;

    if (some == NULL) {
        some = groups_new();
        found = faccessat(groups_dirfd(some), "cpu.max", W_OK, 0) == 0;
    }
    groups_free(some);
    return found;
}

int main(void)
{
    TCase *tests = tcase_create("blame_throttled_live");
    tcase_set_timeout(tests, 600); /* only there to end what hangs */

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!live_can_measure())
        return 0;
    if (!has_limits()) {
        puts("1..0 # SKIP no controller of CPU time where groups are made");
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, test_a_limit_takes_what_it_throttles, 1, 3);
    tcase_add_test(tests, test_a_limit_takes_the_first_wait_that_is_measured);
    tcase_add_loop_test(tests, test_on_an_idle_cpu_all_is_by_the_limit, 0,
                        (int)(sizeof(loads) / sizeof(loads[0])));
    tcase_add_test(tests, test_a_limit_takes_what_is_left_of_a_wait_that_moves);
    return run_suite("blame_throttled_live", tests);
}
