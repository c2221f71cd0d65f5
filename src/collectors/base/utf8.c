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

void hr_utf8_make_safe(char *text)
{
    while (*text != '\0') {
        uint32_t character = 0; /* for an invalid byte; counts as a control character */
        size_t length = hr_utf8_decode(text, &character);
        if (length == 0)
            length = 1;
        if (hr_utf8_is_control(character))
            memset(text, '?', length);
        text += length;
    }
}
