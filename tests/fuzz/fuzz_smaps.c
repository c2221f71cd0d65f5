/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_smaps.c - hr_smaps_parse and hr_smaps_parse_mappings: a text cut in two at a line's end
 * has the same sums as the whole, and so have its mappings.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "memory/smaps.h"

const char fuzz_corpus[] = "smaps";

/* Wraps around, as only equality counts. */
static int add(const struct hr_smaps_mapping *mapping, void *context)
{
    uint64_t *sum = context;

    *sum += mapping->start + mapping->inode + mapping->sums.rss_bytes + mapping->sums.pss_bytes +
            mapping->sums.referenced_bytes;
    return 0;
}

static void check_mappings(const char *text, size_t first, size_t size)
{
    uint64_t whole_sum = 0, parts_sum = 0;
    struct hr_smaps_parser whole = {.visit = add, .context = &whole_sum};
    struct hr_smaps_parser parts = {.visit = add, .context = &parts_sum};

    if (hr_smaps_parse_mappings(&whole, text, size) < 0)
        return;
    if (hr_smaps_parse_mappings(&whole, NULL, 0) < 0 ||
        hr_smaps_parse_mappings(&parts, text, first) < 0 ||
        hr_smaps_parse_mappings(&parts, text + first, size - first) < 0 ||
        hr_smaps_parse_mappings(&parts, NULL, 0) < 0 || whole_sum != parts_sum)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct hr_smaps whole = {0}, parts = {0};

    const char *end = memchr(text + size / 2, '\n', size - size / 2);
    size_t first = end == NULL ? 0 : (size_t)(end - text) + 1;
    check_mappings(text, first, size);
    if (hr_smaps_parse(text, size, &whole) < 0)
        return 0;
    if (hr_smaps_parse(text, first, &parts) < 0 ||
        hr_smaps_parse(text + first, size - first, &parts) < 0 ||
        memcmp(&whole, &parts, sizeof(whole)) != 0)
        abort();
    return 0;
}
