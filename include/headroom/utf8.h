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

/** Whether it is a control character: C0, DEL or C1. */
static inline bool hr_utf8_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

/**
 * Makes a terminated text safe for logs and messages, whose readers may require UTF-8 and may be
 * terminals: each byte of a control character, and each that is part of no character, becomes "?".
 */
void hr_utf8_make_safe(char *text);

#endif
