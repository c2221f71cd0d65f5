/* SPDX-License-Identifier: MIT */
/*
 * room/kept_file.h - files of a group that are read at each interval, and kept open as far as
 * descriptors suffice.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_KEPT_FILE_H
#define HEADROOM_COLLECTORS_ROOM_KEPT_FILE_H

#include <stddef.h>

struct hr_cgroup;

/** From where the files of a group, and of those above it, are opened. */
struct hr_group_base {
    const struct hr_cgroup *group; /**< of cgroup2 */
    int fd; /**< its directory in the hierarchy of a controller of version 1; -1: in cgroup2 */
};

/** Opens a file, or the directory by ".", so many levels above. @return a descriptor, or the
 * negative errno of open(2); -ENODEV: the group was removed. */
int hr_group_base_open(const struct hr_group_base *base, size_t level, const char *name, int flags);

/** A file isn't open; or isn't there, so that it isn't looked for again. */
#define HR_FILE_CLOSED  (-1)
#define HR_FILE_MISSING (-2)

/**
 * Reads a file that is kept open, or opens it before.
 *
 * @param kept  its descriptor, or HR_FILE_CLOSED at first.
 * @return as hr_text_read_file(), or as hr_group_base_open().
 */
int hr_kept_file_read(int *kept, const struct hr_group_base *base, size_t level, const char *name,
                      char *buffer, size_t size, size_t *length);

/** Closes a file; one that was missing is looked for again. */
void hr_kept_file_close(int *kept);

#endif
