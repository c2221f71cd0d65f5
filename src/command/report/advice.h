/* SPDX-License-Identifier: MIT */
/*
 * report/advice.h - a limit of memory that would do. Nothing is changed.
 *
 * There is none of CPU time: how long tasks wait under a quota depends on how they come, within
 * periods of some milliseconds, which isn't known.
 */
#ifndef HEADROOM_COMMAND_REPORT_ADVICE_H
#define HEADROOM_COMMAND_REPORT_ADVICE_H

#include <stdbool.h>

#include "headroom/reason.h"
#include "headroom/room.h"

struct trend;

/** By how much a limit should exceed the need. */
#define ADVICE_MARGIN_PCT 15

struct advice {
    struct hr_reason none;    /**< why there is none; empty: the rest is set */
    enum hr_room_bound bound; /**< which limit */
    int version;              /**< as of struct hr_room */
    bool should_be;           /**< as the group's own is lower; else it could be that */
    double bytes;
    double need;
};

/**
 * Makes it, if what the group needs is known, and was for a window of its trend.
 *
 * @param memory  its room by memory.
 * @param trend   what it needed before counts, too.
 */
void advice_make(const struct hr_room *memory, const struct trend *trend, struct advice *advice);

#endif
