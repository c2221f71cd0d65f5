/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/trouble.h - tells what stands in the way of counting: once, with what to do.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_TROUBLE_H
#define HEADROOM_PLUGIN_CGROUP_PERF_TROUBLE_H

#include "cgroup_perf/events.h"
#include "common/complaint.h"

struct hr_root;

/** Kinds of trouble with events, as a user can do something about them. */
enum perf_trouble_kind {
    PERF_TROUBLE_ABSENT,     /**< nothing on this machine counts it */
    PERF_TROUBLE_PERMISSION, /**< we may not */
    PERF_TROUBLE_TOO_MANY,   /**< a line's events can't be counted together */
    PERF_TROUBLE_WHOLE,      /**< of the machine, yes, but not of a cgroup */
    PERF_TROUBLE_REFUSED,    /**< the kernel refuses it */
    PERF_TROUBLE_COUNT
};

/** Sets of events are told by a hash, so that a change is seen. */
struct perf_trouble {
    struct complaint kinds[HR_PERF_SCOPE_COUNT][PERF_TROUBLE_COUNT];
    struct complaint cpus, system;
    bool raised_limit_logged;
    uint64_t starved; /**< groups of events, by bit, that were told never to have a turn */

    /* What is seen in this interval, and what was told: without descriptors, the machine and how
     * many cgroups; and how many cgroups that can't be counted for another reason. */
    bool system_short_of_files;
    size_t short_of_files, failed;
    int failed_status;
    char example[256];
    struct tally logged_files, logged_failed;
};

/** Notes what came of reading a target. @param group  its path; NULL: the machine. */
void perf_trouble_record(struct perf_trouble *trouble, const struct perf_events *events,
                         const struct hr_perf_target *target, const char *group, int status);

/** Notes what came of hr_perf_read(). @param known  whether it ever succeeded. */
void perf_trouble_log_cpus(struct perf_trouble *trouble, int status, bool known);

/** Tells what is new, and begins anew. */
void perf_trouble_log(struct perf_trouble *trouble, const struct perf_events *events,
                      const struct hr_perf *perf, const struct hr_root *root);

#endif
