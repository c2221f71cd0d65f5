/* SPDX-License-Identifier: MIT */
/*
 * base/deadline.h - limits for the CPU time of long operations: time in which the thread had to
 * wait, such as for a CPU, doesn't count.
 */
#ifndef HEADROOM_COLLECTORS_BASE_DEADLINE_H
#define HEADROOM_COLLECTORS_BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/clock.h"

/** Nanoseconds that the calling thread has run, of CLOCK_THREAD_CPUTIME_ID. */
static inline uint64_t hr_clock_thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * HR_NS_PER_S + (uint64_t)now.tv_nsec;
}

/** Computes the deadline of an operation that begins now. @param most_ns  its longest CPU time;
 * 0: no limit. @return a time of hr_clock_thread_ns(); 0: no deadline. */
static inline uint64_t hr_deadline_in(uint64_t most_ns)
{
    uint64_t now = hr_clock_thread_ns();

    if (most_ns == 0)
        return 0;
    return most_ns < UINT64_MAX - now ? now + most_ns : UINT64_MAX;
}

/** Whether a deadline of hr_deadline_in(), called by the same thread, has passed. */
static inline bool hr_deadline_has_passed(uint64_t deadline_ns)
{
    return deadline_ns != 0 && hr_clock_thread_ns() > deadline_ns;
}

#endif
