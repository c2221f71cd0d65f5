/*
 * memory/page_idle.h - the kernel's bitmap of idle pages: marking pages, and seeing which still
 * are.
 *
 * A bit for each page frame, in words of 64 in the machine's byte order. Writing a 1 clears the
 * referenced bits of all mappings of the page and marks it idle; writing a 0 does nothing, so what
 * isn't meant is left alone. Reading looks at the mappings again: 1 means that nobody touched the
 * page since. Reclaim is told of the references that either took away (PG_young); in turn it takes
 * the mark from pages that it finds referenced, unless it is the multi-gen LRU.
 *
 * Only the first page of a folio has a bit that means anything, and only while the folio is on an
 * LRU list: all others read 0, marked or not.
 *
 * Of the last word the kernel's pages may be only a part; that one can't be read.
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
 * @param heads      first pages of folios; those of which the bitmap can't tell are taken out.
 * @return 0, or the negative errno of pwrite(2).
 */
int hr_page_idle_mark(int fd, uint64_t first_pfn, struct hr_page_chunk *heads);

/**
 * Reads which pages are still idle.
 *
 * @param heads  first pages of folios.
 * @param idle   receives those of them that are; of other pages it means nothing.
 * @return 0, or the negative errno of pread(2).
 */
int hr_page_idle_read(int fd, uint64_t first_pfn, const struct hr_page_chunk *heads,
                      struct hr_page_chunk *idle);

#endif
