/* SPDX-License-Identifier: MIT */
/*
 * wss/backoff.h - backing off from a target that exceeds the limits: its cycle is doubled for each
 * failure, up to an hour, and halved again for each measurement that works.
 */
#ifndef HEADROOM_PLUGIN_WSS_BACKOFF_H
#define HEADROOM_PLUGIN_WSS_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/** Initially all zeros: not backing off. */
struct wss_backoff {
    unsigned doublings;
};

/** @return the cycle with its doublings: an hour at most, but never less than the cycle itself. */
uint64_t wss_backoff_cycle_ns(const struct wss_backoff *backoff, uint64_t cycle_ns);

/** Doubles the cycle once more. */
void wss_backoff_extend(struct wss_backoff *backoff, uint64_t cycle_ns);

/** Takes one doubling back, if there is one. */
void wss_backoff_relax(struct wss_backoff *backoff);

bool wss_backoff_is_over(const struct wss_backoff *backoff);

#endif
