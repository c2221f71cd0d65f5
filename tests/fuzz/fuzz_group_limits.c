/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_group_limits.c - files of one line with a limit: a refusal changes nothing, and a limit
 * is one that the kernel may have.
 */
#include <string.h>

#include "fuzz.h"
#include "room/cpu_max.h"
#include "room/memory_limit.h"

const char fuzz_corpus[] = "group_limits";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_cpu_max max = {7, 0};
    uint64_t quota_us = 7, bytes = 7;
    char *text = malloc(size + 1); /* of just this size, so that reading past it is seen */

    memcpy(text, data, size);
    if (hr_cpu_max_parse(text, size, &max) == 0)
        require(max.period_us > 0);
    else
        require(max.quota_us == 7 && max.period_us == 0);
    require(hr_cpu_quota_parse(text, size, &quota_us) == 0 || quota_us == 7);
    if (hr_memory_limit_parse(text, size, &bytes) == 0)
        require(bytes < (uint64_t)1 << 62 || bytes == UINT64_MAX);
    else
        require(bytes == 7);
    free(text);
    return 0;
}
