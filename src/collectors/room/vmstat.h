/* SPDX-License-Identifier: MIT */
/*
 * room/vmstat.h - /proc/vmstat: what was reclaimed as the machine was short of memory.
 *
 * Source: mm/vmstat.c (vmstat_text), mm/vmscan.c (do_try_to_free_pages, shrink_inactive_list,
 * evict_folios). A kernel without CONFIG_VM_EVENT_COUNTERS has none of it.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_VMSTAT_H
#define HEADROOM_COLLECTORS_ROOM_VMSTAT_H

#include <stddef.h>
#include <stdint.h>

#include "room/memory_stat.h"

struct hr_root;

/** Pages that are reclaimed at a time: for a limit, or by a task when the machine is short of
 * memory (include/linux/swap.h: SWAP_CLUSTER_MAX). */
#define HR_RECLAIM_PAGES 32

/** Since boot. */
struct hr_vmstat {
    uint64_t direct_reclaim_count; /**< times that a task reclaimed memory before it went on, not
                                      for a group's limit */
    uint64_t machine_page_count;   /**< pages reclaimed because the machine was short of memory */
    uint64_t limit_page_count;     /**< pages reclaimed for limits of groups; 0 before Linux 5.8 */
    uint64_t moved_kib;            /**< that block devices read and wrote */
    struct hr_memory_stat memory;  /**< of the machine */
};

/**
 * Sums up "allocstall_ZONE COUNT\n" of all zones, of which a kernel has some, and "pgsteal_…
 * COUNT\n".
 *
 * @return 0; -EBADMSG; -ENODATA: there is none.
 */
int hr_vmstat_parse(const char *text, size_t length, struct hr_vmstat *vmstat);

/** Reads the file. @return as above, or the negative errno of open(2) or pread(2). */
int hr_vmstat_read(const struct hr_root *root, struct hr_vmstat *vmstat);

/** Reads how many processes the kernel killed for lack of memory, of all groups. @return 0;
 * -ENODATA: it doesn't say, before Linux 4.13; or as above. */
int hr_vmstat_read_oom_kills(const struct hr_root *root, uint64_t *count);

#endif
