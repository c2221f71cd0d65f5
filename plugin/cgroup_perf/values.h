/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/values.h - publishes the counters of one cgroup, or of the machine.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_VALUES_H
#define HEADROOM_PLUGIN_CGROUP_PERF_VALUES_H

#include "cgroup_perf/events.h"
#include "common/submit.h"

struct perf_values_options {
    bool per_cpu; /**< of each CPU, too */
    bool running; /**< the share of time in which it really counted, too */
};

/** Hands all that is known of a target to collectd. */
void perf_values_submit(const struct submission *submission, const struct perf_events *events,
                        const struct hr_perf_target *target,
                        const struct perf_values_options *publishing);

#endif
