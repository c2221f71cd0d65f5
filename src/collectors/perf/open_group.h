/* SPDX-License-Identifier: MIT */
/*
 * perf/open_group.h - one group of events, open on one CPU for one target: its descriptors, what
 * was read last, and what that makes since the read before.
 *
 * The arrays of an open group, and its `size`, come from the target: they have room for all events
 * of the group.
 */
#ifndef HEADROOM_COLLECTORS_PERF_OPEN_GROUP_H
#define HEADROOM_COLLECTORS_PERF_OPEN_GROUP_H

#include "headroom/perf.h"

/** What the kernel told of a group: read_format GROUP, TOTAL_TIME_ENABLED, TOTAL_TIME_RUNNING. */
struct hr_perf_times {
    uint64_t enabled_ns;
    uint64_t running_ns;
};

struct hr_perf_open_group {
    size_t size;     /**< events of the group */
    size_t count;    /**< events that are open; 0: closed */
    uint32_t events; /**< which of the group's, by bit; read in this order */
    int leader;      /**< the first of `fds` */
    int *fds;        /**< of those events */
    /** Counted up to here; of a group that had no turn since, an earlier read. */
    struct hr_perf_times base;
    uint64_t *base_counts;
    struct hr_perf_times last; /**< of the last read */

    /* What came of the last read; stays when the group is closed, or opened anew. */
    struct hr_perf_times interval; /**< since the read before */
    bool nonzero;                  /**< anything but zeros came of it */
    uint64_t *deltas;              /**< since `base`, scaled; by the group's numbering of events */
};

/** Where a group of events is opened. */
struct hr_perf_place {
    const struct hr_perf_calls *calls;
    int cgroup; /**< the cgroup's directory, or -1: the whole machine */
    unsigned cpu;
};

/** How an event is counted on a CPU; NULL: not there. */
const struct hr_perf_encoding *hr_perf_find_encoding(const struct hr_perf_event *event,
                                                     unsigned cpu);

/** Opens one event. @param leader  of its group, or -1: it is the leader, and not enabled yet.
 * @return a descriptor or a negative errno. */
int hr_perf_group_open_event(const struct hr_perf_place *place,
                             const struct hr_perf_encoding *encoding, int leader);

/**
 * Opens what must be open while a cgroup's groups are, on one CPU; it counts nothing.
 *
 * The kernel (6.18) begins to keep a cgroup's time on a CPU when an event is opened that is not
 * disabled, or when a process of it gets there: not when events are enabled. A process that polls
 * may never leave its CPU, and its events would never have any time.
 *
 * @return a descriptor; or -1 for the whole machine, which needs none, and on failure, which does
 *         no more harm than that.
 */
int hr_perf_group_open_dummy(const struct hr_perf_place *place);

/**
 * Opens those of the group's events that may be (by bit) and that the CPU has, all or none, and
 * begins to count from 0.
 *
 * @return 0, also if it is none of them; or the negative errno of perf_event_open(2).
 */
int hr_perf_group_open(struct hr_perf_open_group *open_group, const struct hr_perf_place *place,
                       const struct hr_perf_event_group *group, uint32_t events);

/**
 * Reads, and makes `interval` and `deltas`. A closed group gives zeros.
 *
 * @param together  the events are still a group; false: the CPU was offline since, which makes each
 * a group of its own (kernel/events/core.c, perf_group_detach).
 * @return 0, or -EIO if the kernel gives none (any more).
 */
int hr_perf_group_read(struct hr_perf_open_group *open_group, const struct hr_perf_calls *calls,
                       bool together);

/** Closes what is open. */
void hr_perf_group_close(struct hr_perf_open_group *open_group, const struct hr_perf_calls *calls);

#endif
