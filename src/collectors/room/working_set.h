/* SPDX-License-Identifier: MIT */
/*
 * room/working_set.h - what a group needs of its memory, by how much it touches within how long.
 *
 * What is touched within a window is what an LRU of that size holds; by how much it grows with the
 * window is what misses it (P. J. Denning, S. C. Schwartz, "Properties of the working-set model",
 * 1972). So many may be read again that tasks are stalled for as long as the trouble line says.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_WORKING_SET_H
#define HEADROOM_COLLECTORS_ROOM_WORKING_SET_H

#include <stdint.h>

#include "headroom/room.h"

/** What a group had at one time, or since then. */
struct hr_refault_counts {
    uint64_t refault_count, stalled_us;
    double missed_count; /**< pages that had to be read again by the working set */
};

/** How long tasks were stalled for each page that had to be read again; all zeros: nothing is
 * known. */
struct hr_refault_cost {
    uint64_t since_ns, updated_ns;  /**< when this was begun, and updated last */
    struct hr_refault_counts since; /**< what there was then; of those missed, since then */
    double us;                      /**< 0: not known */
};

/**
 * Adds what was counted up to now. A page's cost is known where a hundred were read again within an
 * hour. With each of these the kernel may have read those around it, which no task asked for; so
 * where fewer had to be read by the working set, though a hundred, the stalls are of those.
 *
 * @param missed_per_s  hr_working_set_misses() of what it has.
 */
void hr_refault_cost_update(struct hr_refault_cost *cost, uint64_t now_ns, uint64_t refault_count,
                            uint64_t stalled_us, double missed_per_s);

/** How many pages a second have to be read again where so many bytes of what is touched are in
 * memory, the latest; none where these are as many as the longest window has. */
double hr_working_set_misses(const struct hr_room_working_set *set, double bytes);

/**
 * Finds the window after the last interval between two in which more was touched than may be read
 * again.
 *
 * @param cost_us   of a page.
 * @param line_pct  for how much of the time tasks may be stalled.
 * @param window    receives its index.
 * @return 0; -ENODATA: that was the last interval.
 */
int hr_working_set_find(const struct hr_room_working_set *set, double cost_us, double line_pct,
                        size_t *window);

#endif
