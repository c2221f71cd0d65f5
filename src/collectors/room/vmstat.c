/* SPDX-License-Identifier: MIT */
#include "room/vmstat.h"

#include <errno.h>
#include <fcntl.h>

#include "base/text.h"
#include "headroom/root.h"
#include "room/keyed.h"
#include "room/memory_stat.h"

int hr_vmstat_parse(const char *text, size_t length, struct hr_vmstat *vmstat)
{
    struct hr_keyed keys[] = {
        {.name = "allocstall_dma"},  {.name = "allocstall_dma32"},   {.name = "allocstall_normal"},
        {.name = "allocstall_high"}, {.name = "allocstall_movable"}, {.name = "allocstall_device"},
        {.name = "pgsteal_kswapd"},
    };
    const size_t zones = sizeof(keys) / sizeof(*keys) - 1;
    struct hr_vmstat parsed;

    int status = hr_keyed_parse_flat(text, length, keys, zones + 1);
    if (status == 0)
        status = hr_keyed_sum(keys, zones, &parsed.direct_reclaim_count);
    if (status == 0)
        status = hr_memory_stat_parse(text, length, &parsed.refault_count);
    if (status < 0)
        return status;
    parsed.kswapd_page_count = keys[zones].value;
    *vmstat = parsed;
    return 0;
}

int hr_vmstat_read(const struct hr_root *root, struct hr_vmstat *vmstat)
{
    char text[16384];
    size_t length;

    int status = hr_text_read_and_close(hr_root_openat(root, "proc/vmstat", O_RDONLY), text,
                                        sizeof(text), &length);
    return status < 0 ? status : hr_vmstat_parse(text, length, vmstat);
}
