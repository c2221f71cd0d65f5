/* SPDX-License-Identifier: MIT */
/*
 * room/vmstat.h - /proc/vmstat: what was reclaimed as the machine was short of memory.
 *
 * Source: mm/vmstat.c (vmstat_text), mm/vmscan.c (do_try_to_free_pages): reclaim for a group's
 * limit isn't counted there.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_VMSTAT_H
#define HEADROOM_COLLECTORS_ROOM_VMSTAT_H

#include <stddef.h>
#include <stdint.h>

struct hr_root;

/** Since boot. */
struct hr_vmstat {
    uint64_t direct_reclaim_count; /**< times that a task reclaimed memory before it went on */
    uint64_t kswapd_page_count;    /**< pages that kswapd reclaimed; 0 if the kernel has no sum */
    uint64_t refault_count;        /**< pages read again that had been reclaimed */
};

/**
 * Sums up "allocstall_ZONE COUNT\n" of all zones, a kernel has some of them; and what is read again
 * of anonymous memory and files.
 *
 * @return 0; -EBADMSG; -ENODATA: there is none.
 */
int hr_vmstat_parse(const char *text, size_t length, struct hr_vmstat *vmstat);

/** Reads the file. @return as above, or the negative errno of open(2) or pread(2). */
int hr_vmstat_read(const struct hr_root *root, struct hr_vmstat *vmstat);

#endif
