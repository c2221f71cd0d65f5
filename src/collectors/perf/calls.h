/* SPDX-License-Identifier: MIT */
/*
 * perf/calls.h - the kernel's calls for perf events.
 */
#ifndef HEADROOM_COLLECTORS_PERF_CALLS_H
#define HEADROOM_COLLECTORS_PERF_CALLS_H

#include "headroom/perf.h"

/**
 * The calls of the running kernel. open() returns -EMFILE for a descriptor that may not be kept
 * (base/descriptor.h), whatever uses the others.
 */
extern const struct hr_perf_calls hr_perf_kernel_calls;

#endif
