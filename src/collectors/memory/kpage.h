/* SPDX-License-Identifier: MIT */
/*
 * memory/kpage.h - flags and cgroup of each page frame: /proc/kpageflags and /proc/kpagecgroup.
 *
 * Both files have a 64-bit number for each page frame. They are accessed through a window of one
 * chunk of 32,768 pages, of which only what is needed is read.
 *
 * Source: Documentation/admin-guide/mm/pagemap.rst, fs/proc/page.c,
 * include/uapi/linux/kernel-page-flags.h.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_KPAGE_H
#define HEADROOM_COLLECTORS_MEMORY_KPAGE_H

#include <stdint.h>

#include "memory/page_set.h"

struct hr_root;
struct hr_kpage;

#define HR_KPAGE_FLAGS_PATH  "/proc/kpageflags"
#define HR_KPAGE_CGROUP_PATH "/proc/kpagecgroup"

/** How a page takes part in measuring working sets. */
enum hr_page_kind {
    HR_PAGE_TRACKED,   /**< the bitmap of idle pages covers it */
    HR_PAGE_UNTRACKED, /**< mapped, but on no LRU list now: on its way there, or being moved */
    HR_PAGE_EXCLUDED,  /**< not subject to reclaim: of hugetlb, the zero page, a device's, the
                            kernel's own. As in smaps it is in no resident set */
};

/**
 * Opens the file of flags, or that of cgroups: the inode number of the cgroup that a page is
 * charged to, or, if that was removed, of the one above it; 0: to none.
 *
 * @param kpage  receives it; the caller closes it with hr_kpage_close().
 * @return 0, -ENOMEM, or the negative errno of open(2); -ENOENT: the kernel was built without it.
 */
int hr_kpage_open_flags(const struct hr_root *root, struct hr_kpage **kpage);
int hr_kpage_open_cgroups(const struct hr_root *root, struct hr_kpage **kpage);

void hr_kpage_close(struct hr_kpage *kpage);

/**
 * Moves the window.
 *
 * @param first_pfn  the first page of a chunk.
 * @param pages      those that will be needed, to be read at once; NULL: all.
 * @return 0, or the negative errno of pread(2).
 */
int hr_kpage_move_window(struct hr_kpage *kpage, uint64_t first_pfn,
                         const struct hr_page_chunk *pages);

/** Whether the whole window lies beyond the end of memory; it must have been moved there with all
 * pages. */
bool hr_kpage_is_beyond(const struct hr_kpage *kpage);

/** Reads the number of a page in the window. @return 0, or the negative errno of pread(2). */
int hr_kpage_read_value(struct hr_kpage *kpage, unsigned index, uint64_t *value);

/**
 * Classifies a page by its folio; the file must be kpageflags.
 *
 * @param head  receives the first page of its folio.
 * @param kind  receives what it is.
 * @return 0, or the negative errno of pread(2).
 */
int hr_kpage_classify(struct hr_kpage *flags, unsigned index, unsigned *head,
                      enum hr_page_kind *kind);

/** Whether a page belongs to a folio but isn't its first; the file must be kpageflags. @return 0 or
 * the negative errno of pread(2). */
int hr_kpage_is_tail(struct hr_kpage *flags, unsigned index, bool *is_tail);

#endif
