/* SPDX-License-Identifier: MIT */
/*
 * common/message.h - builds the message of a notification, whose length collectd limits, of whole
 * pieces, and its metadata; both are made safe by hr_utf8_make_safe(), whatever names are in them.
 */
#ifndef HEADROOM_PLUGIN_COMMON_MESSAGE_H
#define HEADROOM_PLUGIN_COMMON_MESSAGE_H

#include "collectd.h"

#include "plugin.h"

/** A message; a piece is appended whole or not at all. */
struct message {
    char *text;
    size_t used;
    size_t room; /**< in bytes, the terminating NUL included */
};

/** The series that a notification is about. What is longer than collectd allows is cut. */
struct message_series {
    const char *host; /**< NULL: this one */
    const char *plugin, *instance, *type, *type_instance;
};

/** Begins a notification of this moment. @return its message, still empty. */
struct message message_begin(notification_t *notice, int severity,
                             const struct message_series *series);

/** Appends a piece if there is room for all of it. @return whether there was. */
__attribute__((format(printf, 2, 3))) bool message_append(struct message *message,
                                                          const char *format, ...);

/** Whether a group's instance, or that of one above it, is made of its path, so that it says
 * nothing that the path doesn't. */
bool message_is_path(const char *instance, const char *path);

/**
 * What messages call a group: its path; or its plugin instance, where the path is longer than 127
 * bytes, or the instance says something else, such as the name of its container.
 *
 * @param instance  of the group, or of one above it.
 * @return one of both.
 */
const char *message_name_group(const char *instance, const char *path);

/** Adds a text of at most PATH_MAX - 1 bytes, the rest is left out, to the metadata. */
void message_add_text(notification_t *notice, const char *name, const char *value);

#endif
