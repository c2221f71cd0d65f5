/* SPDX-License-Identifier: MIT */
/*
 * common/names.h - the plugin instances in use: no two groups have the same, and a group has one
 * instance in all its uses, values and alerts; and a file for headroom-mail, with the paths of
 * those whose instance doesn't tell it, as of a container by its name: collectd's plugin threshold
 * knows the instance only.
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

/** The same for what isn't a group, and isn't listed in the file. @param owner  what it names. */
const char *names_reserve(struct names *names, const char *owner, const char *text);

/** Finds the instance that the group of a path has. @return whether it has one. */
bool names_find(struct names *names, const char *path, char instance[HR_INSTANCE_SIZE]);

/** Releases an instance, once for each names_take(). NULL is allowed. */
void names_release(struct names *names, const char *instance);

/**
 * Has the file written, if a name of these is new or gone: headroom-PLUGIN.names in collectd's
 * BaseDir, a line of each with instance, tab and path. A thread of its own writes it, as disks may
 * be what is stalled; what fails is logged once.
 */
void names_save(struct names *names);

#endif
