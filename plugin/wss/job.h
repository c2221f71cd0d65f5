/* SPDX-License-Identifier: MIT */
/*
 * wss/job.h - measuring one target again and again: begin, read at the end of each window, wait for
 * the next cycle; back off from targets that exceed the limits.
 *
 * A target is a block's processes, one cgroup, or the system. Jobs belong to the thread that
 * measures.
 */
#ifndef HEADROOM_PLUGIN_WSS_JOB_H
#define HEADROOM_PLUGIN_WSS_JOB_H

#include "wss/backoff.h"
#include "wss/overlap.h"
#include "wss/problems.h"
#include "wss/schedule.h"
#include "wss/targets.h"
#include "wss/values.h"

struct hr_cgroup;

/** What all jobs share. */
struct wss_job_context {
    const struct hr_root *root;
    uint64_t max_scan_ns, max_rss_bytes;
    uint64_t interval_ns; /**< the plugin's */
    struct wss_overlap_guard overlap_guard;
    struct wss_problems problems; /**< of cgroups */
    struct hr_wss_shared *shared;
    struct complaint beside_damon;
    struct tally locks;          /**< in ms, of those that were held for too long */
    _Atomic bool is_interrupted; /**< readings fail by hr_wss_interrupt(), which is no problem */
    struct wss_values *values;
};

struct wss_job {
    struct wss_due due; /**< first, so that it can be cast to its job; scheduled by the owner */
    struct wss_job_context *context;
    struct wss_target *target;
    const struct hr_cgroup *cgroup; /**< NULL: none */
    const char *instance;
    struct wss_overlap_entry overlap_entry;
    struct wss_target_status status;
    struct hr_wss *wss;               /**< NULL until the method is available */
    enum hr_wss_method method;        /**< its, until "auto" is seen to have replaced it */
    enum hr_wss_method method_before; /**< the one it replaced, … */
    struct hr_reason replaced;        /**< … and why; error 0: nothing that is to be logged */

    uint64_t cycle_ns;     /**< from beginning to beginning: a multiple of the interval */
    uint64_t scheduled_ns; /**< when this cycle was to begin, but for its slot */
    struct wss_backoff backoff;

    bool is_measuring;
    size_t next_window;
    uint64_t scan_ns;         /**< scan time of this measurement so far */
    bool is_known;            /**< whether any of its windows was read */
    struct wss_result latest; /**< of these, the longest */
};

/**
 * @param cgroup    stays valid, and in its set; NULL for others.
 * @param instance  stays valid.
 * @param first_ns  when it begins.
 * @return NULL, logged, if memory is short.
 */
struct wss_job *wss_job_new(struct wss_job_context *context, struct wss_target *target,
                            const struct hr_cgroup *cgroup, const char *instance,
                            uint64_t first_ns);

/** Ends a job, which must not be in a schedule any more. NULL is allowed. */
void wss_job_free(struct wss_job *job);

/** Ends the window that is to be read, if there is one, and the method can: to be called for all
 * jobs that are due, before the first is run, as one reading of the kernel's file serves all then.
 */
void wss_job_end_window(struct wss_job *job);

/** Begins a measurement or reads a window, whichever is due. @return when it is due next. */
uint64_t wss_job_run(struct wss_job *job);

#endif
