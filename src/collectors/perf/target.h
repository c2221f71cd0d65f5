/* SPDX-License-Identifier: MIT */
/*
 * perf/target.h - struct hr_perf_target, shared by perf/target.c, perf/values.c, perf/opening.c
 * (descriptors), perf/bpf_counting.c (BPF) and perf/change.c (from the one to the other).
 */
#ifndef HEADROOM_COLLECTORS_PERF_TARGET_H
#define HEADROOM_COLLECTORS_PERF_TARGET_H

#include <linux/types.h>

#include "perf/bpf_shared.h"
#include "perf/internal.h"
#include "perf/open_group.h"

/** The counters of one CPU. Arrays of events have those of all groups. `open`, `was_read` and
 * `epoch` are those of descriptors. */
struct hr_perf_cpu_counters {
    bool open;
    bool was_read;                          /**< it was open at the last read of a whole target */
    bool grown;                             /**< by BPF: `sums` have, since the last read */
    bool nonzero;                           /**< some group of events was, at the last read */
    unsigned epoch;                         /**< of the CPU, when the counters were opened */
    struct hr_perf_open_group *open_groups; /**< of each group */
    struct hr_perf_times *ever;             /**< of each group */
    uint64_t *totals;                       /**< of each event */
    struct count_value *sums;               /**< of each event, by BPF: so far */
};

/** Sums over all CPUs, kept so that an idle target costs only its reads. */
struct hr_perf_sums {
    bool nonzero;                   /**< false: nothing was added since the previous read */
    struct hr_perf_times *interval; /**< of each group, since the previous read */
    struct hr_perf_times *ever;     /**< of each group */
    uint64_t *starved_ns;           /**< of each group */
    uint64_t *deltas;               /**< of each event, since the previous read */
    uint64_t *totals;               /**< of each event */
};

struct hr_perf_target {
    struct hr_perf *perf;
    enum hr_perf_scope scope;
    const struct hr_cgroup *group;      /**< NULL: the machine */
    struct hr_perf_cpu_counters **cpus; /**< indexed like struct hr_perf_cpus; NULL: never open
                                             there; by BPF: it never ran there */
    size_t cpu_count;
    size_t reserved;     /**< descriptors that are open, or about to be opened */
    size_t wanted;       /**< of struct hr_perf_files */
    unsigned generation; /**< of the probe, when the counters were opened */
    uint32_t *usable;    /**< of each group, by descriptors: a bit mask of its events that were open
                              when it became whole */
    unsigned cpus_seen;  /**< generation of the CPUs, when the counters were opened */
    int failed;          /**< why the counters can't be opened, except for lack of descriptors; 0 */
    uint64_t failed_ns;
    bool whole;    /**< it was opened on each CPU that was online then; else it has no values yet */
    bool was_read; /**< it was whole at the last read */
    bool waits;    /**< for a slice in which it is opened, see perf/opening.h */
    struct hr_perf_target *next_waiting;
    int slice_status; /**< why it couldn't be opened when it was its turn; 0 */
    struct hr_perf_sums sums;
    bool is_ahead;               /**< `sums` have a part of the next reading */
    struct hr_perf_target *next; /**< of all targets */

    /* By BPF; what is above is then that of groups of events that descriptors count. */
    struct hr_perf_target *parent; /**< counts what this one counts, too; NULL: none */
    __u32 slot;                    /**< in which the group is counted; 0: none */
    bool was_selected;             /**< until it was paused */
    bool grown;                    /**< something was added since the last read of the target */
    int bpf_failed;                /**< why it can't be counted; 0 */
    unsigned chosen;               /**< hr_perf_bpf_generation() when the events of which the sums
                                        are taken were chosen */
};

/** Allocates the counters of one CPU, closed. @return NULL if memory is short. */
struct hr_perf_cpu_counters *hr_perf_cpu_counters_new(const struct hr_perf *perf);

/** Makes room for all CPUs. @return 0 or -ENOMEM. */
int hr_perf_target_extend_cpus(struct hr_perf_target *target);

void hr_perf_target_close_cpu(struct hr_perf_target *target, struct hr_perf_cpu_counters *cpu);

/** Closes all counters, and releases their reservation. */
void hr_perf_target_close_cpus(struct hr_perf_target *target);

/** Sets how many descriptors the target needs, in struct hr_perf_files. */
void hr_perf_target_update_wanted(struct hr_perf_target *target, size_t count);

/** The counters of one CPU, which are made where there are none. @param index  as in struct
 * hr_perf_cpus. @return NULL if memory is short. */
struct hr_perf_cpu_counters *hr_perf_target_counters(struct hr_perf_target *target, size_t index);

/** Adds what its descriptors on a CPU, if there are any, have counted until now, of groups that BPF
 * counts from now on. */
void hr_perf_target_read_descriptors(struct hr_perf_target *target, size_t index);

/** Adds what its descriptors have counted since it was read, as a part of the next reading, before
 * they are closed; those of groups that BPF counts are no more open. */
void hr_perf_target_read_ahead(struct hr_perf_target *target);

/** Closes the descriptors of groups that BPF counts. */
void hr_perf_target_leave_to_bpf(struct hr_perf_target *target);

/** By BPF: adds what it has counted last of a group of events. */
void hr_perf_target_take_last(struct hr_perf_target *target, size_t group);

/** Closes all of its descriptors. */
void hr_perf_target_close_descriptors(struct hr_perf_target *target);

/** By BPF: takes the sums of the events that can be counted, from now on. */
void hr_perf_target_choose_events(struct hr_perf_target *target);

#endif
