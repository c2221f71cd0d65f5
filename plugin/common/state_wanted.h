/* SPDX-License-Identifier: MIT */
/*
 * common/state_wanted.h - whether a state file is still wanted. A plugin that is removed from the
 * disk goes on in a collectd that runs, which writes when it stops: what was purged with the plugin
 * would be there again.
 *
 * Source: dladdr(3).
 */
#ifndef HEADROOM_PLUGIN_COMMON_STATE_WANTED_H
#define HEADROOM_PLUGIN_COMMON_STATE_WANTED_H

#include <stdbool.h>

/** @return false if neither the file is there nor that from which collectd loaded the plugin; true
 * where that isn't known. */
bool state_is_wanted(const char *path);

#endif
