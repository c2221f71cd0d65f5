/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_forecast.c - forecasts of levels whose course is known: loads without a
 * leak must not be taken for one, and leaks must be found, in compressed time.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "headroom/clock.h"
#include "headroom/forecast.h"
#include "support/baselines.h"
#include "support/loads.h"
#include "support/suite.h"

#define POINT_S 20
#define STEP_S  LOADS_STEP_S
#define HOUR    3600.0
#define GROUPS  20

/* --- Running ------------------------------------------------------------------------ */

static struct hr_outlook update(struct hr_forecast *forecast, double t, double level, double limit)
{
    struct hr_outlook outlook;

    hr_forecast_update(forecast, (uint64_t)((t + 123456) * 1e9), level, limit, &outlook);
    return outlook;
}

/* How often a group is taken to leak, by the forecast, and by least squares. */
struct episodes {
    int of_forecast, of_least_squares;
};

static void count_episodes(size_t load, int group, double hours, double limit,
                           struct episodes *episodes)
{
    struct hr_forecast forecast;
    struct least_squares past = {.count = 0};
    bool was_trend = false, was_expected = false;

    double begin = loads_begin(load, group, GROUPS);
    hr_forecast_init(&forecast, POINT_S * HR_NS_PER_S);
    for (double t = 0; t < hours * HOUR; t += STEP_S) {
        double level = loads_level(load, begin + t);
        bool is_trend = update(&forecast, t, level, limit).is_trend;
        bool is_expected = least_squares_expects(&past, level, limit);
        episodes->of_forecast += is_trend && !was_trend;
        episodes->of_least_squares += is_expected && !was_expected;
        was_trend = is_trend;
        was_expected = is_expected;
    }
}

/* In how many of the sets of twenty groups in which loads take turns more than one is taken for a
 * leak. */
static int count_sets_beyond_one(int of[LOADS_COUNT][GROUPS])
{
    int beyond = 0;

    for (int set = 0; set < LOADS_COUNT; set++) {
        int sum = 0;
        for (int group = 0; group < GROUPS; group++)
            sum += of[(group + set) % LOADS_COUNT][group];
        printf("# of the twenty of set %d: %d\n", set, sum);
        beyond += sum > 1;
    }
    return beyond;
}

/* Of groups whose highest level is two thirds of the limit to nine tenths, which is where an
 * operator would leave them. */
START_TEST(takes_no_load_for_a_leak)
{
    struct episodes all = {0, 0};
    int of[LOADS_COUNT][GROUPS];

    for (size_t load = 0; load < LOADS_COUNT; load++) {
        struct episodes of_load = {0, 0};
        for (int group = 0; group < GROUPS; group++) {
            const int before = of_load.of_forecast;
            count_episodes(load, group, 6, 110 + 40.0 * group / GROUPS, &of_load);
            of[load][group] = of_load.of_forecast - before;
        }
        printf("# %s: %d false episodes of %d groups in 6 hours, by least squares %d\n",
               loads_name(load), of_load.of_forecast, GROUPS, of_load.of_least_squares);
        all.of_forecast += of_load.of_forecast;
        all.of_least_squares += of_load.of_least_squares;
    }
    printf("# in all %d, by least squares %d\n", all.of_forecast, all.of_least_squares);
    const int beyond = count_sets_beyond_one(of);
    fflush(stdout);
    ck_assert_int_le(all.of_forecast, LOADS_COUNT); /* one of twenty groups */
    ck_assert_int_le(beyond, 1);
    ck_assert_int_lt(10 * all.of_forecast, all.of_least_squares);
}
END_TEST

/* --- Leaks --------------------------------------------------------------------------- */

static double clean(double t)
{
    (void)t;
    return 0;
}

static double noisy(double t)
{
    (void)t;
    return 2 * loads_normal();
}

static double saw(double t)
{
    return 10 * fmod(t, 120) / 120 + loads_normal();
}

/* Grows from 50 to the limit of 250 after two quiet hours. */
static const struct {
    const char *name;
    double (*noise)(double t);
    double life_s, tolerance;
} leaks[] = {
    {"clean", clean, 1800, 0.15}, {"clean", clean, 3600, 0.15}, {"clean", clean, 14400, 0.15},
    {"noisy", noisy, 1800, 0.35}, {"noisy", noisy, 3600, 0.35}, {"noisy", noisy, 14400, 0.35},
    {"garbage", saw, 1800, 0.35}, {"garbage", saw, 3600, 0.35}, {"garbage", saw, 14400, 0.35},
};

