/* SPDX-License-Identifier: MIT */
/*
 * psi/window.h - whether a total that is polled has grown by a limit within a window, and when to
 * read it next. Only arithmetic: whoever reads the total hands it over with the time.
 *
 * The growth within a window is estimated as the kernel's triggers do (window_update in
 * kernel/sched/psi.c): windows follow one another, and to the growth in the current one is added
 * the previous one's, weighted with the share of it that lies within the last window's length.
 *
 * A total that moves is read ten times a window. One that doesn't is read more and more rarely, up
 * to once a window. What it then grew since the last such read counts in full: when in that time
 * it grew is unknown, and the window is taken to begin as late as that growth allows, so that a
 * stall that begins between two rare reads is not missed. The price is that for the first event
 * after a quiet time stalls of up to two windows may be added up.
 *
 * If the reads are more than a window, and a read's interval, apart, only the growth counts that
 * can't have been before that.
 */
#ifndef HEADROOM_COLLECTORS_PSI_WINDOW_H
#define HEADROOM_COLLECTORS_PSI_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/** A total at a time. */
struct hr_psi_reading {
    uint64_t time_ns;
    uint64_t total_us;
};

struct hr_psi_window {
    uint64_t window_us, limit_us;
    unsigned phase;             /**< 0..9: in which tenth of a window an idle total is read */
    unsigned tenths;            /**< tenths of a window until the next read; 1: the total moves */
    struct hr_psi_reading last; /**< the last read */
    /** What growth is measured from. The current window's begin; of an idle total the read before
     * the last, so that no growth is lost that was too small to wake it. */
    struct hr_psi_reading start;
    uint64_t begin_ns;   /**< when the current window begins: at `start`, or later */
    uint64_t carried_us; /**< the growth in the window before */
    bool has_event;
    uint64_t event_ns; /**< of the last event */
    uint64_t due_ns;   /**< when to read the total next */
};

/** A growth, and the time in which it was. */
struct hr_psi_growth {
    uint64_t stalled_us, elapsed_us;
};

/**
 * Starts.
 *
 * @param limit_us  1..window_us.
 * @param seed      any number; different ones spread the times of reading.
 * @param now       what grew before doesn't count.
 */
void hr_psi_window_start(struct hr_psi_window *window, uint64_t window_us, uint64_t limit_us,
                         uint64_t seed, const struct hr_psi_reading *now);

/**
 * Takes a total that was read. At most one event is found per window, and no growth is counted for
 * two.
 *
 * @param growth  receives, for an event, what was measured, or estimated for the window's length.
 * @return whether there is an event.
 */
bool hr_psi_window_update(struct hr_psi_window *window, const struct hr_psi_reading *now,
                          struct hr_psi_growth *growth);

/** Takes a total up to which all growth has been reported otherwise, as an event. */
void hr_psi_window_restart(struct hr_psi_window *window, const struct hr_psi_reading *now);

/** Defers the read that was due, as it failed. */
void hr_psi_window_defer(struct hr_psi_window *window, uint64_t now_ns);

/** Whether the total moves, so that it is read ten times a window. */
bool hr_psi_window_is_active(const struct hr_psi_window *window);

#endif
