/* SPDX-License-Identifier: MIT */
/*
 * memory/page_idle.h - the kernel's bitmap of idle pages: marking pages idle, and reading which
 * still are.
 *
 * A bit for each page frame, in words of 64 in the machine's byte order. Writing a 1 clears the
 * referenced bits of all mappings of the page and marks it idle; writing a 0 does nothing, so other
 * pages stay unchanged. Reading checks the mappings again: 1 means that the page wasn't touched
 * since. Both keep the references that they clear for reclaim (PG_young); in turn reclaim clears
 * the idle mark of pages that it finds referenced, unless it is the multi-gen LRU.
 *
 * Only the bit of a folio's first page is meaningful, and only while the folio is on an LRU list:
 * all others read 0, marked or not.
 *
 * The last word may belong to existing pages only in part; it can't be read then.
 *
 * Source: Documentation/admin-guide/mm/idle_page_tracking.rst, mm/page_idle.c.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_PAGE_IDLE_H
#define HEADROOM_COLLECTORS_MEMORY_PAGE_IDLE_H

#include <stdint.h>

#include "memory/page_set.h"

struct hr_root;

#define HR_PAGE_IDLE_PATH "/sys/kernel/mm/page_idle/bitmap"

/** Opens the bitmap. @return a descriptor that the caller closes, or the negative errno of open(2);
 * -ENOENT: the kernel was built without it. */
int hr_page_idle_open(const struct hr_root *root);

/**
 * Marks pages idle.
 *
 * @param first_pfn  the chunk's first page.
 * @param heads      first pages of folios; those that the bitmap doesn't cover are removed.
 * @return 0, or the negative errno of pwrite(2).
 */
int hr_page_idle_mark(int fd, uint64_t first_pfn, struct hr_page_chunk *heads);

/**
 * Reads which pages are still idle.
 *
 * @param heads  first pages of folios.
 * @param idle   receives those of them that are; undefined for other pages.
 * @return 0, or the negative errno of pread(2).
 */
int hr_page_idle_read(int fd, uint64_t first_pfn, const struct hr_page_chunk *heads,
                      struct hr_page_chunk *idle);

#endif
