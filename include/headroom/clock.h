/* SPDX-License-Identifier: MIT */
/*
 * headroom/clock.h - the monotonic clock, and units of time.
 */
#ifndef HEADROOM_CLOCK_H
#define HEADROOM_CLOCK_H

#include <stdint.h>
#include <time.h>

#define HR_NS_PER_US UINT64_C(1000)
#define HR_NS_PER_MS UINT64_C(1000000)
#define HR_NS_PER_S  UINT64_C(1000000000)
#define HR_US_PER_S  UINT64_C(1000000)

/** Of the times in /proc/stat: USER_HZ, the same on all architectures that matter: fs/proc/stat.c,
 * nsec_to_clock_t(). */
#define HR_NS_PER_TICK (HR_NS_PER_S / 100)

/** Nanoseconds of CLOCK_MONOTONIC; never 0. */
static inline uint64_t hr_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * HR_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
