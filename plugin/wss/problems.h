/* SPDX-License-Identifier: MIT */
/*
 * wss/problems.h - logs why a target isn't measured: once, with the remedy; and when it is again.
 *
 * Each process target and the system are logged individually; cgroups, of which there may be many,
 * are counted by kind of problem. Used by the thread that measures.
 */
#ifndef HEADROOM_PLUGIN_WSS_PROBLEMS_H
#define HEADROOM_PLUGIN_WSS_PROBLEMS_H

#include "common/complaint.h"
#include "headroom/wss.h"

/** The state of a target. */
enum wss_finding {
    WSS_FINE,
    WSS_ABSENT,  /**< there is no such process or cgroup now */
    WSS_LIMITED, /**< it is too large, or would take too long */
    WSS_OVERLAPS,
    WSS_NO_METHOD, /**< the method isn't available */
    WSS_PARTLY,    /**< it is measured, but not all of its processes */
    WSS_FAILS,
    WSS_FINDINGS
};

/** What was logged about a target; all zeros at first. */
struct wss_target_status {
    enum wss_finding finding; /**< of a cgroup: how it is counted */
    struct complaint complaint;
};

/** What was logged about cgroups; all zeros at first. */
struct wss_problems {
    struct {
        size_t count;
        struct complaint complaint;
        struct tally tally;
        char example[256];
        char reason[sizeof(((struct hr_reason *)NULL)->text)];
    } groups[WSS_FINDINGS];
};

/**
 * Classifies an error of hr_wss_begin() or hr_wss_read().
 *
 * @param by_file  whether the process is found by a PID file: then -ENOENT means that file, else
 * one of the method's.
 */
enum wss_finding wss_problems_classify(int status, bool by_file);

/**
 * Reports that a target can't be measured, or only in part.
 *
 * @param problems  for a cgroup: counts it; NULL for processes and the system: logs it now.
 * @param retry_ns  how long until the retry; for messages.
 */
void wss_problems_report(struct wss_problems *problems, struct wss_target_status *status,
                         const char *label, enum wss_finding finding,
                         const struct hr_reason *reason, uint64_t retry_ns);

/** Reports that a target is measured, or gone. */
void wss_problems_clear(struct wss_problems *problems, struct wss_target_status *status,
                        const char *label);

/** Logs changes in the problems of cgroups. */
void wss_problems_log(struct wss_problems *problems);

#endif
