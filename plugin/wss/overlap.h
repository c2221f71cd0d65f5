/*
 * wss/overlap.h - which targets of the plugin wss have memory in common, so that one would take the
 * other's evidence: whoever looks which pages were touched begins by making all look untouched.
 *
 * What the configuration shows is refused at the start. What only shows while it runs (a process
 * lies in a cgroup that is measured, too; a cgroup within another) keeps the later of the two from
 * being measured, for as long as it lasts.
 */
#ifndef HEADROOM_PLUGIN_WSS_OVERLAP_H
#define HEADROOM_PLUGIN_WSS_OVERLAP_H

#include <sys/queue.h>

#include "headroom/process.h"
#include "wss/targets.h"

struct hr_root;

/** Looks for targets that can't be meant together. @return 0; -1: there are, and it is logged. */
int wss_overlap_check(const struct wss_targets *targets);

/** A process, as it can't be mistaken for another. */
struct wss_member {
    pid_t pid;
    uint64_t started_ticks;
};

/** What one target takes of the ground. */
struct wss_overlap_entry {
    enum hr_wss_scope scope;
    const char *label;                         /**< for messages */
    const char *path;                          /**< CGROUP: below the mount */
    const struct hr_process_choice *processes; /**< PROCESSES */

    /* The ground's; all zeros at first. */
    TAILQ_ENTRY(wss_overlap_entry) link;
    bool is_entered;
    uint64_t checked;           /* which state of the ground it was compared with */
    struct wss_member *members; /* PROCESSES: those that were found, and of each... */
    size_t member_count, member_capacity;
    char *paths; /* ...its cgroup, each with its end, or "?" if that isn't known */
    size_t paths_length, paths_size;
};

/** All claims that are held. Used by one thread. */
struct wss_overlap_guard {
    const struct hr_root *root;
    bool has_several_targets;
    TAILQ_HEAD(wss_overlap_entries, wss_overlap_entry) entries;
    uint64_t generation;         /**< changes with what is held */
    struct hr_process_list list; /**< while processes are looked up */
};

/** @param contested  whether there is more than one target, so that anything has to be compared. */
void wss_overlap_guard_init(struct wss_overlap_guard *guard, const struct hr_root *root,
                            bool has_several_targets);

/**
 * Holds a claim, or goes on to, unless it overlaps with another that is held; then it is given up.
 * It must be asked at each measurement, as processes move.
 *
 * @return NULL: it is held; else the other.
 */
const struct wss_overlap_entry *wss_overlap_enter(struct wss_overlap_guard *guard,
                                                  struct wss_overlap_entry *entry);

/** Gives a claim up, if it is held. */
void wss_overlap_leave(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry);

/** Tells how two claims overlap, as "cause: remedy". */
void wss_overlap_explain(const struct wss_overlap_entry *entry,
                         const struct wss_overlap_entry *other, struct hr_reason *reason);

/** Gives up a claim, and frees what it holds. */
void wss_overlap_entry_free(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry);

/** Ends the ground, on which no claim is left. */
void wss_overlap_guard_free(struct wss_overlap_guard *guard);

#endif
