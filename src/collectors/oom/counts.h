/* SPDX-License-Identifier: MIT */
/*
 * oom/counts.h - how many processes the kernel has killed, on the machine, and in groups of version
 * 2 and all below them; and how many of these were reported.
 *
 * Kills of a group that aren't reported yet are attributed to the groups below it whose counts have
 * grown, too; to the group itself as far as its own count has; the rest was in groups below it that
 * aren't counted or no longer exist. A group never gets more than one above it has, as each counts
 * all below.
 *
 * Source: see headroom/oom.h.
 */
#ifndef HEADROOM_COLLECTORS_OOM_COUNTS_H
#define HEADROOM_COLLECTORS_OOM_COUNTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cgroup/inotify.h"

struct hr_root;
struct hr_oom_counts;

/** Where kills were. */
struct hr_oom_place {
    const char *path; /**< until the counts change */
    bool is_exact;
    uint64_t count;
};

/** @return 0 or -ENOMEM. */
int hr_oom_counts_open(const struct hr_root *root, struct hr_oom_counts **counts);

/** NULL is allowed. */
void hr_oom_counts_close(struct hr_oom_counts *counts);

/** Of /proc/vmstat when it was read last: 0 or a negative errno. */
int hr_oom_counts_status(const struct hr_oom_counts *counts);

/** Of the memory controller's hierarchy; 0: it isn't mounted. */
int hr_oom_counts_version(const struct hr_oom_counts *counts);

/** Watches the topmost groups from now on. @param inotify  must outlive the counts. */
void hr_oom_counts_watch(struct hr_oom_counts *counts, struct hr_inotify *inotify);

/** Counts a group and those above it; see hr_oom_add_group(). */
int hr_oom_counts_add(struct hr_oom_counts *counts, const char *path);

/** Ends that. */
void hr_oom_counts_remove(struct hr_oom_counts *counts, const char *path);

/** Notes that a kill was reported. */
void hr_oom_counts_mark_reported(struct hr_oom_counts *counts, const char *path, bool is_exact);

/** Reads the machine's count, or without one those of the topmost groups. @return how many of these
 * kills weren't reported. */
uint64_t hr_oom_counts_read_machine(struct hr_oom_counts *counts);

/** The machine's count, as it was read last. */
uint64_t hr_oom_counts_total(const struct hr_oom_counts *counts);

/** Reads all counts. @return as hr_oom_counts_read_machine(). */
uint64_t hr_oom_counts_read(struct hr_oom_counts *counts);

/**
 * Attributes what hr_oom_counts_read() has found.
 *
 * @param most    of how many kills at most.
 * @param places  receives an array that the caller frees, the deepest groups first.
 * @return 0 or -ENOMEM.
 */
int hr_oom_counts_attribute(const struct hr_oom_counts *counts, uint64_t most,
                            struct hr_oom_place **places, size_t *count);

/**
 * Finds by whose limit a kill was: of the group and those above it, the only one whose limit was
 * reached since all kills were reported last.
 *
 * @param limit  receives its path, until the counts change; NULL: there is none, or are several.
 * @return how many there are.
 */
size_t hr_oom_counts_find_limit(const struct hr_oom_counts *counts, const char *path,
                                const char **limit);

/**
 * Lets the counts go on from what was read last.
 *
 * @param is_forced  also if kills aren't reported yet; else only if all are, as what was counted
 *                   while groups were read is still to be attributed.
 * @return whether it was done.
 */
bool hr_oom_counts_rebase(struct hr_oom_counts *counts, bool is_forced);

/** Reads memory.max of a group, or version 1's limit. @return UINT64_MAX: there is none, or it
 * isn't known. */
uint64_t hr_oom_counts_read_limit(const struct hr_oom_counts *counts, const char *path);

#endif
