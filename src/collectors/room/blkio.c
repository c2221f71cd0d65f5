/* SPDX-License-Identifier: MIT */
#include "room/blkio.h"

#include <errno.h>

#include "base/text.h"
#include "room/group_file.h"
#include "room/io_devices.h"
#include "room/keyed.h"

static bool is_number(struct hr_text line, uint64_t *value)
{
    return hr_text_u64(&line, value) && line.length == 0;
}

int hr_blkio_parse_limits(const char *start, size_t length, enum hr_stall_io io,
                          struct hr_stall_devices *devices)
{
    struct hr_text text = {start, length}, line;
    struct hr_stall_devices parsed = *devices;
    uint32_t major, minor;
    uint64_t limit;
    int status;

    while ((status = hr_keyed_next_line(&text, &major, &minor, &line)) == 0) {
        if (!hr_text_skip(&line, " ") || !is_number(line, &limit))
            return -EBADMSG;
        struct hr_stall_device *device = hr_io_devices_find(&parsed, major, minor);
        if (device == NULL)
            device = hr_io_devices_add(&parsed, major, minor);
        if (device != NULL)
            device->limit[io] = limit;
    }
    if (status != -ENODATA)
        return status;
    *devices = parsed;
    return 0;
}

int hr_blkio_parse_done(const char *start, size_t length, enum hr_stall_io read,
                        enum hr_stall_io write, struct hr_stall_devices *devices)
{
    struct hr_text text = {start, length}, line;
    struct hr_stall_devices parsed = *devices;
    uint32_t major, minor;
    int status;

    while ((status = hr_keyed_next_line(&text, &major, &minor, &line)) == 0) {
        struct hr_stall_device *device = hr_io_devices_find(&parsed, major, minor);
        uint64_t ignored;
        uint64_t *done = device != NULL ? device->done : NULL;
        bool is_read = hr_text_skip(&line, " Read ");
        if (!is_read && !hr_text_skip(&line, " Write "))
            continue;
        if (!is_number(line, done == NULL ? &ignored : &done[is_read ? read : write]))
            return -EBADMSG;
    }
    if (status != -ENODATA)
        return status;
    *devices = parsed;
    return 0;
}

static int read_limits(int dirfd, struct hr_stall_devices *devices)
{
    static const char *const names[HR_STALL_IO_COUNT] = {
        [HR_STALL_READ_BYTES] = "blkio.throttle.read_bps_device",
        [HR_STALL_WRITTEN_BYTES] = "blkio.throttle.write_bps_device",
        [HR_STALL_READS] = "blkio.throttle.read_iops_device",
        [HR_STALL_WRITES] = "blkio.throttle.write_iops_device",
    };
    char text[4096];
    size_t length;
    int status = 0;

    for (int io = 0; status == 0 && io < HR_STALL_IO_COUNT; io++) {
        status = hr_group_file_read(dirfd, names[io], text, sizeof(text), &length);
        if (status == 0)
            status = hr_blkio_parse_limits(text, length, (enum hr_stall_io)io, devices);
    }
    return status;
}

static int read_done(int dirfd, const char *name, enum hr_stall_io read, enum hr_stall_io write,
                     struct hr_stall_devices *devices)
{
    char text[16384];
    size_t length;

    int status = hr_group_file_read(dirfd, name, text, sizeof(text), &length);
    return status < 0 ? status : hr_blkio_parse_done(text, length, read, write, devices);
}

int hr_blkio_read(int dirfd, struct hr_stall_devices *devices)
{
    struct hr_stall_devices found = {0};

    int status = read_limits(dirfd, &found);
    if (status == 0 && found.count > 0)
        status = read_done(dirfd, "blkio.throttle.io_service_bytes", HR_STALL_READ_BYTES,
                           HR_STALL_WRITTEN_BYTES, &found);
    if (status == 0 && found.count > 0)
        status =
            read_done(dirfd, "blkio.throttle.io_serviced", HR_STALL_READS, HR_STALL_WRITES, &found);
    if (status == 0)
        *devices = found;
    return status;
}
