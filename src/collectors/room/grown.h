/* SPDX-License-Identifier: MIT */
/*
 * room/grown.h - by how much a counter of the kernel has grown.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_GROWN_H
#define HEADROOM_COLLECTORS_ROOM_GROWN_H

#include <stdint.h>

/** @return 0 also if it is less: counters begin again with a group that is made again, and the time
 * that CPUs waited for I/O may shrink (fs/proc/stat.c, get_iowait_time()). */
static inline uint64_t hr_grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

#endif
