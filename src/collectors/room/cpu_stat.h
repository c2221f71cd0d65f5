/* SPDX-License-Identifier: MIT */
/*
 * room/cpu_stat.h - cpu.stat: how a group's limit of CPU time was enforced.
 *
 * Source: kernel/sched/core.c (cpu_extra_stat_show for version 2, cpu_cfs_stat_show for version 1);
 * kernel/sched/fair.c adds to the time when throttling ends, for each CPU.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_CPU_STAT_H
#define HEADROOM_COLLECTORS_ROOM_CPU_STAT_H

#include <stddef.h>
#include <stdint.h>

/** Since the group was created. */
struct hr_cpu_stat {
    uint64_t period_count;    /**< in which it ran; 0 if the kernel doesn't say */
    uint64_t throttled_count; /**< periods in which it was throttled */
    uint64_t throttled_us;    /**< summed over CPUs */
};

/**
 * Parses "nr_throttled 3\nthrottled_usec 1200\n", or version 1's "throttled_time", in nanoseconds.
 *
 * @return 0; -EBADMSG; -ENODATA: the controller isn't enabled for the group.
 */
int hr_cpu_stat_parse(const char *text, size_t length, struct hr_cpu_stat *stat);

/** Parses the CPU time that a group of cgroup2 used, "usage_usec 1200\n". Every group has it,
 * whatever controllers are enabled. @return 0; -EBADMSG; -ENODATA: there is none. */
int hr_cpu_usage_parse(const char *text, size_t length, uint64_t *used_us);

/**
 * How long a group was throttled between two reads.
 *
 * The kernel sums over CPUs, but a period can't be throttled for longer than it is.
 *
 * @param throttled_count, throttled_us  by how much these grew.
 */
uint64_t hr_cpu_throttled(uint64_t throttled_count, uint64_t throttled_us, uint64_t period_us);

/** Reads the file in a group's directory. @return as above, or the negative errno of open(2). */
int hr_cpu_stat_read(int dirfd, struct hr_cpu_stat *stat);

#endif
