/* SPDX-License-Identifier: MIT */
#include "headroom/osnoise.h"

#include <errno.h>

int hr_osnoise_percentile(const uint64_t *buckets, size_t count, unsigned per_mille)
{
    uint64_t all = 0, up_to = 0;
    int found = 0;

    for (size_t i = 0; i < count; i++)
        all += buckets[i];
    if (all == 0)
        return -ENODATA;
    const uint64_t rank = all - (uint64_t)((unsigned __int128)all * (1000 - per_mille) / 1000);
    while ((up_to += buckets[found]) < rank)
        found++;
    return found;
}
