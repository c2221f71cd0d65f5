/* SPDX-License-Identifier: MIT */
/*
 * headroom/problems.h - logs what can't be known, once, with cause and remedy: of the system when
 * it begins and when it is over, of groups for the first and again when twice as many have it.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_PROBLEMS_H
#define HEADROOM_PLUGIN_HEADROOM_PROBLEMS_H

#include "common/complaint.h"
#include "headroom/room.h"

/** Groups that lack the same. */
struct problem_of_groups {
    size_t count;
    char example[256]; /**< the path of the first of them */
    int status;
    struct tally logged;
};

/** All zeros: nothing was seen yet. */
struct problems {
    struct complaint system_pressure, system_memory;
    struct problem_of_groups pressure, memory, io, cpu_limits, memory_limits, io_limits, old_limits;
};

/** Logs what is not known of the system. */
void problems_log_system(struct problems *problems, const struct hr_room_reading *reading);

/** Adds what is not known of a group. */
void problems_add(struct problems *problems, const char *path,
                  const struct hr_room_reading *reading);

/** Logs what is new of groups, and starts the next interval. */
void problems_log_groups(struct problems *problems);

#endif
