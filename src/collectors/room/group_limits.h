/* SPDX-License-Identifier: MIT */
/*
 * room/group_limits.h - the limits of a group and of those above it: how much CPU time, memory and
 * swap space. Those of version 1 are in the hierarchy of their controller.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_GROUP_LIMITS_H
#define HEADROOM_COLLECTORS_ROOM_GROUP_LIMITS_H

#include "headroom/room.h"
#include "headroom/stall_cause.h"
#include "room/cpu.h"
#include "room/memory.h"

struct hr_cpu_set;

/** A group's directory in the hierarchy of a controller. */
struct hr_room_directory {
    int fd;      /**< -1: there is none, as status says, or it couldn't be kept open */
    int status;  /**< 0 or a negative errno */
    int version; /**< of the hierarchy */
};

/** The group, or one above it. */
struct hr_room_level {
    double cpus;                       /**< INFINITY: no limit */
    uint64_t memory_bytes, swap_bytes; /**< UINT64_MAX: no limit */
    enum hr_room_bound memory_bound;   /**< which of two limits of memory is the smaller */
};

struct hr_room_limits {
    size_t count; /**< of levels */
    struct hr_room_level level[HR_STALL_LEVELS];
    struct hr_room_directory cpu, memory;
    struct hr_cpu_set *cpus; /**< that the group may use; NULL: all */
};

/** All zeros but for descriptors that aren't open. */
void hr_room_limits_init(struct hr_room_limits *limits);

void hr_room_limits_close(struct hr_room_limits *limits);

/** Reads the limits again. */
void hr_room_limits_read(struct hr_room_limits *limits, const struct hr_root *root,
                         const struct hr_cgroup *group);

/** What was read of a group's CPU time, of each level with a limit. */
struct hr_room_cpu_counts {
    uint64_t used_us, period_count, throttled_count, throttled_us;
};

/** Reads the CPU time that a group used, or the one so many levels above. */
int hr_room_read_cpu_usage(const struct hr_cgroup *group, size_t level, uint64_t *used_us);

/** Reads the counts of a level that has a limit of CPU time. @return 0 or a negative errno. */
int hr_room_read_cpu_counts(const struct hr_room_limits *limits, const struct hr_cgroup *group,
                            size_t level, struct hr_room_cpu_counts *counts);

/**
 * Reads a group's memory, and that of each level with a limit of memory.
 *
 * @param swap_free_bytes  of the machine.
 * @param bounds           receives the limits.
 * @param count            receives how many there are.
 * @return 0 or a negative errno.
 */
int hr_room_read_memory(const struct hr_room_limits *limits, uint64_t swap_free_bytes,
                        struct hr_memory_use *use,
                        struct hr_room_memory_limit bounds[HR_STALL_LEVELS], size_t *count);

#endif
