/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_array.c - arrays that grow, and finding in those that are sorted.
 */
#include <check.h>

#include "headroom/array.h"
#include "support/suite.h"

START_TEST(grows_by_doubling_and_keeps_what_is_there)
{
    int *items = NULL;
    size_t capacity = 0;

    ck_assert_int_eq(HR_ARRAY_RESERVE(items, capacity, 1), 0);
    ck_assert_uint_eq(capacity, 16);
    for (int i = 0; i < 16; i++)
        items[i] = i;
    ck_assert_int_eq(HR_ARRAY_RESERVE(items, capacity, 17), 0);
    ck_assert_uint_eq(capacity, 32);
    ck_assert_int_eq(HR_ARRAY_RESERVE(items, capacity, 100), 0);
    ck_assert_uint_eq(capacity, 100);
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(items[i], i);
    free(items);
}
END_TEST

/* The same by looking at one after the other. */
static size_t find_slowly(const int *items, size_t count, int wanted)
{
    size_t i = 0;

    while (i < count && items[i] < wanted)
        i++;
    return i;
}

START_TEST(finds_the_first_that_is_not_before)
{
    static const int items[] = {1, 3, 3, 3, 4, 7, 7, 9};

    for (size_t count = 0; count <= sizeof(items) / sizeof(items[0]); count++)
        for (int wanted = 0; wanted <= 10; wanted++)
            ck_assert_uint_eq(HR_ARRAY_FIND_FIRST(count, i, items[i] < wanted),
                              find_slowly(items, count, wanted));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("array");

    tcase_add_test(tests, grows_by_doubling_and_keeps_what_is_there);
    tcase_add_test(tests, finds_the_first_that_is_not_before);
    return run_suite("array", tests);
}
