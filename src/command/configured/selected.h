/* SPDX-License-Identifier: MIT */
/*
 * configured/selected.h - which cgroups the plugins select as they are configured.
 */
#ifndef HEADROOM_COMMAND_CONFIGURED_SELECTED_H
#define HEADROOM_COMMAND_CONFIGURED_SELECTED_H

#include <stdbool.h>
#include <stddef.h>

#include "configured/used_features.h"
#include "headroom/cgroup.h"
#include "headroom/container.h"
#include "headroom/instance.h"
#include "headroom/root.h"

/** How a plugin selects cgroups. */
struct cgroups_of_plugin {
    const char *plugin;
    const char *controller;                  /**< whose hierarchy; NULL: cgroup2 */
    const struct usage_selection *selection; /**< NULL: it takes none */
};

/** psi, cgroup_perf, wss, osnoise and headroom, in this order. */
#define CGROUPS_PLUGIN_COUNT 5

/** Fills in how each plugin selects cgroups. @param usage  owns what it points to. */
void cgroups_find_selections(const struct usage *usage,
                             struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT]);

/** @return the cgroups that a plugin selects, whatever their age, which isn't known here, for
 * hr_cgroup_set_close(); NULL: they can't be listed. */
struct hr_cgroup_set *cgroups_open(const struct hr_root *root, const struct cgroups_of_plugin *of);

/** Whether a plugin selects a cgroup in which there is a process, so that it has values of one. */
bool cgroups_are_there(const struct hr_root *root, const struct cgroups_of_plugin *of);

/** Makes a group's name in series: by its Instance, or of its container's name, or of its path.
 * @param containers  of cgroups_open_names(). */
void cgroups_name(const struct usage_selection *selection, struct hr_container_names *containers,
                  const struct hr_cgroup *group, char instance[HR_INSTANCE_SIZE]);

/** @return whose names containers have in series, of any plugin; 0: none, or usage is NULL. */
unsigned cgroups_runtimes(const struct usage *usage);

/** @return what knows the names of containers that a selection uses, for
 * hr_container_names_close(); NULL: none. @param root  must outlive it. */
struct hr_container_names *cgroups_open_names(const struct hr_root *root,
                                              const struct usage_selection *selection);

/**
 * Finds the next Cgroup option none of whose patterns matches a cgroup, and describes it as the
 * plugins log it: "the pattern "a" matches no cgroup (there are: b, c)". One with several patterns,
 * such as the layouts of several kinds of machines, counts only if no other option matches, either.
 *
 * @param set    of cgroups_open().
 * @param first  the pattern from which to search, 0 at first; moved behind the option.
 * @param text   receives the description, made safe to print; of several patterns of one that is
 *               awaited, if any is.
 * @return false if there is none.
 */
bool cgroups_next_unmatched(const struct hr_root *root, const struct cgroups_of_plugin *of,
                            const struct hr_cgroup_set *set, size_t *first, char *text,
                            size_t size);

/** Whether a pattern of an option with several needs no match, as another one has some. */
bool cgroups_need_no_match(const struct cgroups_of_plugin *of, const struct hr_cgroup_set *set,
                           size_t pattern);

/** Whether cgroups that the option of a pattern would match may yet come, as a cgroup is there in
 * which one of its patterns looks for them, and is empty. */
bool cgroups_are_awaited(const struct hr_root *root, const struct cgroups_of_plugin *of,
                         size_t pattern);

#endif
