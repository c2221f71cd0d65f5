/* SPDX-License-Identifier: MIT */
/*
 * room/stall_limits.h - the limits of a group, of those below it, and what they did.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_STALL_LIMITS_H
#define HEADROOM_COLLECTORS_ROOM_STALL_LIMITS_H

#include "headroom/stall_cause.h"

/**
 * Reads the limits of one group; of io those devices that have one.
 *
 * @param dirfd    the group's directory in the controller's hierarchy.
 * @param version  of that hierarchy, 1 or 2.
 * @param level    marked as known or not.
 * @return 0; or a negative errno, -ENOENT: the controller isn't enabled for the group.
 */
int hr_stall_limits_read(int dirfd, int version, enum hr_psi_resource resource,
                         struct hr_stall_level *level);

/** Reads the limits of all groups below one. @param below  marked as known or not. */
void hr_stall_limits_read_below(int dirfd, int version, enum hr_psi_resource resource,
                                struct hr_stall_below *below);

#endif
