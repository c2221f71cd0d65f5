/* SPDX-License-Identifier: MIT */
/*
 * headroom/array.h - arrays that grow, and searching in those that are sorted.
 */
#ifndef HEADROOM_ARRAY_H
#define HEADROOM_ARRAY_H

#include <errno.h>
#include <stdlib.h>

/**
 * Makes room in an array for `wanted` items; it grows by doubling.
 *
 * @param items     a pointer to items, updated. NULL with a capacity of 0 is an empty array. The
 *                  caller frees it with free().
 * @param capacity  a size_t: how many items fit, updated.
 * @return 0; -ENOMEM: both are unchanged.
 */
#define HR_ARRAY_RESERVE(items, capacity, wanted)                                                  \
    ({                                                                                             \
        void *hr_grown = hr_array_grow((items), &(capacity), (wanted), sizeof(*(items)));          \
        if (hr_grown != NULL)                                                                      \
            (items) = hr_grown;                                                                    \
        hr_grown != NULL ? 0 : -ENOMEM;                                                            \
    })

/** @return the array, or NULL if memory is short. See HR_ARRAY_RESERVE(). */
static inline void *hr_array_grow(void *items, size_t *capacity, size_t wanted, size_t item_size)
{
    size_t grown_capacity = 2 * *capacity > wanted ? 2 * *capacity : wanted;

    if (items != NULL && wanted <= *capacity)
        return items;
    if (grown_capacity < 16)
        grown_capacity = 16;
    void *grown = reallocarray(items, grown_capacity, item_size);
    if (grown != NULL)
        *capacity = grown_capacity;
    return grown;
}

/**
 * Finds where something is in a sorted array, or would be.
 *
 * @param count      of the items.
 * @param i          a name for an index, used in `is_before`.
 * @param is_before  an expression: whether item `i` is before what is looked for. If one is, so are
 *                   all before it.
 * @return the index of the first item that isn't; `count`: there is none.
 */
#define HR_ARRAY_FIND_FIRST(count, i, is_before)                                                   \
    ({                                                                                             \
        size_t hr_first = 0, hr_end = (count);                                                     \
        while (hr_first < hr_end) {                                                                \
            const size_t i = hr_first + (hr_end - hr_first) / 2;                                   \
            if (is_before)                                                                         \
                hr_first = i + 1;                                                                  \
            else                                                                                   \
                hr_end = i;                                                                        \
        }                                                                                          \
        hr_first;                                                                                  \
    })

#endif
