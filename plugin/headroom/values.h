/* SPDX-License-Identifier: MIT */
/*
 * headroom/values.h - submits what was read of a group or of the system.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_VALUES_H
#define HEADROOM_PLUGIN_HEADROOM_VALUES_H

#include "common/submit.h"
#include "headroom/room.h"

/**
 * Submits the room and what it is made of, as far as it is known.
 *
 * @param horizon_s       trouble that is no nearer is published as none.
 * @param was_in_trouble  kept for the next call; false at first.
 */
void values_submit(const struct submission *submission, const struct hr_room_reading *reading,
                   double horizon_s, bool *was_in_trouble);

/** Submits the count of killed processes, if it is known. */
void values_submit_kills(const struct submission *submission,
                         const struct hr_room_reading *reading);

#endif
