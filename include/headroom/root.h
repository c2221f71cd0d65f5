/*
 * root.h - the directory that stands for "/", and the cgroup mounts found beneath it.
 *
 * Every collector takes its files from a root. On a live machine that is "/"; a collectd in a
 * container reads the host through the folder where the host's "/" is mounted; a test hands over a
 * tree of its own making.
 *
 * Functions return 0 (or a descriptor) on success and a negative errno on failure. Out-pointers are
 * left untouched on failure. A root may be used by several threads at once.
 */
#ifndef HEADROOM_ROOT_H
#define HEADROOM_ROOT_H

struct hr_root;

/**
 * Opens the directory that stands for "/".
 *
 * @param path  an existing directory; "/" for the live machine.
 * @param root  receives the root; the caller owns it and ends it with hr_root_close().
 * @return 0, -ENOENT, -ENOTDIR, -EACCES, -EMFILE, -ENFILE, -ENOMEM, or -ENOSYS where the path isn't
 *         "/" and the kernel is older than 5.6.
 */
int hr_root_open(const char *path, struct hr_root **root);

/** Ends a root. What was opened through it stays open. NULL is allowed. */
void hr_root_close(struct hr_root *root);

/**
 * Opens a file beneath the root, as if the root were "/": in a root other than "/" no symbolic link
 * and no ".." leads out of it (openat2(2) with RESOLVE_IN_ROOT).
 *
 * @param path   with or without a leading slash; "" is the root itself.
 * @param flags  those of open(2) but O_CREAT; O_CLOEXEC is added.
 * @return a descriptor that the caller closes, or the negative errno of open(2).
 */
int hr_root_openat(const struct hr_root *root, const char *path, int flags);

/**
 * Opens the directory on which the cgroup2 hierarchy is mounted, be it alone (usually
 * /sys/fs/cgroup) or beside version 1 (usually /sys/fs/cgroup/unified).
 *
 * Source: libcgroup for the live machine; it knows a version 2 mount only through the controllers
 * bound to it, so where version 1 has taken all of them, and in any other root, the mount table
 * (/proc/self/mounts, or the root's proc/1/mounts; see proc(5)).
 *
 * @return a descriptor that the caller closes; -ENOENT if no cgroup2 hierarchy is mounted, or the
 *         negative errno of opening the mount table or the directory.
 */
int hr_root_open_cgroup2(const struct hr_root *root);

/**
 * Opens the directory on which the hierarchy of a controller is mounted: version 1's if there is
 * one with that controller, alone or beside others ("cpu,cpuacct"), else cgroup2. The kernel binds
 * a controller to one hierarchy only. Whether cgroup2 has it switched on (cgroup.subtree_control)
 * isn't looked at; perf_event always is.
 *
 * Source: the mount table, see hr_root_open_cgroup2(). What is mounted in no place that the table's
 * process sees isn't known.
 *
 * @param controller  its name, such as "perf_event"; NULL: none, it is cgroup2.
 * @param version     receives 1 or 2; may be NULL.
 * @return a descriptor that the caller closes; -ENOENT if there is no such hierarchy: none of both
 *         is mounted, or version 1's isn't to be found where the table says; or the negative errno
 *         of opening the mount table or the directory.
 */
int hr_root_open_cgroup(const struct hr_root *root, const char *controller, int *version);

#endif
