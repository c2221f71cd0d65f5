/* SPDX-License-Identifier: MIT */
#include "common/log.h"

#include <errno.h>
#include <stdio.h>

#include "headroom/utf8.h"
#include "utils/common/common.h"

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

/* Whatever was being opened isn't to blame for a shortage. */
static bool is_shortage(int status)
{
    return status == -EMFILE || status == -ENFILE || status == -ENOMEM;
}

void log_start_failure(const char *plugin, int status, const char *root)
{
    if (root != NULL && !is_shortage(status))
        ERROR("%s: can't use %s as root directory: %s.", plugin, root, STRERROR(-status));
    else
        ERROR("%s: can't start: %s%s.", plugin, STRERROR(-status),
              status == -EMFILE ? ": raise LimitNOFILE= of collectd's service (ulimit -n)" : "");
}
