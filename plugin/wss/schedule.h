/*
 * wss/schedule.h - who is due when: a heap, whose first entry is the next.
 */
#ifndef HEADROOM_PLUGIN_WSS_SCHEDULE_H
#define HEADROOM_PLUGIN_WSS_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/** To be part of what is due. */
struct wss_due {
    uint64_t at_ns; /**< of CLOCK_MONOTONIC */
    size_t place;   /**< in the heap, from 1; 0: it isn't in it */
};

/** All zeros is an empty one. */
struct wss_schedule {
    struct wss_due **heap;
    size_t count, capacity;
};

/** Puts an entry in, or gives it another time. @return 0 or -ENOMEM, which an entry that is in
 * can't get. */
int wss_schedule_put(struct wss_schedule *schedule, struct wss_due *due, uint64_t at_ns);

/** Takes an entry out, if it is in. */
void wss_schedule_remove(struct wss_schedule *schedule, struct wss_due *due);

/** The next entry; NULL if there is none. */
struct wss_due *wss_schedule_first(const struct wss_schedule *schedule);

/** Frees the heap, but no entry. */
void wss_schedule_free(struct wss_schedule *schedule);

#endif
