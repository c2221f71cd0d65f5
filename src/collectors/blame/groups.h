/* SPDX-License-Identifier: MIT */
/*
 * blame/groups.h - the watched groups and their numbers in the programs' maps.
 *
 * A number is never used for another group: the slices of CPUs may still have it.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_GROUPS_H
#define HEADROOM_COLLECTORS_BLAME_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blame_group {
    uint64_t id;
    uint32_t number;
    uint32_t watched; /**< as the map has it: the number, marked or not; 0: it hasn't, but its cells
                           are still there */
    uint32_t wanted;  /**< for the caller's use */
    uint64_t wait_ns, last_wait_ns; /**< sums of the cells that it is in, for the caller's use */
};

/** Where the group of an id is among the items. */
struct blame_id {
    uint64_t id;
    size_t at;
};

/** All zeros is empty but for next_number. Sorted by number. */
struct blame_groups {
    struct blame_group *items;
    size_t count, capacity;
    struct blame_id *ids; /**< sorted; of blame_groups_sort_ids() */
    size_t id_count, id_capacity;
    uint32_t next_number;
};

/** Lets those that there are be found by their ids, until some are removed. @return 0 or -ENOMEM.
 */
int blame_groups_sort_ids(struct blame_groups *groups);

/** @return NULL if there is none. */
struct blame_group *blame_groups_find_id(const struct blame_groups *groups, uint64_t id);
struct blame_group *blame_groups_find_number(const struct blame_groups *groups, uint32_t number);

/** Adds a group, with the next number. @return 0 or -ENOMEM. */
int blame_groups_add(struct blame_groups *groups, uint64_t id, struct blame_group **group);

/** Removes those for which `is_done` returns true. */
void blame_groups_remove(struct blame_groups *groups,
                         bool (*is_done)(const struct blame_group *group));

void blame_groups_free(struct blame_groups *groups);

#endif
