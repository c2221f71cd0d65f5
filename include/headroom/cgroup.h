/*
 * cgroup.h - the control groups selected by patterns, followed as they come and go.
 *
 * A set is brought up to date by hr_cgroup_set_read(). In between the kernel collects, in an
 * inotify queue, which directories changed; only these are listed again. As a safety net everything
 * is listed again once in a while, and whenever the queue ran over.
 *
 * A group is its directory, not its path: removed and made again under the same name, it is another
 * group. The identity is the inode number, which a hierarchy never gives twice.
 *
 * Empty groups (no process in them or below) are kept but not walked by hr_cgroup_set_next(), and
 * cost nothing until the kernel tells that they were populated. It does so in cgroup2 only, by
 * cgroup.events: a group of a version 1 hierarchy counts as populated for as long as it exists.
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

/** One selected group. All but `data` belongs to the set. */
struct hr_cgroup {
    const char *path; /**< below the mount, without a leading slash: "system.slice/a.service" */
    uint64_t id;      /**< the directory's inode number, the kernel's own id of a cgroup */
    size_t pattern;   /**< index of the first pattern that selected it */
    bool populated;   /**< a process lives in it or below it; in version 1: it exists */
    int dirfd;        /**< its directory, kept open; -1 where descriptors are short */
    void *data;       /**< the owner's; NULL at first, never touched by the set */
};

/** What happens to a selected group, in the order in which it can happen. */
enum hr_cgroup_event {
    HR_CGROUP_ADDED,     /**< it is new in the set; still taken for empty */
    HR_CGROUP_POPULATED, /**< a process lives in it; in version 1 it follows ADDED at once */
    HR_CGROUP_EMPTIED,   /**< the last process left; also told before a populated group's removal,
                              in version 1 only then */
    HR_CGROUP_REMOVED,   /**< its directory is gone, or the set is closed, or it follows another
                              hierarchy by now; `group` ends after this */
};

struct hr_cgroup_options {
    /**
     * Whose hierarchy is followed, such as "perf_event": version 1's if it is mounted with this
     * controller, else cgroup2. NULL: cgroup2 in any case. When the controller has moved to another
     * hierarchy, a full scan finds out: all groups end, and those of the other one are added.
     */
    const char *controller;
    /**
     * Which groups: a glob per path component, relative to the mount. "*" matches any text within a
     * component, "?" one byte, "[a-z]" and "[!a-z]" one byte of a set, "**" any text across
     * components; as a whole component in the middle, "**" also matches no component at all.
     * A backslash is an ordinary character, as unit names are full of it ("\x2d").
     */
    const char *const *patterns;
    size_t pattern_count;
    /** Groups that are left out, though a pattern selects them. Same syntax. */
    const char *const *excludes;
    size_t exclude_count;
    /** How many groups at most; 0: no limit. The first in order of discovery, directory by
     * directory in the byte order of names, are taken; others move up as these go. */
    size_t max_count;
    /** Nanoseconds between full scans; 0: the default, five minutes. */
    uint64_t rescan_ns;
    /** Told of every event, from within hr_cgroup_set_read() and hr_cgroup_set_close(). */
    void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event, void *context);
    void *context;
};

/** What a set holds at the moment. */
struct hr_cgroup_counts {
    size_t selected;  /**< groups in the set, populated or not */
    size_t populated; /**< of these, with a process */
    size_t excess;    /**< selected by a pattern, but over max_count */
    size_t unwatched; /**< inotify watches that can't be had; these directories are polled */
    int watch_error;  /**< why: 0, or -ENOSPC (fs.inotify.max_user_watches), -EMFILE
                           (fs.inotify.max_user_instances, RLIMIT_NOFILE), … */
    size_t unheld;    /**< groups whose directory isn't kept open as descriptors are short */
};

/**
 * Checks a pattern.
 *
 * @param wildcards  receives how many wildcards it has; may be NULL.
 * @param reason     receives, on -EINVAL, what is wrong with it, as a static string; may be NULL.
 * @return 0; -EINVAL for an empty one, one with a "." or ".." or empty component, or with a "["
 * that is not closed; -ENOMEM.
 */
int hr_cgroup_pattern_check(const char *pattern, size_t *wildcards, const char **reason);

/**
 * Makes a set. No group is looked for before the first hr_cgroup_set_read().
 *
 * @param root     must outlive the set.
 * @param options  copied, texts included.
 * @param set      receives the set; the caller owns it and ends it with hr_cgroup_set_close().
 * @return 0, -EINVAL for a pattern that isn't one, -ENOMEM.
 */
int hr_cgroup_set_open(const struct hr_root *root, const struct hr_cgroup_options *options,
                       struct hr_cgroup_set **set);

/** Tells the end of every group (EMPTIED, REMOVED) and ends the set. NULL is allowed. */
void hr_cgroup_set_close(struct hr_cgroup_set *set);

/**
 * Brings the set up to date, telling each change by the event function.
 *
 * @return 0; -ENOENT while the hierarchy isn't mounted, see hr_root_open_cgroup() (it is looked for
 *         again at each call); -EACCES or another negative errno if the mount's directory can't be
 *         read; -ENOMEM: some groups may be missing until a later call.
 */
int hr_cgroup_set_read(struct hr_cgroup_set *set);

/**
 * The descriptor to wait on for changes, so that a set that must be up to date at once need not be
 * read all the time: it is readable until the next hr_cgroup_set_read(). It is the set's own.
 *
 * Not all is told by it: also read the set each second while there is no descriptor or counts have
 * `unwatched` directories, and each few minutes in any case.
 *
 * @return -1 while there is none: no mount, or no inotify.
 */
int hr_cgroup_set_fd(const struct hr_cgroup_set *set);

/**
 * Walks the populated groups. The order is that of their population.
 *
 * @param previous  NULL for the first.
 * @return the next group, NULL after the last. It stays valid until its REMOVED event.
 */
struct hr_cgroup *hr_cgroup_set_next(struct hr_cgroup_set *set, const struct hr_cgroup *previous);

/** Tells what the set holds. */
struct hr_cgroup_counts hr_cgroup_set_counts(const struct hr_cgroup_set *set);

/**
 * What a wildcard of the group's pattern matched in its path.
 *
 * @param number  from 1, in the order in which the wildcards stand in the pattern.
 * @param text    receives a pointer into the group's path, not terminated.
 * @param length  receives the number of bytes, possibly 0.
 * @return 0, -ENOENT if the pattern has fewer wildcards.
 */
int hr_cgroup_wildcard(const struct hr_cgroup *group, size_t number, const char **text,
                       size_t *length);

/**
 * Opens a file of the group, beneath its directory, whether that is kept open or not. A group made
 * again under the same path is not taken for this one.
 *
 * @param name   a file's name, or "." for the directory itself.
 * @param flags  those of open(2); O_CLOEXEC is added.
 * @return a descriptor that the caller closes; -ENODEV if the group was removed, -ENOENT if it
 * lives but has no such file, or another negative errno of open(2).
 */
int hr_cgroup_openat(const struct hr_cgroup *group, const char *name, int flags);

#endif
