/*
 * utf8.h - names that anybody may choose, such as those of tasks and cgroups. They are bytes,
 * mostly UTF-8, and may hold anything.
 *
 * Source: RFC 3629.
 */
#ifndef HEADROOM_UTF8_H
#define HEADROOM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Decodes the first character of a text, which is terminated and not empty.
 *
 * @return the number of its bytes, 1..4; 0 if the text does not begin with a character of valid
 *         UTF-8 (overlong forms, surrogates and what is above U+10FFFF are not valid).
 */
size_t hr_utf8_decode(const char *text, uint32_t *character);

/** Tells whether a character controls terminals rather than being shown: C0, DEL and C1. */
static inline bool hr_utf8_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

/**
 * Makes a terminated text fit for logs and messages, whose readers may rely on UTF-8 and be
 * terminals: each byte of a control character, and each that belongs to no character, becomes "?".
 */
void hr_utf8_make_safe(char *text);

#endif
