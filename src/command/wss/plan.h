/* SPDX-License-Identifier: MIT */
/*
 * wss/plan.h - the times at which `headroom wss` begins measurements and reads them.
 *
 * It reads no clock. All times are nanoseconds.
 */
#ifndef HEADROOM_COMMAND_WSS_PLAN_H
#define HEADROOM_COMMAND_WSS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The longest window, and the longest run. */
#define WSS_SECONDS_MAX 1000000

enum wss_mode {
    WSS_SNAPSHOT,   /**< begun once, read once */
    WSS_SNAPSHOTS,  /**< snapshots repeated, with pauses */
    WSS_CUMULATIVE, /**< begun once, read after each window */
    WSS_PROFILE,    /**< begun once, read after one window, two, four, eight, … */
};

struct wss_plan {
    enum wss_mode mode;
    uint64_t window_ns;
    uint64_t pause_ns; /**< SNAPSHOTS: between the end of one and the beginning of the next */
    uint64_t total_ns; /**< SNAPSHOTS, CUMULATIVE: 0: without end */
    unsigned steps;    /**< PROFILE */
    bool looks_back;   /**< readings are about the past, see hr_wss_looks_back() */
};

/** The next reading. */
struct wss_turn {
    bool begins;        /**< a measurement begins before it, … */
    uint64_t begin_ns;  /**< … this long after the beginning of the first */
    uint64_t window_ns; /**< the window to read, from the beginning of its measurement */
    uint64_t wait_ns;   /**< time from that beginning to the reading */
};

/**
 * Finds the next reading. One that is already due is done at once; where readings take so long that
 * CUMULATIVE has missed a time, it waits for the next.
 *
 * With a total time CUMULATIVE ends with a reading at that time. SNAPSHOTS begins a snapshot only
 * if at least half of it lies within that time, and measures it to its end.
 *
 * @param readings    how many were done.
 * @param elapsed_ns  since the beginning of the first measurement.
 * @param turn        receives it.
 * @return false if there is none.
 */
bool wss_plan_next(const struct wss_plan *plan, size_t readings, uint64_t elapsed_ns,
                   struct wss_turn *turn);

/** @return how many readings each measurement has at most; 0: no limit. */
size_t wss_plan_readings(const struct wss_plan *plan);

/** @return the longest window that will be read. */
uint64_t wss_plan_longest_ns(const struct wss_plan *plan);

#endif
