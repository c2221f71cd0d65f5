/* SPDX-License-Identifier: MIT */
#include "room/group_limits.h"

#include <errno.h>

#include "room/group_file.h"
#include "room/memory_limit.h"
#include "room/memory_use.h"

/* In version 1 each group says whether it counts what those below it have. */
static int read_counts_below(int dirfd, int version, bool *counts)
{
    char text[8];
    size_t length = 0;
    int status = 0;

    if (version == 1)
        status = hr_group_file_read(dirfd, "memory.use_hierarchy", text, sizeof(text), &length);
    if (status < 0 && status != -ENOENT)
        return status;
    *counts = length == 0 || text[0] != '0';
    return 0;
}

int hr_group_memory_limits_read(int dirfd, int version, struct hr_group_memory_limits *limits)
{
    struct hr_memory_limit limit;
    uint64_t swap_bytes = UINT64_MAX;
    bool counts_below;

    int status = hr_memory_limit_read(dirfd, version, &limit);
    if (status < 0)
        return status;
    status = hr_swap_limit_read(dirfd, version, &swap_bytes);
    if (status < 0 && status != -ENOENT) /* a kernel without swap accounting */
        return status;
    status = read_counts_below(dirfd, version, &counts_below);
    if (status < 0)
        return status;
    const bool is_high = limit.high_bytes < limit.max_bytes;
    *limits = (struct hr_group_memory_limits){
        .bytes = is_high ? limit.high_bytes : limit.max_bytes,
        .bound = is_high ? HR_ROOM_MEMORY_HIGH : HR_ROOM_MEMORY_MAX,
        .swap_bytes = swap_bytes,
        .counts_below = counts_below,
    };
    return 0;
}
