/* SPDX-License-Identifier: MIT */
#include "room/disk_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "headroom/root.h"

#define TIME_IN_QUEUE 11 /* counted from 1 */

int hr_disk_stat_parse(const char *start, size_t length, uint64_t *request_ms)
{
    struct hr_text text = {start, length};
    uint64_t value = 0;

    for (int i = 0; i < TIME_IN_QUEUE; i++) {
        while (hr_text_skip(&text, " "))
            continue;
        if (!hr_text_u64(&text, &value))
            return -EBADMSG;
    }
    if (text.length == 0 || (*text.start != ' ' && *text.start != '\n'))
        return -EBADMSG;
    *request_ms = value;
    return 0;
}

int hr_disk_stat_read(const struct hr_root *root, uint32_t major, uint32_t minor,
                      uint64_t *request_ms)
{
    char path[64], text[512];
    size_t length;

    snprintf(path, sizeof(path), "sys/dev/block/%" PRIu32 ":%" PRIu32 "/stat", major, minor);
    int status =
        hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), text, sizeof(text), &length);
    return status < 0 ? status : hr_disk_stat_parse(text, length, request_ms);
}
