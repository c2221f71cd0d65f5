/* SPDX-License-Identifier: MIT */
#include "common/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>

#include "headroom/utf8.h"

void json_print_string(FILE *out, const char *text)
{
    putc('"', out);
    while (*text != '\0') {
        uint32_t character;
        size_t length = hr_utf8_decode(text, &character);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (hr_utf8_is_unsafe(character)) /* all below U+10000 */
            fprintf(out, "\\u%04x", (unsigned)character);
        else if (character == '"' || character == '\\')
            fprintf(out, "\\%c", (char)character);
        else
            fwrite(text, 1, length, out);
        text += length ? length : 1;
    }
    putc('"', out);
}

void json_print_text(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    if (text != NULL && text[0] != '\0')
        json_print_string(out, text);
    else
        fputs("null", out);
}

void json_print_count(FILE *out, const char *before, bool known, uint64_t count)
{
    json_print_number(out, before, known, "%" PRIu64, count);
}

void json_print_number(FILE *out, const char *before, bool known, const char *format, ...)
{
    va_list arguments;
    fputs(before, out);
    va_start(arguments, format);
    if (known)
        vfprintf(out, format, arguments);
    else
        fputs("null", out);
    va_end(arguments);
}
