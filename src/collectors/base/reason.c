/* SPDX-License-Identifier: MIT */
#include "base/reason.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "headroom/utf8.h"

/* The remedy stands in the format, whatever the names have that are filled in. @return where it
 * begins in the text; 0: there is none in the format, or it was cut off. */
__attribute__((format(printf, 1, 0))) static size_t find_remedy(const char *format,
                                                                va_list arguments)
{
    char cause[sizeof(((struct hr_reason *)0)->text)], format_of_cause[sizeof(cause)];
    const char *colon = strstr(format, ": ");

    if (colon == NULL || (size_t)(colon - format) >= sizeof(format_of_cause))
        return 0;
    snprintf(format_of_cause, sizeof(format_of_cause), "%.*s", (int)(colon - format), format);
    int length = vsnprintf(cause, sizeof(cause), format_of_cause, arguments);
    if (length < 0 || (size_t)length + strlen(": ") >= sizeof(cause))
        return 0;
    return (size_t)length + strlen(": ");
}

int hr_reason_set(struct hr_reason *reason, int error, const char *format, ...)
{
    va_list arguments;

    if (reason == NULL)
        return error;
    reason->error = error;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof(reason->text), format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    reason->remedy_at = find_remedy(format, arguments);
    va_end(arguments);
    hr_utf8_make_safe(reason->text);
    return error;
}

void hr_reason_clear(struct hr_reason *reason)
{
    if (reason != NULL)
        *reason = (struct hr_reason){0};
}
