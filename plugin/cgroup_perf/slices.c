/* SPDX-License-Identifier: MIT */
#include "collectd.h"

#include "plugin.h"

#include "cgroup_perf/slices.h"

#include "headroom/clock.h"

static uint64_t part_of_interval_ns(uint64_t parts, uint64_t most_ns)
{
    const uint64_t part_ns = CDTIME_T_TO_NS(plugin_get_interval()) / parts;

    return part_ns < most_ns ? part_ns : most_ns;
}

/* A busy machine may take longer to open counters, but no more than a part of the interval, or a
 * second, as collectd waits for it where it is to end. */
uint64_t slices_longest_ns(void)
{
    return part_of_interval_ns(10, HR_NS_PER_S);
}

/* At first no value is late yet, so it may take longer, for all groups that are there to be counted
 * from one interval on. CPU time is limited, too, as each event interrupts its CPU for some 30 us:
 * a second is enough for 30,000. */
void slices_lengthen_first(struct hr_perf *perf)
{
    hr_perf_lengthen_slice(perf, part_of_interval_ns(2, HR_NS_PER_S),
                           part_of_interval_ns(2, 5 * HR_NS_PER_S));
}
