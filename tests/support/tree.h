/* SPDX-License-Identifier: MIT */
/*
 * support/tree.h - a throw-away tree of files that stands for "/": the mount table, the pressure
 * files of the system, and cgroups.
 *
 * Paths of files are relative to the tree ("proc/pressure/cpu"), those of groups to its cgroup
 * mount ("system.slice/a.service"). Whatever goes wrong in here ends the program with a message.
 *
 * How it differs from a kernel's:
 * - A removed file that is still open goes on to read, where a cgroup's gives ENODEV.
 * - No group's file depends on another's: populating a group doesn't populate its parent.
 * - The tree is made in /dev/shm if possible, where no inode number comes twice, just as in
 *   cgroup2. In another directory a group that is removed and made again may get its old number
 * back if its directory isn't open.
 *
 * Environment: HEADROOM_TEST_TREES, if set, is the directory in which trees are made.
 */
#ifndef HEADROOM_TESTS_SUPPORT_TREE_H
#define HEADROOM_TESTS_SUPPORT_TREE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

struct tree;

/* Where the cgroups are. */
#define TREE_CGROUPS "sys/fs/cgroup"

/* The averages in every file that tree_pressure() writes: of "some" and of "full". */
#define TREE_SOME_AVG10  1.10
#define TREE_SOME_AVG60  40.60
#define TREE_SOME_AVG300 40.30
#define TREE_FULL_AVG10  20.10
#define TREE_FULL_AVG60  20.60
#define TREE_FULL_AVG300 20.30

/**
 * Makes a tree with proc/1/mounts (a cgroup2 hierarchy on /sys/fs/cgroup, without groups) and
 * proc/pressure/cpu, memory and io with totals of 0. There is no irq, as on most machines.
 *
 * @return the tree; the caller ends it with tree_free(). A test that fails leaves its tree behind.
 */
struct tree *tree_new(void);

/** Removes all of it. */
void tree_free(struct tree *tree);

/** The tree's directory, an absolute path without a trailing slash. */
const char *tree_path(const struct tree *tree);

/** Makes a directory and those above it, as far as they are missing. */
void tree_add_directory(struct tree *tree, const char *path);

/**
 * Writes a file, and makes the directories above it as far as they are missing. A file that
 * exists is rewritten in place (the same inode), so that readers that have it open get the new
 * text.
 */
__attribute__((format(printf, 3, 4))) void tree_write(struct tree *tree, const char *path,
                                                      const char *format, ...);

/** Removes a file, or a directory with all in it; it must be there. */
void tree_remove(struct tree *tree, const char *path);

/** Renames a file or directory; the new name must be free. cgroup2 itself can't do that. */
void tree_rename(struct tree *tree, const char *from, const char *to);

/** A process, for tree_add_process(). */
struct tree_process {
    int pid;
    const char *name;
    char state;         /* 0: S */
    unsigned flags;     /* PF_... of the kernel */
    uint64_t started;   /* in ticks since boot */
    uint64_t rss_bytes; /* resident */
};

/** Makes a process: stat, comm and statm in its directory of proc; or rewrites these. */
void tree_add_process(struct tree *tree, const struct tree_process *process);

/** Rewrites statm of a process. */
void tree_set_resident(struct tree *tree, int pid, uint64_t rss_bytes);

/** The same; of it, `shareable_bytes` belong to files and shared memory. */
void tree_set_shareable(struct tree *tree, int pid, uint64_t rss_bytes, uint64_t shareable_bytes);

/**
 * Makes a group: cgroup.procs, cgroup.events, cgroup.pressure and cpu, memory and io pressure with
 * totals of 0. Missing groups above it are made in the same way, as populated as this.
 */
void tree_add_group(struct tree *tree, const char *group, bool populated);

/** Removes a group and those below it. */
void tree_remove_group(struct tree *tree, const char *group);

/** Rewrites cgroup.events and cgroup.procs of this group, which must be there. */
void tree_set_populated(struct tree *tree, const char *group, bool populated);

/** Writes a group's pressure file, or, if group is NULL, the system's. As in a kernel "irq" gets a
 * "full" line only, the others, the system's "cpu" included, both. */
void tree_pressure(struct tree *tree, const char *group, const char *resource,
                   uint64_t some_total_us, uint64_t full_total_us);

/** Removes a group's pressure file, or, if group is NULL, the system's. */
void tree_remove_pressure(struct tree *tree, const char *group, const char *resource);

#endif
