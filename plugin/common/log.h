/* SPDX-License-Identifier: MIT */
/*
 * common/log.h - logs lines that are safe to show, whatever names are in them.
 *
 * To be included by each file that logs: from then on plugin_log() and collectd's macros, such as
 * ERROR() and WARNING(), which use it, call log_safely().
 */
#ifndef HEADROOM_PLUGIN_COMMON_LOG_H
#define HEADROOM_PLUGIN_COMMON_LOG_H

#include "collectd.h"

#include "plugin.h"

#include <stdarg.h>

/** Logs a line, made safe by hr_utf8_make_safe(), of at most 1023 bytes, as collectd's own. */
__attribute__((format(printf, 2, 3))) void log_safely(int severity, const char *format, ...);

/** The same. */
__attribute__((format(printf, 2, 0))) void log_safely_list(int severity, const char *format,
                                                           va_list arguments);

#define plugin_log(...) log_safely(__VA_ARGS__)

#endif
