/* SPDX-License-Identifier: MIT */
/*
 * cgroup/inotify.h - told by the kernel of changes to directories and files (inotify(7)).
 *
 * kernfs tells the making and removing of cgroups, and a change of cgroup.events. It doesn't tell
 * the end of what is watched, as the watch itself keeps the inode: remove each watch by hand.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_INOTIFY_H
#define HEADROOM_COLLECTORS_CGROUP_INOTIFY_H

#include <stdint.h>

struct hr_inotify;

/** @return 0, -EMFILE (fs.inotify.max_user_instances, RLIMIT_NOFILE), -ENFILE, -ENOMEM, -ENOSYS. */
int hr_inotify_open(struct hr_inotify **inotify);

/** Ends all watches. NULL is allowed. */
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

/** Ends a watch; events already queued for it still come. */
void hr_inotify_remove_watch(struct hr_inotify *inotify, int descriptor);

/** The descriptor, which is the watch's own; readable when there are events. */
int hr_inotify_fd(const struct hr_inotify *inotify);

/**
 * Takes the queued events, without waiting.
 *
 * @param changed  called with the watch descriptor of each event.
 * @return 0; -EOVERFLOW if the queue ran over and events were lost; a negative errno of read(2).
 */
int hr_inotify_read(struct hr_inotify *inotify, void (*changed)(int descriptor, void *context),
                    void *context);

#endif
