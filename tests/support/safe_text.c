/* SPDX-License-Identifier: MIT */
#include "support/safe_text.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

/* glibc counts U+2028 and U+2029 as controls, but not the marks of direction. */
static bool is_safe_character(wchar_t character, locale_t locale)
{
    return !iswcntrl_l((wint_t)character, locale) &&
           wcschr(L"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
                  character) == NULL;
}

static bool is_safe_in(const char *text, locale_t locale)
{
    const char *end = text + strlen(text);
    mbstate_t state = {0};

    while (text < end) {
        wchar_t character;
        size_t length = mbrtowc(&character, text, (size_t)(end - text), &state);
        if (length > (size_t)(end - text) || !is_safe_character(character, locale))
            return false; /* (size_t)-1 and -2: invalid, and cut off */
        text += length;
    }
    return true;
}

static bool is_printable_ascii(const char *text)
{
    while (*text >= ' ' && *text <= '~')
        text++;
    return *text == '\0';
}

/* Most is ASCII, and a locale is a file that is mapped each time. */
bool is_safe_text(const char *text)
{
    if (is_printable_ascii(text))
        return true;
    locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t former = uselocale(locale);
    bool is_safe = locale != (locale_t)0 && is_safe_in(text, locale);

    uselocale(former);
    if (locale != (locale_t)0)
        freelocale(locale);
    return is_safe;
}
