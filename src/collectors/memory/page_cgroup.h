/* SPDX-License-Identifier: MIT */
/*
 * memory/page_cgroup.h - which pages are charged to cgroups.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_PAGE_CGROUP_H
#define HEADROOM_COLLECTORS_MEMORY_PAGE_CGROUP_H

#include "cgroup/inodes.h"
#include "memory/kpage.h"
#include "memory/page_set.h"

/**
 * Keeps the pages of a chunk that are charged to the cgroups, and removes the others. Only what the
 * first page of a folio is charged to is read: older kernels show no more.
 *
 * @param cgroups    a file of hr_kpage_open_cgroups(); its window is moved.
 * @param flags      one of hr_kpage_open_flags(), whose window is this chunk.
 * @param inodes     of the cgroups.
 * @param first_pfn  the chunk's first page.
 * @return 0, or the negative errno of pread(2).
 */
int hr_page_cgroup_keep_charged(struct hr_kpage *cgroups, struct hr_kpage *flags,
                                const struct hr_cgroup_inodes *inodes, uint64_t first_pfn,
                                struct hr_page_chunk *pages);

#endif
