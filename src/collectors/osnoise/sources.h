/*
 * osnoise/sources.h - what the kernel's tables of an instance have more than at the reading before.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_SOURCES_H
#define HEADROOM_COLLECTORS_OSNOISE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "osnoise/tracefs.h"

struct hr_osnoise_sources;

/** What was counted since the reading before; valid until the next one. */
struct hr_osnoise_counts {
    const struct hr_osnoise_source *sources;
    size_t source_count;
    const struct hr_osnoise_bucket *buckets;
    size_t bucket_count;
    uint64_t dropped_count;
};

/**
 * @param instance   its name; its tables are there, and empty.
 * @param by_source, histogram  which of them.
 * @return 0 or -ENOMEM.
 */
int hr_osnoise_sources_open(const char *instance, bool by_source, bool histogram,
                            struct hr_osnoise_sources **sources);

/** NULL is allowed. */
void hr_osnoise_sources_close(struct hr_osnoise_sources *sources);

/**
 * Reads the tables. One that is nearly full, as thread names come and go, is emptied afterwards;
 * what falls into that moment isn't counted. Allocates only when there is more than ever before.
 *
 * @param cpus  others aren't told.
 * @return 0, or a negative errno; what came meanwhile is then told by the next reading.
 */
int hr_osnoise_sources_read(struct hr_osnoise_sources *sources, const struct hr_tracefs *tracefs,
                            const struct hr_cpu_set *cpus, struct hr_osnoise_counts *counts);

#endif
