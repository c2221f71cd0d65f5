/* SPDX-License-Identifier: MIT */
/*
 * headroom/alert_message.h - what a notification of <Alert> says.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_ALERT_MESSAGE_H
#define HEADROOM_PLUGIN_HEADROOM_ALERT_MESSAGE_H

#include "headroom/alert.h"

/** "cpu", "memory" or "io". */
const char *alert_resource_name(int resource);

/** Says when trouble comes, of what the group needs how much, what binds, who takes and who waits.
 * Whoever gets the notification frees its metadata. */
void alert_message_begin(notification_t *notice, const struct alert_rule *rule,
                         const struct subject *subject, int resource, struct takers *others);

/** Says that it is over. @param reason  why it isn't watched any more; NULL: there is room. */
void alert_message_end(notification_t *notice, const struct subject *subject, int resource,
                       const char *reason);

#endif
