/* SPDX-License-Identifier: MIT */
#include "common/log.h"

#include <stdio.h>

#include "headroom/utf8.h"

void log_safely_list(int severity, const char *format, va_list arguments)
{
    char line[1024]; /* collectd's limit */

    vsnprintf(line, sizeof(line), format, arguments);
    hr_utf8_make_safe(line);
    /* in brackets it is not the macro */
    (plugin_log)(severity, "%s", line);
}

void log_safely(int severity, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    log_safely_list(severity, format, arguments);
    va_end(arguments);
}
