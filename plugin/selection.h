/*
 * selection.h - which cgroups a plugin samples, and under which names: the options Cgroup,
 * ExcludeCgroup and MaxCgroups, the same in every plugin.
 */
#ifndef HEADROOM_PLUGIN_SELECTION_H
#define HEADROOM_PLUGIN_SELECTION_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/cgroup.h"

struct hr_root;
struct selection;

/**
 * Makes a selection that selects nothing.
 *
 * @param plugin  the plugin's name, for messages; kept.
 * @return NULL if memory is short.
 */
struct selection *selection_new(const char *plugin);

/** Tells the end of every group and ends the selection. NULL is allowed. */
void selection_free(struct selection *selection);

/** Takes an option if it is one of a selection's. @return 0; 1: it isn't; -1: refused, and logged.
 */
int selection_option(struct selection *selection, const oconfig_item_t *item);

/** Tells whether there is no Cgroup option. */
bool selection_is_empty(const struct selection *selection);

/**
 * Begins to follow the groups, if there is a Cgroup option.
 *
 * @param event    told of each change, as hr_cgroup_options.event is.
 * @return 0, or a negative errno.
 */
int selection_open(struct selection *selection, const struct hr_root *root,
                   void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event,
                                 void *context),
                   void *context);

/** Brings the groups up to date; logs what stands in the way, once, with what to do. */
void selection_read(struct selection *selection);

/** Walks the populated groups, like hr_cgroup_set_next(). */
struct hr_cgroup *selection_next(struct selection *selection, const struct hr_cgroup *previous);

/**
 * Gives a group its plugin instance, which no other group has as long as this one is named. Where
 * two would get the same, the later takes a hash of its path too, and a warning names both.
 *
 * @return the instance, ended by selection_unname(); NULL, logged, if memory is short.
 */
const char *selection_name(struct selection *selection, const struct hr_cgroup *group);

/** Gives a name back. NULL is allowed. */
void selection_unname(struct selection *selection, const char *instance);

#endif
