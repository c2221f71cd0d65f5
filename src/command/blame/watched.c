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

static void add_name(struct watched *watched, uint64_t id, const char *path, bool asked)
{
    char *copy = strdup(path);

    if (copy == NULL ||
        HR_ARRAY_RESERVE(watched->names, watched->name_capacity, watched->name_count + 1) != 0) {
        free(copy);
        watched->failed = true;
        return;
    }
    watched->names[watched->name_count++] =
        (struct watched_name){.id = id, .path = copy, .asked = asked};
}

const char *watched_path(const struct watched *watched, uint64_t id)
{
    for (size_t i = watched->name_count; i-- > 0;)
        if (watched->names[i].id == id)
            return watched->names[i].path;
    return "?";
}

static void note_event(struct watched *watched, const struct hr_cgroup *group,
                       enum hr_cgroup_event event, bool asked)
{
    watched->changed = true;
    if (event == HR_CGROUP_ADDED)
        add_name(watched, group->id, group->path, asked);
    for (size_t i = 0; event == HR_CGROUP_REMOVED && i < watched->name_count; i++)
        if (watched->names[i].id == group->id)
            watched->names[i].removed_ns = hr_clock_ns();
}

static void note_asked(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    note_event(context, group, event, true);
}

static void note_other(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    note_event(context, group, event, false);
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
static int find_top(struct watched *watched, const struct hr_root *root, bool asked)
{
    int status = hr_blame_find_top(root, watched->controller, &watched->top);

    if (status == 0)
        add_name(watched, watched->top, "/", asked);
    return status;
}

static int open_set(struct watched *watched, const struct hr_root *root,
                    const struct group_patterns *patterns,
                    void (*event)(struct hr_cgroup *, enum hr_cgroup_event, void *),
                    struct hr_cgroup_set **set)
{
    static const char *const everywhere[] = {"**"};
    bool all = patterns == NULL || patterns->count == 0;
    const struct hr_cgroup_options options = {
        .controller = watched->controller,
        .patterns = all ? everywhere : (const char *const *)patterns->list,
        .pattern_count = all ? 1 : patterns->count,
        .max_count = GROUPS_MOST - 1,
        .event = event,
        .context = watched,
    };

    return hr_cgroup_set_open(root, &options, set);
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
    bool all = patterns->count == 0;

    /* What was removed within an interval is in its cells, or in those of the next. */
    *watched = (struct watched){
        .controller = controller, .changed = true, .keep_ns = 2 * interval_ns + 60 * HR_NS_PER_S};
    int status = find_top(watched, root, all);
    if (status == 0)
        status = open_set(watched, root, patterns, note_asked, &watched->asked);
    if (status == 0 && !all)
        status = open_set(watched, root, NULL, note_other, &watched->others);
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

/* Their tasks are of the group that was asked for. */
static bool is_in_asked(const struct watched *watched, const char *path)
{
    for (struct hr_cgroup *group = hr_cgroup_set_next(watched->asked, NULL); group != NULL;
         group = hr_cgroup_set_next(watched->asked, group)) {
        size_t length = strlen(group->path);
        if (strncmp(path, group->path, length) == 0 &&
            (path[length] == '\0' || path[length] == '/'))
            return true;
    }
    return false;
}

/* As many as there is room for: the rest are of the groups above them. */
static int list_others(struct watched *watched)
{
    struct hr_cgroup *group = NULL;
    int status = 0;

    while (status == 0 && watched->others != NULL && watched->id_count < GROUPS_MOST &&
           (group = hr_cgroup_set_next(watched->others, group)) != NULL)
        if (!is_in_asked(watched, group->path))
            status = add_id(watched, group->id);
    return status;
}

static int list_ids(struct watched *watched)
{
    watched->id_count = 0;
    int status = add_id(watched, watched->top);
    for (struct hr_cgroup *group = hr_cgroup_set_next(watched->asked, NULL);
         status == 0 && group != NULL; group = hr_cgroup_set_next(watched->asked, group))
        status = add_id(watched, group->id);
    return status == 0 ? list_others(watched) : status;
}

int watched_update(struct watched *watched, struct hr_blame *blame)
{
    int status = read_sets(watched);

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
    return hr_cgroup_set_counts(watched->asked).excess;
}

static bool is_asked(const struct watched *watched, uint64_t id)
{
    for (size_t i = 0; i < watched->name_count; i++)
        if (watched->names[i].id == id && watched->names[i].asked)
            return true;
    return false;
}

void watched_keep_asked(const struct watched *watched, struct hr_blame_matrix *matrix)
{
    size_t kept = 0;
    bool asked = false;

    for (size_t i = 0; i < matrix->count; i++) {
        if (i == 0 || matrix->cells[i].waiter != matrix->cells[i - 1].waiter)
            asked = is_asked(watched, matrix->cells[i].waiter);
        if (asked)
            matrix->cells[kept++] = matrix->cells[i];
    }
    matrix->count = kept;
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
