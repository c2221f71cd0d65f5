/* SPDX-License-Identifier: MIT */
/*
 * room/trend.h - the slope of a few points, by Theil and Sen: the median of the slopes between all
 * pairs of points. More than a quarter of the points may be anything, without changing it much.
 *
 * Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", 1968.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_TREND_H
#define HEADROOM_COLLECTORS_ROOM_TREND_H

#include <stddef.h>

/** Points at most. */
#define HR_TREND_POINTS 30

/** Points one step apart; all slopes are per step. */
struct hr_trend {
    double slope;
    double low, high; /**< of the slope: Sen's interval of 90 % */
    /** Nine of ten points lie below the line that has this level at the last point. */
    double level;
};

/**
 * Computes the median of the slopes.
 *
 * @param points  one step apart; NAN is no point.
 * @param count   up to HR_TREND_POINTS.
 * @return 0; -ENODATA: fewer than two thirds are points.
 */
int hr_trend_slope(const float *points, size_t count, double *slope);

/** Computes all of a trend, as hr_trend_slope() does. */
int hr_trend_fit(const float *points, size_t count, struct hr_trend *trend);

#endif
