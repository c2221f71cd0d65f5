/* SPDX-License-Identifier: MIT */
#include "memory/page_cgroup.h"

#include <errno.h>
#include <string.h>

#include "base/deadline.h"

/* Finds the pages in the window that are charged to the cgroups. Neighbours mostly belong to one
 * group, so the last lookup is kept. */
static int find_charged(struct hr_kpage *cgroups, const struct hr_cgroup_inodes *inodes,
                        struct hr_page_chunk *charged)
{
    uint64_t number, last = 0;
    bool has_last = false;

    memset(charged, 0, sizeof(*charged));
    for (unsigned i = 0; i < HR_PAGE_CHUNK_PAGES; i++) {
        int status = hr_kpage_read_value(cgroups, i, &number);
        if (status < 0)
            return status;
        if (number != last) {
            last = number;
            has_last = hr_cgroup_inodes_has(inodes, number);
        }
        if (has_last)
            hr_page_chunk_add(charged, i);
    }
    return 0;
}

/* Adds a page if it is subject to reclaim, and, if it is the first of a folio, the others: older
 * kernels show the cgroup of the first only. */
static int add_folio(struct hr_kpage *flags, uint64_t first_pfn, unsigned index,
                     struct hr_page_set *pages)
{
    enum hr_page_kind kind;
    unsigned head;
    bool is_tail = true;

    int status = hr_kpage_classify(flags, index, &head, &kind);
    if (status < 0 || kind == HR_PAGE_EXCLUDED)
        return status;
    status = hr_page_set_add(pages, first_pfn + index);
    while (status == 0 && ++index < HR_PAGE_CHUNK_PAGES) {
        status = hr_kpage_is_tail(flags, index, &is_tail);
        if (status < 0 || !is_tail)
            return status;
        status = hr_page_set_add(pages, first_pfn + index);
    }
    return status;
}

static int add_chunk(struct hr_kpage *flags, uint64_t first_pfn,
                     const struct hr_page_chunk *charged, struct hr_page_set *pages)
{
    int status = hr_kpage_move_window(flags, first_pfn, charged);

    for (unsigned i = 0; status == 0 && hr_page_chunk_next(charged, &i); i++)
        if (!hr_page_set_has(pages, first_pfn + i)) /* added with its folio's first page */
            status = add_folio(flags, first_pfn, i, pages);
    return status;
}

int hr_page_cgroup_read(struct hr_kpage *cgroups, struct hr_kpage *flags,
                        const struct hr_cgroup_inodes *inodes, uint64_t deadline_ns,
                        struct hr_page_set *pages)
{
    struct hr_page_chunk charged;

    for (uint64_t pfn = 0; pfn < HR_PAGE_MAX; pfn += HR_PAGE_CHUNK_PAGES) {
        if (hr_deadline_has_passed(deadline_ns))
            return -ETIME;
        int status = hr_kpage_move_window(cgroups, pfn, NULL);
        if (status < 0 || hr_kpage_is_beyond(cgroups))
            return status;
        status = find_charged(cgroups, inodes, &charged);
        if (status == 0)
            status = add_chunk(flags, pfn, &charged, pages);
        if (status < 0)
            return status;
    }
    return 0;
}
