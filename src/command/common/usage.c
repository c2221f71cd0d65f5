/* SPDX-License-Identifier: MIT */
#include "common/usage.h"

#include <stdarg.h>
#include <stdio.h>

int command_misused(const char *title, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s: ", title);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "; %s --help lists the options\n", title);
    return COMMAND_MISUSED;
}
