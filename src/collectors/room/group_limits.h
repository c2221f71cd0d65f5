/* SPDX-License-Identifier: MIT */
/*
 * room/group_limits.h - the limits in one group's directory, without those of the groups above.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_GROUP_LIMITS_H
#define HEADROOM_COLLECTORS_ROOM_GROUP_LIMITS_H

#include <stdbool.h>

#include "headroom/room.h"

struct hr_group_memory_limits {
    uint64_t bytes;           /**< UINT64_MAX: no limit */
    enum hr_room_bound bound; /**< which of two limits of memory is the smaller */
    uint64_t swap_bytes;      /**< of swap space; UINT64_MAX: no limit */
    bool counts_below; /**< what groups below have counts, too; version 1 may have it otherwise */
};

/**
 * Reads the limits of memory and swap space.
 *
 * @param version  of the directory's hierarchy, 1 or 2.
 * @return 0; -EBADMSG; or the negative errno of open(2), -ENOENT: the controller isn't enabled for
 *         the group. The limits are unchanged on failure.
 */
int hr_group_memory_limits_read(int dirfd, int version, struct hr_group_memory_limits *limits);

#endif
