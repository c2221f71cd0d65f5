/* SPDX-License-Identifier: MIT */
/*
 * configured/trouble_lines.h - how long tasks may be stalled before the headroom plugin calls that
 * trouble: its option Trouble.
 */
#ifndef HEADROOM_COMMAND_CONFIGURED_TROUBLE_LINES_H
#define HEADROOM_COMMAND_CONFIGURED_TROUBLE_LINES_H

#include "configured/used_features.h"
#include "headroom/room.h"

struct hr_cgroup;

/** @param group  of cgroups_open() of the headroom plugin; NULL: the system. */
struct hr_room_lines trouble_lines_of(const struct usage_headroom *headroom,
                                      const struct hr_cgroup *group);

#endif
