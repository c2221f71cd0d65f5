/* SPDX-License-Identifier: MIT */
/*
 * collectors/memory/count_pages.h - counting the pages of a set.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_MEMORY_COUNT_PAGES_H
#define HEADROOM_TESTS_COLLECTORS_MEMORY_COUNT_PAGES_H

#include "memory/page_set.h"

static inline uint64_t count_pages(const struct hr_page_set *set)
{
    const struct hr_page_chunk *chunk;
    uint64_t count = 0;

    for (uint64_t pfn = 0; (chunk = hr_page_set_next(set, &pfn)) != NULL;
         pfn += HR_PAGE_CHUNK_PAGES)
        for (unsigned word = 0; word < HR_PAGE_CHUNK_WORDS; word++)
            count += (uint64_t)__builtin_popcountll(chunk->words[word]);
    return count;
}

#endif
