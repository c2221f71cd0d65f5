/* SPDX-License-Identifier: MIT */
#include "room/memory_stat.h"

#include <errno.h>

#include "room/group_file.h"
#include "room/keyed.h"

int hr_memory_stat_parse(const char *text, size_t length, uint64_t *refault_count)
{
    struct hr_keyed keys[] = {
        {.name = "workingset_refault_anon"},
        {.name = "workingset_refault_file"},
        {.name = "workingset_refault"},
    };

    int status = hr_keyed_parse_flat(text, length, keys, 3);
    return status < 0 ? status : hr_keyed_sum(keys, 3, refault_count);
}

int hr_memory_stat_read(int dirfd, uint64_t *refault_count)
{
    char text[8192];
    size_t length;

    int status = hr_group_file_read(dirfd, "memory.stat", text, sizeof(text), &length);
    return status < 0 ? status : hr_memory_stat_parse(text, length, refault_count);
}
