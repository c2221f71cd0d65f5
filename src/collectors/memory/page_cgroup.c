/* SPDX-License-Identifier: MIT */
#include "memory/page_cgroup.h"

#include <string.h>

static int find_heads(struct hr_kpage *flags, const struct hr_page_chunk *pages,
                      struct hr_page_chunk *heads)
{
    enum hr_page_kind kind;
    unsigned head;
    int status = 0;

    memset(heads, 0, sizeof(*heads));
    for (unsigned i = 0; status == 0 && hr_page_chunk_next(pages, &i); i++) {
        status = hr_kpage_classify(flags, i, &head, &kind);
        if (status == 0)
            hr_page_chunk_add(heads, head);
    }
    return status;
}

/* Neighbours mostly belong to one group, so the last lookup is kept. */
static int keep_charged_heads(struct hr_kpage *cgroups, const struct hr_cgroup_inodes *inodes,
                              struct hr_page_chunk *heads)
{
    uint64_t number, last = 0;
    bool has_last = false;
    int status = 0;

    for (unsigned i = 0; status == 0 && hr_page_chunk_next(heads, &i); i++) {
        status = hr_kpage_read_value(cgroups, i, &number);
        if (status == 0 && number != last) {
            last = number;
            has_last = hr_cgroup_inodes_has(inodes, number);
        }
        if (!has_last)
            hr_page_chunk_remove(heads, i);
    }
    return status;
}

int hr_page_cgroup_keep_charged(struct hr_kpage *cgroups, struct hr_kpage *flags,
                                const struct hr_cgroup_inodes *inodes, uint64_t first_pfn,
                                struct hr_page_chunk *pages)
{
    struct hr_page_chunk heads;
    enum hr_page_kind kind;
    unsigned head;

    int status = find_heads(flags, pages, &heads);
    if (status == 0)
        status = hr_kpage_move_window(cgroups, first_pfn, &heads);
    if (status == 0)
        status = keep_charged_heads(cgroups, inodes, &heads);
    for (unsigned i = 0; status == 0 && hr_page_chunk_next(pages, &i); i++) {
        status = hr_kpage_classify(flags, i, &head, &kind);
        if (status == 0 && !hr_page_chunk_has(&heads, head))
            hr_page_chunk_remove(pages, i);
    }
    return status;
}
