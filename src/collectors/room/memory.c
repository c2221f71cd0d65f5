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

void hr_room_memory(const struct hr_memory_use *use, const struct hr_room_memory_limit *limits,
                    size_t count, const struct hr_meminfo *meminfo, struct hr_room *room,
                    double *level)
{
    uint64_t left_bytes = meminfo->available_bytes + meminfo->swap_free_bytes;

    *room = (struct hr_room){
        .is_at_least = use->active_file_bytes > 0,
        .bound = HR_ROOM_MACHINE,
        .limit = (double)meminfo->total_bytes,
    };
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes =
            minus(limits[i].limit_bytes, limits[i].resident_bytes) + limits[i].swap_left_bytes;
        if (bytes >= left_bytes)
            continue;
        left_bytes = bytes;
        room->bound = limits[i].bound;
        room->level = limits[i].level;
        room->limit = (double)limits[i].limit_bytes;
    }
    *level = (double)(hr_memory_resident(use) + use->swapped_bytes);
    room->needed = *level;
    room->used = *level + (double)use->active_file_bytes;
    room->attainable = *level + (double)left_bytes;
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
