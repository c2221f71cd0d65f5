/* SPDX-License-Identifier: MIT */
/*
 * wss/method.h - the interface between wss/wss.c and a method of measuring working sets.
 *
 * wss/wss.c finds processes and cgroup, enforces max_rss_bytes and measures times; a method marks
 * and counts. A method's state belongs to one hr_wss.
 */
#ifndef HEADROOM_COLLECTORS_WSS_METHOD_H
#define HEADROOM_COLLECTORS_WSS_METHOD_H

#include <errno.h>
#include <stdbool.h>

#include "base/reason.h"
#include "headroom/wss.h"

struct hr_lru_gen_table;
struct hr_process_names;

/** What a method measures. */
struct hr_wss_subject {
    const struct hr_root *root;
    enum hr_wss_scope scope;
    /** PROCESSES, and CGROUP if the method wants its processes: those found at the beginning. */
    const struct hr_process_list *processes;
    /** If the method counts them: processes of these that began since; found for each read(). */
    const struct hr_process_list *newcomers;
    int cgroup_dirfd;        /**< CGROUP: its directory in cgroup2, open from beginning to end */
    const char *cgroup_path; /**< CGROUP: its path below the mount, as in lru_gen: "/a/b" */
    bool aging;
    uint64_t max_scan_ns;             /**< 0: none */
    struct hr_lru_gen_table *lru_gen; /**< shared with other objects of this thread; NULL: none */
    struct hr_process_names *names;   /**< of all processes; shared likewise, or the object's own */
};

struct hr_wss_ops {
    enum hr_wss_method method;
    bool scopes[HR_WSS_SCOPE_COUNT]; /**< those it supports */
    bool wants_processes;            /**< of a cgroup, too */
    bool counts_newcomers;           /**< see wss/newcomers.h; it can't where it has to mark them */
    bool counts_moved;    /**< of a cgroup, as newcomers also processes that were moved there since:
                               what the group is charged for is known of each page */
    bool walks_memory;    /**< at a cost that grows with it: max_rss_bytes applies */
    bool needs_no_rights; /**< for the user's own processes: it may work even if the probe fails
                               for lack of permission */
    size_t max_windows,
        max_windows_passive; /**< see hr_wss_max_windows(): with aging, and without */
    bool looks_back_passive; /**< see hr_wss_looks_back(): without aging */

    /** See hr_wss_probe(); the scope is a supported one. With aging, checks what that needs, too.
     * If processes of other users can't be accessed (-EACCES, -EPERM), neither this nor the
     * functions below need to set a reason: wss/wss.c has one for all methods. */
    int (*probe)(const struct hr_root *root, enum hr_wss_scope scope, bool aging,
                 struct hr_reason *reason);

    /** Whether it can measure a window. @return 0; -EINVAL, with a reason. May be NULL: any. */
    int (*check_window)(const struct hr_root *root, uint64_t window_ns, struct hr_reason *reason);

    /** Whether it can measure such a target, also one that has no processes. @return 0;
     * -EOPNOTSUPP, with a reason; -ENODEV. May be NULL: any. */
    int (*check_target)(const struct hr_wss_subject *subject, struct hr_reason *reason);

    /** Creates the state, which is kept across measurements. @param subject only its root may be
     * used yet. @param state receives it. */
    int (*open)(const struct hr_wss_subject *subject, void **state);

    /** Marks. @param subject unchanged until the last read(). */
    int (*begin)(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                 struct hr_reason *reason);

    /** Ends the window that read() will read next. May be NULL: it ends with read(). */
    int (*end_window)(void *state, const struct hr_wss_subject *subject, struct hr_reason *reason);

    /**
     * Counts. Fills in referenced_bytes, rss and pss if it reads them, ended_count, left_count and
     * process_count; window_ns if that isn't the time between begin() and read(). -EAGAIN: call
     * again in a moment.
     */
    int (*read)(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                struct hr_wss_sample *sample, struct hr_reason *reason);

    /** Ends the measurement, if any, and restores the kernel's state. May be NULL. */
    void (*end)(void *state);

    void (*close)(void *state);
};

extern const struct hr_wss_ops hr_wss_referenced_ops, hr_wss_idle_ops, hr_wss_lru_gen_ops,
    hr_wss_damon_ops;

/** Whether an error concerns one process only, so that the target's others are still measured. */
static inline bool hr_wss_is_of_one_process(int status)
{
    return status == -ESRCH || status == -EACCES || status == -EPERM;
}

#endif
