/*
 * base/clock.h - the clock that intervals are measured with.
 */
#ifndef HEADROOM_COLLECTORS_BASE_CLOCK_H
#define HEADROOM_COLLECTORS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)

/** Nanoseconds of CLOCK_MONOTONIC; never 0. */
static inline uint64_t hr_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
