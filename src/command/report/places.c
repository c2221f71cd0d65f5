/* SPDX-License-Identifier: MIT */
#include "report/places.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/group.h"
#include "common/host.h"
#include "common/short_name.h"
#include "configured/selected.h"
#include "headroom/utf8.h"

/* --- This machine --------------------------------------------------------------------- */

/* Its names: collectd's, and its own. */
struct hosts {
    const char *configured; /* NULL: the other */
    char own[HOST_NAME_MAX + 1];
};

static void find_hosts(const struct usage *usage, struct hosts *hosts)
{
    const struct config_item *hostname = config_find(&usage->config, "Hostname");

    *hosts = (struct hosts){.configured = hostname != NULL ? config_text(hostname) : NULL};
    if (gethostname(hosts->own, sizeof(hosts->own) - 1) < 0)
        hosts->own[0] = '\0';
}

static bool is_here(const struct hosts *hosts, const char *host)
{
    if (hosts->configured != NULL && strcmp(hosts->configured, host) == 0)
        return true;
    return hosts->own[0] != '\0' && host_is(host, hosts->own);
}

/* --- Its cgroups ---------------------------------------------------------------------- */

static struct hr_cgroup_set *open_set(const struct hr_root *root, const struct usage *usage,
                                      const struct usage_selection **selection)
{
    static const char *any[] = {"**"};
    static const struct usage_selection all = {.patterns = {.list = any, .count = 1}};
    struct cgroups_of_plugin of = {.plugin = "headroom", .selection = &usage->headroom.groups};

    if (of.selection->patterns.count == 0)
        of.selection = &all;
    *selection = of.selection;
    return cgroups_open(root, &of);
}

/* Several may have one name, of which collectd has one: which isn't known. */
static const struct hr_cgroup several;

static void find_rows(const struct rooms *rooms, const struct hr_cgroup *group, const char *name,
                      struct place *rows)
{
    for (size_t i = 0; i < rooms->count; i++)
        if (rows[i].is_here && strcmp(rooms->rows[i].group, name) == 0)
            rows[i].group = rows[i].group == NULL ? group : &several;
}

static bool has_inner(const struct rooms *rooms, const struct place *rows, size_t row)
{
    for (size_t i = 0; i < rooms->count; i++)
        if (i != row && rows[i].group != NULL &&
            hr_cgroup_is_within(rows[i].group->path, rows[row].group->path))
            return true;
    return false;
}

int places_find(const struct hr_root *root, const struct usage *usage, const struct rooms *rooms,
                struct places *places)
{
    const struct usage_selection *selection;
    const struct hr_cgroup *group = NULL;
    char name[HR_INSTANCE_SIZE];
    struct hosts hosts;

    *places = (struct places){.rows = calloc(rooms->count + 1, sizeof(*places->rows))};
    if (places->rows == NULL)
        return -ENOMEM;
    find_hosts(usage, &hosts);
    for (size_t i = 0; i < rooms->count; i++)
        places->rows[i].is_here = is_here(&hosts, rooms->rows[i].host);
    places->set = open_set(root, usage, &selection);
    struct hr_container_names *containers = cgroups_open_names(root, selection);
    while (places->set != NULL && (group = hr_cgroup_set_next(places->set, group)) != NULL) {
        cgroups_name(selection, containers, group, name);
        if (!room_is_system(name)) /* such a cgroup has another name in the series */
            find_rows(rooms, group, name, places->rows);
    }
    hr_container_names_close(containers);
    for (size_t i = 0; i < rooms->count; i++)
        if (places->rows[i].group == &several)
            places->rows[i].group = NULL;
    for (size_t i = 0; i < rooms->count; i++)
        places->rows[i].has_inner =
            places->rows[i].group != NULL && has_inner(rooms, places->rows, i);
    return 0;
}

/* Names in series, one after the other. */
struct names {
    char (*list)[HR_INSTANCE_SIZE];
    const char **pointers;
    size_t count;
};

static int list_names(const struct hr_root *root, const struct usage_selection *selection,
                      struct hr_cgroup_set *set, struct names *names)
{
    const size_t most = hr_cgroup_set_counts(set).populated;
    const struct hr_cgroup *group = NULL;

    names->list = calloc(most + 1, sizeof(*names->list));
    names->pointers = calloc(most + 1, sizeof(*names->pointers));
    if (names->list == NULL || names->pointers == NULL)
        return -ENOMEM;
    struct hr_container_names *containers = cgroups_open_names(root, selection);
    while (names->count < most && (group = hr_cgroup_set_next(set, group)) != NULL) {
        cgroups_name(selection, containers, group, names->list[names->count]);
        names->pointers[names->count] = names->list[names->count];
        names->count++;
    }
    hr_container_names_close(containers);
    return 0;
}

int places_find_absent(const struct hr_root *root, const struct usage *usage,
                       const struct places *places, const char *wanted, char name[HR_INSTANCE_SIZE])
{
    const struct usage_selection *selection = &usage->headroom.groups;
    struct group_patterns meant = {.list = NULL};
    struct names names = {.list = NULL};

    if (places->set == NULL || selection->patterns.count == 0)
        return -ENODEV;
    int status = list_names(root, selection, places->set, &names);
    if (status == 0)
        status = group_choose(wanted, names.pointers, names.count, NAME_INSTANCE, &meant);
    if (status == 0 || status == -ENOTUNIQ) {
        snprintf(name, HR_INSTANCE_SIZE, "%s", meant.list[0]);
        hr_utf8_make_safe(name);
        status = 0;
    }
    group_patterns_free(&meant);
    free(names.list);
    free(names.pointers);
    return status;
}

void places_free(struct places *places)
{
    free(places->rows);
    hr_cgroup_set_close(places->set);
    *places = (struct places){.set = NULL};
}

/* --- Names ------------------------------------------------------------------------------ */

int places_shorten_names(const struct places *places, struct rooms *rooms)
{
    struct short_name_of *groups = calloc(rooms->count + 1, sizeof(*groups));
    char **names = calloc(rooms->count + 1, sizeof(*names));
    int status = groups == NULL || names == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < rooms->count && status == 0; i++) {
        const struct hr_cgroup *group = places->rows[i].group;
        groups[i] = (struct short_name_of){rooms->rows[i].host, rooms->rows[i].group,
                                           group != NULL ? group->path : NULL};
    }
    if (status == 0)
        status = short_names_find(groups, rooms->count, names);
    for (size_t i = 0; i < rooms->count && names != NULL; i++)
        rooms->rows[i].short_group = names[i];
    free(names);
    free(groups);
    return status;
}
