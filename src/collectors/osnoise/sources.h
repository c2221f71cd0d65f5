/* SPDX-License-Identifier: MIT */
/*
 * osnoise/sources.h - what the tables of an instance have counted since the last reading.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_SOURCES_H
#define HEADROOM_COLLECTORS_OSNOISE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "osnoise/tracefs.h"

struct hr_osnoise_sources;

/** What was counted since the last reading; valid until the next one. */
struct hr_osnoise_counts {
    const struct hr_osnoise_source *sources;
    size_t source_count;
    const struct hr_osnoise_bucket *buckets;
    size_t bucket_count;
    uint64_t dropped_count;
};

/**
 * @param instance   its name; its tables exist, and are empty.
 * @param by_source, histogram  which of the tables are used.
 * @return 0 or -ENOMEM.
 */
int hr_osnoise_sources_open(const char *instance, bool by_source, bool histogram,
                            struct hr_osnoise_sources **sources);

/** NULL is allowed. */
void hr_osnoise_sources_close(struct hr_osnoise_sources *sources);

/**
 * Reads the tables. One that is nearly full, as names of threads come and go, is cleared
 * afterwards. What the names lack of the sums by CPU, as the table was full or was just being
 * cleared, is a source without a name, as soon as that is certain: the sums are read a moment
 * before the names. Allocates only if there are more entries than ever before.
 *
 * @param cpus  the CPUs to report.
 * @return 0, or a negative errno; the next reading then reports that time, too.
 */
int hr_osnoise_sources_read(struct hr_osnoise_sources *sources, const struct hr_tracefs *tracefs,
                            const struct hr_cpu_set *cpus, struct hr_osnoise_counts *counts);

#endif
