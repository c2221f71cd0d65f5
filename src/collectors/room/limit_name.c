/* SPDX-License-Identifier: MIT */
#include "headroom/stall_cause.h"

const char *hr_stall_limit_name(enum hr_stall_limit kind, int version)
{
    static const char *const names[] = {
        [HR_STALL_CPU_MAX] = "cpu.max",
        [HR_STALL_MEMORY_HIGH] = "memory.high",
        [HR_STALL_MEMORY_MAX] = "memory.max",
        [HR_STALL_IO_MAX] = "io.max",
    };

    if (version == 1 && kind == HR_STALL_CPU_MAX)
        return "cpu.cfs_quota_us";
    if (version == 1 && kind == HR_STALL_MEMORY_MAX)
        return "memory.limit_in_bytes";
    return names[kind];
}
