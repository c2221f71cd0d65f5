/*
 * wss/job.h - measuring one process, one cgroup or the system, again and again: begin, read at the
 * end of each window, wait for the next cycle; and less often what is too much.
 *
 * Jobs belong to the thread that measures.
 */
#ifndef HEADROOM_PLUGIN_WSS_JOB_H
#define HEADROOM_PLUGIN_WSS_JOB_H

#include "wss/overlap.h"
#include "wss/schedule.h"
#include "wss/targets.h"
#include "wss/trouble.h"
#include "wss/values.h"

/** What all jobs share. */
struct wss_job_context {
    const struct hr_root *root;
    uint64_t max_scan_ns, max_rss_bytes;
    uint64_t interval_ns; /**< the plugin's */
    struct wss_overlap_guard overlap_guard;
    struct wss_trouble trouble; /**< of cgroups */
    struct wss_values *values;
};

struct wss_job {
    struct wss_due due; /**< first, so that it leads to its job; it's the owner who puts it in */
    struct wss_job_context *context;
    struct wss_target *target;
    const char *instance;
    struct wss_overlap_entry overlap_entry;
    struct wss_target_status status;
    struct hr_wss *wss; /**< NULL until the method is there */

    uint64_t cycle_ns;     /**< from beginning to beginning: whole intervals */
    uint64_t scheduled_ns; /**< when this cycle was to begin */
    unsigned backoff;      /**< the cycle is so many times doubled */

    bool is_measuring;
    uint64_t begun_ns;
    size_t next_window;
    uint64_t scan_ns;         /**< what this measurement took so far */
    bool is_known;            /**< whether any of its windows is */
    struct wss_result latest; /**< of these, the longest */
};

/**
 * @param path      of a cgroup: below the mount; stays valid. NULL for others.
 * @param instance  stays valid.
 * @param first_ns  when it begins.
 * @return NULL, logged, if memory is short.
 */
struct wss_job *wss_job_new(struct wss_job_context *context, struct wss_target *target,
                            const char *path, const char *instance, uint64_t first_ns);

/** Ends a job, which must not be in a schedule any more. NULL is allowed. */
void wss_job_free(struct wss_job *job);

/** Does what is due. @return when it is due next. */
uint64_t wss_job_run(struct wss_job *job);

#endif
