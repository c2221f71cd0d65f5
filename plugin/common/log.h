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

/**
 * Logs why a plugin can't start, and the remedy if the cause is a lack of descriptors.
 *
 * @param root  the root directory, if that is what couldn't be opened; else NULL.
 */
void log_start_failure(const char *plugin, int status, const char *root);

#define plugin_log(...) log_safely(__VA_ARGS__)

#endif
