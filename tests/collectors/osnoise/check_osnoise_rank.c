/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_rank.c - the rank of the workload's threads. The machine's tasks are files,
 * and the calls that rank them are counted.
 */
#include "collectors/osnoise/run_harness.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "support/fake_tracefs.h"
#include "support/suite.h"

/* Bits of the field `flags` of /proc/PID/stat. */
#define KERNEL_THREAD 0x00200000

/* --- The calls ------------------------------------------------------------ */

static char calls[512];
static int policy_before, nice_before, refusal;

static void note(const char *what, int task, int a, int b)
{
    size_t length = strlen(calls);

    snprintf(calls + length, sizeof(calls) - length, "%s %d %d %d\n", what, task, a, b);
}

static int result(void)
{
    errno = refusal;
    return refusal == 0 ? 0 : -1;
}

int __wrap_sched_getscheduler(pid_t task);
int __wrap_sched_setscheduler(pid_t task, int policy, const struct sched_param *param);
int __wrap_getpriority(__priority_which_t which, id_t task);
int __wrap_setpriority(__priority_which_t which, id_t task, int nice);

int __wrap_sched_getscheduler(__attribute__((unused)) pid_t task)
{
    return policy_before;
}

int __wrap_sched_setscheduler(pid_t task, int policy, const struct sched_param *param)
{
    note("scheduler", (int)task, policy, param->sched_priority);
    return result();
}

int __wrap_getpriority(__attribute__((unused)) __priority_which_t which,
                       __attribute__((unused)) id_t task)
{
    return nice_before;
}

int __wrap_setpriority(__attribute__((unused)) __priority_which_t which, id_t task, int nice)
{
    note("nice", (int)task, nice, 0);
    return result();
}

/* --- The machine ---------------------------------------------------------- */

static void add_task(int pid, const char *name, unsigned flags)
{
    char file[64];

    snprintf(file, sizeof(file), "proc/%d/stat", pid);
    tree_write(tree, file, "%d (%s) S 2 0 0 0 -1 %u 0 0 0 0 0 0 0 0 20 0 1 0 99 0 0\n", pid, name,
               flags);
}

static void set_up(void)
{
    calls[0] = '\0';
    policy_before = SCHED_OTHER;
    nice_before = refusal = 0;
    add_task(7, "osnoise/1", 0); /* anyone may have that name */
    add_task(40, "kworker/1:0", KERNEL_THREAD);
    add_task(41, "osnoise/1", KERNEL_THREAD);
    add_task(42, "osnoise/2", KERNEL_THREAD);
    add_task(43, "osnoise/3", KERNEL_THREAD); /* isn't measured */
    add_task(44, "osnoise/1x", KERNEL_THREAD);
}

static void begin(const struct hr_priority *priority)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1-2");

    options.priority = *priority;
    begin_run(&options);
}

/* --- Tests ---------------------------------------------------------------- */

static const struct {
    struct hr_priority priority;
    int policy_before, nice_before;
    const char *expected;
} rows[] = {
    {{HR_POLICY_IDLE, 0}, SCHED_OTHER, 0, "scheduler 42 5 0\nscheduler 41 5 0\n"},
    {{HR_POLICY_IDLE, 0}, SCHED_IDLE, 0, ""},
    {{HR_POLICY_OTHER, 0}, SCHED_OTHER, 0, ""},
    {{HR_POLICY_OTHER, -5}, SCHED_OTHER, 0, "nice 42 -5 0\nnice 41 -5 0\n"},
    {{HR_POLICY_OTHER, -5}, SCHED_OTHER, -5, ""},
    {{HR_POLICY_ROUND_ROBIN, 1}, SCHED_OTHER, 0, "scheduler 42 2 1\nscheduler 41 2 1\n"},
    {{HR_POLICY_FIFO, 99}, SCHED_OTHER, 0, "scheduler 42 1 99\nscheduler 41 1 99\n"},
};

START_TEST(threads_get_the_rank)
{
    policy_before = rows[_i].policy_before;
    nice_before = rows[_i].nice_before;
    begin(&rows[_i].priority);
    ck_assert_str_eq(calls, rows[_i].expected);
    read_run();
    ck_assert_int_eq(reading.warning.error, 0);
}
END_TEST

static void expect_at_end(int policy, const char *expected)
{
    begin(&(struct hr_priority){HR_POLICY_OTHER, 0});
    policy_before = policy;
    calls[0] = '\0';
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert_str_eq(calls, expected);
}

/* While they are, everything waits that wants the lock of tracers. */
START_TEST(idle_threads_are_ordinary_ones_when_they_are_stopped)
{
    expect_at_end(SCHED_IDLE, "scheduler 42 0 0\nscheduler 41 0 0\n");
}
END_TEST

/* What polls at a higher rank would keep them from ending for ever. */
START_TEST(real_time_threads_have_the_highest_rank_when_they_are_stopped)
{
    expect_at_end(SCHED_FIFO, "scheduler 42 1 99\nscheduler 41 1 99\n");
}
END_TEST

START_TEST(no_other_threads_are_changed_when_they_are_stopped)
{
    expect_at_end(SCHED_OTHER, "");
}
END_TEST

