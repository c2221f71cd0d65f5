/* SPDX-License-Identifier: MIT */
#include "room/io.h"

#include <math.h>

#include "room/cpu.h"

/* A group that uses a smaller share of a limit needs nothing of it, whatever others use. */
#define NEXT_TO_NOTHING 0.01

/* While a limit stalls tasks, they use at least this share of it: some time passes between
 * requests. */
#define AT_LIMIT 0.8

/* A device that was removed and came back counts from 0 again. */
static double rate_of(const struct hr_room_io_work *work, size_t device, int kind)
{
    const uint64_t from = work->before->list[device].done[kind];
    const uint64_t to = work->now->list[device].done[kind];

    return to > from ? (double)(to - from) / work->elapsed_s : 0;
}

static void lower_to_limit(const struct hr_room_io_limit *limit, size_t device, int kind,
                           double stalled, struct hr_room_io *room)
{
    const struct hr_stall_device *limited = &limit->limits->list[device];
    const double most = (double)limited->limit[kind];
    const double all = rate_of(&limit->all, device, kind), own = rate_of(&limit->own, device, kind);
    const bool is_idle = stalled <= 0 && own < NEXT_TO_NOTHING * most;
    struct hr_room lowered = {
        .used = own,
        .needed = own,
        .attainable = most - (is_idle ? 0 : fmax(all - own, 0)),
        .bound = HR_ROOM_IO_MAX,
        .level = limit->level,
        .limit = most,
    };

    hr_room_finish(&lowered);
    if (stalled > 0 && all >= AT_LIMIT * stalled * most)
        hr_room_set_trouble(&lowered);
    if (room->room.status == 0 && lowered.room_pct >= room->room.room_pct)
        return;
    *room = (struct hr_room_io){
        .room = lowered,
        .kind = (enum hr_stall_io)kind,
        .device_major = limited->major,
        .device_minor = limited->minor,
    };
}

void hr_room_io_by_limit(const struct hr_room_io_limit *limit, double stalled,
                         struct hr_room_io *room)
{
    for (size_t i = 0; i < limit->limits->count; i++)
        for (int kind = 0; kind < HR_STALL_IO_COUNT; kind++)
            if (limit->limits->list[i].limit[kind] != HR_STALL_NO_LIMIT)
                lower_to_limit(limit, i, kind, stalled, room);
}
