/* SPDX-License-Identifier: MIT */
/*
 * report/trend.h - what the headroom plugin saved last of a group: the trend of its memory, and its
 * stalls of the last hour.
 */
#ifndef HEADROOM_COMMAND_REPORT_TREND_H
#define HEADROOM_COMMAND_REPORT_TREND_H

#include "headroom/forecast.h"
#include "headroom/reason.h"
#include "headroom/stall_hour.h"

struct hr_room_source;
struct usage;

struct trend {
    struct hr_reason unknown; /**< why nothing is known; empty: the rest is */
    double age_s;             /**< since it was saved */
    struct hr_outlook outlook;
    double point_s;                   /**< how long a point is */
    float points[HR_FORECAST_POINTS]; /**< bytes, from the oldest; NAN: not known */
    double slope_per_s;               /**< of these, whatever it is worth; NAN: not known */
    double highest;                   /**< of a day and more */
};

/** A part of its stalls, in percent of the time. */
struct past_stall {
    enum hr_psi_resource resource;
    enum hr_stall_part part;
    double pct;
};

/** The hour before they were saved. */
struct past {
    double age_s;   /**< since it was saved */
    double known_s; /**< of that hour; 0: nothing is known */
    size_t count;
    struct past_stall stalls[HR_PSI_IRQ * HR_STALL_PART_COUNT]; /**< the greatest first, from
                                                                   WORTH_NAMING_PCT on */
};

/** What was saved of all groups. */
struct saved_trends {
    char *path; /**< of the plugin's state file */
    char *bytes;
    size_t length;
    int status; /**< why there are none; 0 */
};

/** Reads the file of a configuration. @param saved  receives it, for saved_trends_free(). @return 0
 * or -ENOMEM. */
int saved_trends_read(const struct usage *usage, struct saved_trends *saved);

/**
 * Finds both of a group. The points are those of the window whose trend is trusted; or of the
 * longest window that is full, or of the shortest.
 *
 * @param source  of the group, which was read.
 * @param limit   what it could have, in bytes; INFINITY: not known.
 * @param past    without a reason why nothing is known, as the trend has it; NULL: not asked for.
 */
void trend_find(const struct saved_trends *saved, const struct hr_room_source *source, double limit,
                struct trend *trend, struct past *past);

void saved_trends_free(struct saved_trends *saved);

#endif
