/* SPDX-License-Identifier: MIT */
/*
 * wss/overlap.h - keeps targets of the plugin wss with common memory from spoiling each other: a
 * measurement begins by clearing accessed bits, which another one may be counting.
 *
 * One rule decides, whenever more is known: when the configuration is read, where it keeps collectd
 * from starting; when a cgroup fills; and when measuring has found other processes than before.
 * Then the later one isn't measured as long as the earlier one is a target, measured or not.
 */
#ifndef HEADROOM_PLUGIN_WSS_OVERLAP_H
#define HEADROOM_PLUGIN_WSS_OVERLAP_H

#include <sys/queue.h>

#include "headroom/cgroup.h"
#include "headroom/process.h"
#include "headroom/root.h"
#include "wss/targets.h"

/** Checks the configuration for overlapping targets. @return 0; -1: refused, and logged. */
int wss_overlap_check(const struct wss_targets *targets);

/** A process, identified uniquely. */
struct wss_member {
    pid_t pid;
    uint64_t started_ticks;
};

/** The memory of one target. */
struct wss_overlap_entry {
    const struct wss_target *target;
    enum hr_wss_method method;      /**< the target's; once it is chosen, that one */
    const char *label;              /**< for messages */
    const char *path;               /**< CGROUP: below the mount; NULL: it isn't known */
    const struct hr_cgroup *cgroup; /**< the same; NULL: it isn't known */

    /* The guard's; all zeros at first. */
    TAILQ_ENTRY(wss_overlap_entry) link;
    bool is_entered;
    uint64_t checked;           /* the guard's generation it was last compared at */
    struct wss_member *members; /* PROCESSES: those found, and of each... */
    size_t member_count, member_capacity;
    char *paths; /* ...its cgroup, terminated, if that is known */
    size_t paths_length, paths_capacity;
};

/** The targets that may be measured. Used by one thread. */
struct wss_overlap_guard {
    bool has_several_targets, has_cgroups;
    const struct hr_root *namespaced; /**< where /proc has no paths below the mount; or NULL */
    TAILQ_HEAD(wss_overlap_entries, wss_overlap_entry) entries;
    uint64_t generation; /**< changes with the entries */
};

/**
 * @param root                 is kept.
 * @param has_several_targets  false: there is one, so that nothing has to be compared.
 * @param has_cgroups          false: where processes are isn't looked up.
 */
void wss_overlap_guard_init(struct wss_overlap_guard *guard, const struct hr_root *root,
                            bool has_several_targets, bool has_cgroups);

/** Sets the processes that an entry has, as measuring has found them. */
void wss_overlap_set_processes(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry,
                               const struct hr_process_list *processes);

/**
 * Enters a target, or keeps it entered, unless it overlaps with another one; then it is removed. To
 * be called at each measurement: only if anything has changed is it compared again.
 *
 * @return NULL: it is entered; else the other one.
 */
const struct wss_overlap_entry *wss_overlap_enter(struct wss_overlap_guard *guard,
                                                  struct wss_overlap_entry *entry);

/** Removes an entry, if it is entered. */
void wss_overlap_leave(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry);

/** Describes how two entries overlap, as "cause: remedy". @return the reason's error, -EEXIST. */
int wss_overlap_explain(const struct wss_overlap_guard *guard,
                        const struct wss_overlap_entry *entry,
                        const struct wss_overlap_entry *other, struct hr_reason *reason);

/** Removes an entry and frees what it owns. */
void wss_overlap_entry_free(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry);

#endif
