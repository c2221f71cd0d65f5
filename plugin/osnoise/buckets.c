/* SPDX-License-Identifier: MIT */
#include "osnoise/buckets.h"

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

void osnoise_buckets_submit(const struct osnoise_buckets *buckets,
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
