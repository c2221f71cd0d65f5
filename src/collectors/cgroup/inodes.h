/* SPDX-License-Identifier: MIT */
/*
 * cgroup/inodes.h - the inode numbers of a cgroup and all below it, which identify cgroups in
 * /proc/kpagecgroup.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_INODES_H
#define HEADROOM_COLLECTORS_CGROUP_INODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Numbers in ascending order. All zeros is an empty list. */
struct hr_cgroup_inodes {
    uint64_t *numbers;
    size_t count, capacity;
};

/**
 * Lists the inode numbers. Groups below that are removed meanwhile are skipped.
 *
 * @param dirfd   the group's directory.
 * @param inodes  an empty list; stays empty on failure.
 * @return 0; -ENODEV: the group was removed; -ENOMEM; or the negative errno of open(2), fstat(2) or
 *         getdents64(2).
 */
int hr_cgroup_inodes_read(int dirfd, struct hr_cgroup_inodes *inodes);

bool hr_cgroup_inodes_has(const struct hr_cgroup_inodes *inodes, uint64_t number);

/** Frees the list's memory and leaves an empty one. */
void hr_cgroup_inodes_free(struct hr_cgroup_inodes *inodes);

#endif