#define LEAK_COUNT (sizeof(leaks) / sizeof(leaks[0]))

static struct hr_outlook outlook_at_half_life(int leak, int group, double *left_s)
{
    const double begin = 2 * HOUR, life_s = leaks[leak].life_s;
    struct hr_forecast forecast;
    struct hr_outlook outlook;

    loads_seed((uint64_t)group * 7919 + (uint64_t)leak);
    hr_forecast_init(&forecast, POINT_S * HR_NS_PER_S);
    for (double t = 0;; t += STEP_S) {
        double level = 50 + leaks[leak].noise(t) + 200 * fmax(t - begin, 0) / life_s;
        outlook = update(&forecast, t, level, 250);
        *left_s = begin + life_s - t;
        if (*left_s <= life_s / 2)
            return outlook;
    }
}

START_TEST(finds_a_leak)
{
    int in_time = 0, covered = 0, with_interval = 0;
    double worst = 0;

    for (int group = 0; group < GROUPS; group++) {
        double left_s;
        struct hr_outlook outlook = outlook_at_half_life(_i, group, &left_s);
        ck_assert(outlook.is_known);
        ck_assert_msg(outlook.is_trend, "group %d: nothing is expected", group);
        double error = fabs(outlook.trouble_s - left_s) / left_s;
        worst = fmax(worst, error);
        in_time += error <= leaks[_i].tolerance;
        with_interval += outlook.has_interval;
        covered += outlook.has_interval && outlook.early_s <= left_s && left_s <= outlook.late_s;
    }
    printf(
        "# %s leak of %.0f s: at half life within %.0f %% in %d of %d, at worst %.0f %%; interval "
        "of %d, %d have it\n",
        leaks[_i].name, leaks[_i].life_s, 100 * leaks[_i].tolerance, in_time, GROUPS, 100 * worst,
        with_interval, covered);
    fflush(stdout);
    ck_assert_int_ge(in_time, GROUPS / 2);
    ck_assert_int_eq(with_interval, GROUPS);
    ck_assert_int_ge(covered, GROUPS * 85 / 100);
}
END_TEST

/* --- Rules ----------------------------------------------------------------------------- */

/* A level that grows by one a second, from a quiet beginning of so long. */
static struct hr_outlook grow(struct hr_forecast *forecast, double quiet_s, double grow_s,
                              double limit)
{
    struct hr_outlook outlook = {.is_known = false};

    hr_forecast_init(forecast, POINT_S * HR_NS_PER_S);
    for (double t = 0; t < quiet_s + grow_s; t += STEP_S)
        outlook = update(forecast, t, fmax(t - quiet_s, 0), limit);
    return outlook;
}

START_TEST(is_known_after_ten_minutes)
{
    struct hr_forecast forecast;

    ck_assert(!grow(&forecast, 570, 0, 1000).is_known);
    ck_assert(grow(&forecast, 640, 0, 1000).is_known);
}
END_TEST

START_TEST(needs_a_past_to_compare_with)
{
    struct hr_forecast forecast;

    ck_assert(!grow(&forecast, 0, 1100, 2000).is_trend);
    ck_assert(grow(&forecast, 0, 1300, 2000).is_trend);
}
END_TEST

START_TEST(looks_no_further_than_four_windows)
{
    struct hr_forecast forecast;

    ck_assert(!grow(&forecast, 1200, 640, 640 + 2460).is_trend);
    struct hr_outlook outlook = grow(&forecast, 1200, 640, 640 + 2340);
    ck_assert(outlook.is_trend);
    ck_assert_double_eq_tol(outlook.trouble_s, 2340, 30);
    ck_assert_double_eq_tol(outlook.slope_per_s, 1, 1e-6);
    ck_assert_double_eq_tol(outlook.window_s, 600, 1e-9);
}
END_TEST

START_TEST(a_limit_that_is_reached_is_now)
{
    struct hr_forecast forecast;

    ck_assert_double_eq(grow(&forecast, 1200, 640, 600).trouble_s, 0);
}
END_TEST

START_TEST(without_a_limit_nothing_is_expected)
{
    struct hr_forecast forecast;
    struct hr_outlook outlook = grow(&forecast, 1200, 640, INFINITY);

    ck_assert(outlook.is_known);
    ck_assert(!outlook.is_trend);
}
END_TEST

