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
 * Empty groups (no process in them or below) are followed, but hr_cgroup_set_next() skips them,
 * they don't count for max_count, and they cost no more than memory until the kernel reports that
 * they are populated. It does so in cgroup2 only, by cgroup.events: a group of a version 1
 * hierarchy counts as populated as long as it exists.
 *
 * Groups can be left out while they are young, see min_age_ns. The kernel doesn't report a group's
 * age; it counts from when the set found the group. One that was there before, when the set was
 * first read or its hierarchy was mounted, counts as old enough, so that a restart of the program
 * makes no difference.
 *
 * A directory that can't be read (its path is too long, no permission) doesn't affect the others:
 * it is retried after a second, then after twice the time, up to 64 seconds. Meanwhile a group
 * stays what it was, at first empty.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst ("Core Interface Files"),
 * Documentation/admin-guide/cgroup-v1/cgroups.rst, inotify(7), fs/kernfs/dir.c.
 *
 * A set and its groups are used by one thread at a time, by any if a lock of the caller's makes
 * it one at a time.
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
    uint64_t id;      /**< the directory's inode number, the kernel's own id of a cgroup, which is
                           also the one from before a restart of the program */
    size_t pattern;   /**< index of the first pattern that selected it */
    bool populated;   /**< a process is in it or below it (in version 1: it exists), it isn't
                           young, and it is one of max_count */
    bool excess;      /**< a process is in it, too, but it is beyond max_count */
    bool young;       /**< a process is in it, too, but it is younger than min_age_ns */
    int dirfd;        /**< its directory, kept open while it is populated, up to its EMPTIED event;
                           -1 where descriptors are short */
    void *data;       /**< the caller's; NULL at first, never touched by the set */
};

/** Events of a selected group, in the order in which they can occur. */
enum hr_cgroup_event {
    HR_CGROUP_ADDED,     /**< it is new in the set; its state is still "empty" */
    HR_CGROUP_POPULATED, /**< a process is in it, in version 1: it exists; it has the age of
                              min_age_ns, and it is one of max_count */
    HR_CGROUP_EMPTIED,   /**< the last process left; also before a populated group's REMOVED, in
                              version 1 only then */
    HR_CGROUP_REMOVED,   /**< its directory was removed, the set is closed, the controller has moved
                              to another hierarchy, or it emptied beyond max_empty; `group` is freed
                              after this */
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
    /** The largest number of populated groups; 0: no limit. The first in the order of discovery,
     * directory by directory in the byte order of names, get a place. The others are followed as if
     * they were empty; when a place becomes free, it goes to the one that was populated first. */
    size_t max_count;
    /** Nanoseconds from when a group is found until it can be populated; 0: none. Until then it is
     * followed as if it were empty, but doesn't count for max_empty; nor does it take one of
     * max_count. No event of the kernel's says that it has become old enough: the next
     * hr_cgroup_set_read() or _read_events() reports it as populated. */
    uint64_t min_age_ns;
    /** The largest number of directories that are followed without being populated: selected ones
     * and those above; 0: the default, ten times max_count, at least 10,000; no limit without
     * max_count. Each takes 450 bytes and its path, and up to two inotify watches, for each of
     * which the kernel keeps an inode (about 1 KiB).
     *
     * Beyond it an empty directory isn't followed, and one that empties is reported as removed.
     * Their parent isn't listed at its changes any more, but again after a second, then after twice
     * the time, up to 64 seconds, so a group below it may be noticed that late; such a listing
     * takes 8 microseconds for each directory that isn't followed. */
    size_t max_empty;
    /** Nanoseconds between full scans; 0: the default, five minutes. */
    uint64_t rescan_ns;
    /** Whether the set is read once, and closed: then nothing is followed, as to end that waits for
     * threads of the kernel, tenths of a second where many tasks want the CPUs. */
    bool once;
    /** Called for every event, by hr_cgroup_set_read(), _read_events() and _close(). */
    void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event, void *context);
    void *context;
};

