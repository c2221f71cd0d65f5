/*
 * common/instance.h - plugin instances: names of groups that fit collectd's identifiers.
 */
#ifndef HEADROOM_PLUGIN_COMMON_INSTANCE_H
#define HEADROOM_PLUGIN_COMMON_INSTANCE_H

#include "collectd.h"

#include "plugin.h"

/**
 * Makes a plugin instance out of any text: slashes and control characters become "_", as collectd
 * does with slashes in values (but not in notifications, hence here).
 *
 * A text of more than DATA_MAX_NAME_LEN - 1 bytes is shortened to its head, "~", 8 hexadecimal
 * digits of a hash, and "_" with what follows the last slash, of which the end is kept if it is too
 * long itself. UTF-8 characters stay whole.
 *
 * @param text      what to show.
 * @param path      what is shown; the hash is that of the path.
 * @param distinct  append the hash even if the text isn't too long.
 * @param instance  receives DATA_MAX_NAME_LEN bytes at most, terminated.
 */
void instance_make_name(const char *text, const char *path, bool distinct,
                        char instance[DATA_MAX_NAME_LEN]);

#endif
