/* SPDX-License-Identifier: MIT */
/*
 * base/mount.h - cgroup mounts: opening one, and what libcgroup knows of them.
 */
#ifndef HEADROOM_COLLECTORS_BASE_MOUNT_H
#define HEADROOM_COLLECTORS_BASE_MOUNT_H

struct hr_root;

/**
 * Opens a mount point if it has the magic number of the wanted version. In another root than "/",
 * which may be a tree of files, a file that every group has is checked instead.
 *
 * @return a descriptor that the caller closes; -ENOENT if it is something else, or the negative
 *         errno of opening it.
 */
int hr_mount_open(const struct hr_root *root, const char *path, long magic);

/**
 * Opens the cgroup2 mount of the live machine that libcgroup knows.
 *
 * @return a descriptor that the caller closes; -ENOENT if it knows none that can be opened, and
 *         where this was built without libcgroup.
 */
int hr_mount_open_by_libcgroup(const struct hr_root *root);

#endif
