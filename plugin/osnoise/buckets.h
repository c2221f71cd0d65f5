/* SPDX-License-Identifier: MIT */
/*
 * osnoise/buckets.h - the series of a histogram of durations, by powers of two of a nanosecond.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_BUCKETS_H
#define HEADROOM_PLUGIN_OSNOISE_BUCKETS_H

#include "collectd.h"

#include "common/submit.h"

/** Durations below a microsecond have one series, those above have one for each power of two. */
#define OSNOISE_BUCKETS 55

/** Counts since the beginning. All zeros is none. */
struct osnoise_buckets {
    uint64_t counts[OSNOISE_BUCKETS];
    uint64_t submitted[OSNOISE_BUCKETS]; /**< as they were then */
    bool seen[OSNOISE_BUCKETS];
};

/** Counts durations above lower_ns, a power of two, up to twice that. */
void osnoise_buckets_add(struct osnoise_buckets *buckets, uint64_t lower_ns, uint64_t count);

/** Submits those that were ever counted, such as "NAME_65us": longer than 65.536 us, up to twice
 * that; and "NAME_p99", what 99 % of those since the last time don't exceed, in seconds. */
void osnoise_buckets_submit(struct osnoise_buckets *buckets, const struct submission *submission,
                            const char *name);

#endif
