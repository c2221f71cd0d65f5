/* SPDX-License-Identifier: MIT */
/*
 * perf/internal.h - struct hr_perf, shared by perf/perf.c (opening and closing), perf/probe.c
 * (which events can be counted), perf/choice.c (by what), perf/target.c and perf/values.c
 * (counting), perf/opening.c and perf/closing.c (by descriptors), perf/bpf_*.c (by BPF) and
 * perf/change.c.
 */
#ifndef HEADROOM_COLLECTORS_PERF_INTERNAL_H
#define HEADROOM_COLLECTORS_PERF_INTERNAL_H

#include "headroom/perf.h"
#include "perf/budget.h"
#include "perf/cpus.h"

/** Which events can be counted in a scope. */
struct hr_perf_probe {
    bool done;
    bool stale;          /**< encodings may have changed since */
    bool all_usable;     /**< every event can be counted */
    unsigned generation; /**< incremented with each change of what can be counted, and how */
    uint64_t time_ns;    /**< of the last probe */
    int *status;         /**< of each event, see hr_perf_status() */
    uint32_t *encodings; /**< of each event: a hash of its encodings; 0: it can't be counted */
    uint32_t *usable;    /**< of each group: a bit mask of its events that can be counted */
};

/** How far counters may be opened and closed until the next hr_perf_read(), see perf/opening.h and
 * perf/closing.h. */
struct hr_perf_slice {
    uint64_t max_ns, spent_ns;      /**< by opening, of CPU time */
    uint64_t max_wall_ns;           /**< the same by the clock, at least max_ns */
    uint64_t longer_ns;             /**< in this slice, instead of max_ns, if it is longer */
    uint64_t longer_wall_ns;        /**< the same by the clock */
    uint64_t closing_ns;            /**< spent by closing */
    size_t file_count;              /**< descriptors that were opened with it */
    size_t closed_count;            /**< and closed */
    bool continues;                 /**< what waits is opened: the targets aren't being read */
    struct hr_perf_target *waiting; /**< that are to be opened next; NULL: none */
};

/** Descriptors that wait to be closed. */
struct hr_perf_closing {
    int *fds;
    size_t count, capacity;
};

struct hr_perf {
    const struct hr_root *root;
    const struct hr_perf_calls *calls;
    uint64_t retry_ns;
    bool needs_clocks; /**< in cgroups, see hr_perf_is_running_time_right() */
    struct hr_perf_event_group *groups;
    size_t group_count;
    size_t *first_event; /**< of each group: index of its first event in arrays of all events */
    size_t event_count;  /**< of all groups */
    /** By BPF: of each group that is counted by descriptors nevertheless, the event that BPF can't
     * count; NULL: it is counted by BPF. */
    const struct hr_perf_event **exceptions;
    struct hr_perf_cpus cpus;
    struct hr_perf_budget budget;
    struct hr_perf_slice slice;
    struct hr_perf_closing closing;
    struct hr_perf_probe probes[HR_PERF_SCOPE_COUNT];
    struct hr_perf_target *targets; /**< the newest first */
    struct hr_perf_bpf *bpf;        /**< by BPF; NULL: by descriptors */
    const struct hr_perf_bpf_calls *bpf_calls;
    size_t max_targets; /**< the most cgroups by BPF */
};

/** Whether a group of events is counted by BPF. */
bool hr_perf_is_by_bpf(const struct hr_perf *perf, size_t group);

/** Whether some groups are counted by BPF, and others aren't. */
bool hr_perf_has_exceptions(const struct hr_perf *perf);

/** Allocates a probe that is not done yet. @return 0 or -ENOMEM. */
int hr_perf_probe_init(struct hr_perf_probe *probe, const struct hr_perf *perf);

void hr_perf_probe_end(struct hr_perf_probe *probe);

/**
 * Opens and closes every event, alone and with its group, to find out which can be counted; does
 * nothing if that is known, or if events failed less than retry_ns ago.
 *
 * @param group   any cgroup; NULL for the scope of the system.
 * @param cgroup  its directory; -1 for the scope of the system.
 * @return 0; -EMFILE, -ENFILE or -ENOMEM if the probe lacked descriptors or memory; -ENODEV if the
 *         cgroup was removed meanwhile; -EXDEV if the cgroup has no controller "perf_event".
 */
int hr_perf_probe_update(struct hr_perf *perf, enum hr_perf_scope scope,
                         const struct hr_cgroup *group, int cgroup);

/** Takes what can be counted for the machine for what can be in cgroups, but for counters of the
 * whole machine; of groups that are counted by descriptors only as long as it isn't known. */
void hr_perf_probe_cgroups_by_machine(struct hr_perf *perf);

/** Makes a scope one that was never probed. */
void hr_perf_probe_forget(struct hr_perf *perf, enum hr_perf_scope scope);

/** @return how many descriptors a target takes on the CPUs that are online, for groups that aren't
 * counted by BPF; 0 before the probe. */
size_t hr_perf_count_files(const struct hr_perf *perf, enum hr_perf_scope scope);

/** Whether a cgroup was removed, even if its directory is held open. */
bool hr_perf_is_cgroup_removed(const struct hr_cgroup *group);

/** Whether hr_perf_probe_update() would open events. */
bool hr_perf_probe_is_due(const struct hr_perf *perf, enum hr_perf_scope scope);

#endif
