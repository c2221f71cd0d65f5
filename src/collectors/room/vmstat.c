/* SPDX-License-Identifier: MIT */
#include "room/vmstat.h"

#include <errno.h>
#include <fcntl.h>

#include "base/text.h"
#include "headroom/root.h"
#include "room/keyed.h"
#include "room/memory_events.h"
#include "room/memory_stat.h"

static int parse_reclaim_counts(const char *text, size_t length, uint64_t *count)
{
    struct hr_keyed zones[] = {
        {.name = "allocstall_dma"},  {.name = "allocstall_dma32"},   {.name = "allocstall_normal"},
        {.name = "allocstall_high"}, {.name = "allocstall_movable"}, {.name = "allocstall_device"},
    };
    const size_t zone_count = sizeof(zones) / sizeof(*zones);

    int status = hr_keyed_parse_flat(text, length, zones, zone_count);
    return status < 0 ? status : hr_keyed_sum(zones, zone_count, count);
}

/* Those of groups' limits are in the sum of anonymous memory and files only. */
static int parse_pages(const char *text, size_t length, struct hr_vmstat *vmstat)
{
    struct hr_keyed whose[] = {
        {.name = "pgsteal_kswapd"},
        {.name = "pgsteal_direct"},
        {.name = "pgsteal_khugepaged"},
        {.name = "pgsteal_proactive"},
    };
    struct hr_keyed what[] = {{.name = "pgsteal_anon"}, {.name = "pgsteal_file"}};
    uint64_t all = 0;

    vmstat->machine_page_count = vmstat->limit_page_count = 0;
    int status = hr_keyed_parse_flat(text, length, whose, 4);
    if (status == 0)
        status = hr_keyed_parse_flat(text, length, what, 2);
    if (status == 0)
        status = hr_keyed_sum(whose, 4, &vmstat->machine_page_count);
    if (status == 0)
        status = hr_keyed_sum(what, 2, &all);
    if (all > vmstat->machine_page_count)
        vmstat->limit_page_count = all - vmstat->machine_page_count;
    return status == -ENODATA ? 0 : status;
}

static int parse_moved(const char *text, size_t length, uint64_t *kib)
{
    struct hr_keyed ways[] = {{.name = "pgpgin"}, {.name = "pgpgout"}};

    *kib = 0;
    int status = hr_keyed_parse_flat(text, length, ways, 2);
    if (status == 0)
        status = hr_keyed_sum(ways, 2, kib);
    return status == -ENODATA ? 0 : status;
}

int hr_vmstat_parse(const char *text, size_t length, struct hr_vmstat *vmstat)
{
    struct hr_vmstat parsed;

    int status = parse_reclaim_counts(text, length, &parsed.direct_reclaim_count);
    if (status == 0)
        status = hr_memory_stat_parse(text, length, &parsed.memory);
    if (status == 0)
        status = parse_pages(text, length, &parsed);
    if (status == 0)
        status = parse_moved(text, length, &parsed.moved_kib);
    if (status == 0)
        *vmstat = parsed;
    return status;
}

static int read_text(const struct hr_root *root, char *text, size_t size, size_t *length)
{
    return hr_text_read_and_close(hr_root_openat(root, "proc/vmstat", O_RDONLY), text, size,
                                  length);
}

int hr_vmstat_read(const struct hr_root *root, struct hr_vmstat *vmstat)
{
    char text[16384];
    size_t length;

    int status = read_text(root, text, sizeof(text), &length);
    return status < 0 ? status : hr_vmstat_parse(text, length, vmstat);
}

int hr_vmstat_read_oom_kills(const struct hr_root *root, uint64_t *count)
{
    char text[16384];
    size_t length;

    int status = read_text(root, text, sizeof(text), &length);
    return status < 0 ? status : hr_oom_kills_parse(text, length, count);
}
