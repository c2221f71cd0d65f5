/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_trend.c - slopes by Theil and Sen, against answers worked out by hand.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "room/trend.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The ten slopes of the first are -1 -1 1/3 1/2 3/4 1 1 4/3 2 3. */
static const struct {
    float points[10];
    size_t count;
    double slope;
} rows[] = {
    {{1, 3, 2, 5, 4}, 5, 0.875},
    {{0, 1}, 2, 1},
    {{5, 5, 5, 5}, 4, 0},
    {{4, 3, 2, 1}, 4, -1},
    {{2, 4, 9}, 3, 3.5},
    {{10, 11, 12, 1000, 14, 15, 16, -500, 18, 19}, 10, 1},
    {{1, NAN, 3, 4, NAN, 6}, 6, 1},
    {{7, NAN, 3}, 3, -2},
    {{281474976710656.f, 281476050452480.f}, 2, 1073741824}, /* 256 TiB, and one GiB more */
};

START_TEST(finds_the_median_slope)
{
    double slope = NAN;

    ck_assert_int_eq(hr_trend_slope(rows[_i].points, rows[_i].count, &slope), 0);
    ck_assert_double_eq_tol(slope, rows[_i].slope, 1e-12);
}
END_TEST

START_TEST(needs_two_thirds_of_the_points)
{
    static const float too_few[] = {1, NAN, NAN, 2, NAN, 3}, one[] = {1}, none[] = {NAN, NAN};
    struct hr_trend trend;
    double slope = 42;

    ck_assert_int_eq(hr_trend_slope(too_few, COUNT(too_few), &slope), -ENODATA);
    ck_assert_int_eq(hr_trend_fit(too_few, COUNT(too_few), &trend), -ENODATA);
    ck_assert_int_eq(hr_trend_slope(one, 1, &slope), -ENODATA);
    ck_assert_int_eq(hr_trend_slope(none, COUNT(none), &slope), -ENODATA);
    ck_assert_double_eq(slope, 42);
}
END_TEST

START_TEST(a_line_has_no_interval)
{
    float points[HR_TREND_POINTS];
    struct hr_trend trend;

    for (int i = 0; i < HR_TREND_POINTS; i++)
        points[i] = (float)(100 + 3 * i);
    ck_assert_int_eq(hr_trend_fit(points, HR_TREND_POINTS, &trend), 0);
    ck_assert_double_eq_tol(trend.slope, 3, 1e-12);
    ck_assert_double_eq_tol(trend.low, 3, 1e-12);
    ck_assert_double_eq_tol(trend.high, 3, 1e-12);
    ck_assert_double_eq_tol(trend.level, 187, 1e-9);
}
END_TEST

/* Digits of pi; the slopes were sorted by another program: of 435 the 140th and the 296th. */
START_TEST(interval_of_noise)
{
    static const float points[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9,
                                   3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7};
    struct hr_trend trend;

    ck_assert_int_eq(hr_trend_fit(points, COUNT(points), &trend), 0);
    ck_assert_double_eq_tol(trend.slope, 0, 1e-12);
    ck_assert_double_eq_tol(trend.low, -1.0 / 13, 1e-12);
    ck_assert_double_eq_tol(trend.high, 1.0 / 9, 1e-12);
    /* Without a slope the level is the 27th of the points in order. */
    ck_assert_double_eq_tol(trend.level, 8, 1e-12);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("trend");

    tcase_add_loop_test(tests, finds_the_median_slope, 0, COUNT(rows));
    tcase_add_test(tests, needs_two_thirds_of_the_points);
    tcase_add_test(tests, a_line_has_no_interval);
    tcase_add_test(tests, interval_of_noise);
    return run_suite("trend", tests);
}
