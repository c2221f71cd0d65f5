/* SPDX-License-Identifier: MIT */
#include "memory/page_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REGION_CHUNKS 8192
#define REGION_PAGES  ((uint64_t)REGION_CHUNKS * HR_PAGE_CHUNK_PAGES)

/* Processing so many words without pages costs less than another system call: a word has 64 pages,
 * some ns each. */
#define GAP_WORDS 4

struct hr_page_region {
    struct hr_page_chunk *chunks[REGION_CHUNKS];
};

/* --- Chunks --------------------------------------------------------------- */

bool hr_page_chunk_next(const struct hr_page_chunk *chunk, unsigned *index)
{
    unsigned word = *index / HR_PAGE_WORD_PAGES;

    if (word >= HR_PAGE_CHUNK_WORDS)
        return false;
    uint64_t bits = chunk->words[word] >> *index % HR_PAGE_WORD_PAGES;
    if (bits != 0) {
        *index += (unsigned)__builtin_ctzll(bits);
        return true;
    }
    while (++word < HR_PAGE_CHUNK_WORDS)
        if (chunk->words[word] != 0) {
            *index = word * HR_PAGE_WORD_PAGES + (unsigned)__builtin_ctzll(chunk->words[word]);
            return true;
        }
    return false;
}

bool hr_page_chunk_next_words(const struct hr_page_chunk *chunk, unsigned *first, unsigned *count)
{
    unsigned from = *first, last;

    while (from < HR_PAGE_CHUNK_WORDS && chunk->words[from] == 0)
        from++;
    if (from == HR_PAGE_CHUNK_WORDS)
        return false;
    last = from;
    for (unsigned word = from + 1; word < HR_PAGE_CHUNK_WORDS && word - last <= GAP_WORDS; word++)
        if (chunk->words[word] != 0)
            last = word;
    *first = from;
    *count = last - from + 1;
    return true;
}

/* --- Sets ----------------------------------------------------------------- */

static struct hr_page_chunk *find_chunk(const struct hr_page_set *set, uint64_t pfn)
{
    uint64_t region = pfn / REGION_PAGES;

    if (region >= set->count || set->regions[region] == NULL)
        return NULL;
    return set->regions[region]->chunks[pfn % REGION_PAGES / HR_PAGE_CHUNK_PAGES];
}

static int grow_regions(struct hr_page_set *set, size_t count)
{
    void *grown = reallocarray(set->regions, count, sizeof(struct hr_page_region *));

    if (grown == NULL)
        return -ENOMEM;
    set->regions = grown;
    memset(set->regions + set->count, 0, (count - set->count) * sizeof(struct hr_page_region *));
    set->count = count;
    return 0;
}

static int make_chunk(struct hr_page_set *set, uint64_t pfn, struct hr_page_chunk **chunk)
{
    uint64_t region = pfn / REGION_PAGES;

    if (pfn >= HR_PAGE_MAX)
        return -EOVERFLOW;
    if (region >= set->count && grow_regions(set, region + 1) < 0)
        return -ENOMEM;
    if (set->regions[region] == NULL)
        set->regions[region] = calloc(1, sizeof(struct hr_page_region));
    if (set->regions[region] == NULL)
        return -ENOMEM;
    *chunk = calloc(1, sizeof(**chunk));
    if (*chunk == NULL)
        return -ENOMEM;
    set->regions[region]->chunks[pfn % REGION_PAGES / HR_PAGE_CHUNK_PAGES] = *chunk;
    return 0;
}

int hr_page_set_add(struct hr_page_set *set, uint64_t pfn)
{
    struct hr_page_chunk *chunk = find_chunk(set, pfn);
    int status = chunk == NULL ? make_chunk(set, pfn, &chunk) : 0;

    if (status == 0)
        hr_page_chunk_add(chunk, (unsigned)(pfn % HR_PAGE_CHUNK_PAGES));
    return status;
}

bool hr_page_set_has(const struct hr_page_set *set, uint64_t pfn)
{
    const struct hr_page_chunk *chunk = find_chunk(set, pfn);

    return chunk != NULL && hr_page_chunk_has(chunk, (unsigned)(pfn % HR_PAGE_CHUNK_PAGES));
}

struct hr_page_chunk *hr_page_set_next(const struct hr_page_set *set, uint64_t *first_pfn)
{
    uint64_t pfn = *first_pfn;

    while (pfn / REGION_PAGES < set->count) {
        struct hr_page_chunk *chunk = find_chunk(set, pfn);
        if (chunk != NULL) {
            *first_pfn = pfn;
            return chunk;
        }
        bool is_region = set->regions[pfn / REGION_PAGES] != NULL;
        pfn += is_region ? HR_PAGE_CHUNK_PAGES : REGION_PAGES - pfn % REGION_PAGES;
    }
    return NULL;
}

void hr_page_set_free(struct hr_page_set *set)
{
    for (size_t region = 0; region < set->count; region++) {
        for (size_t i = 0; set->regions[region] != NULL && i < REGION_CHUNKS; i++)
            free(set->regions[region]->chunks[i]);
        free(set->regions[region]);
    }
    free(set->regions);
    *set = (struct hr_page_set){0};
}
