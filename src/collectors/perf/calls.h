/* SPDX-License-Identifier: MIT */
/*
 * perf/calls.h - the kernel's calls for perf events.
 */
#ifndef HEADROOM_COLLECTORS_PERF_CALLS_H
#define HEADROOM_COLLECTORS_PERF_CALLS_H

#include "headroom/perf.h"

/**
 * The live kernel's. The descriptors get numbers from 1024 up where RLIMIT_NOFILE allows: those
 * below are left to whoever in the process uses select(2), which knows no others. Beyond three
 * quarters of that limit, whoever uses the rest, open() gives -EMFILE.
 */
extern const struct hr_perf_calls hr_perf_kernel_calls;

#endif
