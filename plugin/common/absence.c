/* SPDX-License-Identifier: MIT */
#include "common/absence.h"

#include <pthread.h>
#include <stdint.h>

#include "headroom/hash.h"

/* A power of two: 32 KiB, however many groups come and go. */
#define SLOT_COUNT 4096

/* Beside the hash of an instance. */
#define ABSENCE_MASK UINT64_C(3)

/* Two hashes of 32 bits would have to be the same for one group to be taken for another. */
static uint64_t slots[SLOT_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash(const char *instance)
{
    const uint32_t other = hr_hash_text(hr_hash_number(HR_HASH_EMPTY, UINT32_MAX), instance);

    return ((uint64_t)hr_hash(instance) << 32 | other) & ~ABSENCE_MASK;
}

static uint64_t *find_slot(const char *instance)
{
    return &slots[hr_hash_slot(hr_hash(instance)) % SLOT_COUNT];
}

void absence_note(const char *instance, enum absence absence)
{
    uint64_t *slot = find_slot(instance);
    const uint64_t noted = hash(instance);

    pthread_mutex_lock(&lock);
    if (absence != ABSENCE_UNKNOWN)
        *slot = noted | absence;
    else if ((*slot & ~ABSENCE_MASK) == noted)
        *slot = 0;
    pthread_mutex_unlock(&lock);
}

enum absence absence_find(const char *instance)
{
    pthread_mutex_lock(&lock);
    const uint64_t noted = *find_slot(instance);
    pthread_mutex_unlock(&lock);
    if ((noted & ~ABSENCE_MASK) != hash(instance))
        return ABSENCE_UNKNOWN;
    return (enum absence)(noted & ABSENCE_MASK);
}
