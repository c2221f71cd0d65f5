/* SPDX-License-Identifier: MIT */
#include "top/known_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"

bool plugin_is_ours(const struct piece *plugin)
{
    static const char *const plugins[] = {"psi", "cgroup_perf", "wss", "osnoise", "headroom"};

    for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
        if (piece_is(plugin, plugins[i]))
            return true;
    return false;
}

int known_series_add(struct known_series *known, const char *identifier)
{
    struct identifier parts;

    if (identifier_parse(identifier, &parts) != 0 || !plugin_is_ours(&parts.plugin))
        return 0;
    char *copy = strdup(identifier);
    if (copy == NULL || HR_ARRAY_RESERVE(known->list, known->capacity, known->count + 1) != 0) {
        free(copy);
        return -ENOMEM;
    }
    known->list[known->count++] = copy;
    return 0;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void known_series_sort(struct known_series *known)
{
    if (known->count > 1)
        qsort(known->list, known->count, sizeof(*known->list), compare);
}

/* The first that begins with so much of a text, or comes behind it. */
static size_t find_first(const struct known_series *known, const char *text, size_t length)
{
    return HR_ARRAY_FIND_FIRST(known->count, i, strncmp(known->list[i], text, length) < 0);
}

static bool has_beginning(const struct known_series *known, const char *text, size_t length)
{
    const size_t first = find_first(known, text, length);

    return first < known->count && strncmp(known->list[first], text, length) == 0;
}

/* Whether a plugin's values of a kind have come, of whatever group: those of one interval come
 * together, but some need two, as what is calculated of counters. */
static bool has_kind(const struct known_series *known, const char *plugin, size_t length,
                     const char *kind)
{
    const size_t kind_length = strlen(kind);

    for (size_t i = find_first(known, plugin, length);
         i < known->count && strncmp(known->list[i], plugin, length) == 0; i++) {
        const size_t whole = strlen(known->list[i]);
        if (whole > kind_length && strcmp(known->list[i] + whole - kind_length, kind) == 0)
            return true;
    }
    return false;
}

bool known_series_miss_one_of_kind(const struct known_series *known, const char *identifier)
{
    struct identifier parts;

    if (identifier_parse(identifier, &parts) != 0 || parts.instance.length == 0)
        return false;
    const char *kind = parts.instance.start + parts.instance.length; /* "/percent-cpu-full" */
    return has_kind(known, identifier, (size_t)(parts.instance.start - identifier), kind) &&
           !has_beginning(known, identifier, strlen(identifier) + 1);
}

bool known_series_miss_one_of_plugin(const struct known_series *known, const char *identifier)
{
    struct identifier parts;

    if (identifier_parse(identifier, &parts) != 0 || parts.instance.length == 0)
        return false;
    return has_beginning(known, identifier, (size_t)(parts.instance.start - identifier)) &&
           !has_beginning(known, identifier, strlen(identifier) + 1);
}

void known_series_free(struct known_series *known)
{
    for (size_t i = 0; i < known->count; i++)
        free(known->list[i]);
    free(known->list);
    *known = (struct known_series){.list = NULL};
}
