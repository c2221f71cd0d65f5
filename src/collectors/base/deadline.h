/* SPDX-License-Identifier: MIT */
/*
 * base/deadline.h - giving up on what takes too long.
 */
#ifndef HEADROOM_COLLECTORS_BASE_DEADLINE_H
#define HEADROOM_COLLECTORS_BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/clock.h"

/** When something that begins now must have ended, as hr_clock_ns() tells it. @param most_ns how
 * long it may take; 0: as long as it takes. @return 0 for that, else the time. */
static inline uint64_t hr_deadline_in(uint64_t most_ns)
{
    uint64_t now = hr_clock_ns();

    if (most_ns == 0)
        return 0;
    return most_ns < UINT64_MAX - now ? now + most_ns : UINT64_MAX;
}

/** Whether that time has passed. */
static inline bool hr_deadline_has_passed(uint64_t deadline_ns)
{
    return deadline_ns != 0 && hr_clock_ns() > deadline_ns;
}

#endif
