/* SPDX-License-Identifier: MIT */
#include "common/group.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/instance.h"
#include "headroom/utf8.h"

/* More would make the line too long to read. */
#define NAMES_SHOWN 6

static void make_name(const char *text, char name[HR_INSTANCE_SIZE])
{
    text += strspn(text, "/");
    hr_instance_make(text, text, false, name);
}

bool group_is_meant(const char *wanted, const char *group)
{
    char pattern[HR_INSTANCE_SIZE], name[HR_INSTANCE_SIZE];

    make_name(wanted, pattern);
    make_name(group, name);
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

/* --- Patterns ----------------------------------------------------------------- */

void group_patterns_free(struct group_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        free(patterns->list[i]);
    free(patterns->list);
    *patterns = (struct group_patterns){.list = NULL};
}

static int append_pattern(struct group_patterns *patterns, const char *pattern)
{
    char *copy = strdup(pattern);

    if (copy == NULL ||
        HR_ARRAY_RESERVE(patterns->list, patterns->capacity, patterns->count + 1) != 0) {
        free(copy);
        return -ENOMEM;
    }
    patterns->list[patterns->count++] = copy;
    return 0;
}

/* @param pattern  may end with a slash. */
static int append_below(struct group_patterns *patterns, const char *pattern)
{
    const size_t length = strlen(pattern);
    char *below;

    if (asprintf(&below, "%.*s/**", (int)(length - (pattern[length - 1] == '/')), pattern) < 0)
        return -ENOMEM;
    int status = append_pattern(patterns, below);
    free(below);
    return status;
}

int group_patterns_cover(const struct group_patterns *patterns, struct group_patterns *covering)
{
    int status = 0;

    *covering = (struct group_patterns){.list = NULL};
    for (size_t i = 0; status == 0 && i < patterns->count; i++) {
        status = append_pattern(covering, patterns->list[i]);
        if (status == 0)
            status = append_below(covering, patterns->list[i]);
    }
    return status;
}

/* --- Which of some ------------------------------------------------------------- */

static int append_once(struct group_patterns *patterns, size_t from, const char *group)
{
    for (size_t i = from; i < patterns->count; i++)
        if (strcmp(patterns->list[i], group) == 0)
            return 0;
    return append_pattern(patterns, group);
}

static void remove_first(struct group_patterns *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(patterns->list[i]);
    patterns->count -= count;
    memmove(patterns->list, patterns->list + count, patterns->count * sizeof(*patterns->list));
}

/* By whole names. @return 0; -ENODEV: there is none; -ENOMEM. */
static int choose_meant(const char *wanted, const char *const *groups, size_t count,
                        struct group_patterns *meant)
{
    const size_t before = meant->count;
    int status = 0;

    for (size_t i = 0; status == 0 && i < count; i++)
        if (group_is_meant(wanted, groups[i]))
            status = append_once(meant, before, groups[i]);
    return status == 0 && meant->count == before ? -ENODEV : status;
}

int group_choose(const char *wanted, const char *const *groups, size_t count, enum name_kind kind,
                 struct group_patterns *meant)
{
    const size_t before = meant->count;
    int status = choose_meant(wanted, groups, count, meant);

    if (status != -ENODEV)
        return status;
    status = 0;
    for (size_t i = 0; status == 0 && i < count; i++)
        if (short_name_means(wanted, groups[i], kind))
            status = append_once(meant, before, groups[i]);
    if (status == 0 && meant->count == before)
        return -ENODEV;
    if (status != 0 || meant->count == before + 1)
        return status;
    remove_first(meant, before);
    return -ENOTUNIQ;
}

void group_describe_list(const char *const *groups, size_t count, char *text, size_t size)
{
    const size_t shown = count <= NAMES_SHOWN ? count : NAMES_SHOWN - 1;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < shown && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", groups[i]);
    if (shown < count && used < size)
        snprintf(text + used, size - used, " and %zu more", count - shown);
    hr_utf8_make_safe(text);
}

void group_describe_several(const char *wanted, const struct group_patterns *several, char *text,
                            size_t size)
{
    char list[256];

    group_describe_list((const char *const *)several->list, several->count, list, sizeof(list));
    snprintf(text, size, "'%s' stands for several cgroups: %s", wanted, list);
    hr_utf8_make_safe(text);
}

/* --- Cgroups ------------------------------------------------------------------ */

static int open_set(const struct hr_root *root, const char *controller, const char *const *patterns,
                    size_t count, struct hr_cgroup_set **result)
{
    const struct hr_cgroup_options options = {
        .controller = controller, .patterns = patterns, .pattern_count = count, .once = true};
    struct hr_cgroup_set *set;
    int status = hr_cgroup_set_open(root, &options, &set);

    if (status == 0 && (status = hr_cgroup_set_read(set)) != 0)
        hr_cgroup_set_close(set);
    if (status == 0)
        *result = set;
    return status;
}

static int list_paths(const struct hr_root *root, struct group_patterns *paths)
{
    static const char *const everywhere[] = {"**"};
    const struct hr_cgroup *group = NULL;
    struct hr_cgroup_set *set;
    int status = open_set(root, NULL, everywhere, 1, &set);

    if (status != 0)
        return status;
    while (status == 0 && (group = hr_cgroup_set_next(set, group)) != NULL)
        status = append_pattern(paths, group->path);
    hr_cgroup_set_close(set);
    return status;
}

static int find_named(const struct hr_root *root, const char *wanted, enum group_length length,
                      struct group_patterns *patterns)
{
    struct group_patterns all = {.list = NULL};
    int status = list_paths(root, &all);
    const char *const *paths = (const char *const *)all.list;

    if (status == 0)
        status = length == GROUP_SHORT ? group_choose(wanted, paths, all.count, NAME_PATH, patterns)
                                       : choose_meant(wanted, paths, all.count, patterns);
    group_patterns_free(&all);
    return status;
}

int group_find_named(const struct hr_root *root, const char *wanted,
                     struct group_patterns *patterns)
{
    return find_named(root, wanted, GROUP_SHORT, patterns);
}

/* A path may have characters that are wildcards in a pattern, and "?" matches each of them. */
static void make_pattern(char *path)
{
    while ((path = strpbrk(path, "*[")) != NULL)
        *path = '?';
}

/* One that matches none as it is. */
static int find_other(const struct hr_root *root, const char *wanted, enum group_length length,
                      struct group_patterns *patterns)
{
    const size_t before = patterns->count;
    int status = find_named(root, wanted, length, patterns);

    for (size_t i = before; status == 0 && i < patterns->count; i++)
        make_pattern(patterns->list[i]);
    return status;
}

int group_find_patterns(const struct hr_root *root, const char *controller,
                        const char *const *wanted, size_t count, enum group_length length,
                        struct group_patterns *patterns, const char **missing)
{
    struct hr_cgroup_set *set;
    int status = open_set(root, controller, wanted, count, &set);

    *patterns = (struct group_patterns){.list = NULL};
    if (status != 0)
        return status;
    for (size_t i = 0; status == 0 && i < count; i++) {
        *missing = wanted[i];
        if (hr_cgroup_set_matched(set, i))
            status = append_pattern(patterns, wanted[i]);
        else
            status = controller == NULL ? find_other(root, wanted[i], length, patterns) : -ENODEV;
    }
    hr_cgroup_set_close(set);
    return status;
}

/* --- Hierarchies -------------------------------------------------------------- */

/* @param populated  receives whether one of them has processes. */
static int count_populated(const struct hr_root *root, const char *controller,
                           const struct group_patterns *patterns, bool *populated)
{
    static const char *const everywhere[] = {"**"};
    const bool all = patterns->count == 0;
    struct hr_cgroup_set *set;
    int status = open_set(root, controller, all ? everywhere : (const char *const *)patterns->list,
                          all ? 1 : patterns->count, &set);

    if (status != 0)
        return status;
    *populated = hr_cgroup_set_counts(set).populated > 0;
    hr_cgroup_set_close(set);
    return 0;
}

static int try_hierarchy(const struct hr_root *root, const char *controller,
                         const char *const *wanted, size_t count, enum group_length length,
                         struct group_patterns *patterns, const char **missing, bool *populated)
{
    int status = 0;

    *patterns = (struct group_patterns){.list = NULL};
    if (count > 0)
        status = group_find_patterns(root, controller, wanted, count, length, patterns, missing);
    return status == 0 ? count_populated(root, controller, patterns, populated) : status;
}

int group_find_hierarchy(const struct hr_root *root, const char **controller,
                         const char *const *wanted, size_t count, struct group_patterns *patterns,
                         const char **missing)
{
    const char *of_v1 = *controller;
    bool populated = false;

    *controller = NULL;
    int status =
        try_hierarchy(root, NULL, wanted, count, GROUP_WHOLE, patterns, missing, &populated);
    if (status == 0 ? populated : status != -ENODEV && status != -ENOENT)
        return status;
    group_patterns_free(patterns);
    int status_v1 =
        try_hierarchy(root, of_v1, wanted, count, GROUP_WHOLE, patterns, missing, &populated);
    if (status_v1 == 0 && (status != 0 || populated)) {
        *controller = of_v1;
        return 0;
    }
    if (status == -ENOENT)
        return status_v1;
    group_patterns_free(patterns);
    return try_hierarchy(root, NULL, wanted, count, GROUP_SHORT, patterns, missing, &populated);
}

int group_is_populated(const struct hr_root *root, const char *wanted, bool *populated)
{
    struct group_patterns patterns;
    const char *missing;

    if (hr_cgroup_pattern_check(wanted, NULL, NULL) != 0)
        return -ENODEV;
    int status = try_hierarchy(root, NULL, &wanted, 1, GROUP_SHORT, &patterns, &missing, populated);
    group_patterns_free(&patterns);
    return status;
}

void group_describe_others(const struct hr_root *root, const char *wanted, char *text, size_t size)
{
    char there[160];

    hr_cgroup_describe_nearest(root, NULL, wanted, there, sizeof(there));
    text[0] = '\0';
    if (there[0] != '\0')
        snprintf(text, size, " (%s)", there);
    hr_utf8_make_safe(text);
}
