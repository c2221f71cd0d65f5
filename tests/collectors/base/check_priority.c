/* SPDX-License-Identifier: MIT */
/*
 * base/check_priority.c - ranks of tasks as users write them.
 */
#include <check.h>
#include <errno.h>

#include "headroom/priority.h"
#include "support/suite.h"

static const struct {
    const char *text;
    enum hr_policy policy;
    int value;
} good[] = {
    {"idle", HR_POLICY_IDLE, 0},       {"o:0", HR_POLICY_OTHER, 0},
    {"o:-20", HR_POLICY_OTHER, -20},   {"o:19", HR_POLICY_OTHER, 19},
    {"r:1", HR_POLICY_ROUND_ROBIN, 1}, {"f:99", HR_POLICY_FIFO, 99},
};

START_TEST(good_ones)
{
    struct hr_priority priority = {HR_POLICY_FIFO, 7};
    char text[16];

    ck_assert_int_eq(hr_priority_parse(good[_i].text, &priority), 0);
    ck_assert_int_eq(priority.policy, good[_i].policy);
    ck_assert_int_eq(priority.value, good[_i].value);
    ck_assert_str_eq(hr_priority_format(&priority, text), good[_i].text);
}
END_TEST

static const char *const bad[] = {
    "",    "idle ", "Idle", "o",     "o:",   "o:20",  "o:-21", "o:+1", "o: 1",    "o:1 ",
    "o:-", "o:1-",  "r:0",  "f:100", "f:-1", "d:1:2", "f:1x",  "i:0",  "o:00001",
};

START_TEST(bad_ones)
{
    struct hr_priority priority = {HR_POLICY_FIFO, 7};

    ck_assert_int_eq(hr_priority_parse(bad[_i], &priority), -EINVAL);
    ck_assert_int_eq(priority.policy, HR_POLICY_FIFO);
    ck_assert_int_eq(priority.value, 7);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("priority");

    tcase_add_loop_test(tests, good_ones, 0, sizeof(good) / sizeof(good[0]));
    tcase_add_loop_test(tests, bad_ones, 0, sizeof(bad) / sizeof(bad[0]));
    return run_suite("priority", tests);
}
