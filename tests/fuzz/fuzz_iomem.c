/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_iomem.c - hr_damon_parse_iomem: whatever the text, accepted ranges ascend and don't
 * overlap, and regions that they're divided into cover their pages, and no others.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "memory/damon_sysfs.h"

#define RANGES 8
#define PAGE   4096

const char fuzz_corpus[] = "iomem";

static void check_regions(const struct hr_damon_region *ranges, size_t count)
{
    struct hr_damon_region *regions;
    size_t region_count, range = 0;

    if (hr_damon_divide_ranges(ranges, count, 10, PAGE, &regions, &region_count) < 0)
        return;
    for (size_t i = 0; i < region_count; i++) {
        require(regions[i].start < regions[i].end);
        require(regions[i].start % PAGE == 0 && regions[i].end % PAGE == 0);
        require(i == 0 || regions[i].start >= regions[i - 1].end);
        while (regions[i].start >= ranges[range].end)
            require(++range < count);
        require(regions[i].start >= ranges[range].start && regions[i].end <= ranges[range].end);
    }
    free(regions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_damon_region ranges[RANGES];
    size_t count = 0;
    char *text = malloc(size + 1); /* of just this size, so that reading past it is seen */

    memcpy(text, data, size);
    if (hr_damon_parse_iomem(text, size, ranges, RANGES, &count) == 0) {
        require(count <= RANGES);
        for (size_t i = 0; i < count; i++) {
            require(ranges[i].start < ranges[i].end);
            require(i == 0 || ranges[i].start >= ranges[i - 1].end);
        }
        check_regions(ranges, count);
    }
    free(text);
    return 0;
}
