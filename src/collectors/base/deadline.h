/* SPDX-License-Identifier: MIT */
/*
 * base/deadline.h - time limits for long operations.
 */
#ifndef HEADROOM_COLLECTORS_BASE_DEADLINE_H
#define HEADROOM_COLLECTORS_BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/clock.h"

/** Computes the deadline of an operation that begins now. @param most_ns  its longest duration; 0:
 * no limit. @return a time of hr_clock_ns(); 0: no deadline. */
static inline uint64_t hr_deadline_in(uint64_t most_ns)
{
    uint64_t now = hr_clock_ns();

    if (most_ns == 0)
        return 0;
    return most_ns < UINT64_MAX - now ? now + most_ns : UINT64_MAX;
}

/** Whether a deadline of hr_deadline_in() has passed. */
static inline bool hr_deadline_has_passed(uint64_t deadline_ns)
{
    return deadline_ns != 0 && hr_clock_ns() > deadline_ns;
}

#endif
