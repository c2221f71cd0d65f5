/* SPDX-License-Identifier: MIT */
/*
 * headroom/root.h - the directory used as "/", and the cgroup mounts found beneath it.
 *
 * Every collector reads its files beneath a root. On a live machine that is "/"; a collectd in a
 * container reads the host's files beneath the directory where the host's "/" is mounted; a test
 * passes a tree of its own.
 *
 * Functions return 0 (or a descriptor) on success and a negative errno on failure. Out-pointers are
 * left untouched on failure. A root may be used by several threads at once.
 */
#ifndef HEADROOM_ROOT_H
#define HEADROOM_ROOT_H

struct hr_root;

/**
 * Opens a root directory.
 *
 * @param path  an existing directory; "/" for the live machine.
 * @param root  receives the root; the caller closes it with hr_root_close().
 * @return 0, -ENOENT, -ENOTDIR, -EACCES, -EMFILE, -ENFILE, -ENOMEM, or -ENOSYS where the path isn't
 *         "/" and the kernel is older than 5.6.
 */
int hr_root_open(const char *path, struct hr_root **root);

/** Closes a root. Files opened beneath it stay open. NULL is allowed. */
void hr_root_close(struct hr_root *root);

/**
 * Opens a file beneath the root as if the root were "/": symbolic links and ".." don't lead out of
 * a root other than "/" (openat2(2) with RESOLVE_IN_ROOT).
 *
 * @param path   with or without a leading slash; "" is the root itself.
 * @param flags  as for open(2), without O_CREAT; O_CLOEXEC is added.
 * @return a descriptor that the caller closes, or the negative errno of open(2).
 */
int hr_root_openat(const struct hr_root *root, const char *path, int flags);

/**
 * Opens the mount point of the cgroup2 hierarchy, which is mounted alone (usually /sys/fs/cgroup)
 * or beside version 1 (usually /sys/fs/cgroup/unified).
 *
 * Source: libcgroup on the live machine, where it was built with it. It knows a version 2 mount
 * only by the controllers bound to it; where version 1 has all of them, without libcgroup, and in
 * any other root, the mount table (/proc/self/mounts, or the root's proc/1/mounts; see proc(5)).
 *
 * @return a descriptor that the caller closes; -ENOENT if no cgroup2 hierarchy is mounted, or the
 *         negative errno of opening the mount table or the directory.
 */
int hr_root_open_cgroup2(const struct hr_root *root);

/**
 * Opens the mount point of a controller's hierarchy: version 1's if one has that controller, alone
 * or with others ("cpu,cpuacct"), else cgroup2. The kernel binds a controller to one hierarchy
 * only. Whether it is enabled in cgroup2 (cgroup.subtree_control) isn't checked; perf_event always
 * is.
 *
 * Source: the mount table, see hr_root_open_cgroup2(). A hierarchy mounted only where the table's
 * process can't see it isn't found.
 *
 * @param controller  its name, such as "perf_event"; NULL: none, for cgroup2.
 * @param version     receives 1 or 2; may be NULL.
 * @return a descriptor that the caller closes; -ENOENT if there is no such hierarchy: neither is
 *         mounted, or version 1's isn't where the table has it; or the negative errno of opening
 *         the mount table or the directory.
 */
int hr_root_open_cgroup(const struct hr_root *root, const char *controller, int *version);

#endif
