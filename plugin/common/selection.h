/*
 * common/selection.h - which cgroups a plugin samples, and under which names: the options Cgroup,
 * ExcludeCgroup and MaxCgroups, the same in every plugin.
 */
#ifndef HEADROOM_PLUGIN_COMMON_SELECTION_H
#define HEADROOM_PLUGIN_COMMON_SELECTION_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/cgroup.h"

struct hr_root;
struct selection;

/**
 * Makes a selection that selects nothing.
 *
 * @param plugin      the plugin's name, for messages; kept.
 * @param controller  whose hierarchy the groups are of, see hr_cgroup_options.controller; NULL:
 *                    they are of cgroup2. Kept.
 * @return NULL if memory is short.
 */
struct selection *selection_new(const char *plugin, const char *controller);

/** Ends the selection; the sets made of it must have ended, and their names been given back. NULL
 * is allowed. */
void selection_free(struct selection *selection);

/** Takes an option if it is one of a selection's. @return 0; 1: it isn't; -1: refused, and logged.
 */
int selection_option(struct selection *selection, const oconfig_item_t *item);

/**
 * Sets who takes the options within a Cgroup block that the selection doesn't know, such as
 * settings of the pattern's groups, see hr_cgroup.pattern.
 *
 * @param option  returns 0; 1: it doesn't know it either; -1: refused, and logged. block names the
 *                block, for messages.
 */
void selection_on_option(struct selection *selection,
                         int (*option)(const char *block, size_t pattern,
                                       const oconfig_item_t *item, void *context),
                         void *context);

/** A pattern, by its index; NULL after the last. */
const char *selection_pattern(const struct selection *selection, size_t index);

/**
 * Takes a name for what isn't a cgroup, so that no group gets it.
 *
 * @param owner  who has it, for messages about the name.
 * @return the instance, ended by selection_unname(); NULL, logged, if there is none to be had.
 */
const char *selection_reserve(struct selection *selection, const char *owner, const char *text);

/** Tells whether there is no Cgroup option. */
bool selection_is_empty(const struct selection *selection);

/**
 * Makes a set of the selected groups, if there is a Cgroup option. Several sets may be made, each
 * for a thread of its own.
 *
 * @param event    told of each change, as hr_cgroup_options.event is.
 * @param set      receives the set, ended by hr_cgroup_set_close(); untouched without a Cgroup
 *                 option.
 * @return 0, or a negative errno.
 */
int selection_open(const struct selection *selection, const struct hr_root *root,
                   void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event,
                                 void *context),
                   void *context, struct hr_cgroup_set **set);

/** Brings a set up to date; logs what stands in the way, once, with what to do. To be called for
 * one set only, as the others fare alike. NULL is allowed. */
void selection_read(struct selection *selection, struct hr_cgroup_set *set);

/**
 * Gives a group its plugin instance, made by its pattern's Instance; see names_take(). Any thread
 * may ask.
 *
 * @return the instance, ended by selection_unname(); NULL, logged, if there is none to be had.
 */
const char *selection_name(struct selection *selection, const struct hr_cgroup *group);

/** Gives a name back; any thread may. NULL is allowed. */
void selection_unname(struct selection *selection, const char *instance);

#endif
