/* SPDX-License-Identifier: MIT */
/*
 * common/timers.h - what is due next, of many: a binary heap.
 */
#ifndef HEADROOM_PLUGIN_COMMON_TIMERS_H
#define HEADROOM_PLUGIN_COMMON_TIMERS_H

#include <stddef.h>
#include <stdint.h>

/** A time that is never reached. */
#define TIMER_NEVER UINT64_MAX

/** A timer, to be embedded; all zeros: not set. */
struct timer {
    uint64_t due_ns; /**< of hr_clock_ns() */
    size_t position; /**< in the heap, from 1; 0: not set */
};

struct timer_entry {
    uint64_t due_ns; /**< the timer's, so that comparing reads no timer */
    struct timer *timer;
};

/** The timers that are set; all zeros: none. */
struct timers {
    struct timer_entry *heap;
    size_t count, capacity;
};

/**
 * Makes room, so that timer_set() can't fail.
 *
 * @param count  how many timers may be set at the same time.
 * @return 0 or -ENOMEM.
 */
int timers_reserve(struct timers *timers, size_t count);

/** Frees the heap. */
void timers_free(struct timers *timers);

/** Sets a timer, or sets it to another time; TIMER_NEVER: not at all. */
void timer_set(struct timers *timers, struct timer *timer, uint64_t due_ns);

/** The earlier of two times. */
static inline uint64_t timer_earlier(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/** The timer that is due first, of several the one with the lowest address: neighbours in memory
 * are handled one after the other, which spares cache misses. NULL: none is set. */
struct timer *timers_first(const struct timers *timers);

#endif
