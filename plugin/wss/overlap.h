/* SPDX-License-Identifier: MIT */
/*
 * wss/overlap.h - keeps targets of the plugin wss with common memory from spoiling each other: a
 * measurement begins by clearing accessed bits, which another one may be counting.
 *
 * Overlaps in the configuration are refused at the start. Those that only show at runtime (a
 * process in a cgroup that is measured, too; a cgroup within another) keep the later of the two
 * from being measured while they last.
 */
#ifndef HEADROOM_PLUGIN_WSS_OVERLAP_H
#define HEADROOM_PLUGIN_WSS_OVERLAP_H

#include <sys/queue.h>

#include "headroom/process.h"
#include "wss/targets.h"

struct hr_root;

/** Checks the configuration for overlapping targets. @return 0; -1: refused, and logged. */
int wss_overlap_check(const struct wss_targets *targets);

/** A process, identified uniquely. */
struct wss_member {
    pid_t pid;
    uint64_t started_ticks;
};

/** The memory of one target. */
struct wss_overlap_entry {
    enum hr_wss_scope scope;
    const char *label;                         /**< for messages */
    const char *path;                          /**< CGROUP: below the mount */
    const struct hr_process_choice *processes; /**< PROCESSES */

    /* The guard's; all zeros at first. */
    TAILQ_ENTRY(wss_overlap_entry) link;
    bool is_entered;
    uint64_t checked;           /* the guard's generation it was last compared at */
    struct wss_member *members; /* PROCESSES: those found, and of each... */
    size_t member_count, member_capacity;
    char *paths; /* ...its cgroup, terminated, or "?" if unknown */
    size_t paths_length, paths_capacity;
};

/** The entries that are being measured. Used by one thread. */
struct wss_overlap_guard {
    const struct hr_root *root;
    bool has_several_targets;
    TAILQ_HEAD(wss_overlap_entries, wss_overlap_entry) entries;
    uint64_t generation;         /**< changes with the entries */
    struct hr_process_list list; /**< while processes are looked up */
};

/** @param has_several_targets  false: there is one, so that nothing has to be compared. */
void wss_overlap_guard_init(struct wss_overlap_guard *guard, const struct hr_root *root,
                            bool has_several_targets);

/**
 * Enters a target, or keeps it entered, unless it overlaps with another one; then it is removed. To
 * be called at each measurement, as processes move.
 *
 * @return NULL: it is entered; else the other one.
 */
const struct wss_overlap_entry *wss_overlap_enter(struct wss_overlap_guard *guard,
                                                  struct wss_overlap_entry *entry);

/** Removes an entry, if it is entered. */
void wss_overlap_leave(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry);

/** Describes how two entries overlap, as "cause: remedy". */
void wss_overlap_explain(const struct wss_overlap_entry *entry,
                         const struct wss_overlap_entry *other, struct hr_reason *reason);

/** Removes an entry and frees what it owns. */
void wss_overlap_entry_free(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry);

/** Frees the guard, which has no entries left. */
void wss_overlap_guard_free(struct wss_overlap_guard *guard);

#endif
