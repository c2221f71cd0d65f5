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
static int find_top(struct watched *watched, const struct hr_root *root, bool is_measured)
{
    uint64_t top;
    int status = hr_blame_find_top(root, watched->controller, &top);

    if (status != 0 || !is_measured)
        return status;
    watched->top = top;
    add_name(watched, top, "/");
    return 0;
}

int watched_open(struct watched *watched, const struct hr_root *root, const char *controller,
                 const struct group_patterns *patterns, uint64_t interval_ns)
{
    static const char *const everywhere[] = {"**"};
    bool all = patterns->count == 0;
    const struct hr_cgroup_options options = {
        .controller = controller,
        .patterns = all ? everywhere : (const char *const *)patterns->list,
        .pattern_count = all ? 1 : patterns->count,
        .max_count = GROUPS_MOST - 1,
        .event = note_event,
        .context = watched,
    };

    /* What was removed within an interval is in its cells, or in those of the next. */
    *watched = (struct watched){
        .controller = controller, .changed = true, .keep_ns = 2 * interval_ns + 60 * HR_NS_PER_S};
    int status = find_top(watched, root, all);
    if (status == 0)
        status = hr_cgroup_set_open(root, &options, &watched->set);
    return status == 0 ? hr_cgroup_set_read(watched->set) : status;
}

bool watched_has_groups(const struct watched *watched)
{
    return hr_cgroup_set_counts(watched->set).populated > 0;
}

static int add_id(struct watched *watched, uint64_t id)
{
    int status = HR_ARRAY_RESERVE(watched->ids, watched->id_capacity, watched->id_count + 1);

    if (status == 0)
        watched->ids[watched->id_count++] = id;
    return status;
}

static int list_ids(struct watched *watched)
{
    int status = 0;

    watched->id_count = 0;
    if (watched->top != 0)
        status = add_id(watched, watched->top);
    for (struct hr_cgroup *group = hr_cgroup_set_next(watched->set, NULL);
         status == 0 && group != NULL; group = hr_cgroup_set_next(watched->set, group))
        status = add_id(watched, group->id);
    return status;
}

int watched_update(struct watched *watched, struct hr_blame *blame)
{
    int status = hr_cgroup_set_read(watched->set);

    if (status == 0 && watched->failed)
        status = -ENOMEM;
    if (status != 0 || !watched->changed)
        return status;
    forget_removed(watched);
    status = list_ids(watched);
    if (status == 0)
        status = hr_blame_watch(blame, watched->ids, watched->id_count);
    watched->changed = status != 0;
    return status;
}

size_t watched_excess(const struct watched *watched)
{
    return hr_cgroup_set_counts(watched->set).excess;
}

void watched_close(struct watched *watched)
{
    hr_cgroup_set_close(watched->set);
    for (size_t i = 0; i < watched->name_count; i++)
        free(watched->names[i].path);
    free(watched->names);
    free(watched->ids);
    *watched = (struct watched){0};
}
