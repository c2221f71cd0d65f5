/* SPDX-License-Identifier: MIT */
/*
 * report/working_set.h - what the plugin wss measured of a group, from which the headroom plugin
 * takes what it needs.
 */
#ifndef HEADROOM_COMMAND_REPORT_WORKING_SET_H
#define HEADROOM_COMMAND_REPORT_WORKING_SET_H

#include "headroom/room.h"
#include "report/rooms.h"

struct client;

/** Fetches it. @param set  receives it; with count 0: there is none, or it is of processes of the
 * same name. @return 0, -ENOMEM, or as client_get(). */
int working_set_fetch(struct client *client, const struct room_row *row,
                      struct hr_room_working_set *set);

#endif
