/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/slices.h - for how long counters may be opened in an interval, and in the first one.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_SLICES_H
#define HEADROOM_PLUGIN_CGROUP_PERF_SLICES_H

#include <stdint.h>

#include "headroom/perf.h"

/** How long opening may take by the clock in each interval. */
uint64_t slices_longest_ns(void);

/** Lets opening take longer in the interval that was begun by hr_perf_read(), the first one. */
void slices_lengthen_first(struct hr_perf *perf);

#endif
