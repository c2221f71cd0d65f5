/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_stall_cause_live.c - stalls of known cause on the running kernel: it must
 * be the first that is given, in each of several rounds.
 *
 * Weights let the groups win against whatever else the machine does; only where neighbours are
 * wanted they have none.
 */
#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/room/stall_harness.h"
#include "support/suite.h"

#define CPU 0

static void set_up(void)
{
    set_up_groups("cpu");
}

static pid_t start_loop(const char *name)
{
    return join_group(name, groups_start_busy(groups, name, CPU));
}

static void limit_cpu(const char *name, unsigned quota_us)
{
    char max[32], quota[32];

    snprintf(max, sizeof(max), "%u 100000", quota_us);
    snprintf(quota, sizeof(quota), "%u", quota_us);
    limit_group(name, "cpu.max", max, "cpu.cfs_quota_us", quota);
}

START_TEST(finds_its_own_cpu_limit)
{
    make_group("a");
    prefer("a");
    limit_cpu("a", 30000);
    start_loop("a");
    struct hr_stall_cause cause = first_cause("a", HR_PSI_CPU);
    ck_assert_int_eq(cause.kind, HR_STALL_OWN_LIMIT);
    ck_assert_int_eq(cause.limit_kind, HR_STALL_CPU_MAX);
    ck_assert_double_eq_tol(cause.limit, 0.3, 1e-9);
}
END_TEST

START_TEST(finds_the_cpu_limit_of_the_group_above)
{
    char above[128];

    make_parent("p");
    make_group("p/a");
    prefer("p");
    limit_cpu("p", 30000);
    start_loop("p/a");
    struct hr_stall_cause cause = first_cause("p/a", HR_PSI_CPU);
    ck_assert_int_eq(cause.kind, HR_STALL_ANCESTOR_LIMIT);
    snprintf(above, sizeof(above), "%s/p", groups_path(groups));
    ck_assert_str_eq(cause.group, above);
    ck_assert_double_eq_tol(cause.limit, 0.3, 1e-9);
}
END_TEST

START_TEST(finds_the_cpu_limit_of_a_group_below)
{
    make_parent("p");
    make_group("p/a");
    prefer("p");
    limit_cpu("p/a", 30000);
    start_loop("p/a");
    ck_assert_int_eq(first_cause("p", HR_PSI_CPU).kind, HR_STALL_LIMITS_BELOW);
}
END_TEST

START_TEST(finds_neighbours)
{
    make_group("a");
    make_group("b");
    start_loop("a");
    start_loop("b");
    ck_assert_int_eq(first_cause("a", HR_PSI_CPU).kind, HR_STALL_NEIGHBOURS);
}
END_TEST

START_TEST(a_limit_that_is_not_reached_leaves_it_to_neighbours)
{
    make_group("a");
    make_group("b");
    limit_cpu("a", 95000);
    start_loop("a");
    start_loop("b");
    ck_assert_int_eq(first_cause("a", HR_PSI_CPU).kind, HR_STALL_NEIGHBOURS);
}
END_TEST

START_TEST(finds_the_group_itself)
{
    make_group("a");
    prefer("a");
    start_loop("a");
    start_loop("a");
    ck_assert_int_eq(first_cause("a", HR_PSI_CPU).kind, HR_STALL_ITSELF);
}
END_TEST

/* The scheduler leaves some time of each second to ordinary tasks. */
START_TEST(finds_a_real_time_loop_outside)
{
    const struct sched_param priority = {.sched_priority = 10};

    make_group("a");
    make_group("b");
    start_loop("a");
    pid_t loop = groups_start_busy(groups, "b", CPU);
    ck_assert_int_eq(sched_setscheduler(loop, SCHED_FIFO, &priority), 0);
    ck_assert_int_eq(first_cause("a", HR_PSI_CPU).kind, HR_STALL_NEIGHBOURS);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("live");
    const char *reason = why_not("cpu", "cpu.max", "cpu.cfs_quota_us");

    if (reason != NULL) {
        printf("1..0 # SKIP %s\n", reason);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down_groups);
    tcase_add_loop_test(tests, finds_its_own_cpu_limit, 0, rounds());
    tcase_add_loop_test(tests, finds_the_cpu_limit_of_the_group_above, 0, rounds());
    tcase_add_loop_test(tests, finds_the_cpu_limit_of_a_group_below, 0, rounds());
    tcase_add_loop_test(tests, finds_neighbours, 0, rounds());
    tcase_add_loop_test(tests, a_limit_that_is_not_reached_leaves_it_to_neighbours, 0, rounds());
    tcase_add_loop_test(tests, finds_the_group_itself, 0, rounds());
    /* It takes a CPU from all else. */
    if (getenv("HEADROOM_EMULATED") != NULL)
        tcase_add_loop_test(tests, finds_a_real_time_loop_outside, 0, rounds());
    tcase_set_timeout(tests, 60);
    return run_suite("live", tests);
}
