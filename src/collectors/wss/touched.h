/* SPDX-License-Identifier: MIT */
/*
 * wss/touched.h - adds up what several processes touched, with the memory that they share once.
 *
 * The kernel reports per process and mapping how much was touched, not which pages. Of memory that
 * several processes map, each one's part counts in proportion to its share of it (PSS to RSS, so
 * that a page that n processes map counts an nth in each), but at least what the process touched
 * that touched most:
 *
 * - all touch the same pages: exact;
 * - each maps only what it touches itself, as where pages are mapped when they are first touched:
 *   exact;
 * - each touches another part of what all map: too low, down to the largest part.
 *
 * Mappings belong together if they have the same part of the same file; without a file, if they
 * begin at the same address, as after fork(2).
 */
#ifndef HEADROOM_COLLECTORS_WSS_TOUCHED_H
#define HEADROOM_COLLECTORS_WSS_TOUCHED_H

#include <stddef.h>
#include <stdint.h>

#include "memory/smaps.h"

struct hr_wss_shared_mapping;

/** Initially all zeros. */
struct hr_wss_touched {
    uint64_t own_bytes; /**< of memory that isn't shared */
    /** Of memory that is: a hash table, and how many of its slots are in use. */
    struct hr_wss_shared_mapping *slots;
    size_t count, capacity;
};

/** Adds a mapping of a process. @return 0 or -ENOMEM. */
int hr_wss_touched_add(struct hr_wss_touched *touched, const struct hr_smaps_mapping *mapping);

/** The sum. */
uint64_t hr_wss_touched_bytes(const struct hr_wss_touched *touched);

/** Frees its memory. */
void hr_wss_touched_free(struct hr_wss_touched *touched);

#endif
