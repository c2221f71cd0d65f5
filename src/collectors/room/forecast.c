/* SPDX-License-Identifier: MIT */
/*
 * room/forecast.c - when a growing level reaches its limit; see headroom/forecast.h.
 */
#include "headroom/forecast.h"

#include <math.h>
#include <string.h>

#include "headroom/clock.h"
#include "room/trend.h"

/* Points in a part of the records' time, for the shortest window: 24 parts are a day if that is of
 * ten minutes. */
#define RECORD_POINTS 180

/* So many windows ahead, and no further. */
#define FURTHEST 4

/* Errors that are looked at, and that must be known. */
#define ERRORS_USED   (HR_FORECAST_ERRORS / 2)
#define ERRORS_NEEDED 20

/* Points at which the slope must have been steady. */
#define STEADY_NEEDED 3

_Static_assert(HR_FORECAST_POINTS == HR_TREND_POINTS, "a window is what a trend is made of");

void hr_forecast_init(struct hr_forecast *forecast, uint64_t point_ns)
{
    memset(forecast, 0, sizeof(*forecast));
    forecast->point_ns = point_ns > 0 ? point_ns : 1;
    for (size_t i = 0; i < HR_FORECAST_WINDOWS; i++) {
        struct hr_forecast_window *window = &forecast->windows[i];
        window->highest = NAN;
        for (size_t j = 0; j < HR_FORECAST_AHEAD; j++)
            window->slopes[j] = NAN;
        for (size_t j = 0; j < HR_FORECAST_RECORDS; j++)
            window->records[j] = NAN;
    }
}

/* --- The highest level of a day ---------------------------------------------- */

/* Forgets what is older than a day, once a part of it is over. */
static void advance_records(struct hr_forecast_window *window, uint64_t points,
                            uint64_t part_points)
{
    const uint64_t now = (window->now + points) / part_points;
    uint64_t since = window->now / part_points + 1;

    if (since + HR_FORECAST_RECORDS <= now)
        since = now + 1 - HR_FORECAST_RECORDS;
    for (; since <= now; since++)
        window->records[since % HR_FORECAST_RECORDS] = NAN;
}

/* @param number  of the point at which it left the window: longer ago than a day after a pause. */
static void add_record(struct hr_forecast_window *window, uint64_t number, uint64_t part_points,
                       float level)
{
    const uint64_t part = number / part_points;
    float *record = &window->records[part % HR_FORECAST_RECORDS];

    if (part + HR_FORECAST_RECORDS > window->now / part_points)
        *record = fmaxf(*record, level);
}

static float find_record(const struct hr_forecast_window *window)
{
    float record = NAN;

    for (size_t i = 0; i < HR_FORECAST_RECORDS; i++)
        record = fmaxf(record, window->records[i]);
    return record;
}

/* --- Points ------------------------------------------------------------------- */

/* Of a ring that isn't full yet, the places behind are the oldest, and nothing is known of them. */
void hr_forecast_copy_points(const struct hr_forecast_window *window,
                             float points[HR_FORECAST_POINTS])
{
    for (size_t i = 0; i < HR_FORECAST_POINTS; i++) {
        const size_t at = (window->at_point + i) % HR_FORECAST_POINTS;
        points[i] = i + window->point_count < HR_FORECAST_POINTS ? NAN : window->points[at];
    }
}

double hr_forecast_highest(const struct hr_forecast *forecast)
{
    float highest = NAN, points[HR_FORECAST_POINTS];

    for (size_t i = 0; i < HR_FORECAST_WINDOWS; i++) {
        const struct hr_forecast_window *window = &forecast->windows[i];
        hr_forecast_copy_points(window, points);
        for (size_t j = 0; j < HR_FORECAST_POINTS; j++)
            highest = fmaxf(highest, points[j]);
        highest = fmaxf(fmaxf(highest, find_record(window)), window->highest);
    }
    return (double)highest;
}

/* The point that leaves the window becomes one of those before it, if it is known. */
static void add_point(struct hr_forecast_window *window, uint64_t number, uint64_t part_points,
                      float point)
{
    float *place = &window->points[window->at_point];

    if (window->point_count == HR_FORECAST_POINTS && !isnan(*place)) {
        add_record(window, number, part_points, *place);
        window->older_count += window->older_count < HR_FORECAST_POINTS;
    }
    *place = point;
    window->at_point = (uint8_t)((window->at_point + 1) % HR_FORECAST_POINTS);
    window->point_count += window->point_count < HR_FORECAST_POINTS;
}

/* --- Errors of the past --------------------------------------------------------- */

/* Compares the slope of so many points ago with how the level went on, and keeps the present one
 * for later. */
