/* SPDX-License-Identifier: MIT */
#include "osnoise/buckets.h"

#include <math.h>

#include "headroom/osnoise.h"
#include "utils/common/common.h"

#define BUCKET_SHIFT 10

/* All that begin below a microsecond are bucket 0. */
static size_t bucket_of(uint64_t lower_ns)
{
    return lower_ns >> BUCKET_SHIFT == 0 ? 0
                                         : (size_t)(64 - __builtin_clzll(lower_ns) - BUCKET_SHIFT);
}

void osnoise_buckets_add(struct osnoise_buckets *buckets, uint64_t lower_ns, uint64_t count)
{
    const size_t i = bucket_of(lower_ns);

    buckets->counts[i] += count;
    buckets->seen[i] = true;
}

static void submit_counts(const struct osnoise_buckets *buckets,
                          const struct submission *submission, const char *name)
{
    char series[64];

    for (size_t i = 0; i < OSNOISE_BUCKETS; i++) {
        if (!buckets->seen[i])
            continue;
        uint64_t lower_ns = i > 0 ? UINT64_C(1) << (i + BUCKET_SHIFT - 1) : 0;
        snprintf(series, sizeof(series), "%s_%" PRIu64 "us", name, lower_ns / 1000);
        submit_derive(submission, "total_values", series, (int64_t)buckets->counts[i]);
    }
}

/* As a bucket ends at a power of two, so does what is known. */
static void submit_percentiles(const uint64_t counts[OSNOISE_BUCKETS],
                               const struct submission *submission, const char *name)
{
    static const struct {
        const char *name;
        unsigned per_mille;
    } percentiles[] = {{"p50", 500}, {"p99", 990}, {"p999", 999}};
    char series[64];

    for (size_t i = 0; i < STATIC_ARRAY_SIZE(percentiles); i++) {
        const int bucket = hr_osnoise_percentile(counts, OSNOISE_BUCKETS, percentiles[i].per_mille);
        if (bucket < 0)
            return;
        snprintf(series, sizeof(series), "%s_%s", name, percentiles[i].name);
        submit_gauge(submission, "duration", series, ldexp(1, bucket + BUCKET_SHIFT) / 1e9);
    }
}

void osnoise_buckets_submit(struct osnoise_buckets *buckets, const struct submission *submission,
                            const char *name)
{
    uint64_t since[OSNOISE_BUCKETS];

    submit_counts(buckets, submission, name);
    for (size_t i = 0; i < OSNOISE_BUCKETS; i++)
        since[i] = buckets->counts[i] - buckets->submitted[i];
    memcpy(buckets->submitted, buckets->counts, sizeof(buckets->submitted));
    submit_percentiles(since, submission, name);
}
