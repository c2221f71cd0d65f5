/*
 * wss/method.h - what wss/wss.c knows of a method of measuring working sets.
 *
 * wss/wss.c finds processes and cgroup, guards the limits, and takes the times; a method marks and
 * counts. A method's state belongs to one hr_wss.
 */
#ifndef HEADROOM_COLLECTORS_WSS_METHOD_H
#define HEADROOM_COLLECTORS_WSS_METHOD_H

#include <errno.h>
#include <stdbool.h>

#include "base/reason.h"
#include "headroom/wss.h"

/** What a method works on. */
struct hr_wss_subject {
    const struct hr_root *root;
    enum hr_wss_scope scope;
    /** PROCESSES, and CGROUP if the method wants its processes: those found at the beginning. A
     * method may not change it. */
    const struct hr_process_list *processes;
    int cgroup_dirfd; /**< CGROUP: its directory in cgroup2, open from beginning to end */
    const char
        *cgroup_path; /**< CGROUP: its path below the mount, as it stands in lru_gen: "/a/b" */
    bool aging;
    uint64_t max_scan_ns; /**< 0: none */
};

struct hr_wss_ops {
    enum hr_wss_method method;
    bool scopes[HR_WSS_SCOPE_COUNT]; /**< those it can do */
    bool wants_processes;            /**< of a cgroup, too */
    bool walks_memory;               /**< at a cost that grows with it: max_rss_bytes applies */
    bool needs_no_rights; /**< of the user's own processes: a probe that fails for lack of
                               permission isn't the last word */
    size_t max_windows,
        max_windows_passive; /**< see hr_wss_max_windows(): with aging, and without */
    bool looks_back_passive; /**< looks back unless it ages */

    /** See hr_wss_probe(); the scope is one that it can do. With aging it needs what that needs.
     * That processes of other users can't be looked at (-EACCES, -EPERM) needs no reason of its
     * own, here or below: all methods that walk memory tell it alike. */
    int (*probe)(const struct hr_root *root, enum hr_wss_scope scope, bool aging,
                 struct hr_reason *reason);

    /** Makes what is kept over measurements, if there is anything. The root is in the subject, all
     * else in it isn't filled in yet. @param state receives it. */
    int (*open)(const struct hr_wss_subject *subject, void **state);

    /** Marks. @param subject stays as it is until the last read(). */
    int (*begin)(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                 struct hr_reason *reason);

    /**
     * Counts. Fills in referenced_bytes, rss and pss if it learns them, ended_count, left_count and
     * process_count; window_ns if it knows better than the time between begin() and read().
     */
    int (*read)(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                struct hr_wss_sample *sample, struct hr_reason *reason);

    /** Ends the measurement, if any, and leaves the kernel as it was found. May be NULL. */
    void (*end)(void *state);

    void (*close)(void *state);
};

extern const struct hr_wss_ops hr_wss_referenced_ops, hr_wss_idle_ops, hr_wss_lru_gen_ops,
    hr_wss_damon_ops;

/** Whether an error is of one process: others of a target go on without it. */
static inline bool hr_wss_is_of_one_process(int status)
{
    return status == -ESRCH || status == -EACCES || status == -EPERM;
}

#endif
