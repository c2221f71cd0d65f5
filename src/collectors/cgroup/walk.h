/* SPDX-License-Identifier: MIT */
/*
 * cgroup/walk.h - the groups below a cgroup, one after the other.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_WALK_H
#define HEADROOM_COLLECTORS_CGROUP_WALK_H

#include <stddef.h>

/**
 * Visits each group below one, the nearest first. However deep they lie, only two directories are
 * open at a time. Groups that vanish meanwhile are passed over.
 *
 * @param dirfd  the group's own directory, which isn't visited.
 * @param max    how many are visited at most.
 * @param visit  is given a directory. @return 0; -ENOENT or -ENODEV: it has vanished; any other
 *               negative errno ends the walk.
 * @return 0; -ENOMEM; what visit() returned; or the negative errno of open(2), fstat(2) or
 *         getdents64(2).
 */
int hr_cgroup_walk(int dirfd, size_t max, int (*visit)(void *state, int dirfd), void *state);

#endif
