/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/check_plugin_complaint.c - when a count or a problem is logged: once, again when it
 * has grown or its cause has changed, and after an hour, whatever happens to the wall clock.
 */
#include <check.h>
#include <errno.h>

#include "common/complaint.h"
#include "headroom/clock.h"
#include "support/fake_collectd.h"
#include "support/frozen_clock.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void set_up(void)
{
    fake_start_parts();
    frozen_ns = hr_clock_ns();
}

static void tear_down(void)
{
    frozen_ns = 0;
    fake_stop();
}

START_TEST(logs_a_count_that_doubled)
{
    static const struct {
        size_t count;
        bool logged;
    } counts[] = {{0, false}, {1, true},  {1, false}, {2, true},  {3, false},
                  {0, false}, {3, false}, {4, true},  {1, false}, {9, true}};
    struct tally tally = {0};

    for (size_t i = 0; i < COUNT(counts); i++)
        ck_assert_msg(tally_should_log(&tally, counts[i].count) == counts[i].logged, "%zu", i);
}
END_TEST

START_TEST(forgets_after_an_hour)
{
    struct tally tally = {0};

    ck_assert(tally_should_log(&tally, 8));
    frozen_ns += 3600 * HR_NS_PER_S;
    ck_assert(!tally_should_log(&tally, 0));
    ck_assert(!tally_should_log(&tally, 8)); /* which counts as seen */
    frozen_ns += 3601 * HR_NS_PER_S;
    ck_assert(!tally_should_log(&tally, 0));
    ck_assert(tally_should_log(&tally, 1));
    frozen_ns = 0; /* Check, which measures how long a test takes, can't count hours */
}
END_TEST

/* Set by hand, or by NTP after a start without a battery. */
static const int64_t steps_s[] = {-7200, -1, 7200, 20 * 365 * 86400};

START_TEST(ignores_steps_of_the_wall_clock)
{
    struct tally tally = {0};

    fake_set_time(TIME_T_TO_CDTIME_T(1800000000));
    ck_assert(tally_should_log(&tally, 8));
    fake_set_time(TIME_T_TO_CDTIME_T(1800000000 + steps_s[_i]));
    ck_assert(!tally_should_log(&tally, 0));
    ck_assert(!tally_should_log(&tally, 8));
}
END_TEST

START_TEST(logs_a_problem_once_per_cause)
{
    struct complaint complaint = {0};

    complaint_resolve(&complaint, "x: never was.");
    complaint_log(&complaint, LOG_WARNING, -EACCES, "x: no permission for %s.", "a\x1b[2J");
    complaint_log(&complaint, LOG_WARNING, -EACCES, "x: no permission for b.");
    complaint_log(&complaint, LOG_ERR, -ENOENT, "x: missing.");
    complaint_resolve(&complaint, "x: there again.");
    complaint_resolve(&complaint, "x: there again.");
    ck_assert_str_eq(fake_log(0), "warning: x: no permission for a?[2J.");
    ck_assert_str_eq(fake_log(1), "error: x: missing.");
    ck_assert_str_eq(fake_log(2), "info: x: there again.");
    ck_assert_ptr_null(fake_log(3));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("complaint");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, logs_a_count_that_doubled);
    tcase_add_test(tests, forgets_after_an_hour);
    tcase_add_loop_test(tests, ignores_steps_of_the_wall_clock, 0, COUNT(steps_s));
    tcase_add_test(tests, logs_a_problem_once_per_cause);
    return run_suite("plugin complaint", tests);
}
