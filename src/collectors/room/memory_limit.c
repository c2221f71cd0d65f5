/* SPDX-License-Identifier: MIT */
#include "room/memory_limit.h"

#include <errno.h>

#include "base/text.h"
#include "room/group_file.h"

#define MORE_THAN_ANY ((uint64_t)1 << 62)

int hr_memory_limit_parse(const char *text, size_t length, uint64_t *bytes)
{
    struct hr_text rest = {text, length};
    uint64_t parsed = UINT64_MAX;

    if (!hr_text_skip(&rest, "max") && !hr_text_u64(&rest, &parsed))
        return -EBADMSG;
    if (!hr_text_skip(&rest, "\n") || rest.length > 0)
        return -EBADMSG;
    *bytes = parsed < MORE_THAN_ANY ? parsed : UINT64_MAX;
    return 0;
}

static int read_one(int dirfd, const char *name, uint64_t *bytes)
{
    char text[64];
    size_t length;

    int status = hr_group_file_read(dirfd, name, text, sizeof(text), &length);
    return status < 0 ? status : hr_memory_limit_parse(text, length, bytes);
}

int hr_memory_limit_read(int dirfd, int version, struct hr_memory_limit *limit)
{
    struct hr_memory_limit parsed = {.high_bytes = UINT64_MAX};
    int status;

    if (version == 1) {
        status = read_one(dirfd, "memory.limit_in_bytes", &parsed.max_bytes);
    } else {
        status = read_one(dirfd, "memory.high", &parsed.high_bytes);
        if (status == 0)
            status = read_one(dirfd, "memory.max", &parsed.max_bytes);
    }
    if (status == 0)
        *limit = parsed;
    return status;
}
