/* SPDX-License-Identifier: MIT */
/*
 * doctor/checks.h - what the parts of `headroom doctor` know of each other. Each plugin has a
 * function that tries what it needs, and adds what it found out to the list.
 *
 * A check leaves the machine as it was, and disturbs nobody: what it arms or opens to see whether
 * that can be done, it closes at once.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_CHECKS_H
#define HEADROOM_COMMAND_DOCTOR_CHECKS_H

#include "doctor/findings.h"
#include "headroom/cgroup.h"
#include "headroom/root.h"

/** As many cgroups are looked at as the plugins take by default. */
#define DOCTOR_MAX_CGROUPS 1000

/** On how many cgroups something is tried: one may be about to end, or be switched off. */
#define DOCTOR_SAMPLES 8

/** Cgroups to try things on. */
struct doctor_groups {
    struct hr_cgroup_set *set;
    int status; /**< of finding them; -ENOENT: the hierarchy isn't mounted */
    /** Some with processes; or, if there are none, an empty one. */
    struct hr_cgroup *samples[DOCTOR_SAMPLES];
    size_t sample_count;
    struct hr_cgroup *spare;
    struct hr_cgroup_counts counts;
};

/**
 * Finds cgroups.
 *
 * @param controller  whose hierarchy; NULL: cgroup2.
 * @param groups      always filled; the caller ends it with doctor_groups_close().
 */
void doctor_groups_open(const struct hr_root *root, const char *controller,
                        struct doctor_groups *groups);

void doctor_groups_close(struct doctor_groups *groups);

/** Adds that a facility can't be tried, as there is no cgroup, and why. */
void doctor_add_missing_group(struct findings *findings, const char *facility,
                              const struct doctor_groups *groups);

/** What is said of file descriptors that ran out. */
#define DOCTOR_NO_DESCRIPTORS                                                                      \
    "file descriptors ran out", "raise LimitNOFILE= of collectd's service (ulimit -n)"

void doctor_check_psi(const struct hr_root *root, struct findings *findings);
void doctor_check_cgroup_perf(const struct hr_root *root, struct findings *findings);
void doctor_check_wss(const struct hr_root *root, struct findings *findings);
void doctor_check_osnoise(const struct hr_root *root, struct findings *findings);

#endif
