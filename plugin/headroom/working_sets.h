/* SPDX-License-Identifier: MIT */
/*
 * headroom/working_sets.h - the working sets that the plugin wss measures, from collectd's cache:
 * nothing is measured twice.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_WORKING_SETS_H
#define HEADROOM_PLUGIN_HEADROOM_WORKING_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_room_working_set;

/** The windows of all instances; all zeros: none. */
struct working_sets {
    struct window *windows; /* by instance */
    size_t count, capacity;
    uint64_t due_ns;
};

/** Reads the cache again, once a minute. A value is there until none has come for as long as
 * collectd's Timeout says, two of its intervals, which may be hours. @return whether it did. */
bool working_sets_refresh(struct working_sets *sets);

/** Finds that of a group by its instance. @param set  receives it; with count 0: there is none, it
 * is older than ten minutes and its longest window, or it is of processes that have the same name.
 */
void working_sets_find(const struct working_sets *sets, const char *instance,
                       struct hr_room_working_set *set);

/** Frees what it took. */
void working_sets_clear(struct working_sets *sets);

#endif
