/* SPDX-License-Identifier: MIT */
/*
 * common/open_files.h - collectd's limit of open files.
 */
#ifndef HEADROOM_PLUGIN_COMMON_OPEN_FILES_H
#define HEADROOM_PLUGIN_COMMON_OPEN_FILES_H

#include <stddef.h>

/**
 * Raises the limit as hr_descriptor_raise_limit() does, and logs that at LOG_INFO. Each plugin
 * calls it when it starts; after the first, which raises it for all, there is usually nothing to
 * do.
 *
 * @param plugin  for the message.
 */
void open_files_raise_limit(const char *plugin, size_t count);

#endif
