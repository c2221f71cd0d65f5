/* SPDX-License-Identifier: MIT */
/*
 * wss/values.h - passes results from the thread that measures to the read callback, which publishes
 * them.
 */
#ifndef HEADROOM_PLUGIN_WSS_VALUES_H
#define HEADROOM_PLUGIN_WSS_VALUES_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/wss.h"

/** One reading. */
struct wss_result {
    char instance[DATA_MAX_NAME_LEN];
    cdtime_t time;      /**< at which it was read */
    cdtime_t interval;  /**< until the next of its kind; 0: the plugin's interval */
    uint64_t window_ms; /**< in the names of its series; 0: the target has one window only */
    bool is_last;       /**< of its measurement: the longest window that was read */
    bool of_processes;  /**< the target is a Process block */
    uint64_t scan_ns;   /**< of the last: scan time of the measurement */
    struct hr_wss_sample sample;
};

struct wss_values;

/** @return NULL if memory is short. */
struct wss_values *wss_values_new(void);

/** NULL is allowed. */
void wss_values_free(struct wss_values *values);

/** Adds a result, which is copied. If they aren't published, the oldest are dropped eventually. */
void wss_values_add(struct wss_values *values, const struct wss_result *result);

/** Dispatches the results added since the last call to collectd. */
void wss_values_publish(struct wss_values *values);

#endif