START_TEST(without_permission_nothing_begins)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");

    refusal = EPERM;
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EPERM);
    /* Root and other users get the same text: what helps either. */
    ck_assert_int_eq(reason.error, -EPERM);
    ck_assert_str_eq(reason.text,
                     "no permission to give the workload the priority idle: add "
                     "CAP_SYS_NICE (of a service AmbientCapabilities= and CapabilityBoundingSet=, "
                     "of a container --cap-add; elsewhere root has it), or take the priority o:0, "
                     "by which it takes its runtime from other tasks");
    assert_restored();
}
END_TEST

START_TEST(a_thread_that_has_ended_is_no_error)
{
    const struct hr_priority idle = {0};

    refusal = ESRCH;
    begin(&idle);
}
END_TEST

START_TEST(threads_that_cant_be_seen)
{
    const struct hr_priority priority = {_i == 0 ? HR_POLICY_IDLE : HR_POLICY_OTHER, 0};

    tree_remove(tree, "proc/41");
    tree_remove(tree, "proc/42");
    begin(&priority);
    read_run();
    if (_i == 0)
        ck_assert_ptr_nonnull(strstr(reading.warning.text, "can't be seen"));
    else
        ck_assert_int_eq(reading.warning.error, 0);
}
END_TEST

START_TEST(a_thread_of_a_cpu_that_comes_online_gets_it_too)
{
    const struct hr_priority idle = {0};

    begin(&idle);
    tree_write(tree, "sys/devices/system/cpu/online", "%s", "0-1,3\n");
    tree_remove(tree, "proc/42");
    read_run();
    policy_before = SCHED_IDLE;
    add_task(45, "osnoise/2", KERNEL_THREAD);
    calls[0] = '\0';
    read_run();
    ck_assert_str_eq(calls, "");
    policy_before = SCHED_OTHER;
    tree_write(tree, "sys/devices/system/cpu/online", "%s", "0-3\n");
    read_run();
    ck_assert_ptr_nonnull(strstr(calls, "scheduler 45 5 0\n"));
    calls[0] = '\0';
    read_run(); /* the kernel may start it a little later */
    ck_assert_ptr_nonnull(strstr(calls, "scheduler 45 5 0\n"));
    calls[0] = '\0';
    read_run();
    ck_assert_str_eq(calls, "");
}
END_TEST

static struct hr_osnoise_options timers_of(int priority)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_TIMERLAT, "1-2");

    options.timerlat.priority = (struct hr_priority){HR_POLICY_FIFO, priority};
    add_task(46, "timerlat/1", KERNEL_THREAD);
    add_task(47, "timerlat/2", KERNEL_THREAD);
    return options;
}

/* The kernel starts them with 95. */
START_TEST(threads_of_timers_get_another_rank)
{
    const struct hr_osnoise_options options = timers_of(_i == 0 ? 95 : 80);

    begin_run(&options);
    ck_assert_str_eq(calls, _i == 0 ? "" : "scheduler 47 1 80\nscheduler 46 1 80\n");
}
END_TEST

START_TEST(without_permission_timers_keep_their_rank)
{
    const struct hr_osnoise_options options = timers_of(80);

    refusal = EPERM;
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EPERM);
    assert_reason(-EPERM, "the priority f:80: add CAP_SYS_NICE");
    assert_reason(-EPERM, "or leave the priority as it is");
    assert_restored();
}
END_TEST

START_TEST(threads_of_timers_that_cant_be_seen)
{
    const struct hr_osnoise_options options = timers_of(80);

    tree_remove(tree, "proc/41");
    tree_remove(tree, "proc/42");
    tree_remove(tree, "proc/46");
    tree_remove(tree, "proc/47");
    begin_run(&options);
    read_run();
    ck_assert_ptr_nonnull(strstr(reading.warning.text, "keep the priority f:95"));
}
END_TEST

START_TEST(other_modes_rank_nothing)
{
    begin_mode(HR_OSNOISE_SOURCES, "");
    ck_assert_str_eq(calls, "");
    read_run();
    ck_assert_int_eq(reading.warning.error, 0);
}
END_TEST

int main(void)
{
    TCase *tests = new_run_tests("osnoise rank");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_loop_test(tests, threads_get_the_rank, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tests, idle_threads_are_ordinary_ones_when_they_are_stopped);
    tcase_add_test(tests, real_time_threads_have_the_highest_rank_when_they_are_stopped);
    tcase_add_test(tests, no_other_threads_are_changed_when_they_are_stopped);
    tcase_add_test(tests, without_permission_nothing_begins);
    tcase_add_test(tests, a_thread_that_has_ended_is_no_error);
    tcase_add_loop_test(tests, threads_that_cant_be_seen, 0, 2);
    tcase_add_test(tests, a_thread_of_a_cpu_that_comes_online_gets_it_too);
    tcase_add_loop_test(tests, threads_of_timers_get_another_rank, 0, 2);
    tcase_add_test(tests, without_permission_timers_keep_their_rank);
    tcase_add_test(tests, threads_of_timers_that_cant_be_seen);
    tcase_add_test(tests, other_modes_rank_nothing);
    return run_suite("osnoise rank", tests);
}
