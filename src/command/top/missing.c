/* SPDX-License-Identifier: MIT */
#include "top/missing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configured/selected.h"
#include "headroom/array.h"
#include "headroom/clock.h"

#define RESCAN_NS (10 * HR_NS_PER_S)

static void free_names(struct expected_of_plugin *expected)
{
    for (size_t i = 0; i < expected->count; i++)
        free(expected->names[i]);
    free(expected->names);
}

void expected_groups_free(struct expected_groups *expected)
{
    for (size_t i = 0; i < CGROUPS_PLUGIN_COUNT; i++)
        free_names(&expected->of[i]);
    *expected = (struct expected_groups){.scanned_ns = 0};
}

static int add_name(struct expected_of_plugin *expected, const char *name)
{
    char *copy = strdup(name);

    if (copy == NULL ||
        HR_ARRAY_RESERVE(expected->names, expected->capacity, expected->count + 1) != 0) {
        free(copy);
        return -ENOMEM;
    }
    expected->names[expected->count++] = copy;
    return 0;
}

static void add_groups(struct expected_of_plugin *expected, const struct hr_root *root,
                       const struct cgroups_of_plugin *of)
{
    struct hr_container_names *containers = cgroups_open_names(root, of->selection);
    struct hr_cgroup_set *set = cgroups_open(root, of);
    const struct hr_cgroup *group = NULL;
    char name[HR_INSTANCE_SIZE];
    int status = set == NULL ? -ENOENT : 0;

    while (status == 0 && (group = hr_cgroup_set_next(set, group)) != NULL) {
        cgroups_name(of->selection, containers, group, name);
        status = add_name(expected, name);
    }
    hr_cgroup_set_close(set);
    hr_container_names_close(containers);
}

/* In the order of cgroups_find_selections(). */
static void find_complete(const struct usage *usage, bool complete[CGROUPS_PLUGIN_COUNT])
{
    complete[0] = usage->psi.loaded && usage->psi.top_groups == 0;
    complete[1] = usage->perf.loaded;
    complete[2] = complete[3] = false;
    complete[4] = usage->headroom.loaded;
}

static void look_for_groups(struct expected_groups *expected, const struct hr_root *root,
                            const struct usage *usage)
{
    struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT];
    bool complete[CGROUPS_PLUGIN_COUNT];

    expected_groups_free(expected);
    find_complete(usage, complete);
    cgroups_find_selections(usage, of);
    for (size_t i = 0; i < CGROUPS_PLUGIN_COUNT; i++)
        if (complete[i] && of[i].selection->patterns.count > 0 && of[i].selection->min_age_s <= 0)
            add_groups(&expected->of[i], root, &of[i]);
    expected->scanned_ns = hr_clock_ns();
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names, each once, whoever owns them. */
struct name_list {
    const char **names;
    size_t count, capacity;
};

static void list_name(struct name_list *list, const char *name)
{
    if (HR_ARRAY_RESERVE(list->names, list->capacity, list->count + 1) == 0)
        list->names[list->count++] = name;
}

static void sort_list(struct name_list *list)
{
    size_t kept = 0;

    if (list->count > 1)
        qsort(list->names, list->count, sizeof(*list->names), compare_names);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || strcmp(list->names[kept - 1], list->names[i]) != 0)
            list->names[kept++] = list->names[i];
    list->count = kept;
}

static bool has_name(const struct name_list *list, const char *name)
{
    return list->count > 0 &&
           bsearch(&name, list->names, list->count, sizeof(name), compare_names) != NULL;
}

static void list_missing(const struct expected_of_plugin *expected, const struct name_list *rows,
                         struct name_list *missing)
{
    const size_t before = missing->count;

    for (size_t i = 0; i < expected->count; i++)
        if (!has_name(rows, expected->names[i]))
            list_name(missing, expected->names[i]);
    if (missing->count - before == expected->count)
        missing->count = before;
}

size_t expected_groups_missing(struct expected_groups *expected, const struct hr_root *root,
                               const struct usage *usage, const struct table *table)
{
    struct name_list rows = {.names = NULL}, missing = {.names = NULL};

    if (expected->scanned_ns == 0 || hr_clock_ns() - expected->scanned_ns >= RESCAN_NS)
        look_for_groups(expected, root, usage);
    for (size_t i = 0; i < table->count; i++)
        list_name(&rows, table->rows[i].group);
    sort_list(&rows);
    for (size_t i = 0; i < CGROUPS_PLUGIN_COUNT; i++)
        list_missing(&expected->of[i], &rows, &missing);
    sort_list(&missing); /* plugins mostly select the same */
    const size_t count = missing.count;
    free(rows.names);
    free(missing.names);
    return count;
}

void describe_missing_groups(size_t shown, size_t missing, bool is_behind, char *text, size_t size)
{
    text[0] = '\0';
    if (missing == 0 || (!is_behind && missing < shown))
        return;
    snprintf(text, size, "%zu of %zu groups are shown: collectd has no values of the others%s",
             shown, shown + missing,
             is_behind ? ", or no more, as it is behind"
                       : "; if they aren't new, see its log, and \"Slow writers\" in "
                         "collectd-headroom(5)");
}
