/*
 * common/submit.h - hands values to collectd.
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
    cdtime_t interval; /**< until the next such values; 0: the plugin's. Where it is longer,
                          collectd must know, or it takes the series for missing. */
};

/** Hands a gauge to collectd; a value that isn't a number (NaN) is dropped. */
void submit_gauge(const struct submission *submission, const char *type, const char *type_instance,
                  double value);

/** Hands a cumulative counter to collectd. */
void submit_derive(const struct submission *submission, const char *type, const char *type_instance,
                   int64_t value);

#endif
