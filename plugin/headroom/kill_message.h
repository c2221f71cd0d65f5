/* SPDX-License-Identifier: MIT */
/*
 * headroom/kill_message.h - what a notification of a kill says.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_KILL_MESSAGE_H
#define HEADROOM_PLUGIN_HEADROOM_KILL_MESSAGE_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/oom.h"

/**
 * Says which process was killed where, and by whose limit. Whoever gets the notification frees its
 * metadata.
 *
 * @param instance  NULL: one made of the group's path.
 * @param version   of the memory controller's hierarchy.
 */
void kill_message_init(notification_t *notice, const struct hr_oom_kill *kill, const char *instance,
                       int version);

#endif
