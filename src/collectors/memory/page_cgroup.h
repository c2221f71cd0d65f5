/* SPDX-License-Identifier: MIT */
/*
 * memory/page_cgroup.h - the memory of a cgroup by page frames: all that it and the groups below it
 * are charged for, mapped or not, as far as it is subject to reclaim.
 *
 * The kernel has this only for the whole machine's memory: 2 GiB to be read for each TiB.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_PAGE_CGROUP_H
#define HEADROOM_COLLECTORS_MEMORY_PAGE_CGROUP_H

#include <stdint.h>

#include "cgroup/inodes.h"
#include "memory/kpage.h"
#include "memory/page_set.h"

/**
 * Adds the page frames that cgroups are charged for.
 *
 * @param cgroups      the file of cgroups; its window is moved.
 * @param flags        the file of flags; its window is moved.
 * @param deadline_ns  see base/deadline.h.
 * @param pages        what was added stays on failure.
 * @return 0; -ETIME; -ENOMEM; or the negative errno of pread(2).
 */
int hr_page_cgroup_read(struct hr_kpage *cgroups, struct hr_kpage *flags,
                        const struct hr_cgroup_inodes *inodes, uint64_t deadline_ns,
                        struct hr_page_set *pages);

#endif
