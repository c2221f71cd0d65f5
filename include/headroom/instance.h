/* SPDX-License-Identifier: MIT */
/*
 * headroom/instance.h - names of groups and the like that fit the identifiers of series.
 */
#ifndef HEADROOM_INSTANCE_H
#define HEADROOM_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes of a name, with its NUL: collectd's DATA_MAX_NAME_LEN. */
#define HR_INSTANCE_SIZE 128

/**
 * Makes a name of any text: slashes, and each byte of what isn't safe to show or no
 * UTF-8, become "_". collectd replaces slashes itself, but in values only, not in notifications.
 *
 * A text of more than 127 bytes is shortened to its head, "~", 8 hexadecimal
 * digits of a hash, and "_" with what follows the last slash, of which the end is kept if it is too
 * long itself. UTF-8 characters stay whole.
 *
 * @param text      what the name shows.
 * @param path      of what the hash is made.
 * @param distinct  whether to append the hash though the text isn't too long.
 * @param instance  receives the name, terminated.
 */
void hr_instance_make(const char *text, const char *path, bool distinct,
                      char instance[HR_INSTANCE_SIZE]);

/** The same for a name that is part of a longer one. @param most  its bytes without NUL, from 48 to
 * 127. */
void hr_instance_make_part(const char *text, const char *path, bool distinct, size_t most,
                           char instance[HR_INSTANCE_SIZE]);

#endif
