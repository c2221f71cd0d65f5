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

void expected_groups_free(struct expected_groups *expected)
{
    for (size_t i = 0; i < expected->count; i++)
        free(expected->names[i]);
    free(expected->names);
    *expected = (struct expected_groups){.names = NULL};
}

static int add_name(struct expected_groups *expected, const char *name)
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

static void add_groups(struct expected_groups *expected, const struct hr_root *root,
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

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Plugins mostly select the same. */
static void sort_names(struct expected_groups *expected)
{
    size_t kept = 0;

    if (expected->count > 1)
        qsort(expected->names, expected->count, sizeof(*expected->names), compare_names);
    for (size_t i = 0; i < expected->count; i++) {
        if (kept > 0 && strcmp(expected->names[kept - 1], expected->names[i]) == 0)
            free(expected->names[i]);
        else
            expected->names[kept++] = expected->names[i];
    }
    expected->count = kept;
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
            add_groups(expected, root, &of[i]);
    sort_names(expected);
    expected->scanned_ns = hr_clock_ns();
}

static const char **sort_rows(const struct table *table)
{
    const char **names = calloc(table->count + 1, sizeof(*names));

    for (size_t i = 0; names != NULL && i < table->count; i++)
        names[i] = table->rows[i].group;
    if (names != NULL && table->count > 1)
        qsort(names, table->count, sizeof(*names), compare_names);
    return names;
}

size_t expected_groups_missing(struct expected_groups *expected, const struct hr_root *root,
                               const struct usage *usage, const struct table *table)
{
    if (expected->scanned_ns == 0 || hr_clock_ns() - expected->scanned_ns >= RESCAN_NS)
        look_for_groups(expected, root, usage);
    const char **rows = sort_rows(table);
    size_t missing = 0;

    for (size_t i = 0; rows != NULL && i < expected->count; i++)
        missing +=
            bsearch(&expected->names[i], rows, table->count, sizeof(*rows), compare_names) == NULL;
    free(rows);
    return missing;
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
