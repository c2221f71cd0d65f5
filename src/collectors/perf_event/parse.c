/* SPDX-License-Identifier: MIT */
#include "perf_event/parse.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

int hr_perf_set_error(struct hr_perf_event_error *error, int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error->reason, sizeof(error->reason), format, arguments);
    va_end(arguments);
    for (char *c = error->reason; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return status;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':';
}

bool hr_perf_is_name(struct hr_text text)
{
    if (text.length == 0 || text.length > NAME_MAX || *text.start == '.')
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (!is_name_character(text.start[i]))
            return false;
    return true;
}
