/* SPDX-License-Identifier: MIT */
/*
 * wss/worker.h - the thread that measures: it keeps track of the cgroups and runs the job of each
 * target, spread over the interval.
 */
#ifndef HEADROOM_PLUGIN_WSS_WORKER_H
#define HEADROOM_PLUGIN_WSS_WORKER_H

#include "common/selection.h"
#include "wss/targets.h"
#include "wss/values.h"

struct wss_worker;

struct wss_worker_options {
    const struct hr_root *root;
    struct selection *selection;
    struct wss_targets *targets;
    struct wss_values *values; /**< where results go */
    uint64_t max_scan_ns, max_rss_bytes, interval_ns;
};

/**
 * Starts the thread.
 *
 * @param options  copied; what they point to must outlive the thread.
 * @param worker   receives it; ended by wss_worker_stop().
 * @return 0 or a negative errno.
 */
int wss_worker_start(const struct wss_worker_options *options, struct wss_worker **worker);

/** Ends the thread and waits for it, which takes as long as a scan in progress, but never as long
 * as a window. NULL is allowed. */
void wss_worker_stop(struct wss_worker *worker);

#endif
