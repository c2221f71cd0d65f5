/*
 * common/names.h - the plugin instances in use: no two groups have the same, and a group has the
 * same for whoever asks, be it for values or for alerts.
 *
 * The functions may be called by several threads at once.
 */
#ifndef HEADROOM_PLUGIN_COMMON_NAMES_H
#define HEADROOM_PLUGIN_COMMON_NAMES_H

struct names;

/**
 * @param plugin  the plugin's name, for messages; kept.
 * @return NULL if memory is short.
 */
struct names *names_new(const char *plugin);

/** All names must have been given back. NULL is allowed. */
void names_free(struct names *names);

/**
 * Gives a group its plugin instance. Where two groups would get the same, the later takes a hash of
 * its path too, and a warning names both. Whoever asks for a path that has a name gets that.
 *
 * @param path  the group's path.
 * @param text  what the name is made of, see instance_make_name().
 * @return the instance, given back by names_release(); NULL, logged, if there is none to be had.
 */
const char *names_take(struct names *names, const char *path, const char *text);

/** Gives an instance back. NULL is allowed. */
void names_release(struct names *names, const char *instance);

#endif
