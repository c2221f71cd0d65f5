/* SPDX-License-Identifier: MIT */
/*
 * support/frozen_clock.h - a monotonic clock that only the test advances, so that no time passes
 * on a slow machine. A program with this among its sources has it in place of libc's.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FROZEN_CLOCK_H
#define HEADROOM_TESTS_SUPPORT_FROZEN_CLOCK_H

#include <stdatomic.h>

/* What CLOCK_MONOTONIC says, in nanoseconds; 0: what the kernel says. Check measures how long a
 * test takes, and can't count hours: 0 again at the end of a test. */
extern atomic_uint_fast64_t frozen_ns;

#endif
