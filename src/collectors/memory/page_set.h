/* SPDX-License-Identifier: MIT */
/*
 * memory/page_set.h - sets of page frames, by number (PFN).
 *
 * Memory has a page frame for every 4 KiB, and a set has a bit for each: 32 MiB for each TiB of
 * memory that is in the set. It is kept in chunks of as many pages as one call on the kernel's
 * bitmap of idle pages covers, so a chunk is read and written there without conversion.
 *
 * No folio crosses a chunk's border but those of hugetlb: a folio of 2^n pages begins at a multiple
 * of that, and the largest that the kernel allocates by itself has 8,192 (arm64 with pages of
 * 64 KiB).
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_PAGE_SET_H
#define HEADROOM_COLLECTORS_MEMORY_PAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HR_PAGE_WORD_PAGES  64
#define HR_PAGE_CHUNK_WORDS 512
#define HR_PAGE_CHUNK_PAGES (HR_PAGE_WORD_PAGES * HR_PAGE_CHUNK_WORDS)

/** No page frame has a number this high: 52 bits of address, pages of 4 KiB. */
#define HR_PAGE_MAX ((uint64_t)1 << 40)

/** Bit n of word w is page 64 w + n of the chunk. */
struct hr_page_chunk {
    uint64_t words[HR_PAGE_CHUNK_WORDS];
};

struct hr_page_region;

/** All zeros is an empty set. */
struct hr_page_set {
    struct hr_page_region **regions; /**< of 1 TiB each; NULL where the set has no page */
    size_t count;
};

static inline bool hr_page_chunk_has(const struct hr_page_chunk *chunk, unsigned index)
{
    return chunk->words[index / HR_PAGE_WORD_PAGES] >> index % HR_PAGE_WORD_PAGES & 1;
}

static inline void hr_page_chunk_add(struct hr_page_chunk *chunk, unsigned index)
{
    chunk->words[index / HR_PAGE_WORD_PAGES] |= (uint64_t)1 << index % HR_PAGE_WORD_PAGES;
}

static inline void hr_page_chunk_remove(struct hr_page_chunk *chunk, unsigned index)
{
    chunk->words[index / HR_PAGE_WORD_PAGES] &= ~((uint64_t)1 << index % HR_PAGE_WORD_PAGES);
}

/** Finds the next page of a chunk. @param index where to start; receives the page. @return
 * false if there is none. */
bool hr_page_chunk_next(const struct hr_page_chunk *chunk, unsigned *index);

/**
 * Finds the next run of words that have pages, for one system call: consecutive words, with the
 * empty ones between them where those cost less than another call.
 *
 * @param first  where to start; receives the first word.
 * @param count  receives the number of words.
 * @return false if there are none.
 */
bool hr_page_chunk_next_words(const struct hr_page_chunk *chunk, unsigned *first, unsigned *count);

/** @return 0, -ENOMEM, or -EOVERFLOW: no page frame has such a number. */
int hr_page_set_add(struct hr_page_set *set, uint64_t pfn);

bool hr_page_set_has(const struct hr_page_set *set, uint64_t pfn);

/**
 * Finds the set's next chunk. It may be changed; one left without pages stays.
 *
 * @param first_pfn  where to start, 0 or the end of a chunk; receives the chunk's first page.
 * @return NULL if there is none.
 */
struct hr_page_chunk *hr_page_set_next(const struct hr_page_set *set, uint64_t *first_pfn);

/** Frees the set's memory and leaves it empty. */
void hr_page_set_free(struct hr_page_set *set);

#endif
