/* SPDX-License-Identifier: MIT */
#include "base/reason.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "headroom/utf8.h"

int hr_reason_set(struct hr_reason *reason, int error, const char *format, ...)
{
    va_list arguments;

    if (reason == NULL)
        return error;
    reason->error = error;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof(reason->text), format, arguments);
    va_end(arguments);
    hr_utf8_make_safe(reason->text);
    return error;
}

void hr_reason_clear(struct hr_reason *reason)
{
    if (reason != NULL)
        *reason = (struct hr_reason){0};
}
