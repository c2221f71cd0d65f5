/*
 * hash.h - FNV-1a, of 32 bits: for the part of a name that stands for what was cut off, and for
 * tables. What has become part of a series' name has to stay what it is.
 *
 * Source: http://www.isthe.com/chongo/tech/comp/fnv/
 */
#ifndef HEADROOM_HASH_H
#define HEADROOM_HASH_H

#include <stdint.h>

/** What the hash of nothing is. */
#define HR_HASH_EMPTY UINT32_C(2166136261)

/** The hash of what had the hash `sum`, and a number behind it. */
static inline uint32_t hr_hash_number(uint32_t sum, uint32_t number)
{
    return (sum ^ number) * UINT32_C(16777619);
}

/** The hash of what had the hash `sum`, and a text behind it. */
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

/** Of a hash, what tells places apart in a table of a power of two of them: its lowest bits come of
 * the lowest bits of what was hashed alone. */
static inline uint32_t hr_hash_slot(uint32_t sum)
{
    return sum ^ sum >> 16;
}

#endif
