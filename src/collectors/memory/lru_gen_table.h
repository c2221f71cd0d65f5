/* SPDX-License-Identifier: MIT */
/*
 * memory/lru_gen_table.h - the generations of all groups, as they were at one time, sorted so that
 * those of a group and all below it are found without a look at the others.
 *
 * The kernel prints the groups of the whole machine, however few are wanted: one table can serve
 * many who want to know of a group each.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_LRU_GEN_TABLE_H
#define HEADROOM_COLLECTORS_MEMORY_LRU_GEN_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/file_text.h"
#include "memory/lru_gen.h"

struct hr_root;

/** Initially all zeros: never read. */
struct hr_lru_gen_table {
    struct hr_file_text text; /**< which the lists' paths are parts of */
    struct hr_lru_gen_list *lists;
    size_t count, capacity;
    uint64_t reads;   /**< how often the file was read */
    uint64_t read_ns; /**< when that began last, of hr_clock_ns(); 0: there is nothing now */
};

/**
 * Reads the file, unless what was read is recent enough.
 *
 * @param number    of a reading, see `reads`: that one and later ones will do, …
 * @param since_ns  … that began since this time, of hr_clock_ns().
 * @return 0; -EBADMSG; -ENOMEM; or the negative errno of open(2) and read(2). On failure the table
 *         is empty.
 */
int hr_lru_gen_table_read(struct hr_lru_gen_table *table, const struct hr_root *root,
                          uint64_t number, uint64_t since_ns);

/**
 * Finds the lists of a group and of all below it.
 *
 * @param group  "/a/b"; "/": all.
 * @param count  receives their number.
 * @return the first, which the others follow; those of a path in the kernel's order.
 */
const struct hr_lru_gen_list *hr_lru_gen_table_find(const struct hr_lru_gen_table *table,
                                                    const char *group, size_t *count);

/** Frees what was read, and leaves an empty table; `reads` stays. */
void hr_lru_gen_table_free(struct hr_lru_gen_table *table);

#endif
