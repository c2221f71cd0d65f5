/* SPDX-License-Identifier: MIT */
/*
 * perf/open_group.h - one group of events, open on one CPU for one target: its descriptors, its
 * last reading, and the difference to the previous reading.
 *
 * The target sets `size` and the arrays, which have room for all events of the group; `fds` and
 * `base_counts` for the clock, too.
 */
#ifndef HEADROOM_COLLECTORS_PERF_OPEN_GROUP_H
#define HEADROOM_COLLECTORS_PERF_OPEN_GROUP_H

#include <linux/types.h>

#include "headroom/perf.h"
#include "perf/bpf_shared.h"

/** The times of a group, by read_format TOTAL_TIME_ENABLED and TOTAL_TIME_RUNNING. */
struct hr_perf_times {
    uint64_t enabled_ns;
    uint64_t running_ns;
};

/** The largest number of descriptors of a group on one CPU: its events and their clock. */
#define HR_PERF_OPEN_MAX (HR_PERF_GROUP_MAX + 1)

struct hr_perf_open_group {
    size_t size;      /**< number of events of the group */
    size_t count;     /**< number of open events, with the clock; 0: the group is closed */
    uint32_t events;  /**< bit mask of the open events; they are read in this order */
    bool takes_turns; /**< with other groups, as it has events of a PMU */
    bool has_clock;   /**< the last of `fds` counts the time in which the group counted */
    int leader;       /**< the first of `fds` */
    int *fds;         /**< of the open events */
    /** Times and counts that are part of the totals; older than `last` if the group had no turn
     * since. */
    struct hr_perf_times base;
    uint64_t *base_counts;
    struct hr_perf_times last;  /**< of the last read */
    uint64_t kernel_running_ns; /**< of the last read, where a clock replaces it */
    uint64_t clock_ns;          /**< of the clock, when the times last moved */

    /* Results of the last read; kept when the group is closed or reopened. */
    struct hr_perf_times interval; /**< since the previous read */
    bool nonzero;                  /**< false: all results are zeros */
    uint64_t *deltas;              /**< since `base`, scaled; indexed like the group's events */
};

/** Where a group of events is opened. */
struct hr_perf_place {
    const struct hr_perf_calls *calls;
    int cgroup; /**< the cgroup's directory; -1: the whole machine */
    unsigned cpu;
    bool with_clock; /**< groups with events of a PMU need one, see hr_perf_is_running_time_right()
                      */
};

/** @return how an event is counted on a CPU; NULL: it isn't. */
const struct hr_perf_encoding *hr_perf_find_encoding(const struct hr_perf_event *event,
                                                     unsigned cpu);

/** Whether events of a PMU, which may have to take turns, are among those of a group on a CPU. */
bool hr_perf_group_uses_pmu(const struct hr_perf_place *place,
                            const struct hr_perf_event_group *group, uint32_t events);

/** The number of descriptors that hr_perf_group_open() opens. */
size_t hr_perf_group_files(const struct hr_perf_place *place,
                           const struct hr_perf_event_group *group, uint32_t events);

/** Opens one event. @param leader  of its group; -1: the event is the leader. @param disabled  it
 * and the others of its group don't count before that is enabled. @return a descriptor or a
 * negative errno. */
int hr_perf_group_open_event(const struct hr_perf_place *place,
                             const struct hr_perf_encoding *encoding, int leader, bool disabled);

/**
 * Opens those of the group's events that the CPU has, all or none, with a clock where one is
 * needed, and starts counting from 0.
 *
 * The leader of several is opened disabled, so that all start at once. If it counted before the
 * others are open, the kernel (6.18) would leave the group without a turn until the next switch.
 *
 * @param events  bit mask of the events to open.
 * @return 0, also if no event was opened; or the negative errno of perf_event_open(2).
 */
int hr_perf_group_open(struct hr_perf_open_group *open_group, const struct hr_perf_place *place,
                       const struct hr_perf_event_group *group, uint32_t events);

/**
 * Reads the counters, and computes `interval` and `deltas`; zeros for a closed group.
 *
 * @param together  the events are still a group; false: the CPU was offline meanwhile, which makes
 *                  each a group of its own (kernel/events/core.c, perf_group_detach).
 * @return 0, or -EIO if the counters can't be read (any more).
 */
int hr_perf_group_read(struct hr_perf_open_group *open_group, const struct hr_perf_calls *calls,
                       bool together);

/** By BPF: the events of which hr_perf_group_take() takes the sums. @param events  bit mask of
 * those that can be counted. @param sums  of each event of the group, so far: from these on. */
void hr_perf_group_choose(struct hr_perf_open_group *open_group, const struct hr_perf_place *place,
                          const struct hr_perf_event_group *group, uint32_t events,
                          const struct count_value *sums);

/** Computes `interval` and `deltas` as hr_perf_group_read() does, of sums. */
void hr_perf_group_take(struct hr_perf_open_group *open_group, const struct count_value *sums);

/** Closes all open events. */
void hr_perf_group_close(struct hr_perf_open_group *open_group, const struct hr_perf_calls *calls);

#endif