/** The current contents of a set. */
struct hr_cgroup_counts {
    size_t selected;   /**< groups in the set, populated or empty */
    size_t populated;  /**< of these, the populated ones */
    size_t excess;     /**< populated, too, but beyond max_count */
    size_t young;      /**< populated, too, but younger than min_age_ns */
    size_t unwatched;  /**< inotify watches that can't be added; these directories are polled */
    int watch_error;   /**< the cause: 0, -ENOSPC (fs.inotify.max_user_watches), -EMFILE
                            (fs.inotify.max_user_instances, RLIMIT_NOFILE), … */
    size_t reopened;   /**< populated groups whose directory is opened each time, for lack of
                            descriptors */
    size_t unfollowed; /**< empty directories beyond max_empty, when they were listed last */
    size_t unreadable; /**< directories that can't be opened, listed or read, and are retried */
    int read_error;    /**< the cause for one of these: 0, -ENAMETOOLONG, -EACCES, … */
    const char *unreadable_path; /**< this one, as hr_cgroup.path; NULL: none. Valid until the set
                                      is read or closed */
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

/** What an option takes, for printf() with a pattern that it doesn't, and the reason. */
#define HR_CGROUP_PATTERNS                                                                         \
    "paths below the cgroup mount such as \"system.slice/*.service\" (in \"%s\", %s)"

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

/** Reports EMPTIED for every populated group, REMOVED for every group, and frees the set. NULL is
 * allowed. */
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
 * The first part of hr_cgroup_set_read(): takes what inotify has queued, and updates the groups
 * that it reports as populated or emptied. It lists no directory, so that it is quick while many
 * groups are created and removed.
 *
 * It costs a read(2) for up to 16 KiB of events, and opening, reading and closing cgroup.events of
 * each group that changed. Called for every event while 1,000 groups are created and removed per
 * second, it takes 3 microseconds a call, and 4 % of a CPU in all; hr_cgroup_set_read() takes 210
 * microseconds, and 12 %. The kernel reports another change of a group 10 ms after the last at the
 * earliest.
 *
 * @return 0; 1 if directories have changed, too, or events were lost: hr_cgroup_set_read() will
 * list them. The descriptor doesn't stay readable for these.
 */
int hr_cgroup_set_read_events(struct hr_cgroup_set *set);

/**
 * The descriptor to wait on for changes, for callers that can't wait for their next interval: it is
 * readable from a change until the next hr_cgroup_set_read() or hr_cgroup_set_read_events(). The
 * set owns it.
 *
 * It doesn't cover everything: also read the set every second while there is no descriptor or the
 * counts have `unwatched`, `unreadable` or `unfollowed` directories, and every few minutes in any
 * case; and as often as it matters that `young` groups become old enough.
 *
 * @return -1 if there is none: no mount, or no inotify.
 */
int hr_cgroup_set_fd(const struct hr_cgroup_set *set);

/**
 * Iterates over the populated groups, in the order of their POPULATED events.
 *
 * @param previous  NULL for the first.
 * @return the next group, NULL after the last. It stays valid until its REMOVED event.
 */
struct hr_cgroup *hr_cgroup_set_next(struct hr_cgroup_set *set, const struct hr_cgroup *previous);

/** Whether the directory of a group isn't there any more, though another may be at its path. To be
 * called within an event; for HR_CGROUP_REMOVED has other reasons, too. */
bool hr_cgroup_is_gone(const struct hr_cgroup *group);

/** Whether a group was found so long ago, or was there before, see min_age_ns. */
bool hr_cgroup_has_age(const struct hr_cgroup *group, uint64_t age_ns);

/** Whether one of the populated groups is within another one. */
bool hr_cgroup_set_is_nested(const struct hr_cgroup_set *set);

/** @return the current counts of the set. */
struct hr_cgroup_counts hr_cgroup_set_counts(const struct hr_cgroup_set *set);

/** Finds a cgroup2 group, selected or not. @param path  as hr_cgroup.path. @return 0; -ENOENT:
 * there is none; or another negative errno: not known. */
int hr_cgroup_find(const struct hr_root *root, const char *path);

/** Whether a path, as hr_cgroup.path, is another one or below it; all are below "". */
bool hr_cgroup_is_within(const char *path, const char *above);

/** @return the length of the path of the group so many levels above, which another one begins with;
 * 0: the mount itself. */
size_t hr_cgroup_above_length(const char *path, size_t level);

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
 * Whether a pattern ever matched a directory, populated or not, excluded or not, since the set was
 * opened.
 *
 * @param pattern  its index.
 */
bool hr_cgroup_set_matched(const struct hr_cgroup_set *set, size_t pattern);

/**
 * Checks the template of a name: a text in which "%0" stands for the path, "%l" for its last
 * component, "%1" to "%9" for what a wildcard of the pattern matched, "%n" for the name that a
 * container runtime gave, else the path, "%%" for a percent sign.
 *
 * @param wildcards  how many the pattern has.
 * @return whether it has no other "%".
 */
bool hr_cgroup_template_check(const char *template, size_t wildcards);

/** What an option takes, for printf() with the number of wildcards. */
#define HR_CGROUP_TEMPLATE                                                                         \
    "a text in which %%0 is the path, %%l the leaf, %%n the name of the container (see "           \
    "NameFrom), "                                                                                  \
    "%%%% a percent sign, and %%1 to %%9 are wildcards of the pattern, which has %zu"

/**
 * Makes what a template says of a group.
 *
 * @param template  one that passes hr_cgroup_template_check(); NULL: "%n".
 * @param name      of the group's container, see headroom/container.h; NULL: it has none.
 * @return the text, or the group's path where it would be empty; the caller frees it; NULL: memory
 *         is short.
 */
char *hr_cgroup_template_expand(const char *template, const struct hr_cgroup *group,
                                const char *name);

/**
 * Says what is there where a pattern ceases to match by its components without wildcards, for
 * messages: "there are: init.scope, system.slice, user.slice", or for "system.slice/a.service",
 * where there is no such service, "in system.slice there are: b.service, c.service and 30 more";
 * or, where one name is like the pattern's, "in system.slice there is b.service". Names are as the
 * kernel has them, not made safe.
 *
 * @param controller  as of hr_cgroup_options.
 * @param text        receives the text; "" if that can't be listed.
 * @return whether what would match may yet come: a cgroup in which the pattern looks for it is
 * there, and has none below.
 */
bool hr_cgroup_describe_nearest(const struct hr_root *root, const char *controller,
                                const char *pattern, char *text, size_t size);

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
