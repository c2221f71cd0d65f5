/* SPDX-License-Identifier: MIT */
#include "headroom/utf8.h"

#include <string.h>

size_t hr_utf8_decode(const char *text, uint32_t *character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;

    if (bytes[0] < 0x80) {
        *character = bytes[0];
        return 1;
    }
    size_t length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    if (bytes[0] < 0xc0 || bytes[0] > 0xf7)
        return 0;
    uint32_t value = bytes[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        /* The terminating zero isn't a continuation byte, either. */
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3f);
    }
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *character = value;
    return length;
}

bool hr_utf8_is_unsafe(uint32_t c)
{
    const bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    const bool is_separator = c == 0x2028 || c == 0x2029;
    const bool is_directional = c == 0x61c || c == 0x200e || c == 0x200f ||
                                (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);

    return is_control || is_separator || is_directional;
}

void hr_utf8_replace_unsafe(char *text, char replacement)
{
    while (*text != '\0') {
        uint32_t character = 0; /* for an invalid byte; it is unsafe, too */
        size_t length = hr_utf8_decode(text, &character);
        if (length == 0)
            length = 1;
        if (hr_utf8_is_unsafe(character))
            memset(text, replacement, length);
        text += length;
    }
}
