/* SPDX-License-Identifier: MIT */
/*
 * doctor/perf_counting.h - how the cgroup_perf plugin counts on this machine: by descriptors, of
 * which there may be too few, or by BPF.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_PERF_COUNTING_H
#define HEADROOM_COMMAND_DOCTOR_PERF_COUNTING_H

#include "doctor/checks.h"
#include "headroom/perf_event.h"

/** What other checks have found. */
struct counting_machine {
    const struct hr_perf_vocabulary *vocabulary;
    size_t cpu_count; /**< on which events are counted; 0: not known */
    size_t groups;    /**< with processes */
};

/** Adds whether BPF can be used, if the plugin does, and whether there are enough descriptors. */
void counting_check(const struct hr_root *root, const struct usage_perf *usage,
                    const struct counting_machine *machine, struct findings *findings);

/** Finds how the events of the configuration are counted. @param events  receives choice and
 * bpf_bytes. */
void counting_find(const struct hr_root *root, const struct usage_perf *usage,
                   const struct hr_perf_vocabulary *vocabulary, struct doctor_events *events);

#endif
