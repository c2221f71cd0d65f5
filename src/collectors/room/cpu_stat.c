/* SPDX-License-Identifier: MIT */
#include "room/cpu_stat.h"

#include <errno.h>

#include "room/group_file.h"
#include "room/keyed.h"

int hr_cpu_stat_parse(const char *text, size_t length, struct hr_cpu_stat *stat)
{
    enum { COUNT, USEC, NANOSECONDS, PERIODS };
    struct hr_keyed keys[] = {
        [COUNT] = {.name = "nr_throttled"},
        [USEC] = {.name = "throttled_usec"},
        [NANOSECONDS] = {.name = "throttled_time"},
        [PERIODS] = {.name = "nr_periods"},
    };

    int status = hr_keyed_parse_flat(text, length, keys, 4);
    if (status < 0)
        return status;
    if (!keys[COUNT].found || (!keys[USEC].found && !keys[NANOSECONDS].found))
        return -ENODATA;
    stat->period_count = keys[PERIODS].value;
    stat->throttled_count = keys[COUNT].value;
    stat->throttled_us = keys[USEC].found ? keys[USEC].value : keys[NANOSECONDS].value / 1000;
    return 0;
}

int hr_cpu_usage_parse(const char *text, size_t length, uint64_t *used_us)
{
    struct hr_keyed key = {.name = "usage_usec"};

    int status = hr_keyed_parse_flat(text, length, &key, 1);
    return status < 0 ? status : hr_keyed_sum(&key, 1, used_us);
}

uint64_t hr_cpu_throttled(uint64_t throttled_count, uint64_t throttled_us, uint64_t period_us)
{
    uint64_t longest_us;

    if (__builtin_mul_overflow(throttled_count, period_us, &longest_us))
        return throttled_us;
    return throttled_us < longest_us ? throttled_us : longest_us;
}

int hr_cpu_stat_read(int dirfd, struct hr_cpu_stat *stat)
{
    char text[4096];
    size_t length;

    int status = hr_group_file_read(dirfd, "cpu.stat", text, sizeof(text), &length);
    return status < 0 ? status : hr_cpu_stat_parse(text, length, stat);
}
