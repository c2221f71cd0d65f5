/* SPDX-License-Identifier: MIT */
/*
 * headroom/cgroup.h - the cgroups selected by patterns, tracked as they are created and removed.
 *
 * hr_cgroup_set_read() brings a set up to date. Between two calls the kernel collects the changed
 * directories in an inotify queue; only these are listed again. In addition everything is listed
 * periodically, and after an overflow of the queue.
 *
 * A group is its directory, not its path: one removed and created again under the same name is
 * another group. It is identified by its inode number, which a hierarchy never reuses.
 *
 * Empty groups (no process in them or below) are kept, but hr_cgroup_set_next() skips them, and
 * they cost nothing until the kernel reports that they are populated. It does so in cgroup2 only,
 * by cgroup.events: a group of a version 1 hierarchy counts as populated as long as it exists.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst ("Core Interface Files"),
 * Documentation/admin-guide/cgroup-v1/cgroups.rst, inotify(7), fs/kernfs/dir.c.
 *
 * A set and its groups are used by one thread at a time.
 */
#ifndef HEADROOM_CGROUP_H
#define HEADROOM_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_root;
struct hr_cgroup_set;

/** One selected group. The set owns all members but `data`. */
struct hr_cgroup {
    const char *path; /**< below the mount, without a leading slash: "system.slice/a.service" */
    uint64_t id;      /**< the directory's inode number, the kernel's own id of a cgroup */
    size_t pattern;   /**< index of the first pattern that selected it */
    bool populated;   /**< a process is in it or below it; in version 1: it exists */
    int dirfd;        /**< its directory, kept open; -1 where descriptors are short */
    void *data;       /**< the caller's; NULL at first, never touched by the set */
};

/** Events of a selected group, in the order in which they can occur. */
enum hr_cgroup_event {
    HR_CGROUP_ADDED,     /**< it is new in the set; its state is still "empty" */
    HR_CGROUP_POPULATED, /**< a process is in it; in version 1 right after ADDED */
    HR_CGROUP_EMPTIED,   /**< the last process left; also before a populated group's REMOVED, in
                              version 1 only then */
    HR_CGROUP_REMOVED,   /**< its directory was removed, the set is closed, or the controller has
                              moved to another hierarchy; `group` is freed after this */
};

struct hr_cgroup_options {
    /**
     * The controller whose hierarchy is used, such as "perf_event": version 1's if it is mounted
     * with this controller, else cgroup2. NULL: always cgroup2. A full scan detects that the
     * controller has moved to another hierarchy: all groups are removed, and those of the other one
     * are added.
     */
    const char *controller;
    /**
     * The groups to select: a glob per path component, relative to the mount. "*" matches any text
     * within a component, "?" one byte, "[a-z]" and "[!a-z]" one byte of a set, "**" any text
     * across components; as a whole component in the middle, "**" also matches no component at all.
     * A backslash is an ordinary character, as it is common in unit names ("\x2d").
     */
    const char *const *patterns;
    size_t pattern_count;
    /** Groups to exclude although a pattern selects them. Same syntax. */
    const char *const *excludes;
    size_t exclude_count;
    /** The largest number of groups; 0: no limit. The first in the order of discovery, directory by
     * directory in the byte order of names, are selected; others follow as they go. */
    size_t max_count;
    /** Nanoseconds between full scans; 0: the default, five minutes. */
    uint64_t rescan_ns;
    /** Called for every event, by hr_cgroup_set_read() and hr_cgroup_set_close(). */
    void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event, void *context);
    void *context;
};

/** The current contents of a set. */
struct hr_cgroup_counts {
    size_t selected;  /**< groups in the set, populated or empty */
    size_t populated; /**< of these, the populated ones */
    size_t excess;    /**< selected by a pattern, but beyond max_count */
    size_t unwatched; /**< inotify watches that can't be added; these directories are polled */
    int watch_error;  /**< the cause: 0, -ENOSPC (fs.inotify.max_user_watches), -EMFILE
                           (fs.inotify.max_user_instances, RLIMIT_NOFILE), … */
    size_t reopened;  /**< groups whose directory is opened each time, for lack of descriptors */
};

/**
 * Checks a pattern.
 *
 * @param wildcards  receives the number of its wildcards; may be NULL.
 * @param reason     receives, on -EINVAL, what is wrong with it, as a static string; may be NULL.
 * @return 0; -EINVAL if it is empty, has a "." or ".." or empty component, or a "[" that isn't
 *         closed; -ENOMEM.
 */
int hr_cgroup_pattern_check(const char *pattern, size_t *wildcards, const char **reason);

/**
 * Creates a set. It is empty until the first hr_cgroup_set_read().
 *
 * @param root     must outlive the set.
 * @param options  copied, including the texts.
 * @param set      receives the set; the caller closes it with hr_cgroup_set_close().
 * @return 0, -EINVAL for an invalid pattern, -ENOMEM.
 */
int hr_cgroup_set_open(const struct hr_root *root, const struct hr_cgroup_options *options,
                       struct hr_cgroup_set **set);

/** Reports EMPTIED and REMOVED for every group, and frees the set. NULL is allowed. */
void hr_cgroup_set_close(struct hr_cgroup_set *set);

/**
 * Brings the set up to date, and reports each change to the event function.
 *
 * @return 0; -ENOENT while the hierarchy isn't mounted, see hr_root_open_cgroup() (each call looks
 *         again); -EACCES or another negative errno if the mount's directory can't be read;
 *         -ENOMEM: some groups may be missing until a later call.
 */
int hr_cgroup_set_read(struct hr_cgroup_set *set);

/**
 * The descriptor to wait on for changes, for callers that can't wait for their next interval: it is
 * readable from a change until the next hr_cgroup_set_read(). The set owns it.
 *
 * It doesn't cover everything: also read the set every second while there is no descriptor or the
 * counts have `unwatched` directories, and every few minutes in any case.
 *
 * @return -1 if there is none: no mount, or no inotify.
 */
int hr_cgroup_set_fd(const struct hr_cgroup_set *set);

/**
 * Iterates over the populated groups, in the order in which they were populated.
 *
 * @param previous  NULL for the first.
 * @return the next group, NULL after the last. It stays valid until its REMOVED event.
 */
struct hr_cgroup *hr_cgroup_set_next(struct hr_cgroup_set *set, const struct hr_cgroup *previous);

/** @return the current counts of the set. */
struct hr_cgroup_counts hr_cgroup_set_counts(const struct hr_cgroup_set *set);

/**
 * Finds the part of the group's path that a wildcard of its pattern matched.
 *
 * @param number  of the wildcard in the pattern, from 1.
 * @param text    receives a pointer into the group's path, not terminated.
 * @param length  receives the number of bytes, possibly 0.
 * @return 0, -ENOENT if the pattern has fewer wildcards.
 */
int hr_cgroup_wildcard(const struct hr_cgroup *group, size_t number, const char **text,
                       size_t *length);

/**
 * Opens a file of the group, whether its directory is kept open or not; never one of another group
 * created later under the same path.
 *
 * @param name   a file's name, or "." for the directory itself.
 * @param flags  as for open(2); O_CLOEXEC is added.
 * @return a descriptor that the caller closes; -ENODEV if the group was removed, -ENOENT if it
 *         exists but has no such file, or another negative errno of open(2).
 */
int hr_cgroup_openat(const struct hr_cgroup *group, const char *name, int flags);

#endif