/* The limit is raised while there is a trend. */
START_TEST(heeds_a_limit_that_changes)
{
    struct hr_forecast forecast;

    ck_assert(grow(&forecast, 1200, 640, 1640).is_trend);
    struct hr_outlook outlook = update(&forecast, 1840, 640, 2640);
    ck_assert(outlook.is_trend);
    ck_assert_double_eq_tol(outlook.trouble_s, 2000, 30);
}
END_TEST

START_TEST(ends_with_the_growth)
{
    struct hr_forecast forecast;
    struct hr_outlook outlook = grow(&forecast, 1200, 900, 2000);

    ck_assert(outlook.is_trend);
    for (double t = 2100; t < 2800; t += STEP_S)
        outlook = update(&forecast, t, 600, 2000);
    ck_assert(!outlook.is_trend);
}
END_TEST

/* The same once more, after the peak of the first time. */
START_TEST(what_was_higher_within_a_day_is_no_leak)
{
    struct hr_forecast forecast;

    grow(&forecast, 1200, 1500, 2000);
    for (double t = 2700; t < 10000; t += STEP_S)
        update(&forecast, t, 100, 2000);
    for (double t = 10000; t < 11300; t += STEP_S)
        ck_assert(!update(&forecast, t, 100 + t - 10000, 2000).is_trend);
    /* a day later nothing is left of it */
    for (double t = 11300; t < 110000; t += STEP_S)
        update(&forecast, t, 100, 2000);
    bool is_trend = false;
    for (double t = 110000; t < 111000; t += STEP_S)
        is_trend |= update(&forecast, t, 100 + t - 110000, 2000).is_trend;
    ck_assert(is_trend);
}
END_TEST

/* The machine slept, or collectd had no time: nothing is known of an hour. */
START_TEST(survives_a_gap)
{
    struct hr_forecast forecast;

    grow(&forecast, 1200, 900, 3000);
    ck_assert(!update(&forecast, 6000, 900, 3000).is_trend);
    ck_assert(!update(&forecast, 6040, 900, 3000).is_known);
    struct hr_outlook outlook = {.is_known = false};
    for (double t = 6040; t < 8000; t += STEP_S)
        outlook = update(&forecast, t, 900 + t - 6040, 4000);
    ck_assert(outlook.is_trend);
}
END_TEST

/* A minute is known, and an hour isn't: what follows needs as long a past as it would without. */
START_TEST(needs_a_past_after_a_gap)
{
    struct hr_forecast forecast;
    struct hr_outlook outlook = {.is_known = false};

    grow(&forecast, 60, 0, 2000);
    for (double t = 0; t < 1100; t += STEP_S)
        ck_assert(!update(&forecast, 3660 + t, t, 2000).is_trend);
    for (double t = 1100; t < 1300; t += STEP_S)
        outlook = update(&forecast, 3660 + t, t, 2000);
    ck_assert(outlook.is_trend);
}
END_TEST

/* It was higher, but that was more than a day ago, of most of which nothing is known. */
START_TEST(a_peak_before_a_gap_of_a_day_is_forgotten)
{
    const double after = 3600 + 25 * HOUR;
    struct hr_forecast forecast;
    bool is_trend = false;

    hr_forecast_init(&forecast, POINT_S * HR_NS_PER_S);
    for (double t = 0; t < 3600; t += STEP_S)
        update(&forecast, t, 1500, 2500);
    for (double t = 0; t < 1300; t += STEP_S)
        update(&forecast, after + t, 100, 2500);
    for (double t = 0; t < 1000; t += STEP_S)
        is_trend |= update(&forecast, after + 1300 + t, 100 + t, 2500).is_trend;
    ck_assert(is_trend);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("forecast");

    tcase_add_test(tests, takes_no_load_for_a_leak);
    tcase_add_loop_test(tests, finds_a_leak, 0, LEAK_COUNT);
    tcase_add_test(tests, is_known_after_ten_minutes);
    tcase_add_test(tests, needs_a_past_to_compare_with);
    tcase_add_test(tests, looks_no_further_than_four_windows);
    tcase_add_test(tests, a_limit_that_is_reached_is_now);
    tcase_add_test(tests, without_a_limit_nothing_is_expected);
    tcase_add_test(tests, heeds_a_limit_that_changes);
    tcase_add_test(tests, ends_with_the_growth);
    tcase_add_test(tests, what_was_higher_within_a_day_is_no_leak);
    tcase_add_test(tests, survives_a_gap);
    tcase_add_test(tests, needs_a_past_after_a_gap);
    tcase_add_test(tests, a_peak_before_a_gap_of_a_day_is_forgotten);
    tcase_set_timeout(tests, 60);
    return run_suite("forecast", tests);
}
