/* SPDX-License-Identifier: MIT */
#include "room/cpu_max.h"

#include <errno.h>

#include "base/text.h"
#include "room/group_file.h"

int hr_cpu_max_parse(const char *start, size_t length, struct hr_cpu_max *max)
{
    struct hr_text text = {start, length};
    struct hr_cpu_max parsed = {.quota_us = UINT64_MAX};

    if (!hr_text_skip(&text, "max") && !hr_text_u64(&text, &parsed.quota_us))
        return -EBADMSG;
    if (!hr_text_skip(&text, " ") || !hr_text_u64(&text, &parsed.period_us) ||
        parsed.period_us == 0 || !hr_text_skip(&text, "\n") || text.length > 0)
        return -EBADMSG;
    *max = parsed;
    return 0;
}

int hr_cpu_quota_parse(const char *text, size_t length, uint64_t *quota_us)
{
    struct hr_text rest = {text, length};

    if (hr_text_skip(&rest, "-1\n") && rest.length == 0) {
        *quota_us = UINT64_MAX;
        return 0;
    }
    return hr_text_number_parse(text, length, UINT64_MAX, quota_us);
}

static int read_version_1(int dirfd, struct hr_cpu_max *max)
{
    char text[64];
    size_t length;
    struct hr_cpu_max parsed;

    int status = hr_group_file_read(dirfd, "cpu.cfs_quota_us", text, sizeof(text), &length);
    if (status == 0)
        status = hr_cpu_quota_parse(text, length, &parsed.quota_us);
    if (status == 0)
        status = hr_group_file_read(dirfd, "cpu.cfs_period_us", text, sizeof(text), &length);
    if (status == 0)
        status = hr_text_number_parse(text, length, UINT64_MAX, &parsed.period_us);
    if (status == 0 && parsed.period_us == 0)
        status = -EBADMSG;
    if (status == 0)
        *max = parsed;
    return status;
}

int hr_cpu_max_read(int dirfd, int version, struct hr_cpu_max *max)
{
    char text[64];
    size_t length;

    if (version == 1)
        return read_version_1(dirfd, max);
    int status = hr_group_file_read(dirfd, "cpu.max", text, sizeof(text), &length);
    return status < 0 ? status : hr_cpu_max_parse(text, length, max);
}
