/*
 * wss/values.h - what was measured, on its way from the thread that measures to the read callback
 * that publishes it.
 */
#ifndef HEADROOM_PLUGIN_WSS_VALUES_H
#define HEADROOM_PLUGIN_WSS_VALUES_H

#include "collectd.h"

#include "headroom/wss.h"
#include "plugin.h"

/** One reading. */
struct wss_result {
    char instance[DATA_MAX_NAME_LEN];
    cdtime_t time;      /**< at which it was read */
    cdtime_t interval;  /**< until the next of its kind; 0: the plugin's interval */
    uint64_t window_ms; /**< what its series are named after; 0: the target has one window only */
    bool is_last;       /**< of its measurement: the longest window that is known */
    uint64_t scan_ns;   /**< of the last: what the measurement took */
    struct hr_wss_sample sample;
};

struct wss_values;

/** @return NULL if memory is short. */
struct wss_values *wss_values_new(void);

/** NULL is allowed. */
void wss_values_free(struct wss_values *values);

/** Hands a reading over, which is copied. If nobody takes them, the oldest are dropped in the end.
 */
void wss_values_add(struct wss_values *values, const struct wss_result *result);

/** Hands what has come since the last time to collectd. */
void wss_values_publish(struct wss_values *values);

#endif
