/* SPDX-License-Identifier: MIT */
#include "psi/watched.h"

#include <string.h>

#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "psi/groups.h"

static int compare_ids(const void *first, const void *second)
{
    const struct psi_watched_group *a = first, *b = second;

    return (a->id > b->id) - (a->id < b->id);
}

static struct psi_watched_group *find_group(const struct psi_watched *watched, size_t count,
                                            uint64_t id)
{
    const struct psi_watched_group key = {.id = id};

    if (count == 0)
        return NULL;
    return bsearch(&key, watched->groups, count, sizeof(key), compare_ids);
}

const struct psi_watched_group *psi_watched_find(const struct psi_watched *watched, uint64_t id)
{
    return find_group(watched, watched->count, id);
}

static void free_names(struct psi_watched_group *group)
{
    free(group->path);
    free(group->instance);
}

static bool is_young(const struct hr_cgroup *group)
{
    const struct psi_group *of_group = group->data;

    return of_group != NULL && of_group->is_young;
}

static int add_group(struct psi_watched *watched, const struct hr_cgroup *group)
{
    const struct psi_group *of_group = group->data;
    struct psi_watched_group added = {
        .id = group->id,
        .path = strdup(group->path),
        .instance = strdup(of_group != NULL ? of_group->series.instance : group->path),
        .is_young = is_young(group),
    };

    if (added.path == NULL || added.instance == NULL ||
        HR_ARRAY_RESERVE(watched->groups, watched->capacity, watched->count + 1) != 0) {
        free_names(&added);
        return -ENOMEM;
    }
    watched->groups[watched->count++] = added;
    return 0;
}

int psi_watched_update(struct psi_watched *watched, struct hr_cgroup_set *set, size_t most)
{
    const size_t known = watched->count;
    size_t taken = 0;
    int status = 0;

    for (size_t i = 0; i < known; i++)
        watched->groups[i].is_gone = true;
    watched->excess = 0;
    for (struct hr_cgroup *group = hr_cgroup_set_next(set, NULL); status == 0 && group != NULL;
         group = hr_cgroup_set_next(set, group)) {
        struct psi_watched_group *found = find_group(watched, known, group->id);
        if (taken == most) {
            watched->excess++;
        } else if (found != NULL) {
            found->is_gone = false;
            found->is_young = is_young(group);
        } else {
            status = add_group(watched, group);
        }
        taken += taken < most;
    }
    if (watched->count > known)
        qsort(watched->groups, watched->count, sizeof(*watched->groups), compare_ids);
    return status;
}

void psi_watched_forget_gone(struct psi_watched *watched)
{
    size_t kept = 0;

    for (size_t i = 0; i < watched->count; i++) {
        if (watched->groups[i].is_gone)
            free_names(&watched->groups[i]);
        else
            watched->groups[kept++] = watched->groups[i];
    }
    watched->count = kept;
}

bool psi_watched_is_below(const struct psi_watched *watched, uint64_t id, const char *path)
{
    const struct psi_watched_group *group = psi_watched_find(watched, id);

    return group != NULL && hr_cgroup_is_within(group->path, path);
}

void psi_watched_free(struct psi_watched *watched)
{
    for (size_t i = 0; i < watched->count; i++)
        free_names(&watched->groups[i]);
    free(watched->groups);
    *watched = (struct psi_watched){0};
}
