/* SPDX-License-Identifier: MIT */
/*
 * doctor/costs.h - what a configuration costs on this machine, as far as it can be calculated.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_COSTS_H
#define HEADROOM_COMMAND_DOCTOR_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "configured/used_features.h"
#include "headroom/root.h"

/** A target of wss, and how many cgroups are measured in that way: 1 for a block. */
struct costs_of_target {
    struct usage_wss_target target; /**< the method isn't HR_WSS_AUTO */
    size_t count;
};

/** What the numbers depend on beside the configuration. */
struct costs_of_machine {
    size_t cpus;
    bool has_irq_pressure;
    size_t psi_groups, perf_groups, headroom_groups; /**< with processes, that are selected */
    size_t perf_cpus;                                /**< on which cgroup_perf counts */
    size_t perf_clocks;                              /**< of each group and CPU */
    /** Of cgroup_perf, those that this machine counts. */
    struct usage_texts perf_events;
    const struct hr_perf_choice *perf_choice; /**< how they are counted */
    const struct hr_reason *perf_obstacle;    /**< to BPF, where it would be chosen */
    size_t perf_bpf_bytes;                    /**< the kernel's memory for that, by BPF */
    size_t perf_exception_files; /**< by BPF: descriptors of lines that it can't count */
    const struct costs_of_target *wss_targets;
    size_t wss_target_count;
};

/** Room for a note, with the reason of a failure. */
#define COSTS_NOTE_SIZE 704

/** Of one plugin. */
struct costs {
    const char *plugin; /**< NULL: it isn't loaded */
    size_t groups;
    size_t series_per_group, series; /**< at most: what can't be measured has no series */
    double values_per_s;
    size_t files;                   /**< descriptors that are kept open, at most */
    char counting[COSTS_NOTE_SIZE]; /**< of cgroup_perf: how it counts, and why; else "" */
};

#define COSTS_PLUGINS 5

/** Calculates what each plugin costs. */
void costs_calculate(const struct usage *usage, const struct costs_of_machine *machine,
                     struct costs costs[COSTS_PLUGINS]);

/**
 * Prints a table of those that have a plugin, and what follows for disks, descriptors, carbon and
 * the CPU.
 *
 * @param root   carbon's configuration is read there, if it is: /etc/carbon/carbon.conf.
 * @param width  lines are broken to fit; the table has 62 columns.
 */
void costs_print(FILE *out, const struct hr_root *root, const struct usage *usage,
                 const struct costs costs[COSTS_PLUGINS], size_t width);

#endif
