/* SPDX-License-Identifier: MIT */
/*
 * headroom/trouble.h - logs what can't be known, once, with cause and remedy: of the system when it
 * begins and when it is over, of groups for the first and again when twice as many have it.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_TROUBLE_H
#define HEADROOM_PLUGIN_HEADROOM_TROUBLE_H

#include "common/complaint.h"
#include "headroom/room.h"

/** Groups that lack the same. */
struct trouble_of_groups {
    size_t count;
    char example[256]; /**< the path of the first of them */
    int status;
    struct tally logged;
};

/** All zeros: nothing was seen yet. */
struct trouble {
    struct complaint system_pressure, system_memory;
    struct trouble_of_groups pressure, memory, io, cpu_limits, memory_limits, io_limits, old_limits;
};

/** Logs what is not known of the system. */
void trouble_log_system(struct trouble *trouble, const struct hr_room_reading *reading);

/** Adds what is not known of a group. */
void trouble_add(struct trouble *trouble, const char *path, const struct hr_room_reading *reading);

/** Logs what is new of groups, and starts the next interval. */
void trouble_log_groups(struct trouble *trouble);

#endif
