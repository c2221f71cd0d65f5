/* SPDX-License-Identifier: MIT */
/*
 * headroom/hash.h - FNV-1a with 32 bits: for hash tables, and for the suffix that replaces the cut
 * part of a long name. The names of series contain it, so that the function must never change.
 *
 * Source: http://www.isthe.com/chongo/tech/comp/fnv/
 */
#ifndef HEADROOM_HASH_H
#define HEADROOM_HASH_H

#include <stdint.h>

/** The hash of the empty text. */
#define HR_HASH_EMPTY UINT32_C(2166136261)

/** Extends the hash `sum` by a number. */
static inline uint32_t hr_hash_number(uint32_t sum, uint32_t number)
{
    return (sum ^ number) * UINT32_C(16777619);
}

/** Extends the hash `sum` by a text. */
static inline uint32_t hr_hash_text(uint32_t sum, const char *text)
{
    for (; *text != '\0'; text++)
        sum = hr_hash_number(sum, (unsigned char)*text);
    return sum;
}

/** The hash of a text. */
static inline uint32_t hr_hash(const char *text)
{
    return hr_hash_text(HR_HASH_EMPTY, text);
}

/** Mixes a hash for use as an index in a table whose size is a power of two: the lowest bits of the
 * hash depend on the lowest bits of the input alone. */
static inline uint32_t hr_hash_slot(uint32_t sum)
{
    return sum ^ sum >> 16;
}

#endif
