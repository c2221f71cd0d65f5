/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/problems.h - logs obstacles to counting: each once, with its remedy.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_PROBLEMS_H
#define HEADROOM_PLUGIN_CGROUP_PERF_PROBLEMS_H

#include "cgroup_perf/events.h"
#include "cgroup_perf/starvation.h"
#include "common/complaint.h"

struct hr_root;

/** Kinds of problems with events, by remedy. */
enum perf_problem_kind {
    PERF_PROBLEM_ABSENT,     /**< nothing on this machine counts it */
    PERF_PROBLEM_GUESTS,     /**< the same, or virtual machines have the PMU to themselves */
    PERF_PROBLEM_OF_GUESTS,  /**< the same, and it counts what they do alone */
    PERF_PROBLEM_PERMISSION, /**< permission is missing */
    PERF_PROBLEM_TOO_MANY,   /**< a line's events can't be counted together */
    PERF_PROBLEM_LEFT_OUT,   /**< it is counted only on CPUs that are left out */
    PERF_PROBLEM_WHOLE,      /**< it can be counted for the machine, but not for a cgroup */
    PERF_PROBLEM_REFUSED,    /**< the kernel refuses it */
    PERF_PROBLEM_COUNT
};

/** The cause of a complaint about events is a hash of their names, so that a change is logged. */
struct perf_problems {
    struct complaint kinds[HR_PERF_SCOPE_COUNT][PERF_PROBLEM_COUNT];
    struct complaint cpus, left_out, system, update;
    bool shortage_logged; /* of descriptors, which lasts */
    bool opening_logged;  /* that counters are being opened */
    bool failure_logged;  /* of cgroups for another reason, which lasts */
    struct starvation starvation;

    /* Of this interval: whether the machine was read, lacks descriptors, is counted, or being
     * opened, and why else it can't be counted; how many cgroups do, are, and can't be counted for
     * another reason, with an example. */
    bool system_read, system_short_of_files, system_counted, system_opening;
    int system_status;
    size_t short_of_files, counted, failed, opening;
    int failed_status;
    char example[256];
    struct tally logged_files, logged_failed;
};

/** Records the status of reading a target. @param group  its path; NULL: the machine. */
void perf_problems_record(struct perf_problems *problems, const struct perf_events *events,
                          const struct hr_perf_target *target, const char *group, int status);

/** Logs a changed status of hr_perf_read(). @param known  whether it ever succeeded. */
void perf_problems_log_cpus(struct perf_problems *problems, int status, bool known);

/** Logs a changed status of perf_events_update(). */
void perf_problems_log_update(struct perf_problems *problems, int status);

/** Logs whether all CPUs are left out. @param count  hr_perf_cpu_count(). */
void perf_problems_log_left_out(struct perf_problems *problems, size_t count);

/**
 * By BPF from now on, call it before the interval is logged: forgets that descriptors were too few,
 * or being opened; events that can't be counted in cgroups can't be for the machine.
 */
void perf_problems_change_to_bpf(struct perf_problems *problems);

/** Logs what is new in this interval, and starts the next. */
void perf_problems_log(struct perf_problems *problems, const struct perf_events *events,
                       const struct hr_perf *perf, const struct hr_root *root);

#endif
