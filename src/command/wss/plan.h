/* SPDX-License-Identifier: MIT */
/*
 * wss/plan.h - the times at which `headroom wss` begins measurements and reads them.
 *
 * Nothing here looks at a clock. All times are nanoseconds.
 */
#ifndef HEADROOM_COMMAND_WSS_PLAN_H
#define HEADROOM_COMMAND_WSS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The longest window, and the longest run, that can be asked for. */
#define WSS_SECONDS_MAX 1000000

enum wss_mode {
    WSS_SNAPSHOT,   /**< begun once, read once */
    WSS_SNAPSHOTS,  /**< that again and again, with pauses */
    WSS_CUMULATIVE, /**< begun once, read after each window */
    WSS_PROFILE,    /**< begun once, read after one window, two, four, eight, … */
};

struct wss_plan {
    enum wss_mode mode;
    uint64_t window_ns;
    uint64_t pause_ns; /**< SNAPSHOTS: between the end of one and the beginning of the next */
    uint64_t total_ns; /**< SNAPSHOTS, CUMULATIVE: 0: without end */
    unsigned steps;    /**< PROFILE */
    bool looks_back;   /**< readings need no waiting, see hr_wss_looks_back() */
};

/** What is to be done next. */
struct wss_turn {
    bool begins;        /**< a measurement begins, … */
    uint64_t begin_ns;  /**< … so long after the beginning of the first */
    uint64_t window_ns; /**< the window that is to be read: since its measurement's beginning */
    uint64_t wait_ns;   /**< the reading comes so long after that */
};

/**
 * Tells what is to be done next. What is due already is done at once; where readings take so long
 * that CUMULATIVE has missed a time, it waits for the next.
 *
 * With a total time CUMULATIVE ends with a reading at that time. SNAPSHOTS begins one only if at
 * least half of it lies within that time, and measures that to its end.
 *
 * @param readings    how many there were.
 * @param elapsed_ns  since the beginning of the first measurement.
 * @param turn        receives it.
 * @return false if nothing is left to be done.
 */
bool wss_plan_next(const struct wss_plan *plan, size_t readings, uint64_t elapsed_ns,
                   struct wss_turn *turn);

/** @return how many readings each measurement has at most; 0: there is no limit. */
size_t wss_plan_readings(const struct wss_plan *plan);

/** @return the longest window that will be read. */
uint64_t wss_plan_longest_ns(const struct wss_plan *plan);

#endif
