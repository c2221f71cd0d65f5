/* SPDX-License-Identifier: MIT */
/*
 * cgroup/inotify.h - watches on directories and files (inotify(7)).
 *
 * kernfs reports that cgroups were created and removed, and changes of cgroup.events. It doesn't
 * report the removal of what is watched, as the watch itself keeps the inode: remove each watch
 * explicitly.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_INOTIFY_H
#define HEADROOM_COLLECTORS_CGROUP_INOTIFY_H

#include <stdint.h>

/** An inotify instance and its watches. */
struct hr_inotify;

/** Opens an inotify instance. @return 0, -EMFILE (fs.inotify.max_user_instances, RLIMIT_NOFILE),
 * -ENFILE, -ENOMEM, -ENOSYS. */
int hr_inotify_open(struct hr_inotify **inotify);

/** Removes all watches, and closes the instance. NULL is allowed. */
void hr_inotify_close(struct hr_inotify *inotify);

/**
 * Watches a directory, or a file in it.
 *
 * @param dirfd  the directory.
 * @param name   a file in it; NULL: the directory itself.
 * @param mask   of inotify(7).
 * @return a watch descriptor, from 1; -ENOSPC (fs.inotify.max_user_watches), -ENOENT, …
 */
int hr_inotify_add_watch(struct hr_inotify *inotify, int dirfd, const char *name, uint32_t mask);

/** Removes a watch; events already queued for it are still read. */
void hr_inotify_remove_watch(struct hr_inotify *inotify, int descriptor);

/** The descriptor, owned by the instance; readable when there are events. */
int hr_inotify_fd(const struct hr_inotify *inotify);

/**
 * Reads the queued events, without blocking.
 *
 * @param changed  called with the watch descriptor of each event.
 * @return 0; -EOVERFLOW if the queue overflowed and events were lost; a negative errno of read(2).
 */
int hr_inotify_read(struct hr_inotify *inotify, void (*changed)(int descriptor, void *context),
                    void *context);

#endif
