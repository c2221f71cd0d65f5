/* SPDX-License-Identifier: MIT */
#include "room/meminfo.h"

#include <errno.h>
#include <fcntl.h>

#include "base/text.h"
#include "headroom/root.h"

enum { TOTAL, AVAILABLE, SWAP_TOTAL, SWAP_FREE, FIELD_COUNT };

static const char *const names[FIELD_COUNT] = {
    "MemTotal:", "MemAvailable:", "SwapTotal:", "SwapFree:"};

/* Parses "   4046824 kB\n". */
static int take_bytes(struct hr_text *text, uint64_t *bytes)
{
    uint64_t kib;

    while (hr_text_skip(text, " "))
        continue;
    if (!hr_text_u64(text, &kib) || !hr_text_skip(text, " kB\n") || kib > UINT64_MAX / 1024 / 2)
        return -EBADMSG;
    *bytes = kib * 1024;
    return 0;
}

/* Parses one line. @param found  a bit for each field. */
static int take_field(struct hr_text *text, uint64_t fields[FIELD_COUNT], unsigned *found)
{
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (!hr_text_skip(text, names[i]))
            continue;
        if ((*found & 1U << i) != 0)
            return -EBADMSG;
        *found |= 1U << i;
        return take_bytes(text, &fields[i]);
    }
    return hr_text_skip_line(text) ? 0 : -EBADMSG;
}

int hr_meminfo_parse(const char *start, size_t length, struct hr_meminfo *meminfo)
{
    struct hr_text text = {start, length};
    uint64_t fields[FIELD_COUNT] = {0};
    unsigned found = 0;

    while (text.length > 0)
        if (take_field(&text, fields, &found) < 0)
            return -EBADMSG;
    if (found != (1U << FIELD_COUNT) - 1)
        return -ENODATA;
    *meminfo = (struct hr_meminfo){
        .total_bytes = fields[TOTAL],
        .available_bytes = fields[AVAILABLE],
        .swap_total_bytes = fields[SWAP_TOTAL],
        .swap_free_bytes = fields[SWAP_FREE],
    };
    return 0;
}

int hr_meminfo_read(const struct hr_root *root, struct hr_meminfo *meminfo)
{
    char text[8192];
    size_t length;

    int status = hr_text_read_and_close(hr_root_openat(root, "proc/meminfo", O_RDONLY), text,
                                        sizeof(text), &length);
    return status < 0 ? status : hr_meminfo_parse(text, length, meminfo);
}
