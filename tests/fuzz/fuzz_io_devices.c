/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_io_devices.c - io.stat, io.max, version 1's blkio.throttle, and a device's stat: never
 * more devices than there is room for, and those that are wanted stay the same.
 */
#include <string.h>

#include "fuzz.h"
#include "room/blkio.h"
#include "room/disk_stat.h"
#include "room/io_max.h"
#include "room/io_stat.h"

const char fuzz_corpus[] = "io_devices";

static void require_same_devices(const struct hr_stall_devices *a, const struct hr_stall_devices *b)
{
    require(a->count == b->count);
    for (size_t i = 0; i < a->count; i++)
        require(a->list[i].major == b->list[i].major && a->list[i].minor == b->list[i].minor);
}

static void try_blkio(const char *text, size_t size)
{
    struct hr_stall_devices devices = {0}, again;

    if (hr_blkio_parse_limits(text, size, HR_STALL_READS, &devices) < 0)
        require(devices.count == 0);
    require(devices.count <= HR_STALL_DEVICES);
    again = devices;
    if (hr_blkio_parse_done(text, size, HR_STALL_READS, HR_STALL_WRITES, &again) < 0)
        require(memcmp(&devices, &again, sizeof(devices)) == 0);
    require_same_devices(&devices, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_stall_devices first = {0}, again = {0}, limits = {0};
    uint64_t request_ms = 7;
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
    try_blkio(text, size);
    require(hr_disk_stat_parse(text, size, &request_ms) == 0 || request_ms == 7);
    free(text);
    return 0;
}
