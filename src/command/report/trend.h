/* SPDX-License-Identifier: MIT */
/*
 * report/trend.h - the trend of a group's memory, as the headroom plugin saved it last.
 */
#ifndef HEADROOM_COMMAND_REPORT_TREND_H
#define HEADROOM_COMMAND_REPORT_TREND_H

#include "headroom/forecast.h"
#include "headroom/reason.h"

struct hr_room_source;

struct trend {
    struct hr_reason unknown; /**< why nothing is known; empty: the rest is */
    double age_s;             /**< since it was saved */
    struct hr_outlook outlook;
    double point_s;                   /**< how long a point is */
    float points[HR_FORECAST_POINTS]; /**< bytes, from the oldest; NAN: not known */
    double slope_per_s;               /**< of these, whatever it is worth; NAN: not known */
    double highest;                   /**< of a day and more */
};

/**
 * Reads it. The points are those of the window whose trend is trusted; or of the longest window
 * that is full, or of the shortest.
 *
 * @param path    of the plugin's state file.
 * @param source  of the group, which was read.
 * @param limit   what it could have, in bytes; INFINITY: not known.
 */
void trend_read(const char *path, const struct hr_room_source *source, double limit,
                struct trend *trend);

#endif
