/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_smaps.c - hr_smaps_parse: a text cut in two at a line's end has the same sums as the
 * whole.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "memory/smaps.h"

const char fuzz_corpus[] = "smaps";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct hr_smaps whole = {0}, parts = {0};

    if (hr_smaps_parse(text, size, &whole) < 0)
        return 0;
    const char *end = memchr(text + size / 2, '\n', size - size / 2);
    size_t first = end == NULL ? 0 : (size_t)(end - text) + 1;
    if (hr_smaps_parse(text, first, &parts) < 0 ||
        hr_smaps_parse(text + first, size - first, &parts) < 0 ||
        memcmp(&whole, &parts, sizeof(whole)) != 0)
        abort();
    return 0;
}
