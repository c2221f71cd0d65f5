/* SPDX-License-Identifier: MIT */
/*
 * support/own_mounts.h - a mount namespace for tests that need tracefs, or run perf, which mounts
 * it if it isn't mounted; outside of a namespace that mount would remain.
 */
#ifndef HEADROOM_TESTS_SUPPORT_OWN_MOUNTS_H
#define HEADROOM_TESTS_SUPPORT_OWN_MOUNTS_H

#include <stdbool.h>

/**
 * Enters a mount namespace of its own and mounts tracefs there, unless it is mounted already. Call
 * it before any thread is created.
 *
 * @return whether tracefs is mounted; if not, errno is set.
 */
bool own_mounts_with_tracefs(void);

#endif
