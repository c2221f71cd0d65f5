/* SPDX-License-Identifier: MIT */
/*
 * perf/calls.h - the kernel's calls for perf events.
 */
#ifndef HEADROOM_COLLECTORS_PERF_CALLS_H
#define HEADROOM_COLLECTORS_PERF_CALLS_H

#include "headroom/perf.h"

/**
 * The calls of the running kernel. Descriptors are numbered from 1024 up where RLIMIT_NOFILE
 * allows: the lower ones are left to users of select(2), which supports no others. open() returns
 * -EMFILE for a number beyond three quarters of that limit, whatever uses the numbers below.
 */
extern const struct hr_perf_calls hr_perf_kernel_calls;

#endif
