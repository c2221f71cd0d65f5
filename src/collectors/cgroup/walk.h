/* SPDX-License-Identifier: MIT */
/*
 * cgroup/walk.h - visiting all groups below a cgroup.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_WALK_H
#define HEADROOM_COLLECTORS_CGROUP_WALK_H

#include <stddef.h>

/**
 * Visits each group below one, breadth first. Only two directories are open at a time, at any
 * depth. Groups that are removed meanwhile are skipped.
 *
 * @param dirfd  the group's own directory, which isn't visited.
 * @param max    the largest number of groups to visit.
 * @param visit  called with a directory. @return 0; -ENOENT or -ENODEV: it was removed; any other
 *               negative errno ends the walk.
 * @return 0; -ENOMEM; -ENODEV if the group itself was removed; what visit() returned; or the
 *         negative errno of open(2), fstat(2) or getdents64(2).
 */
int hr_cgroup_walk(int dirfd, size_t max, int (*visit)(void *state, int dirfd), void *state);

#endif
