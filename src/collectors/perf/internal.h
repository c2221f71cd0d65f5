/* SPDX-License-Identifier: MIT */
/*
 * perf/internal.h - what a struct hr_perf is made of, for the files that make it up: perf/perf.c
 * (its life), perf/probe.c (what can be counted), perf/target.c (counting).
 */
#ifndef HEADROOM_COLLECTORS_PERF_INTERNAL_H
#define HEADROOM_COLLECTORS_PERF_INTERNAL_H

#include "headroom/perf.h"
#include "perf/budget.h"
#include "perf/cpus.h"

/** What of the events can be counted in a scope. */
struct hr_perf_probe {
    bool done;
    bool all_usable;     /**< all of it */
    unsigned generation; /**< another one with each change */
    uint64_t time_ns;    /**< when it was found out */
    int *status;         /**< of each event; see hr_perf_status() */
    uint32_t *usable;    /**< of each group: its events that can be counted, by bit */
};

struct hr_perf {
    const struct hr_root *root;
    const struct hr_perf_calls *calls;
    uint64_t retry_ns;
    struct hr_perf_event_group *groups;
    size_t group_count;
    size_t *first_event; /**< of each group: its first event in arrays of all events */
    size_t event_count;  /**< of all groups */
    struct hr_perf_cpus cpus;
    struct hr_perf_budget budget;
    struct hr_perf_probe probes[HR_PERF_SCOPE_COUNT];
};

/** Gets memory for a probe that is not done yet. @return 0 or -ENOMEM. */
int hr_perf_probe_init(struct hr_perf_probe *probe, const struct hr_perf *perf);

void hr_perf_probe_end(struct hr_perf_probe *probe);

/**
 * Opens and closes every event, alone and with its group, to find out what can be counted; not if
 * that is known, or if it was tried in vain a short while ago.
 *
 * @param group   any cgroup, and
 * @param cgroup  its directory; or NULL and -1 for the scope of the system.
 * @return 0; -EMFILE, -ENFILE or -ENOMEM if it can't be found out for want of these; -ENODEV if the
 *         cgroup was removed meanwhile.
 */
int hr_perf_probe_update(struct hr_perf *perf, enum hr_perf_scope scope,
                         const struct hr_cgroup *group, int cgroup);

/** Tells whether a cgroup was removed. Opening its directory, where that is held, doesn't. */
bool hr_perf_is_cgroup_removed(const struct hr_cgroup *group);

/** Tells whether hr_perf_probe_update() would try. */
bool hr_perf_probe_is_due(const struct hr_perf *perf, enum hr_perf_scope scope);

#endif
