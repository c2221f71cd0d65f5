/* SPDX-License-Identifier: MIT */
/*
 * wss/schedule.h - entries sorted by when they are due, in a heap.
 */
#ifndef HEADROOM_PLUGIN_WSS_SCHEDULE_H
#define HEADROOM_PLUGIN_WSS_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/** An entry, to be embedded. */
struct wss_due {
    uint64_t at_ns; /**< of CLOCK_MONOTONIC */
    size_t place;   /**< in the heap, from 1; 0: not in it */
};

/** Initially all zeros. */
struct wss_schedule {
    struct wss_due **heap;
    size_t count, capacity;
};

/** Adds an entry, or changes its time. @return 0 or -ENOMEM; changing can't fail. */
int wss_schedule_put(struct wss_schedule *schedule, struct wss_due *due, uint64_t at_ns);

/** Removes an entry, if it is in. */
void wss_schedule_remove(struct wss_schedule *schedule, struct wss_due *due);

/** The entry that is due first; NULL if there is none. */
struct wss_due *wss_schedule_first(const struct wss_schedule *schedule);

/** Calls a function, which leaves the schedule alone, for each entry that is due at a time. */
void wss_schedule_each_due(const struct wss_schedule *schedule, uint64_t now_ns,
                           void (*visit)(struct wss_due *due));

/** Frees the heap, but no entry. */
void wss_schedule_free(struct wss_schedule *schedule);

#endif
