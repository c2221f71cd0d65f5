/* SPDX-License-Identifier: MIT */
/*
 * room/cpu_max.h - a group's limit of CPU time: cpu.max, or version 1's cpu.cfs_quota_us and
 * cpu.cfs_period_us.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("CPU Interface Files"),
 * Documentation/scheduler/sched-bwc.rst.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_CPU_MAX_H
#define HEADROOM_COLLECTORS_ROOM_CPU_MAX_H

#include <stddef.h>
#include <stdint.h>

struct hr_cpu_max {
    uint64_t quota_us;  /**< CPU time per period; UINT64_MAX: no limit */
    uint64_t period_us; /**< above 0 */
};

/** Parses "50000 100000\n" or "max 100000\n". @return 0 or -EBADMSG. */
int hr_cpu_max_parse(const char *text, size_t length, struct hr_cpu_max *max);

/** Parses version 1's quota, "50000\n", or "-1\n" for none. @return 0 or -EBADMSG. */
int hr_cpu_quota_parse(const char *text, size_t length, uint64_t *quota_us);

/**
 * Reads the limit of a group.
 *
 * @param version  of the directory's hierarchy, 1 or 2.
 * @return 0, -EBADMSG, or the negative errno of open(2).
 */
int hr_cpu_max_read(int dirfd, int version, struct hr_cpu_max *max);

#endif
