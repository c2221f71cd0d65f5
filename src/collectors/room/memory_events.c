/* SPDX-License-Identifier: MIT */
#include "room/memory_events.h"

#include <errno.h>

#include "base/text.h"
#include "room/group_file.h"
#include "room/keyed.h"

int hr_memory_events_parse(const char *text, size_t length, struct hr_memory_events *events)
{
    struct hr_keyed keys[] = {{.name = "high"}, {.name = "max"}};

    int status = hr_keyed_parse_flat(text, length, keys, 2);
    if (status < 0)
        return status;
    if (!keys[0].found || !keys[1].found)
        return -ENODATA;
    *events = (struct hr_memory_events){.high_count = keys[0].value, .max_count = keys[1].value};
    return 0;
}

int hr_memory_events_read(int dirfd, int version, struct hr_memory_events *events)
{
    const char *name = version == 1 ? "memory.failcnt" : "memory.events.local";
    char text[1024];
    size_t length;
    uint64_t count;

    int status = hr_group_file_read(dirfd, name, text, sizeof(text), &length);
    if (status < 0)
        return status;
    if (version == 2)
        return hr_memory_events_parse(text, length, events);
    status = hr_text_number_parse(text, length, UINT64_MAX, &count);
    if (status == 0)
        *events = (struct hr_memory_events){.max_count = count};
    return status;
}

int hr_oom_kills_parse(const char *text, size_t length, uint64_t *count)
{
    struct hr_keyed key = {.name = "oom_kill"};

    int status = hr_keyed_parse_flat(text, length, &key, 1);
    return status < 0 ? status : hr_keyed_sum(&key, 1, count);
}
