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

/* --- Cgroups ------------------------------------------------------------------ */

static int open_set(const struct hr_root *root, const char *controller, const char *const *patterns,
                    size_t count, struct hr_cgroup_set **result)
{
    const struct hr_cgroup_options options = {
        .controller = controller, .patterns = patterns, .pattern_count = count};
    struct hr_cgroup_set *set;
    int status = hr_cgroup_set_open(root, &options, &set);

    if (status == 0 && (status = hr_cgroup_set_read(set)) != 0)
        hr_cgroup_set_close(set);
    if (status == 0)
        *result = set;
    return status;
}

int group_find_named(const struct hr_root *root, const char *wanted,
                     struct group_patterns *patterns)
{
    static const char *const everywhere[] = {"**"};
    const struct hr_cgroup *group = NULL;
    struct hr_cgroup_set *set;
    int status = open_set(root, NULL, everywhere, 1, &set);

    if (status != 0)
        return status;
    while (status == 0 && (group = hr_cgroup_set_next(set, group)) != NULL)
        if (group_is_meant(wanted, group->path))
            status = append_pattern(patterns, group->path);
    hr_cgroup_set_close(set);
    return status;
}

/* A path may have characters that are wildcards in a pattern, and "?" matches each of them. */
static void make_pattern(char *path)
{
    while ((path = strpbrk(path, "*[")) != NULL)
        *path = '?';
}

/* One that matches none as it is. @return -ENODEV: it is no name, either. */
static int find_other(const struct hr_root *root, const char *wanted,
                      struct group_patterns *patterns)
{
    const size_t before = patterns->count;
    int status = group_find_named(root, wanted, patterns);

    for (size_t i = before; i < patterns->count; i++)
        make_pattern(patterns->list[i]);
    return status == 0 && patterns->count == before ? -ENODEV : status;
}

int group_find_patterns(const struct hr_root *root, const char *controller,
                        const char *const *wanted, size_t count, struct group_patterns *patterns,
                        const char **missing)
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
            status = controller == NULL ? find_other(root, wanted[i], patterns) : -ENODEV;
    }
    hr_cgroup_set_close(set);
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
