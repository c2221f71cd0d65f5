/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_psi.c - hr_psi_parse: whatever the text, an accepted one says what printing the result
 * says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "psi/file.h"

const char fuzz_corpus[] = "psi";

static void require_percent(double pct)
{
    require(pct >= 0 && pct <= 100);
}

static size_t print_pressure(const struct hr_psi_sample *sample, char *buffer, size_t size)
{
    size_t used = 0;

    for (int level = 0; level < HR_PSI_LEVEL_COUNT; level++) {
        const struct hr_psi_stall *stall = &sample->stall[level];
        if (!stall->present)
            continue;
        require_percent(stall->avg10_pct);
        require_percent(stall->avg60_pct);
        require_percent(stall->avg300_pct);
        used += (size_t)snprintf(buffer + used, size - used,
                                 "%s avg10=%.2f avg60=%.2f avg300=%.2f total=%" PRIu64 "\n",
                                 hr_psi_level_name(level), stall->avg10_pct, stall->avg60_pct,
                                 stall->avg300_pct, stall->total_us);
    }
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_psi_sample first = {0}, second = {0};
    char *text = malloc(size + 1); /* of just this size, so that reading past it is seen */
    char printed[512];

    memcpy(text, data, size);
    if (hr_psi_parse(text, size, &first) == 0) {
        size_t length = print_pressure(&first, printed, sizeof(printed));
        require(length > 0);
        require(hr_psi_parse(printed, length, &second) == 0);
        for (int level = 0; level < HR_PSI_LEVEL_COUNT; level++) {
            require(first.stall[level].present == second.stall[level].present);
            require(first.stall[level].total_us == second.stall[level].total_us);
            require(first.stall[level].avg60_pct == second.stall[level].avg60_pct);
        }
    }
    free(text);
    return 0;
}
