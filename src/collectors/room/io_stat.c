/* SPDX-License-Identifier: MIT */
#include "room/io_stat.h"

#include <errno.h>

#include "base/text.h"
#include "room/disk_stack.h"
#include "room/group_file.h"
#include "room/io_devices.h"
#include "room/keyed.h"

/* Bytes of the file. */
#define TEXT_SIZE 16384

static void set_done(struct hr_stall_device *device, const struct hr_keyed *keys)
{
    for (int i = 0; i < HR_STALL_IO_COUNT; i++)
        device->done[i] = keys[i].value;
}

static void clear_work_and_limits(struct hr_stall_devices *devices)
{
    for (size_t i = 0; i < devices->count; i++)
        for (int j = 0; j < HR_STALL_IO_COUNT; j++) {
            devices->list[i].done[j] = 0;
            devices->list[i].limit[j] = HR_STALL_NO_LIMIT;
        }
}

int hr_io_stat_parse(const char *start, size_t length, const struct hr_stall_devices *wanted,
                     struct hr_stall_devices *devices)
{
    struct hr_keyed keys[HR_STALL_IO_COUNT] = {
        [HR_STALL_READ_BYTES] = {.name = "rbytes"},
        [HR_STALL_WRITTEN_BYTES] = {.name = "wbytes"},
        [HR_STALL_READS] = {.name = "rios"},
        [HR_STALL_WRITES] = {.name = "wios"},
    };
    struct hr_text text = {start, length};
    struct hr_stall_devices parsed = {0};
    uint32_t major, minor;
    int status;

    if (wanted != NULL)
        parsed = *wanted;
    clear_work_and_limits(&parsed);
    while ((status = hr_keyed_next_device(&text, &major, &minor, keys, HR_STALL_IO_COUNT)) == 0) {
        struct hr_stall_device *device = hr_io_devices_find(&parsed, major, minor);
        if (device == NULL && wanted == NULL && keys[0].found)
            device = hr_io_devices_add(&parsed, major, minor);
        if (device != NULL && keys[0].found)
            set_done(device, keys);
    }
    if (status != -ENODATA)
        return status;
    *devices = parsed;
    return 0;
}

static int read_text(int dirfd, char *text, size_t size, size_t *length)
{
    return hr_group_file_read(dirfd, "io.stat", text, size, length);
}

int hr_io_stat_read(int dirfd, const struct hr_stall_devices *wanted,
                    struct hr_stall_devices *devices)
{
    char text[TEXT_SIZE];
    size_t length;

    int status = read_text(dirfd, text, sizeof(text), &length);
    return status < 0 ? status : hr_io_stat_parse(text, length, wanted, devices);
}

static int add_up_bytes(const struct hr_root *root, struct hr_text text, uint64_t *bytes)
{
    struct hr_keyed keys[] = {{.name = "rbytes"}, {.name = "wbytes"}};
    uint32_t major, minor;
    uint64_t sum = 0;
    int status;

    while ((status = hr_keyed_next_device(&text, &major, &minor, keys, 2)) == 0)
        if (keys[0].found && keys[1].found && !hr_disk_is_counted_twice(root, major, minor))
            sum += keys[0].value + keys[1].value;
    if (status != -ENODATA)
        return status;
    *bytes = sum;
    return 0;
}

int hr_io_stat_read_own(const struct hr_root *root, int dirfd, struct hr_stall_devices *devices,
                        uint64_t *bytes)
{
    char text[TEXT_SIZE];
    size_t length;

    int status = read_text(dirfd, text, sizeof(text), &length);
    if (status == 0)
        status = hr_io_stat_parse(text, length, NULL, devices);
    return status < 0 ? status : add_up_bytes(root, (struct hr_text){text, length}, bytes);
}
