/* SPDX-License-Identifier: MIT */
/*
 * common/instance.h - makes plugin instances: names that fit collectd's identifiers.
 */
#ifndef HEADROOM_PLUGIN_COMMON_INSTANCE_H
#define HEADROOM_PLUGIN_COMMON_INSTANCE_H

#include "collectd.h"

#include "plugin.h"

/**
 * Makes a plugin instance of any text: slashes, and each byte of what isn't safe to show or no
 * UTF-8, become "_". collectd replaces slashes itself, but in values only, not in notifications.
 *
 * A text of more than DATA_MAX_NAME_LEN - 1 bytes is shortened to its head, "~", 8 hexadecimal
 * digits of a hash, and "_" with what follows the last slash, of which the end is kept if it is too
 * long itself. UTF-8 characters stay whole.
 *
 * @param text      what the name shows.
 * @param path      of what the hash is made.
 * @param distinct  whether to append the hash though the text isn't too long.
 * @param instance  receives DATA_MAX_NAME_LEN bytes at most, terminated.
 */
void instance_make_name(const char *text, const char *path, bool distinct,
                        char instance[DATA_MAX_NAME_LEN]);

#endif
