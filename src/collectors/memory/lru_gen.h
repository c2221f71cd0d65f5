/*
 * memory/lru_gen.h - the generations of the multi-gen LRU, as the kernel prints them in debugfs.
 *
 * The kernel keeps the pages of each memory cgroup on each NUMA node in up to four generations.
 * Only the youngest grows by page faults. Aging walks the page tables: every page whose accessed
 * bit is set moves to the generation that is the youngest until then, and a new, empty one begins.
 * So a page in a generation was last seen to be touched after that generation was born and before
 * the next one was; what was touched after the youngest was born is still in older ones, unless it
 * was faulted in. At four generations the two oldest become one.
 *
 * What is touched by read(2) and write(2) alone stays where it is. Locked pages (mlock(2)) are in
 * no generation, and neither are those of hugetlbfs. A page belongs to the group that first touched
 * it; that processes of other groups touch it isn't seen.
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
    uint64_t seq;    /**< its number, growing by one */
    uint64_t age_ms; /**< since it was born. The kernel counts in 32 bits: after 49 days it's 0 */
    uint64_t pages;  /**< anonymous ones and those of files */
};

/** The generations of a group on a node. */
struct hr_lru_gen_list {
    uint64_t memcg_id;   /**< 0: memory cgroups are off, or the group was removed and its memory
                              isn't free yet; the kernel takes no command for such a one */
    struct hr_text path; /**< the group's, "/a/b", within the text; empty: memory cgroups are off */
    unsigned node;
    size_t count;                                             /**< at least one */
    struct hr_lru_gen_generation generations[HR_LRU_GEN_MAX]; /**< the oldest first */
};

/** Where in the text a reader is. Begins with all zeros but `rest`. */
struct hr_lru_gen_reader {
    struct hr_text rest;
    uint64_t memcg_id;
    struct hr_text path;
    bool in_group;
};

/**
 * Parses the next group's next node.
 *
 * @return 1; 0: that was all; -EBADMSG, with the list and the reader as they were.
 */
int hr_lru_gen_parse_next(struct hr_lru_gen_reader *reader, struct hr_lru_gen_list *list);

/** Tells whether a list is of a group or of one below it; one of that name which was removed isn't.
 * @param group  "/a/b"; "/": all are. */
bool hr_lru_gen_is_below(const struct hr_lru_gen_list *list, const char *group);

/** Tells whether a list is of this very group, and it isn't one of that name which was removed. */
bool hr_lru_gen_is_of(const struct hr_lru_gen_list *list, const char *group);

/** The number of the youngest generation. */
uint64_t hr_lru_gen_youngest(const struct hr_lru_gen_list *list);

/** The pages in all generations. */
uint64_t hr_lru_gen_pages(const struct hr_lru_gen_list *list);

/** The pages in generations from a number on. */
uint64_t hr_lru_gen_pages_since(const struct hr_lru_gen_list *list, uint64_t seq);

/** What the generations of several lists tell of a window, by their ages. All zeros is none. */
struct hr_lru_gen_window_sum {
    uint64_t touched_pages; /**< in generations born within the window */
    uint64_t window_ms;     /**< the age of the oldest of these */
    uint64_t known_pages;   /**< all pages of lists that tell something */
    uint64_t all_pages;     /**< of all lists */
};

/**
 * Adds what a list tells. It tells nothing if but its youngest generation was born within the
 * window: that has newly faulted pages only, as accessed bits weren't looked at since.
 */
void hr_lru_gen_sum_window(const struct hr_lru_gen_list *list, uint64_t window_ms,
                           struct hr_lru_gen_window_sum *sum);

#endif
