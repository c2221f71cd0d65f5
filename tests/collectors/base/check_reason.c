/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_reason.c - the cause and the remedy of a reason, whatever names are in it.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/reason.h"
#include "support/suite.h"

static struct hr_reason reason;

static void assert_parts(const char *cause, const char *remedy)
{
    size_t length = 4711;
    const char *found = hr_reason_remedy(&reason, &length);

    ck_assert_uint_eq(length, strlen(cause));
    ck_assert(strncmp(reason.text, cause, length) == 0);
    if (remedy == NULL)
        ck_assert_ptr_null(found);
    else
        ck_assert_str_eq(found, remedy);
}

START_TEST(has_a_cause_and_a_remedy)
{
    ck_assert_int_eq(hr_reason_set(&reason, -EBUSY, "%d of 100 %% are taken: wait", 7), -EBUSY);
    ck_assert_int_eq(reason.error, -EBUSY);
    assert_parts("7 of 100 % are taken", "wait");
    hr_reason_set(&reason, -EBUSY, "nothing helps");
    assert_parts("nothing helps", NULL);
    hr_reason_set(&reason, -EINVAL, "%s", "too long: shorten it");
    assert_parts("too long", "shorten it");
    hr_reason_clear(&reason);
    assert_parts("", NULL);
}
END_TEST

START_TEST(names_may_have_colons)
{
    hr_reason_set(&reason, -EBUSY, "%s uses it: end %s", "tracer: \x1b[2J", "a: b");
    assert_parts("tracer: ?[2J uses it", "end a: b");
}
END_TEST

/* What doesn't fit has no remedy. */
START_TEST(long_names_leave_no_room)
{
    char name[600];

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    hr_reason_set(&reason, -EBUSY, "%s uses it: end it", name);
    name[sizeof(reason.text) - 1] = '\0';
    assert_parts(name, NULL);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("reason");

    tcase_add_test(tests, has_a_cause_and_a_remedy);
    tcase_add_test(tests, names_may_have_colons);
    tcase_add_test(tests, long_names_leave_no_room);
    return run_suite("reason", tests);
}
