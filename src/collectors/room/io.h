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

/** A group with limits, of the group itself or of one above; all of the same devices, in the same
 * order. */
struct hr_room_io_limit {
    const struct hr_stall_devices *limits;
    const struct hr_stall_devices *before, *now;         /**< what the limited group had done */
    const struct hr_stall_devices *own_before, *own_now; /**< what the group itself had */
    size_t level;
};

/** Lowers the room to what the limits of one group leave. @param room  whose status is -ENOENT
 * before the first. */
void hr_room_io_by_limit(const struct hr_room_io_limit *limit, double elapsed_s,
                         struct hr_room_io *room);

#endif
