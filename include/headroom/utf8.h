/* SPDX-License-Identifier: MIT */
/*
 * headroom/utf8.h - making names safe that any user may choose, such as those of tasks and cgroups:
 * they are arbitrary bytes, mostly UTF-8.
 *
 * Source: RFC 3629.
 */
#ifndef HEADROOM_UTF8_H
#define HEADROOM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Decodes the first character of a text that is terminated and not empty.
 *
 * @return the number of its bytes, 1..4; 0 if the text doesn't begin with valid UTF-8 (overlong
 *         forms, surrogates and values above U+10FFFF are invalid).
 */
size_t hr_utf8_decode(const char *text, uint32_t *character);

/**
 * Whether a name shown with this character could do or seem what it is not: the control characters
 * C0, DEL and C1, the separators of lines and paragraphs, and what changes the direction in which
 * other characters are shown.
 *
 * Source: Unicode Standard Annex #9, section 2, on the latter.
 */
bool hr_utf8_is_unsafe(uint32_t character);

/**
 * Replaces, in a terminated text, each byte of an unsafe character, and each that is part of no
 * character. The length stays the same.
 */
void hr_utf8_replace_unsafe(char *text, char replacement);

/** Makes a terminated text safe for logs and messages, whose readers may require UTF-8 and may be
 * terminals: hr_utf8_replace_unsafe() by "?". */
static inline void hr_utf8_make_safe(char *text)
{
    hr_utf8_replace_unsafe(text, '?');
}

#endif
