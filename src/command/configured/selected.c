/* SPDX-License-Identifier: MIT */
#include "configured/selected.h"

#include <stdio.h>
#include <stdlib.h>

#include "headroom/utf8.h"

void cgroups_find_selections(const struct usage *usage,
                             struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT])
{
    of[0] = (struct cgroups_of_plugin){"psi", NULL, &usage->psi.groups};
    of[1] = (struct cgroups_of_plugin){"cgroup_perf", "perf_event", &usage->perf.groups};
    of[2] = (struct cgroups_of_plugin){"wss", NULL, &usage->wss.groups};
    of[3] = (struct cgroups_of_plugin){"osnoise", NULL, NULL};
    of[4] = (struct cgroups_of_plugin){"headroom", NULL, &usage->headroom.groups};
}

struct hr_cgroup_set *cgroups_open(const struct hr_root *root, const struct cgroups_of_plugin *of)
{
    const struct usage_selection *selection = of->selection;
    const struct hr_cgroup_options options = {
        .controller = of->controller,
        .patterns = selection->patterns.list,
        .pattern_count = selection->patterns.count,
        .excludes = selection->excludes.list,
        .exclude_count = selection->excludes.count,
        .max_count = selection->max_count,
    };
    struct hr_cgroup_set *set;

    if (hr_cgroup_set_open(root, &options, &set) < 0)
        return NULL;
    if (hr_cgroup_set_read(set) == 0)
        return set;
    hr_cgroup_set_close(set);
    return NULL;
}

unsigned cgroups_runtimes(const struct usage *usage)
{
    return usage == NULL ? 0
                         : usage->psi.groups.runtimes | usage->perf.groups.runtimes |
                               usage->wss.groups.runtimes | usage->headroom.groups.runtimes;
}

bool cgroups_are_there(const struct hr_root *root, const struct cgroups_of_plugin *of)
{
    if (of->selection == NULL || of->selection->patterns.count == 0)
        return false;
    struct hr_cgroup_set *set = cgroups_open(root, of);
    const bool are_there = set != NULL && hr_cgroup_set_next(set, NULL) != NULL;
    hr_cgroup_set_close(set);
    return are_there;
}

struct hr_container_names *cgroups_open_names(const struct hr_root *root,
                                              const struct usage_selection *selection)
{
    struct hr_container_names *names = NULL;

    if (selection->runtimes != 0 && hr_container_names_open(root, selection->runtimes, &names) < 0)
        return NULL;
    return names;
}

void cgroups_name(const struct usage_selection *selection, struct hr_container_names *containers,
                  const struct hr_cgroup *group, char instance[HR_INSTANCE_SIZE])
{
    const char *failed;
    char *name = NULL;

    if (containers != NULL)
        (void)hr_container_name(containers, group->path, &name, &failed);
    char *text = hr_cgroup_template_expand(usage_template(selection, group->pattern), group, name);
    instance[0] = '\0';
    if (text != NULL)
        hr_instance_make(text, group->path, false, instance);
    free(text);
    free(name);
}

/* --- Patterns that match nothing ------------------------------------------ */

static size_t end_of_option(const struct usage_selection *selection, size_t first)
{
    size_t end = first;

    while (end < selection->patterns.count &&
           selection->options.list[end] == selection->options.list[first])
        end++;
    return end;
}

/* @return the first pattern that looks for cgroups in an empty one that is there; `end`: none. */
static size_t find_awaited(const struct hr_root *root, const struct cgroups_of_plugin *of,
                           size_t first, size_t end)
{
    char nearest[160];

    while (first < end &&
           !hr_cgroup_describe_nearest(root, of->controller, of->selection->patterns.list[first],
                                       nearest, sizeof(nearest)))
        first++;
    return first;
}

bool cgroups_are_awaited(const struct hr_root *root, const struct cgroups_of_plugin *of,
                         size_t pattern)
{
    const struct usage_items *options = &of->selection->options;
    const size_t end = end_of_option(of->selection, pattern);

    while (pattern > 0 && options->list[pattern - 1] == options->list[pattern])
        pattern--;
    return find_awaited(root, of, pattern, end) < end;
}

static bool has_matched(const struct hr_cgroup_set *set, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (hr_cgroup_set_matched(set, i))
            return true;
    return false;
}

/* "the pattern "a" matches no cgroup (there are: b, c)", or of an option with several "neither the
 * pattern "a" nor the other 2 of its option match a cgroup" */
static void describe_unmatched(const struct hr_root *root, const struct cgroups_of_plugin *of,
                               size_t first, size_t end, char *text, size_t size)
{
    const size_t awaited = find_awaited(root, of, first, end);
    const char *pattern = of->selection->patterns.list[awaited < end ? awaited : first];
    char nearest[160], matching[80] = "matches no cgroup";

    hr_cgroup_describe_nearest(root, of->controller, pattern, nearest, sizeof(nearest));
    if (end > first + 1)
        snprintf(matching, sizeof(matching), "nor the other %zu of its option match a cgroup",
                 end - first - 1);
    snprintf(text, size, "%sthe pattern \"%s\" %s%s%s%s", end > first + 1 ? "neither " : "",
             pattern, matching, nearest[0] != '\0' ? " (" : "", nearest,
             nearest[0] != '\0' ? ")" : "");
    hr_utf8_make_safe(text);
}

bool cgroups_need_no_match(const struct cgroups_of_plugin *of, const struct hr_cgroup_set *set,
                           size_t pattern)
{
    const struct usage_items *options = &of->selection->options;

    return options->list[pattern]->value_count > 1 &&
           has_matched(set, 0, of->selection->patterns.count);
}

bool cgroups_next_unmatched(const struct hr_root *root, const struct cgroups_of_plugin *of,
                            const struct hr_cgroup_set *set, size_t *first, char *text, size_t size)
{
    const size_t count = set != NULL ? of->selection->patterns.count : 0;
    const bool has_match = has_matched(set, 0, count);

    while (*first < count) {
        const size_t begin = *first;
        *first = end_of_option(of->selection, begin);
        if (has_matched(set, begin, *first) || (*first > begin + 1 && has_match))
            continue;
        describe_unmatched(root, of, begin, *first, text, size);
        return true;
    }
    return false;
}
