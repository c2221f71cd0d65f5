/* SPDX-License-Identifier: MIT */
#include "blame/watched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/group.h"
#include "headroom/array.h"
#include "headroom/blame.h"
#include "headroom/clock.h"

/* As many as collectd's plugins take by default. */
#define GROUPS_MOST 1000

static void add_name(struct watched *watched, uint64_t id, const char *path)
{
    char *copy = strdup(path);

    if (copy == NULL ||
        HR_ARRAY_RESERVE(watched->names, watched->name_capacity, watched->name_count + 1) != 0) {
        free(copy);
        watched->failed = true;
        return;
    }
    watched->names[watched->name_count++] = (struct watched_name){.id = id, .path = copy};
}

const char *watched_path(const struct watched *watched, uint64_t id)
{
    for (size_t i = watched->name_count; i-- > 0;)
        if (watched->names[i].id == id)
            return watched->names[i].path;
    return "?";
}

static void note_event(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct watched *watched = context;

    watched->changed = true;
    if (event == HR_CGROUP_ADDED)
        add_name(watched, group->id, group->path);
    for (size_t i = 0; event == HR_CGROUP_REMOVED && i < watched->name_count; i++)
        if (watched->names[i].id == group->id)
            watched->names[i].removed_ns = hr_clock_ns();
}

static void forget_removed(struct watched *watched)
{
    const uint64_t now_ns = hr_clock_ns();
    size_t kept = 0;

    for (size_t i = 0; i < watched->name_count; i++) {
        struct watched_name *name = &watched->names[i];
        if (name->removed_ns != 0 && now_ns - name->removed_ns > watched->keep_ns)
            free(name->path);
        else
            watched->names[kept++] = *name;
    }
    watched->name_count = kept;
}

/* Tasks of no other group are in the one at the top. */
static int find_top(struct watched *watched, const struct hr_root *root)
{
    int status = hr_blame_find_top(root, watched->controller, &watched->top);

    if (status == 0)
        add_name(watched, watched->top, "/");
    return status;
}

static int open_set(struct watched *watched, const struct hr_root *root,
                    const struct group_patterns *patterns, const struct group_patterns *excludes,
                    struct hr_cgroup_set **set)
{
    static const char *const everywhere[] = {"**"};
    const bool all = patterns->count == 0;
    const struct hr_cgroup_options options = {
        .controller = watched->controller,
        .patterns = all ? everywhere : (const char *const *)patterns->list,
        .pattern_count = all ? 1 : patterns->count,
        .excludes = (const char *const *)excludes->list,
        .exclude_count = excludes->count,
        .max_count = GROUPS_MOST - 1,
        .event = note_event,
        .context = watched,
    };

    return hr_cgroup_set_open(root, &options, set);
}

/* None that was asked for, or is below one: its tasks are of that. */
static int open_others(struct watched *watched, const struct hr_root *root,
                       const struct group_patterns *asked)
{
    const struct group_patterns all = {0};
    struct group_patterns excludes;
    int status = group_patterns_cover(asked, &excludes);

    if (status == 0)
        status = open_set(watched, root, &all, &excludes, &watched->others);
    group_patterns_free(&excludes);
    return status;
}

static int read_sets(struct watched *watched)
{
    int status = hr_cgroup_set_read(watched->asked);

    if (status == 0 && watched->others != NULL)
        status = hr_cgroup_set_read(watched->others);
    return status;
}

int watched_open(struct watched *watched, const struct hr_root *root, const char *controller,
                 const struct group_patterns *patterns, uint64_t interval_ns)
{
    const struct group_patterns none = {0};

    /* What was removed within an interval is in its cells, or in those of the next. */
    *watched = (struct watched){
        .controller = controller, .changed = true, .keep_ns = 2 * interval_ns + 60 * HR_NS_PER_S};
    int status = find_top(watched, root);
    if (status == 0)
        status = open_set(watched, root, patterns, &none, &watched->asked);
    if (status == 0 && patterns->count > 0)
        status = open_others(watched, root, patterns);
    return status == 0 ? read_sets(watched) : status;
}

bool watched_has_groups(const struct watched *watched)
{
    return hr_cgroup_set_counts(watched->asked).populated > 0;
}

static int add_id(struct watched *watched, uint64_t id)
{
    int status = HR_ARRAY_RESERVE(watched->ids, watched->id_capacity, watched->id_count + 1);

    if (status == 0)
        watched->ids[watched->id_count++] = id;
    return status;
}

/* As many as there is room for: the rest are of the groups above them. */
static int add_ids(struct watched *watched, struct hr_cgroup_set *set)
{
    struct hr_cgroup *group = NULL;
    int status = 0;

    while (status == 0 && watched->id_count < GROUPS_MOST &&
           (group = hr_cgroup_set_next(set, group)) != NULL)
        status = add_id(watched, group->id);
    return status;
}

/* @param measured  receives how many of the first were asked for; the top was with all. */
static int list_ids(struct watched *watched, size_t *measured)
{
    watched->id_count = 0;
    int status = add_ids(watched, watched->asked);
    *measured = watched->id_count + (watched->others == NULL);
    if (status == 0)
        status = add_id(watched, watched->top);
    if (status == 0 && watched->others != NULL)
        status = add_ids(watched, watched->others);
    return status;
}

int watched_update(struct watched *watched, struct hr_blame *blame)
{
    size_t measured;
    int status = read_sets(watched);

    if (status == 0 && watched->failed)
        status = -ENOMEM;
    if (status != 0 || !watched->changed)
        return status;
    forget_removed(watched);
    status = list_ids(watched, &measured);
    if (status == 0)
        status = hr_blame_watch_first(blame, watched->ids, watched->id_count, measured);
    watched->changed = status != 0;
    return status;
}

size_t watched_excess(const struct watched *watched)
{
    return hr_cgroup_set_counts(watched->asked).excess;
}

void watched_close(struct watched *watched)
{
    hr_cgroup_set_close(watched->asked);
    hr_cgroup_set_close(watched->others);
    for (size_t i = 0; i < watched->name_count; i++)
        free(watched->names[i].path);
    free(watched->names);
    free(watched->ids);
    *watched = (struct watched){0};
}
