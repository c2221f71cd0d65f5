/* SPDX-License-Identifier: MIT */
/*
 * common/names.h - the plugin instances in use: no two groups have the same, and a group has one
 * instance in all its uses, values and alerts.
 *
 * The functions may be called by several threads at once.
 */
#ifndef HEADROOM_PLUGIN_COMMON_NAMES_H
#define HEADROOM_PLUGIN_COMMON_NAMES_H

#include <stdbool.h>

#include "headroom/instance.h"

struct names;

/**
 * @param plugin  the plugin's name, for messages; kept.
 * @return NULL if memory is short.
 */
struct names *names_new(const char *plugin);

/** All names must have been released. NULL is allowed. */
void names_free(struct names *names);

/**
 * Takes the plugin instance of a group: the one that its path already has, or a new one. Where two
 * groups would get the same, the later one's has a hash of its path, and a warning names both.
 *
 * @param path  the group's path.
 * @param text  what the instance is made of, see hr_instance_make().
 * @return the instance, for names_release(); NULL on failure, which is logged.
 */
const char *names_take(struct names *names, const char *path, const char *text);

/** Finds the instance that the group of a path has. @return whether it has one. */
bool names_find(struct names *names, const char *path, char instance[HR_INSTANCE_SIZE]);

/** Releases an instance, once for each names_take(). NULL is allowed. */
void names_release(struct names *names, const char *instance);

#endif
