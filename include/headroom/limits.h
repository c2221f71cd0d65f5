/* SPDX-License-Identifier: MIT */
/*
 * headroom/limits.h - what a group may use: the tightest of its own limits and those of the groups
 * above it; and the memory that it has.
 *
 * Limits of the machine itself aren't among them.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst ("Memory Interface Files", "CPU Interface
 * Files"), Documentation/admin-guide/cgroup-v1/memory.rst, Documentation/scheduler/sched-bwc.rst.
 *
 * Functions return 0 or a negative errno, and leave their out-pointers untouched on failure.
 */
#ifndef HEADROOM_LIMITS_H
#define HEADROOM_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct hr_cgroup;
struct hr_root;

#define HR_NO_LIMIT UINT64_MAX

enum hr_limit_kind {
    HR_LIMIT_MEMORY, /**< bytes: memory.high and memory.max; version 1's memory.limit_in_bytes */
    HR_LIMIT_CPU,    /**< microseconds of CPU time a second: cpu.max; version 1's CFS quota */
    HR_LIMIT_KIND_COUNT
};

struct hr_limit {
    uint64_t
        value; /**< in the unit of its kind; HR_NO_LIMIT: neither the group nor one above has one */
    size_t level; /**< whose it is: 0 the group's, 1 that of the one above, …; 0 without a limit */
};

/** A group's directories in the hierarchies of the controllers. Used by one thread at a time. */
struct hr_limits;

/**
 * Finds the directories of a group: in cgroup2, or where the controller is version 1's the group of
 * the same path there, if the group's first process is in it. Takes a descriptor for each.
 *
 * @param group   of cgroup2, or of a hierarchy of version 1.
 * @param limits  the caller closes it with hr_limits_close().
 * @return 0, also if a controller isn't enabled for the group; -ENODEV: the group was removed;
 *         -ENOMEM; or the negative errno of open(2), if neither directory can be opened.
 */
int hr_limits_open(const struct hr_root *root, const struct hr_cgroup *group,
                   struct hr_limits **limits);

/** Closes the directories. NULL is allowed. */
void hr_limits_close(struct hr_limits *limits);

/**
 * Reads the limits of the group and of all above it. It takes 7 to 20 microseconds a level.
 *
 * In a hierarchy of version 1 without memory.use_hierarchy the groups above limit nothing.
 *
 * @return 0; -ENOENT: the controller isn't enabled for the group; -EBADMSG; -ENODEV: the group was
 *         removed; or another negative errno of open(2). The limit is all of them or unknown.
 */
int hr_limits_read(const struct hr_limits *limits, enum hr_limit_kind kind, struct hr_limit *limit);

/**
 * Reads how much memory the group has, with those below it: memory.current, version 1's
 * memory.usage_in_bytes. The page cache is in it.
 *
 * @return as hr_limits_read().
 */
int hr_limits_read_memory(const struct hr_limits *limits, uint64_t *bytes);

#endif
