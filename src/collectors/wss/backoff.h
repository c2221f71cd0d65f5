/* SPDX-License-Identifier: MIT */
/*
 * wss/backoff.h - backing off from what takes too long: retry after a minute, then after twice as
 * long each time, up to an hour.
 */
#ifndef HEADROOM_COLLECTORS_WSS_BACKOFF_H
#define HEADROOM_COLLECTORS_WSS_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/clock.h"

#define HR_WSS_BACKOFF_MIN_NS (60 * HR_NS_PER_S)
#define HR_WSS_BACKOFF_MAX_NS (3600 * HR_NS_PER_S)

/** Initially all zeros. */
struct hr_wss_backoff {
    uint64_t retry_ns; /**< not before this time, of hr_clock_ns() */
    uint64_t pause_ns; /**< the latest pause; 0: not backing off */
};

/** Begins a pause, or one twice as long as the last. */
static inline void hr_wss_backoff_extend(struct hr_wss_backoff *backoff)
{
    backoff->pause_ns = backoff->pause_ns == 0 ? HR_WSS_BACKOFF_MIN_NS : 2 * backoff->pause_ns;
    if (backoff->pause_ns > HR_WSS_BACKOFF_MAX_NS)
        backoff->pause_ns = HR_WSS_BACKOFF_MAX_NS;
    backoff->retry_ns = hr_clock_ns() + backoff->pause_ns;
}

/** Whether the pause is over. */
static inline bool hr_wss_backoff_is_over(const struct hr_wss_backoff *backoff)
{
    return hr_clock_ns() >= backoff->retry_ns;
}

/** After a success: the next pause is the shortest again. */
static inline void hr_wss_backoff_reset(struct hr_wss_backoff *backoff)
{
    backoff->pause_ns = 0;
}

#endif
