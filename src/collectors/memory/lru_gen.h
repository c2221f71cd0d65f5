/* SPDX-License-Identifier: MIT */
/*
 * memory/lru_gen.h - the generations of the multi-gen LRU, as the kernel prints them in debugfs.
 *
 * The kernel keeps the pages of each memory cgroup on each NUMA node in up to four generations.
 * Only the youngest grows by page faults. Aging walks the page tables: every page whose accessed
 * bit is set moves to the generation that is the youngest until then, and a new, empty one begins.
 * So a page in a generation was last found accessed after that generation was created and before
 * the next one was; what was touched after the youngest was created is still in older ones, unless
 * it was faulted in. At four generations the two oldest are merged.
 *
 * Pages touched only by read(2) and write(2) stay where they are. Locked pages (mlock(2)) and those
 * of hugetlbfs are in no generation. A page belongs to the group that first touched it; processes
 * of other groups that touch it don't show.
 *
 * Sources: Documentation/admin-guide/mm/multigen_lru.rst, mm/vmscan.c (lru_gen_seq_show,
 * walk_pte_range, inc_max_seq), include/linux/mm_inline.h (lru_gen_add_folio).
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_LRU_GEN_H
#define HEADROOM_COLLECTORS_MEMORY_LRU_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/** MAX_NR_GENS of the kernel. */
#define HR_LRU_GEN_MAX 4

struct hr_lru_gen_generation {
    uint64_t seq; /**< its number, growing by one */
    uint64_t
        age_ms; /**< since it was created. The kernel counts in 32 bits: it wraps after 49 days */
    uint64_t pages; /**< anonymous ones and those of files */
};

/** The generations of a group on a node. */
struct hr_lru_gen_list {
    /** 0: memory cgroups are off, or the group was removed and its memory isn't free yet; the
     * kernel accepts no command for such a group. Since Linux 7.0 it is the cgroup's ID, of a
     * removed group, too. */
    uint64_t memcg_id;
    struct hr_text path; /**< the group's, "/a/b", within the text; empty: memory cgroups are off */
    unsigned node;
    size_t count;                                             /**< at least one */
    struct hr_lru_gen_generation generations[HR_LRU_GEN_MAX]; /**< the oldest first */
};

/** A reader's position in the text. Initially all zeros but `rest`. */
struct hr_lru_gen_reader {
    struct hr_text rest;
    uint64_t memcg_id;
    struct hr_text path;
    bool in_group;
};

/**
 * Parses the next group's next node.
 *
 * @return 1; 0: at the end; -EBADMSG, with the list and the reader unchanged.
 */
int hr_lru_gen_parse_next(struct hr_lru_gen_reader *reader, struct hr_lru_gen_list *list);

/** Whether a list belongs to a group or to one below it; that of a removed group of that name
 * doesn't. @param group  "/a/b"; "/": all do. */
bool hr_lru_gen_is_below(const struct hr_lru_gen_list *list, const char *group);

/** Whether a list belongs to this group itself, and not to a removed one of that name. */
bool hr_lru_gen_is_of(const struct hr_lru_gen_list *list, const char *group);

/** The number of the youngest generation. */
uint64_t hr_lru_gen_youngest(const struct hr_lru_gen_list *list);

/** The pages in generations from a number on; 0: in all. */
uint64_t hr_lru_gen_pages_since(const struct hr_lru_gen_list *list, uint64_t seq);

/** What the generations of several lists show of a window, by their ages. Initially all zeros. */
struct hr_lru_gen_window_sum {
    uint64_t touched_pages; /**< in generations created within the window */
    uint64_t window_ms;     /**< the age of the oldest of these */
    uint64_t known_pages;   /**< all pages of lists that cover the window */
    uint64_t all_pages;     /**< of all lists */
};

/**
 * Adds a list. It doesn't cover the window if only its youngest generation was created within it:
 * that has newly faulted pages only, as accessed bits haven't been scanned since.
 */
void hr_lru_gen_sum_window(const struct hr_lru_gen_list *list, uint64_t window_ms,
                           struct hr_lru_gen_window_sum *sum);

#endif
