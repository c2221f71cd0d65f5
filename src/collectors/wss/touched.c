/* SPDX-License-Identifier: MIT */
#include "wss/touched.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "headroom/hash.h"

#define CAPACITY_MIN 256

/* What is mapped: a part of a file, or, without one, what begins at an address. */
struct key {
    uint64_t device, inode, offset, start;
};

struct hr_wss_shared_mapping {
    struct key key;
    bool is_used;
    uint64_t sum_bytes;  /* of all processes, in proportion to their shares */
    uint64_t most_bytes; /* of the one that touched most */
};

/* --- The table ------------------------------------------------------------ */

static struct key key_of(const struct hr_smaps_mapping *mapping)
{
    if (mapping->inode == 0)
        return (struct key){.start = mapping->start};
    return (struct key){
        .device = mapping->device, .inode = mapping->inode, .offset = mapping->offset};
}

static bool is_same(const struct key *a, const struct key *b)
{
    return a->device == b->device && a->inode == b->inode && a->offset == b->offset &&
           a->start == b->start;
}

static uint32_t hash_of(const struct key *key)
{
    const uint64_t parts[] = {key->device, key->inode, key->offset, key->start};
    uint32_t sum = HR_HASH_EMPTY;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        sum = hr_hash_number(sum, (uint32_t)parts[i]);
        sum = hr_hash_number(sum, (uint32_t)(parts[i] >> 32));
    }
    return hr_hash_slot(sum);
}

/* Finds the slot of a key, or an unused one; there always is one. */
static struct hr_wss_shared_mapping *find_slot(struct hr_wss_shared_mapping *slots, size_t capacity,
                                               const struct key *key)
{
    size_t at = hash_of(key) & (capacity - 1);

    while (slots[at].is_used && !is_same(&slots[at].key, key))
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static int grow(struct hr_wss_touched *touched)
{
    const size_t capacity = touched->capacity > 0 ? 2 * touched->capacity : CAPACITY_MIN;
    struct hr_wss_shared_mapping *slots = calloc(capacity, sizeof(*slots));

    if (slots == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < touched->capacity; i++)
        if (touched->slots[i].is_used)
            *find_slot(slots, capacity, &touched->slots[i].key) = touched->slots[i];
    free(touched->slots);
    touched->slots = slots;
    touched->capacity = capacity;
    return 0;
}

/* --- Adding --------------------------------------------------------------- */

static int add_shared(struct hr_wss_touched *touched, const struct hr_smaps_mapping *mapping)
{
    const struct hr_smaps *sums = &mapping->sums;
    const struct key key = key_of(mapping);

    if (2 * (touched->count + 1) > touched->capacity && grow(touched) < 0)
        return -ENOMEM;
    struct hr_wss_shared_mapping *shared = find_slot(touched->slots, touched->capacity, &key);
    touched->count += !shared->is_used;
    shared->key = key;
    shared->is_used = true;
    shared->sum_bytes +=
        (uint64_t)((__uint128_t)sums->referenced_bytes * sums->pss_bytes / sums->rss_bytes);
    if (shared->most_bytes < sums->referenced_bytes)
        shared->most_bytes = sums->referenced_bytes;
    return 0;
}

int hr_wss_touched_add(struct hr_wss_touched *touched, const struct hr_smaps_mapping *mapping)
{
    const struct hr_smaps *sums = &mapping->sums;

    if (sums->referenced_bytes == 0)
        return 0;
    if (sums->has_pss && sums->pss_bytes < sums->rss_bytes)
        return add_shared(touched, mapping);
    touched->own_bytes += sums->referenced_bytes;
    return 0;
}

uint64_t hr_wss_touched_bytes(const struct hr_wss_touched *touched)
{
    uint64_t bytes = touched->own_bytes;

    for (size_t i = 0; i < touched->capacity; i++)
        if (touched->slots[i].is_used)
            bytes += touched->slots[i].sum_bytes > touched->slots[i].most_bytes
                         ? touched->slots[i].sum_bytes
                         : touched->slots[i].most_bytes;
    return bytes;
}

void hr_wss_touched_free(struct hr_wss_touched *touched)
{
    free(touched->slots);
    *touched = (struct hr_wss_touched){0};
}
