/* SPDX-License-Identifier: MIT */
/*
 * common/selection.h - which cgroups a plugin samples, and under which names: the options Cgroup,
 * ExcludeCgroup, MaxCgroups, MinAge, NameFrom and Include, the same in every plugin.
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

/** Frees the selection; its sets must have been closed, and its names released. NULL is allowed. */
void selection_free(struct selection *selection);

/** Reads an option if it is one of a selection's. @return 0; 1: it isn't; -1: refused, and logged.
 */
int selection_option(struct selection *selection, const oconfig_item_t *item);

/**
 * Sets the function that reads the options within a Cgroup block that the selection doesn't know,
 * such as settings of the pattern's groups, see hr_cgroup.pattern.
 *
 * @param option  returns 0; 1: not known either; -1: refused, and logged. block names the block,
 * for messages.
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
 * @param owner  what it names, for messages about the name.
 * @return the instance, for selection_unname(); NULL on failure, which is logged.
 */
const char *selection_reserve(struct selection *selection, const char *owner, const char *text);

/** How many groups with processes are sampled at most: MaxCgroups. */
size_t selection_max(const struct selection *selection);

/** Whether there is no Cgroup option. */
bool selection_is_empty(const struct selection *selection);

/**
 * Opens a set of the selected groups, if there is a Cgroup option. Several sets may be open, each
 * for a thread of its own. In it, groups younger than MinAge aren't populated.
 *
 * @param root     must outlive the set.
 * @param event    called for each change, see hr_cgroup_options.event.
 * @param set      receives the set, for hr_cgroup_set_close(); untouched without a Cgroup option.
 * @return 0, or a negative errno.
 */
int selection_open(struct selection *selection, const struct hr_root *root,
                   void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event,
                                 void *context),
                   void *context, struct hr_cgroup_set **set);

/** The same, but in the set the age of groups makes no difference: that they have no series while
 * selection_is_young() is left to the caller, which has more to do with them. */
int selection_open_all(struct selection *selection, const struct hr_root *root,
                       void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event,
                                     void *context),
                       void *context, struct hr_cgroup_set **set);

/** Whether a group is younger than MinAge. */
bool selection_is_young(const struct selection *selection, const struct hr_cgroup *group);

/** Brings a set up to date; errors are logged once, with cause and remedy. To be called for one set
 * only, as the others have the same errors. NULL is allowed. @return as hr_cgroup_set_read(). */
int selection_read(struct selection *selection, struct hr_cgroup_set *set);

/**
 * Takes the plugin instance of a group, made by its pattern's Instance, or of its container's name
 * as NameFrom says, or of its path; see names_take(). A set must have been opened. Any thread may
 * call it.
 *
 * @return the instance, for selection_unname(); NULL on failure, which is logged.
 */
const char *selection_name(struct selection *selection, const struct hr_cgroup *group);

/** Releases a name. Any thread may call it. NULL is allowed. */
void selection_unname(struct selection *selection, const char *instance);

#endif
