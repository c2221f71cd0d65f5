/* SPDX-License-Identifier: MIT */
#include "room/io.h"

#include <math.h>

#include "room/cpu.h"

/* A device that was removed and came back counts from 0 again. */
static double rate(const struct hr_stall_devices *before, const struct hr_stall_devices *now,
                   size_t device, int kind, double elapsed_s)
{
    const uint64_t from = before->list[device].done[kind], to = now->list[device].done[kind];

    return to > from ? (double)(to - from) / elapsed_s : 0;
}

static void lower(const struct hr_room_io_limit *limit, size_t device, int kind, double elapsed_s,
                  struct hr_room_io *room)
{
    const struct hr_stall_device *limited = &limit->limits->list[device];
    const double all = rate(limit->before, limit->now, device, kind, elapsed_s);
    const double own = rate(limit->own_before, limit->own_now, device, kind, elapsed_s);
    struct hr_room lowered = {
        .used = own,
        .needed = own,
        .attainable = (double)limited->limit[kind] - fmax(all - own, 0),
        .bound = HR_ROOM_IO_MAX,
        .level = limit->level,
        .limit = (double)limited->limit[kind],
    };

    hr_room_finish(&lowered);
    if (room->room.status == 0 && lowered.room_pct >= room->room.room_pct)
        return;
    *room = (struct hr_room_io){
        .room = lowered,
        .kind = (enum hr_stall_io)kind,
        .device_major = limited->major,
        .device_minor = limited->minor,
    };
}

void hr_room_io_by_limit(const struct hr_room_io_limit *limit, double elapsed_s,
                         struct hr_room_io *room)
{
    for (size_t i = 0; i < limit->limits->count; i++)
        for (int kind = 0; kind < HR_STALL_IO_COUNT; kind++)
            if (limit->limits->list[i].limit[kind] != HR_STALL_NO_LIMIT)
                lower(limit, i, kind, elapsed_s, room);
}
