/* SPDX-License-Identifier: MIT */
#include "room/io_max.h"

#include <errno.h>

#include "base/text.h"
#include "room/group_file.h"
#include "room/io_devices.h"
#include "room/keyed.h"

int hr_io_max_parse(const char *start, size_t length, struct hr_stall_devices *devices)
{
    struct hr_keyed keys[HR_STALL_IO_COUNT] = {
        [HR_STALL_READ_BYTES] = {.name = "rbps"},
        [HR_STALL_WRITTEN_BYTES] = {.name = "wbps"},
        [HR_STALL_READS] = {.name = "riops"},
        [HR_STALL_WRITES] = {.name = "wiops"},
    };
    struct hr_text text = {start, length};
    struct hr_stall_devices parsed = {0};
    uint32_t major, minor;
    int status;

    while ((status = hr_keyed_next_device(&text, &major, &minor, keys, HR_STALL_IO_COUNT)) == 0) {
        struct hr_stall_device *device = hr_io_devices_add(&parsed, major, minor);
        parsed.has_more |= device == NULL;
        for (int i = 0; device != NULL && i < HR_STALL_IO_COUNT; i++)
            if (keys[i].found)
                device->limit[i] = keys[i].value;
    }
    if (status != -ENODATA)
        return status;
    *devices = parsed;
    return 0;
}

int hr_io_max_read(int dirfd, struct hr_stall_devices *devices)
{
    char text[8192];
    size_t length;

    int status = hr_group_file_read(dirfd, "io.max", text, sizeof(text), &length);
    return status < 0 ? status : hr_io_max_parse(text, length, devices);
}
