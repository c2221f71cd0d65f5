/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/values.h - publishes the values of one cgroup, or of the machine.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_VALUES_H
#define HEADROOM_PLUGIN_CGROUP_PERF_VALUES_H

#include "cgroup_perf/events.h"
#include "common/submit.h"

struct perf_values_options {
    bool per_cpu;     /**< publish values of each CPU, too */
    bool running;     /**< publish the share of time in which each event was counted, too */
    bool totals_only; /**< leave out what is of the time since the reading before */
};

/** Submits all values of a target to collectd. */
void perf_values_submit(const struct submission *submission, const struct perf_events *events,
                        const struct hr_perf_target *target,
                        const struct perf_values_options *publishing);

#endif
