/* SPDX-License-Identifier: MIT */
#include "blame/groups.h"

#include <stdlib.h>

#include "headroom/array.h"

static int compare_ids(const void *first, const void *second)
{
    const struct blame_id *a = first, *b = second;

    return (a->id > b->id) - (a->id < b->id);
}

int blame_groups_sort_ids(struct blame_groups *groups)
{
    int status = HR_ARRAY_RESERVE(groups->ids, groups->id_capacity, groups->count);

    if (status != 0)
        return status;
    for (size_t i = 0; i < groups->count; i++)
        groups->ids[i] = (struct blame_id){groups->items[i].id, i};
    groups->id_count = groups->count;
    if (groups->id_count > 0)
        qsort(groups->ids, groups->id_count, sizeof(*groups->ids), compare_ids);
    return 0;
}

struct blame_group *blame_groups_find_id(const struct blame_groups *groups, uint64_t id)
{
    const struct blame_id key = {.id = id}, *found = NULL;

    if (groups->id_count > 0)
        found = bsearch(&key, groups->ids, groups->id_count, sizeof(key), compare_ids);
    return found != NULL ? &groups->items[found->at] : NULL;
}

static int compare_number(const void *key, const void *item)
{
    const uint32_t *number = key;
    const struct blame_group *group = item;

    return (*number > group->number) - (*number < group->number);
}

struct blame_group *blame_groups_find_number(const struct blame_groups *groups, uint32_t number)
{
    if (groups->count == 0)
        return NULL;
    return bsearch(&number, groups->items, groups->count, sizeof(*groups->items), compare_number);
}

int blame_groups_add(struct blame_groups *groups, uint64_t id, struct blame_group **group)
{
    int status = HR_ARRAY_RESERVE(groups->items, groups->capacity, groups->count + 1);

    if (status != 0)
        return status;
    *group = &groups->items[groups->count++];
    **group = (struct blame_group){.id = id, .number = groups->next_number++};
    return 0;
}

void blame_groups_remove(struct blame_groups *groups,
                         bool (*is_done)(const struct blame_group *group))
{
    size_t kept = 0;

    for (size_t i = 0; i < groups->count; i++)
        if (!is_done(&groups->items[i]))
            groups->items[kept++] = groups->items[i];
    groups->count = kept;
    groups->id_count = 0;
}

void blame_groups_free(struct blame_groups *groups)
{
    free(groups->items);
    free(groups->ids);
    *groups = (struct blame_groups){0};
}
