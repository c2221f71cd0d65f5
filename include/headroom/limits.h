/* SPDX-License-Identifier: MIT */
/*
 * headroom/limits.h - how much memory a group may have: the tightest of its own limits, memory.high
 * and memory.max, or version 1's memory.limit_in_bytes, and those of the groups above it; and the
 * memory that it has.
 *
 * Limits of the machine itself aren't among them.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst ("Memory Interface Files"),
 * Documentation/admin-guide/cgroup-v1/memory.rst.
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

struct hr_limit {
    uint64_t value; /**< bytes; HR_NO_LIMIT: neither the group nor one above has one */
    size_t level; /**< whose it is: 0 the group's, 1 that of the one above, …; 0 without a limit */
};

/** A group's directory in the memory controller's hierarchy. Used by one thread at a time. */
struct hr_limits;

/**
 * Finds the directory of a group: in cgroup2, or where the controller is version 1's the group of
 * the same path there, if the group's first process is in it. Takes a descriptor.
 *
 * @param group   of cgroup2, or of a hierarchy of version 1.
 * @param limits  the caller closes it with hr_limits_close().
 * @return 0, also if the controller isn't enabled for the group; -ENODEV: the group was removed;
 *         -ENOMEM; or another negative errno of open(2).
 */
int hr_limits_open(const struct hr_root *root, const struct hr_cgroup *group,
                   struct hr_limits **limits);

/** Closes the directory. NULL is allowed. */
void hr_limits_close(struct hr_limits *limits);

/**
 * Reads the limits of the group and of all above it. It takes 7 to 20 microseconds a level.
 *
 * In a hierarchy of version 1 without memory.use_hierarchy the groups above limit nothing.
 *
 * @return 0; -ENOENT: the controller isn't enabled for the group; -EBADMSG; -ENODEV: the group was
 *         removed; or another negative errno of open(2). The limit is all of them or unknown.
 */
int hr_limits_read(const struct hr_limits *limits, struct hr_limit *limit);

/**
 * Reads how much memory the group has, with those below it: memory.current, version 1's
 * memory.usage_in_bytes. The page cache is in it.
 *
 * @return as hr_limits_read().
 */
int hr_limits_read_usage(const struct hr_limits *limits, uint64_t *bytes);

#endif
