/* SPDX-License-Identifier: MIT */
/*
 * common/submit.h - dispatches values to collectd.
 */
#ifndef HEADROOM_PLUGIN_COMMON_SUBMIT_H
#define HEADROOM_PLUGIN_COMMON_SUBMIT_H

#include "collectd.h"

#include "plugin.h"

/** What the values of one snapshot of one instance have in common. */
struct submission {
    const char *plugin;
    const char *instance;
    cdtime_t time;
    cdtime_t interval; /**< until the next such values; 0: the plugin's. collectd takes a
                          series without values for longer as missing. */
};

/** When the newest values were read that the plugin has dispatched; 0: none were. */
cdtime_t submit_newest(void);

/** Dispatches a gauge; NaN is dropped. */
void submit_gauge(const struct submission *submission, const char *type, const char *type_instance,
                  double value);

/** Dispatches a cumulative counter. */
void submit_derive(const struct submission *submission, const char *type, const char *type_instance,
                   int64_t value);

#endif
