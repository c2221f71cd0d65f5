/* SPDX-License-Identifier: MIT */
/*
 * osnoise/values.h - hands readings of noise from the thread that reads to the read callback that
 * publishes them.
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
    bool has_samples;   /**< all modes but sources */
    bool has_latencies; /**< in place of noise */
    bool histogram;     /**< of latencies; of noise whenever readings have one */
    bool by_source;
    size_t top;               /**< the number of sources with a series */
    cdtime_t sample_interval; /**< the interval of values, if samples come less often than the
                                 plugin's interval; else 0 */
};

/** @return NULL if memory is short. */
struct osnoise_values *osnoise_values_new(const struct osnoise_values_options *options);

/** NULL is allowed. */
void osnoise_values_free(struct osnoise_values *values);

/** Adds a reading. */
void osnoise_values_add(struct osnoise_values *values, const struct hr_osnoise_reading *reading);

/**
 * Publishes what was added since the last call: gauges of that time, and counters since the plugin
 * began. A CPU without samples in that time only has the value of lost records; one that wasn't
 * read at all has none.
 */
void osnoise_values_publish(struct osnoise_values *values);

#endif
