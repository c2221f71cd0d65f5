/* SPDX-License-Identifier: MIT */
/*
 * room/memory.h - the formulas of the room by memory; no input, no output.
 *
 * What of a group's memory can't be dropped, as its files can, may grow until it fills the group's
 * limit and the swap space that it may use; or those of a group above, together with what others
 * have there; or until the machine has nothing left. Swapping takes place before that: if what is
 * swapped out is needed, tasks stall, which is measured.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MEMORY_H
#define HEADROOM_COLLECTORS_ROOM_MEMORY_H

#include "headroom/room.h"
#include "room/meminfo.h"
#include "room/memory_use.h"

/** What the kernel can't drop of what is in memory. */
uint64_t hr_memory_resident(const struct hr_memory_use *use);

/** Counts inactive files as active, as where files may be read again as soon as they were
 * reclaimed: then its lists don't show which are needed. */
void hr_memory_count_all_files(struct hr_memory_use *use);

/** A limit of memory, of the group or of one above. */
struct hr_room_memory_limit {
    uint64_t limit_bytes;
    uint64_t resident_bytes;  /**< of the group whose limit it is; see hr_memory_resident() */
    uint64_t swap_left_bytes; /**< that it may use more */
    enum hr_room_bound bound;
    size_t level;
};

/**
 * Computes the room of a group.
 *
 * @param use     its memory. What of it is used is what can't be dropped, and active files: those
 * in use are in there, but others too, so that the room is "at least".
 * @param limits  may be empty.
 * @param level   receives what can't be dropped, in memory or swapped out: it reaches
 *                room->attainable when nothing is left.
 */
void hr_room_memory(const struct hr_memory_use *use, const struct hr_room_memory_limit *limits,
                    size_t count, const struct hr_meminfo *meminfo, struct hr_room *room,
                    double *level);

/**
 * Computes the room of a group of which it is known what it touches; without swap space, where what
 * it doesn't touch can go.
 *
 * @param use              with its parts.
 * @param swap_left_bytes  that the group may use more: without it what isn't touched stays, but for
 *                         files. Of these those count that may be in use without a trace.
 * @param touched_bytes    what it needs to touch.
 */
void hr_room_memory_touched(const struct hr_memory_use *use,
                            const struct hr_room_memory_limit *limits, size_t count,
                            const struct hr_meminfo *meminfo, uint64_t swap_left_bytes,
                            double touched_bytes, struct hr_room *room);

/** Computes the room of the machine. */
void hr_room_machine_memory(const struct hr_meminfo *meminfo, struct hr_room *room);

#endif
