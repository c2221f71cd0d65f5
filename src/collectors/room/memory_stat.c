/* SPDX-License-Identifier: MIT */
#include "room/memory_stat.h"

#include <errno.h>

#include "room/group_file.h"
#include "room/keyed.h"

int hr_memory_stat_parse(const char *text, size_t length, struct hr_memory_stat *stat)
{
    struct hr_keyed keys[] = {
        {.name = "workingset_refault_anon"},
        {.name = "workingset_refault_file"},
        {.name = "workingset_refault"},
        {.name = "pgsteal_kswapd"},
        {.name = "zswpin"},
    };
    struct hr_memory_stat parsed;

    int status = hr_keyed_parse_flat(text, length, keys, 5);
    if (status == 0)
        status = hr_keyed_sum(keys, 3, &parsed.refault_count);
    if (status < 0)
        return status;
    parsed.has_kswapd = keys[3].found;
    parsed.kswapd_page_count = keys[3].value;
    parsed.zswap_count = keys[4].found ? keys[4].value : 0;
    *stat = parsed;
    return 0;
}

int hr_memory_stat_read(int dirfd, struct hr_memory_stat *stat)
{
    char text[8192];
    size_t length;

    int status = hr_group_file_read(dirfd, "memory.stat", text, sizeof(text), &length);
    return status < 0 ? status : hr_memory_stat_parse(text, length, stat);
}