static void learn_error(struct hr_forecast_window *window, const float *points, float slope)
{
    const size_t latest = HR_FORECAST_POINTS - 1;
    float before = window->slopes[window->at_slope];
    float grown = (points[latest] - points[latest - HR_FORECAST_AHEAD]) / HR_FORECAST_AHEAD;

    window->slopes[window->at_slope] = slope;
    window->at_slope = (uint8_t)((window->at_slope + 1) % HR_FORECAST_AHEAD);
    if (isnan(before) || isnan(grown))
        return;
    window->errors[window->at_error] = fabsf(grown - before);
    window->at_error = (uint8_t)((window->at_error + 1) % HR_FORECAST_ERRORS);
    window->error_count += window->error_count < HR_FORECAST_ERRORS;
}

/* Of some errors, the latest but `later`, that which nine of ten didn't exceed. */
static float usual_error(const struct hr_forecast_window *window, size_t later, size_t count)
{
    float sorted[ERRORS_USED];

    for (size_t i = 0; i < count; i++) {
        size_t at = i, back = later + i + 1;
        float error =
            window->errors[(window->at_error + HR_FORECAST_ERRORS - back) % HR_FORECAST_ERRORS];
        for (; at > 0 && sorted[at - 1] > error; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = error;
    }
    return sorted[(count * 9 + 9) / 10 - 1];
}

/* --- A complete point ------------------------------------------------------------- */

#define THIRD (HR_FORECAST_POINTS / 3)

static bool check_thirds(struct hr_forecast_window *window, const float *points)
{
    double slopes[3];

    for (size_t i = 0; i < 3; i++)
        if (hr_trend_slope(points + i * THIRD, THIRD, &slopes[i]) < 0 ||
            slopes[i] < window->slope / 2 || slopes[i] > window->slope * 2)
            return false;
    window->first = (float)slopes[0];
    window->last = (float)slopes[2];
    return window->slope > 0;
}

static bool is_above(const float *points, float record)
{
    size_t above = 0;

    for (size_t i = HR_FORECAST_POINTS - THIRD; i < HR_FORECAST_POINTS; i++)
        above += points[i] > record;
    return above > THIRD / 2;
}

/* Without a record level there is no forecast: then only the slope is computed, in a third of the
 * time. */
static void fit_trend(struct hr_forecast_window *window)
{
    float points[HR_FORECAST_POINTS];
    double slope = NAN;
    struct hr_trend trend;

    hr_forecast_copy_points(window, points);
    window->is_fit = window->point_count == HR_FORECAST_POINTS &&
                     hr_trend_slope(points, HR_FORECAST_POINTS, &slope) == 0;
    learn_error(window, points, (float)slope);
    if (!window->is_fit)
        return;
    window->slope = (float)slope;
    window->is_record =
        window->older_count == HR_FORECAST_POINTS && is_above(points, find_record(window));
    if (!window->is_record || hr_trend_fit(points, HR_FORECAST_POINTS, &trend) < 0) {
        window->steady_count = 0;
        return;
    }
    window->low = (float)trend.low;
    window->high = (float)trend.high;
    window->level = trend.level;
    if (!check_thirds(window, points))
        window->steady_count = 0;
    else if (window->steady_count < STEADY_NEEDED)
        window->steady_count++;
}

/* Completes the point that is over, and those of the time that nothing is known of. */
static void complete_points(struct hr_forecast_window *window, uint64_t now, uint64_t part_points)
{
    const uint64_t begun = window->now, over = now - begun;
    const bool is_first = window->point_count == 0 && isnan(window->highest);

    if (over == 0)
        return;
    advance_records(window, over, part_points);
    window->now = now;
    /* One more than fit, as the first is what was known before. */
    for (uint64_t i = 0; !is_first && i < over && i <= HR_FORECAST_POINTS; i++)
        add_point(window, begun + i + 1, part_points, i == 0 ? window->highest : NAN);
    if (!is_first)
        fit_trend(window);
    window->highest = NAN;
}

/* --- Looking ahead ---------------------------------------------------------------- */

/* Until the limit is reached, from the end of the latest point on. */
static double time_to(double distance, double slope)
{
    if (distance <= 0)
        return 0;
    return slope > 0 ? distance / slope : INFINITY;
}

/* A slope as small as this window's slopes were wrong before is nothing new. The latest errors are
 * those of a trend that begins. */
static bool is_unusual(const struct hr_forecast_window *window)
{
    return window->error_count < ERRORS_USED + ERRORS_NEEDED ||
           window->slope > usual_error(window, ERRORS_USED, window->error_count - ERRORS_USED);
}

/* How far the level will grow if its slope goes on to fall as it did from the first third to the
 * last; INFINITY if that didn't. */
static double growth_left(const struct hr_forecast_window *window)
{
    double falls_to = sqrt(window->last / window->first); /* in a third */

    return falls_to < 1 ? THIRD * (double)window->last * falls_to / (1 - falls_to) : INFINITY;
}

static void update_trust(struct hr_forecast_window *window, double distance, double points_left)
{
    if (!window->is_fit || !(window->slope > 0) || isinf(points_left))
        window->is_trusted = false;
    else if (window->is_trusted)
        window->is_trusted = window->is_record;
    else
        window->is_trusted = window->steady_count == STEADY_NEEDED &&
                             points_left <= FURTHEST * HR_FORECAST_POINTS &&
                             distance < growth_left(window) && is_unusual(window);
}

/* @param late_points  since the latest point ended. */
static void fill_outlook(struct hr_forecast_window *window, double limit, double point_s,
                         double late_points, struct hr_outlook *outlook)
{
    double distance = limit - window->level;
    double points_left = fmax(time_to(distance, window->slope) - late_points, 0);

    update_trust(window, distance, points_left);
    if (!window->is_trusted || outlook->is_trend)
        return;
    outlook->is_trend = true;
    outlook->trouble_s = points_left * point_s;
    outlook->slope_per_s = window->slope / point_s;
    outlook->window_s = HR_FORECAST_POINTS * point_s;
    outlook->has_interval = window->error_count >= ERRORS_NEEDED;
    if (!outlook->has_interval)
        return;
    float error = usual_error(
        window, 0, window->error_count < ERRORS_USED ? window->error_count : ERRORS_USED);
    double high = fmax(window->high, window->slope + error);
    double low = fmin(window->low, window->slope - error);
    outlook->early_s = fmax(time_to(distance, high) - late_points - 1, 0) * point_s;
    outlook->late_s = fmax(time_to(distance, low) - late_points + 1, 0) * point_s;
}

void hr_forecast_update(struct hr_forecast *forecast, uint64_t time_ns, double level, double limit,
                        struct hr_outlook *outlook)
{
    uint64_t point_ns = forecast->point_ns, part_points = RECORD_POINTS;

    *outlook = (struct hr_outlook){.is_known = false};
    for (size_t i = 0; i < HR_FORECAST_WINDOWS; i++) {
        struct hr_forecast_window *window = &forecast->windows[i];
        complete_points(window, time_ns / point_ns, part_points);
        window->highest = fmaxf(window->highest, (float)level);
        double late_points = (double)(time_ns % point_ns) / (double)point_ns;
        fill_outlook(window, limit, (double)point_ns / (double)HR_NS_PER_S, late_points, outlook);
        point_ns *= HR_FORECAST_LONGER;
        part_points /= HR_FORECAST_LONGER;
    }
    outlook->is_known = forecast->windows[0].is_fit;
}

/* --- One from elsewhere ------------------------------------------------------------- */

/* No memory has so many bytes; and what is calculated of such levels stays within these. */
#define LEVEL_MOST 1e18f
#define SLOPE_MOST 1e20f
#define ERROR_MOST 1e22f

/* NAN is in range: nothing is known. */
static bool are_within(const float *values, size_t count, float most)
{
    for (size_t i = 0; i < count; i++)
        if (fabsf(values[i]) > most)
            return false;
    return true;
}

static bool are_errors(const float *errors)
{
    for (size_t i = 0; i < HR_FORECAST_ERRORS; i++)
        if (!(errors[i] >= 0 && errors[i] <= ERROR_MOST))
            return false;
    return true;
}

/* A byte that is neither 0 nor 1 must not be read as a bool. */
static bool is_bool(const bool *value)
{
    unsigned char byte;

    memcpy(&byte, value, 1);
    return byte <= 1;
}

static bool is_window(const struct hr_forecast_window *window, uint64_t now)
{
    return window->now <= now && window->point_count <= HR_FORECAST_POINTS &&
           window->older_count <= HR_FORECAST_POINTS && window->error_count <= HR_FORECAST_ERRORS &&
           window->at_point < HR_FORECAST_POINTS && window->at_slope < HR_FORECAST_AHEAD &&
           window->at_error < HR_FORECAST_ERRORS && window->steady_count <= STEADY_NEEDED &&
           is_bool(&window->is_fit) && is_bool(&window->is_record) &&
           is_bool(&window->is_trusted) && isfinite(window->low) && isfinite(window->high) &&
           fabsf(window->slope) <= SLOPE_MOST && fabsf(window->first) <= SLOPE_MOST &&
           fabsf(window->last) <= SLOPE_MOST && fabs(window->level) <= (double)LEVEL_MOST &&
           are_within(&window->highest, 1, LEVEL_MOST) &&
           are_within(window->points, HR_FORECAST_POINTS, LEVEL_MOST) &&
           are_within(window->records, HR_FORECAST_RECORDS, LEVEL_MOST) &&
           are_within(window->slopes, HR_FORECAST_AHEAD, SLOPE_MOST) && are_errors(window->errors);
}

bool hr_forecast_is_valid(const struct hr_forecast *forecast, uint64_t time_ns)
{
    uint64_t point_ns = forecast->point_ns;

    if (point_ns == 0 || point_ns > UINT64_MAX / (HR_FORECAST_LONGER * HR_FORECAST_LONGER))
        return false;
    for (size_t i = 0; i < HR_FORECAST_WINDOWS; i++, point_ns *= HR_FORECAST_LONGER)
        if (!is_window(&forecast->windows[i], time_ns / point_ns))
            return false;
    return true;
}
