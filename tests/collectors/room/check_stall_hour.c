/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_stall_hour.c - stalls of the last hour: what is summed up, and what is too
 * old.
 */
#include <check.h>

#include "headroom/clock.h"
#include "headroom/stall_hour.h"
#include "support/suite.h"

#define MINUTE_NS (60 * HR_NS_PER_S)
#define BEGUN_NS  (10000 * MINUTE_NS)

static struct hr_stall_hour hour;
static double pct[HR_STALL_PART_COUNT];

static void set_up(void)
{
    hour = (struct hr_stall_hour){.latest = 0};
}

/* A minute, of which tasks were stalled for a part by a limit, and 5 % by neighbours. */
static void add_minute(unsigned minute, double limit_pct)
{
    const double added[HR_STALL_PART_COUNT] = {
        [HR_STALL_BY_LIMIT] = limit_pct, [HR_STALL_BY_NEIGHBOURS] = 5};

    hr_stall_hour_add(&hour, BEGUN_NS + minute * MINUTE_NS, HR_PSI_CPU, 60, added);
}

static double sum_up(unsigned minute, enum hr_psi_resource resource)
{
    return hr_stall_hour_sum(&hour, BEGUN_NS + minute * MINUTE_NS, resource, pct);
}

START_TEST(nothing_is_known)
{
    ck_assert_double_eq(sum_up(0, HR_PSI_CPU), 0);
    ck_assert_double_eq(pct[HR_STALL_BY_LIMIT], 0);
}
END_TEST

START_TEST(a_mean_of_what_is_known)
{
    add_minute(0, 80);
    for (unsigned minute = 1; minute < 4; minute++)
        add_minute(minute, 0);
    ck_assert_double_eq(sum_up(4, HR_PSI_CPU), 240);
    ck_assert_double_eq(pct[HR_STALL_BY_LIMIT], 20);
    ck_assert_double_eq(pct[HR_STALL_BY_NEIGHBOURS], 5);
    ck_assert_double_eq(pct[HR_STALL_BY_UNKNOWN], 0);
    ck_assert_double_eq(sum_up(4, HR_PSI_MEMORY), 0);
}
END_TEST

/* Of two hours the last 55 minutes and what the latest part has. */
START_TEST(what_is_older_is_left_out)
{
    for (unsigned minute = 0; minute < 120; minute++)
        add_minute(minute, minute < 65 ? 100 : 10);
    ck_assert_double_eq(sum_up(119, HR_PSI_CPU), 3600);
    ck_assert_double_eq_tol(pct[HR_STALL_BY_LIMIT], 100 * 5 / 60. + 10 * 55 / 60., 1e-9);
    ck_assert_double_eq(sum_up(120, HR_PSI_CPU), 3300);
    ck_assert_double_eq(pct[HR_STALL_BY_LIMIT], 10);
    ck_assert_double_eq(sum_up(120 + 56, HR_PSI_CPU), 0);
}
END_TEST

START_TEST(a_pause_is_not_known)
{
    for (unsigned minute = 0; minute < 60; minute++)
        add_minute(minute, 100);
    add_minute(90, 0);
    ck_assert_double_eq(sum_up(90, HR_PSI_CPU), 25 * 60 + 60);
    add_minute(1000, 0);
    ck_assert_double_eq(sum_up(1000, HR_PSI_CPU), 60);
}
END_TEST

/* Of an interval of an hour five minutes count, and sums don't overflow. */
START_TEST(long_intervals)
{
    const double all[HR_STALL_PART_COUNT] = {[HR_STALL_BY_IRQ] = 100};

    for (int i = 0; i < 9; i++)
        hr_stall_hour_add(&hour, BEGUN_NS, HR_PSI_IO, 3600, all);
    ck_assert_double_eq(sum_up(0, HR_PSI_IO), 655.35);
    ck_assert_double_eq(pct[HR_STALL_BY_IRQ], 100);
}
END_TEST

START_TEST(what_may_be_used)
{
    add_minute(0, 1);
    ck_assert(hr_stall_hour_is_valid(&hour, BEGUN_NS));
    ck_assert(!hr_stall_hour_is_valid(&hour, BEGUN_NS - 5 * MINUTE_NS));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("stall_hour");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, nothing_is_known);
    tcase_add_test(tests, a_mean_of_what_is_known);
    tcase_add_test(tests, what_is_older_is_left_out);
    tcase_add_test(tests, a_pause_is_not_known);
    tcase_add_test(tests, long_intervals);
    tcase_add_test(tests, what_may_be_used);
    return run_suite("stall_hour", tests);
}
