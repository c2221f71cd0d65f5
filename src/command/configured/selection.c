/* SPDX-License-Identifier: MIT */
#include "configured/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "headroom/array.h"
#include "headroom/container.h"

int usage_texts_add(struct usage_texts *texts, const char *text)
{
    if (HR_ARRAY_RESERVE(texts->list, texts->capacity, texts->count + 1) < 0)
        return -ENOMEM;
    texts->list[texts->count++] = text;
    return 0;
}

int usage_items_add(struct usage_items *items, const struct config_item *item)
{
    if (HR_ARRAY_RESERVE(items->list, items->capacity, items->count + 1) < 0)
        return -ENOMEM;
    items->list[items->count++] = item;
    return 0;
}

int usage_texts_add_values(struct usage_texts *texts, const struct config_item *item)
{
    int status = 0;

    for (size_t i = 0; i < item->value_count && status == 0; i++)
        status = usage_texts_add(texts, item->values[i]);
    return status;
}

static int add_patterns(struct usage_selection *groups, const struct config_item *item)
{
    int status = usage_texts_add_values(&groups->patterns, item);

    while (status == 0 && groups->options.count < groups->patterns.count)
        status = usage_items_add(&groups->options, item);
    return status;
}

const char *usage_template(const struct usage_selection *selection, size_t pattern)
{
    if (pattern >= selection->options.count)
        return NULL;
    const struct config_item *instance = config_find(selection->options.list[pattern], "Instance");
    return instance != NULL ? config_text(instance) : NULL;
}

static void read_runtimes(struct usage_selection *groups, const struct config_item *item)
{
    const char *runtime;

    for (int i = 0; (runtime = hr_container_runtime_name(i)) != NULL; i++)
        for (size_t j = 0; j < item->value_count; j++)
            if (strcasecmp(item->values[j], runtime) == 0)
                groups->runtimes |= 1U << i;
}

int usage_selection_read(struct usage_selection *groups, const struct config_item *block)
{
    int status = 0;

    for (size_t i = 0; i < block->child_count && status == 0; i++) {
        const struct config_item *item = &block->children[i];
        if (config_is(item, "Cgroup"))
            status = add_patterns(groups, item);
        else if (config_is(item, "ExcludeCgroup"))
            status = usage_texts_add_values(&groups->excludes, item);
        else if (config_is(item, "MaxCgroups"))
            groups->max_count = (size_t)config_number(item, USAGE_MAX_CGROUPS);
        else if (config_is(item, "MinAge"))
            groups->min_age_s = config_number(item, 0);
        else if (config_is(item, "NameFrom"))
            read_runtimes(groups, item);
        else if (config_is(item, "Include"))
            status = usage_selection_read(groups, item);
    }
    return status;
}

void usage_selection_free(struct usage_selection *groups)
{
    free(groups->patterns.list);
    free(groups->options.list);
    free(groups->excludes.list);
}
