/* SPDX-License-Identifier: MIT */
/*
 * room/group_file.h - a group's directory in the hierarchy of a controller, and the files in it.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_GROUP_FILE_H
#define HEADROOM_COLLECTORS_ROOM_GROUP_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct hr_cgroup;
struct hr_root;

/** Hierarchies that are looked for, at most. */
#define HR_GROUP_MOUNTS 4

/** Where version 1's hierarchies are, as far as that was looked for; all zeros: nothing is known.
 * Looking for one takes longer than all else that is read of a group. */
struct hr_group_mounts {
    size_t count;
    struct hr_group_mount {
        const char *controller;
        int fd; /**< -1: version 1 doesn't have it */
    } list[HR_GROUP_MOUNTS];
};

/** Closes them; they are looked for again. */
void hr_group_mounts_clear(struct hr_group_mounts *mounts);

/**
 * Opens the directory of a cgroup2 group in the hierarchy of a controller. That of version 1 has
 * the same group if the path is the same, and the first process, if there is one, is in it.
 *
 * @param mounts   what was found before, for other groups; is added to. NULL: nothing.
 * @param controller  outlives the mounts.
 * @param file     that a group of cgroup2 has if, and only if, the controller is enabled for it.
 * @param version  receives 1 or 2: what the controller's files are called.
 * @return a descriptor that the caller closes; -ENODEV: the group was removed; -ENOENT: version 1
 *         has no such group; -EAGAIN: its first process ends; or another negative errno
 *         of open(2).
 */
int hr_group_directory_open(const struct hr_root *root, struct hr_group_mounts *mounts,
                            const struct hr_cgroup *group, const char *controller, const char *file,
                            int *version);

/** Whether the first process of a cgroup2 group is in no group of a version 1 controller, but at
 * the top, where there are no limits. */
bool hr_group_is_at_top(const struct hr_root *root, const struct hr_cgroup *group,
                        const char *controller);

/** Opens the directory of the group above, and closes this one. @return as open(2), or the negative
 * errno. */
int hr_group_directory_ascend(int dirfd);

/** How many groups a path is long, itself included; at most `max`. */
size_t hr_group_count_levels(const char *path, size_t max);

/** Reads a file of a group. @return as hr_text_read_and_close(). */
int hr_group_file_read(int dirfd, const char *name, char *buffer, size_t size, size_t *length);

#endif
