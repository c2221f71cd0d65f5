/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_io_devices.c - io.stat and io.max: never more devices than there is room for, and those
 * that are wanted stay the same.
 */
#include <string.h>

#include "fuzz.h"
#include "room/io_max.h"
#include "room/io_stat.h"

const char fuzz_corpus[] = "io_devices";

static void require_same_devices(const struct hr_stall_devices *a, const struct hr_stall_devices *b)
{
    require(a->count == b->count);
    for (size_t i = 0; i < a->count; i++)
        require(a->list[i].major == b->list[i].major && a->list[i].minor == b->list[i].minor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_stall_devices first = {0}, again = {0}, limits = {0};
    char *text = malloc(size + 1); /* of just this size, so that reading past it is seen */

    memcpy(text, data, size);
    if (hr_io_stat_parse(text, size, NULL, &first) == 0) {
        require(first.count <= HR_STALL_DEVICES);
        require(hr_io_stat_parse(text, size, &first, &again) == 0);
        require_same_devices(&first, &again);
    } else {
        require(first.count == 0);
    }
    require(hr_io_max_parse(text, size, &limits) == 0 || limits.count == 0);
    require(limits.count <= HR_STALL_DEVICES);
    free(text);
    return 0;
}
