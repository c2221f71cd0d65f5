/*
 * common/message.h - the message of a notification, which collectd bounds, put together of whole
 * pieces.
 */
#ifndef HEADROOM_PLUGIN_COMMON_MESSAGE_H
#define HEADROOM_PLUGIN_COMMON_MESSAGE_H

#include "collectd.h"

#include "plugin.h"

/** A message, which takes whole pieces only. */
struct message {
    char *text;
    size_t used;
    size_t room; /**< that pieces may take, the terminating zero included */
};

/** The message of a notification, in which nothing is yet. */
struct message message_of(notification_t *notice);

/** Appends a piece if there is room for all of it. @return whether there was. */
__attribute__((format(printf, 2, 3))) bool message_append(struct message *message,
                                                          const char *format, ...);

#endif
