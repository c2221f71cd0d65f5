/* SPDX-License-Identifier: MIT */
/*
 * osnoise/latency_series.h - the series of a CPU's latencies, in the timerlat mode.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_LATENCY_SERIES_H
#define HEADROOM_PLUGIN_OSNOISE_LATENCY_SERIES_H

#include "collectd.h"

#include "common/submit.h"
#include "headroom/osnoise.h"
#include "osnoise/buckets.h"

/** All zeros is none. */
struct osnoise_latency_series {
    struct {
        uint64_t interval_count, interval_max_ns; /**< of the current interval */
        uint64_t count, sum_ns;                   /**< since the beginning */
        struct osnoise_buckets buckets;
    } of[HR_OSNOISE_CONTEXT_COUNT];
};

void osnoise_latency_series_add(struct osnoise_latency_series *series,
                                const struct hr_osnoise_cpu_latencies *latencies);

/** Submits them, and begins the next interval. */
void osnoise_latency_series_submit(struct osnoise_latency_series *series,
                                   const struct submission *submission, bool histogram);

#endif
