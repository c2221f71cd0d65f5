/*
 * memory/page_set.h - sets of page frames, by number (PFN).
 *
 * Memory has a page frame for every 4 KiB, and a set of them is a bit each: 32 MiB for each TiB of
 * memory that is in the set. It is kept in chunks of as many pages as the kernel's bitmap of idle
 * pages tells of in one call, so a chunk goes to and from there as it is.
 *
 * No folio crosses a chunk's border but those of hugetlb: a folio of 2^n pages begins at a multiple
 * of that, and the largest that the kernel makes by itself has 8,192 (arm64 with pages of 64 KiB).
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_PAGE_SET_H
#define HEADROOM_COLLECTORS_MEMORY_PAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HR_PAGE_WORD_PAGES  64
#define HR_PAGE_CHUNK_WORDS 512
#define HR_PAGE_CHUNK_PAGES (HR_PAGE_WORD_PAGES * HR_PAGE_CHUNK_WORDS)

/** Page frames beyond this number there are none: 52 bits of address, pages of 4 KiB. */
#define HR_PAGE_MAX ((uint64_t)1 << 40)

/** Bit n of word w is page 64 w + n of the chunk. */
struct hr_page_chunk {
    uint64_t words[HR_PAGE_CHUNK_WORDS];
};

struct hr_page_region;

/** All zeros is an empty set. */
struct hr_page_set {
    struct hr_page_region **regions; /**< of 1 TiB each; NULL where the set has none of it */
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

/** Finds the next page of a chunk. @param index where to look from; receives the page. @return
 * false if there is none. */
bool hr_page_chunk_next(const struct hr_page_chunk *chunk, unsigned *index);

/**
 * Finds the next words that have pages, for a call of the kernel's: as many as follow each other,
 * with what lies between them where that is less work than another call.
 *
 * @param first  where to look from; receives the first word.
 * @param count  receives how many they are.
 * @return false if there are none.
 */
bool hr_page_chunk_next_words(const struct hr_page_chunk *chunk, unsigned *first, unsigned *count);

/** @return 0, -ENOMEM, or -EOVERFLOW: no page frame has such a number. */
int hr_page_set_add(struct hr_page_set *set, uint64_t pfn);

bool hr_page_set_has(const struct hr_page_set *set, uint64_t pfn);

/** How many pages the set has. */
uint64_t hr_page_set_count(const struct hr_page_set *set);

/**
 * Finds the next chunk that the set has. It may be changed; one left without pages stays.
 *
 * @param first_pfn  where to look from, 0 or the end of a chunk; receives the chunk's first page.
 * @return NULL if there is none.
 */
struct hr_page_chunk *hr_page_set_next(const struct hr_page_set *set, uint64_t *first_pfn);

/** Frees the set's memory and leaves an empty one. */
void hr_page_set_free(struct hr_page_set *set);

#endif
