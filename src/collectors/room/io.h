/* SPDX-License-Identifier: MIT */
/*
 * room/io.h - the formula of the room by I/O, under limits of io.max; no input, no output.
 *
 * Of what a limit allows per second the group can have what others in the limited group leave. What
 * a device could do without a limit isn't known.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_IO_H
#define HEADROOM_COLLECTORS_ROOM_IO_H

#include "headroom/room.h"

/** What was done on some devices between two readings. */
struct hr_room_io_work {
    const struct hr_stall_devices *before, *now;
    double elapsed_s;
};

/** A group with limits, of the group itself or of one above; all of the same devices, in the same
 * order. */
struct hr_room_io_limit {
    const struct hr_stall_devices *limits;
    struct hr_room_io_work all, own; /**< of the limited group, and of the group itself */
    size_t level;
};

/**
 * Lowers the room to what the limits of one group leave.
 *
 * @param stalled  for which share of the time the group was; 0: less than is trouble. While it was,
 *                 it did what the limit allows, if that is what it waited for: then there is no
 * room.
 * @param room     whose status is -ENOENT before the first.
 */
void hr_room_io_by_limit(const struct hr_room_io_limit *limit, double stalled,
                         struct hr_room_io *room);

#endif
