/* SPDX-License-Identifier: MIT */
/*
 * room/memory_stat.h - memory.stat: pages that a group had to read again, and that the machine took
 * from it. Not for the top of the hierarchy, where the kernel sums up all groups for it.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("memory.stat"), mm/workingset.c, mm/zswap.c
 * (zswap_load), mm/vmscan.c (shrink_inactive_list, evict_folios): kswapd reclaims because the
 * machine is short of memory, never for the limit of a group. Pages of direct reclaim are counted
 * alike for both.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MEMORY_STAT_H
#define HEADROOM_COLLECTORS_ROOM_MEMORY_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Since the group was created. */
struct hr_memory_stat {
    uint64_t refault_count;     /**< pages read again that had been reclaimed */
    uint64_t zswap_count;       /**< those of them that came from zswap, without I/O; 0 before
                                   Linux 5.19 */
    bool has_kswapd;            /**< Linux 6.1, version 2 */
    uint64_t kswapd_page_count; /**< pages that kswapd reclaimed */
};

/**
 * Parses "pgsteal_kswapd COUNT\n" and sums up "workingset_refault_anon COUNT\n" and
 * "workingset_refault_file COUNT\n", before Linux 5.9 "workingset_refault COUNT\n". /proc/vmstat
 * has these lines, too.
 *
 * @return 0; -EBADMSG; -ENODATA: nothing is said of pages that were read again.
 */
int hr_memory_stat_parse(const char *text, size_t length, struct hr_memory_stat *stat);

/** Reads the file in a group's directory. @return as above, or the negative errno of open(2). */
int hr_memory_stat_read(int dirfd, struct hr_memory_stat *stat);

#endif
