/* SPDX-License-Identifier: MIT */
/*
 * wss/resident.h - the resident memory of processes that may have some of it in common: files and
 * shared memory. What each has of these says /proc/PID/statm, at once; whether it is the same would
 * take a walk of their memory.
 */
#ifndef HEADROOM_COLLECTORS_WSS_RESIDENT_H
#define HEADROOM_COLLECTORS_WSS_RESIDENT_H

#include <stdint.h>

struct hr_process;

/** Resident memory of several processes, in bytes. All zeros is that of none. */
struct hr_wss_resident {
    uint64_t sum_bytes;       /**< of each as if it were alone */
    uint64_t own_bytes;       /**< of it, what no other process can have */
    uint64_t shareable_bytes; /**< what others may have, too: the most that one of them has */
};

/** Adds a process. @return as hr_process_read_resident(). */
int hr_wss_resident_add(struct hr_wss_resident *resident, const struct hr_process *process);

/** What they have together, if what they may share is the same. */
uint64_t hr_wss_resident_bytes(const struct hr_wss_resident *resident);

#endif
