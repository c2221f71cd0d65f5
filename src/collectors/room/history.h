/* SPDX-License-Identifier: MIT */
/*
 * room/history.h - the history of directories that was saved, until they are opened.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_HISTORY_H
#define HEADROOM_COLLECTORS_ROOM_HISTORY_H

#include <stdint.h>

#include "headroom/forecast.h"
#include "headroom/room_history.h"
#include "headroom/stall_hour.h"

/** Begins a forecast: with what was saved of a directory, or of the machine, 0 and 0; or else with
 * nothing. */
void hr_room_history_begin(struct hr_room_machine *machine, uint64_t device, uint64_t inode,
                           uint64_t point_ns, struct hr_forecast *forecast);

/** The same of stalls. */
void hr_room_history_begin_stalls(struct hr_room_machine *machine, uint64_t device, uint64_t inode,
                                  struct hr_stall_hour *hour);

/** Forgets what was saved, once it is too old to be of use. */
void hr_room_history_expire(struct hr_room_machine *machine);

/** Forgets it. */
void hr_room_history_free(struct hr_room_machine *machine);

#endif
