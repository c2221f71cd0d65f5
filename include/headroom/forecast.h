/* SPDX-License-Identifier: MIT */
/*
 * headroom/forecast.h - when a level that grows will reach its limit, if it grows steadily.
 *
 * Three windows, of which each is six times as long as the one before, have 30 points each: the
 * maxima of as many parts of the window. The slope is Theil's and Sen's, see room/trend.h. It is
 * trusted only if
 * - the slopes of the first, second and last third of the window are within half and twice of it,
 *   at three points in a row;
 * - most of the last third lies above all levels of the 24 hours before the window, of which at
 *   least one window's length must be known;
 * - the time to the limit is at most four times the window, also if the slope goes on to fall as it
 *   did from the first third to the last, as that of a cache that fills up does;
 * - the slope is larger than nine tenths of the errors below were before, once twenty are known.
 * Once trusted, it stays so while it is above 0 and most of the last third is above those levels.
 * Of the windows with a trusted slope the shortest counts.
 *
 * The interval is Sen's, widened to nine tenths of the errors that this window's slopes had in the
 * past: each slope is compared with what came in the half window after it. It is a point wider to
 * either side, as maxima may be that late.
 *
 * An object has a fixed size, and nothing is allocated. It may be used by one thread at a time.
 */
#ifndef HEADROOM_FORECAST_H
#define HEADROOM_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HR_FORECAST_WINDOWS 3
#define HR_FORECAST_POINTS  30

/** How far ahead slopes are compared, in points; and how many of their errors are kept: as many as
 * the interval is made of, and those before them. */
#define HR_FORECAST_AHEAD  15
#define HR_FORECAST_ERRORS 64

/** The time of which the highest level is known, in parts. */
#define HR_FORECAST_RECORDS 24

/** So many points of a window are one of the next. */
#define HR_FORECAST_LONGER 6

/** One window. The arrays are rings. */
struct hr_forecast_window {
    float points[HR_FORECAST_POINTS];   /**< NAN: nothing is known of that time */
    float slopes[HR_FORECAST_AHEAD];    /**< per point; as they were so many points ago */
    float errors[HR_FORECAST_ERRORS];   /**< of slopes, per point */
    float records[HR_FORECAST_RECORDS]; /**< of the points before the window */
    uint64_t now;                       /**< the number of the point that isn't complete */
    float highest;                      /**< and its level */
    uint8_t point_count, older_count, error_count; /**< that are known, up to the size of a ring */
    uint8_t at_point, at_slope, at_error;
    uint8_t steady_count; /**< latest points at which the thirds agreed */
    bool is_fit, is_record, is_trusted;
    float slope, low, high; /**< per point */
    float first, last;      /**< the slopes of the first and of the last third */
    double level;           /**< at the end of the latest point */
};

struct hr_forecast {
    uint64_t point_ns; /**< of the shortest window */
    struct hr_forecast_window windows[HR_FORECAST_WINDOWS];
};

/** What is to be expected. */
struct hr_outlook {
    bool is_known;          /**< the shortest window is full; else the rest is 0 */
    bool is_trend;          /**< there is a slope to be trusted; else the rest is 0 */
    double trouble_s;       /**< until the limit is reached; 0: it is */
    double slope_per_s;     /**< of the level; above 0 */
    double window_s;        /**< from which it is known */
    bool has_interval;      /**< enough errors of the past are known */
    double early_s, late_s; /**< nine of ten times; late_s may be INFINITY */
};

/**
 * Prepares a forecast of which nothing is known yet.
 *
 * @param point_ns  a part of the shortest window, a thirtieth; not shorter than the time between
 *                  two calls of hr_forecast_update(). All else is in proportion.
 */
void hr_forecast_init(struct hr_forecast *forecast, uint64_t point_ns);

/**
 * Adds a level, and looks ahead. It takes less than a microsecond, and some 10 for the first level
 * after a point is complete.
 *
 * @param time_ns  of a clock that doesn't go back, such as CLOCK_MONOTONIC.
 * @param level    in any unit; NAN: none is added, to look ahead only.
 * @param limit    in the same unit; INFINITY: none.
 */
void hr_forecast_update(struct hr_forecast *forecast, uint64_t time_ns, double level, double limit,
                        struct hr_outlook *outlook);

/** Copies the points of a window, from the oldest to the latest, which ends with point `now`; NAN:
 * nothing is known of that time. */
void hr_forecast_copy_points(const struct hr_forecast_window *window,
                             float points[HR_FORECAST_POINTS]);

/** @return the highest level that is known, of up to thirty hours if points are 20 s long; NAN:
 * none. */
double hr_forecast_highest(const struct hr_forecast *forecast);

/** Whether what was read from elsewhere may be used: all that is in it is within its range, and not
 * later than a time. */
bool hr_forecast_is_valid(const struct hr_forecast *forecast, uint64_t time_ns);

#endif
