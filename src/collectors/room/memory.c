/* SPDX-License-Identifier: MIT */
#include "room/memory.h"

#include "room/cpu.h"

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

uint64_t hr_memory_resident(const struct hr_memory_use *use)
{
    uint64_t bytes = use->current_bytes;

    bytes = minus(bytes, use->active_file_bytes);
    bytes = minus(bytes, use->inactive_file_bytes);
    return minus(bytes, use->slab_reclaimable_bytes);
}

void hr_memory_count_all_files(struct hr_memory_use *use)
{
    use->active_file_bytes += use->inactive_file_bytes;
    use->inactive_file_bytes = 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Begins with what binds. @return what that leaves. */
static uint64_t bind(const struct hr_room_memory_limit *limits, size_t count,
                     const struct hr_meminfo *meminfo, bool with_swap, struct hr_room *room)
{
    uint64_t left_bytes = meminfo->available_bytes + (with_swap ? meminfo->swap_free_bytes : 0);

    *room = (struct hr_room){.bound = HR_ROOM_MACHINE, .limit = (double)meminfo->total_bytes};
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = minus(limits[i].limit_bytes, limits[i].resident_bytes) +
                         (with_swap ? limits[i].swap_left_bytes : 0);
        if (bytes >= left_bytes)
            continue;
        left_bytes = bytes;
        room->bound = limits[i].bound;
        room->level = limits[i].level;
        room->limit = (double)limits[i].limit_bytes;
    }
    return left_bytes;
}

void hr_room_memory(const struct hr_memory_use *use, const struct hr_room_memory_limit *limits,
                    size_t count, const struct hr_meminfo *meminfo, struct hr_room *room,
                    double *level)
{
    const uint64_t left_bytes = bind(limits, count, meminfo, true, room);

    room->is_at_least = use->active_file_bytes > 0;
    *level = (double)(hr_memory_resident(use) + use->swapped_bytes);
    room->needed = *level;
    room->used = *level + (double)use->active_file_bytes;
    room->attainable = *level + (double)left_bytes;
    hr_room_finish(room);
}

/* Files that are read without being mapped leave no trace in most working sets. */
static uint64_t unseen_files(const struct hr_memory_use *use)
{
    const uint64_t files = use->active_file_bytes + use->inactive_file_bytes;

    return least(use->active_file_bytes, minus(files, use->parts.mapped_file_bytes));
}

void hr_room_memory_touched(const struct hr_memory_use *use,
                            const struct hr_room_memory_limit *limits, size_t count,
                            const struct hr_meminfo *meminfo, uint64_t swap_left_bytes,
                            double touched_bytes, struct hr_room *room)
{
    const uint64_t left_bytes = bind(limits, count, meminfo, false, room);
    const uint64_t resident = hr_memory_resident(use);
    const uint64_t anon = least(use->parts.anon_bytes, resident), kernel = resident - anon;
    const uint64_t seen = anon + use->active_file_bytes + use->inactive_file_bytes;
    const uint64_t touched = touched_bytes < (double)seen ? (uint64_t)touched_bytes
                                                          : seen; /* shared pages count twice */
    const uint64_t stays = minus(anon, swap_left_bytes), unseen = unseen_files(use);
    const uint64_t files =
        least(use->active_file_bytes, least(touched, use->parts.mapped_file_bytes) + unseen);

    room->needed = (double)(kernel + most(touched, stays));
    room->used = (double)(kernel + most(least(touched + unseen, seen), stays + files));
    room->is_at_least = room->used > room->needed;
    room->attainable = (double)(resident + left_bytes);
    hr_room_finish(room);
}

void hr_room_machine_memory(const struct hr_meminfo *meminfo, struct hr_room *room)
{
    *room = (struct hr_room){
        .used = (double)minus(meminfo->total_bytes, meminfo->available_bytes) +
                (double)minus(meminfo->swap_total_bytes, meminfo->swap_free_bytes),
        .attainable = (double)meminfo->total_bytes + (double)meminfo->swap_total_bytes,
        .bound = HR_ROOM_MACHINE,
        .limit = (double)meminfo->total_bytes,
    };
    room->needed = room->used;
    hr_room_finish(room);
}
