/*
 * osnoise/values.h - what was read of the noise, on its way from the thread that reads to the read
 * callback that publishes it.
 *
 * The two may be different threads.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_VALUES_H
#define HEADROOM_PLUGIN_OSNOISE_VALUES_H

#include "collectd.h"

#include "headroom/osnoise.h"
#include "plugin.h"

struct osnoise_values;

struct osnoise_values_options {
    bool has_samples; /**< all modes but sources */
    bool by_source;
    size_t top;               /**< how many sources have a series of their own */
    cdtime_t sample_interval; /**< how far apart values are, if samples come less often than the
                                 plugin's interval; else 0 */
};

/** @return NULL if memory is short. */
struct osnoise_values *osnoise_values_new(const struct osnoise_values_options *options);

/** NULL is allowed. */
void osnoise_values_free(struct osnoise_values *values);

/** Adds a reading. */
void osnoise_values_add(struct osnoise_values *values, const struct hr_osnoise_reading *reading);

/**
 * Hands what has come since the last time to collectd: gauges of that time, and counters since the
 * plugin began. A CPU of which nothing was learnt in that time has no values but what was lost; one
 * that wasn't read at all has none.
 */
void osnoise_values_publish(struct osnoise_values *values);

#endif
