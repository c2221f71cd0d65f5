/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_process_stat.c - hr_process_stat_parse: a name is never longer than its room, and a
 * refusal changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "process/stat.h"

const char fuzz_corpus[] = "process_stat";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_process_stat stat, untouched;

    memset(&stat, 0x55, sizeof(stat));
    untouched = stat;
    if (hr_process_stat_parse((const char *)data, size, &stat) < 0) {
        if (memcmp(&stat, &untouched, sizeof(stat)) != 0)
            abort();
        return 0;
    }
    if (strnlen(stat.name, sizeof(stat.name)) == sizeof(stat.name))
        abort();
    return 0;
}
