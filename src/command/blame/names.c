/* SPDX-License-Identifier: MIT */
#include "blame/names.h"

#include <string.h>

#include "common/short_name.h"

const char *blame_leaf(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static bool is_word(const char *name)
{
    enum hr_blame_taker taker;

    return hr_blame_taker_find(name, &taker) && taker != HR_BLAME_GROUP;
}

const char *blame_slash_before(const char *path)
{
    return is_word(blame_leaf(path)) ? "/" : "";
}

/* Whether another group has that name for short. */
static bool is_shared(const struct watched *watched, const char *path, const char *name)
{
    char other[SHORT_NAME_SIZE];

    for (size_t i = 0; i < watched->name_count; i++) {
        if (strcmp(watched->names[i].path, path) == 0)
            continue;
        short_path(watched->names[i].path, other);
        if (strcmp(other, name) == 0)
            return true;
    }
    return false;
}

bool blame_has_short_name(const struct blame_report *report, uint64_t id)
{
    const char *path = watched_path(report->watched, id);
    char name[SHORT_NAME_SIZE];

    short_path(path, name);
    return strcmp(name, path) != 0 && !is_shared(report->watched, path, name);
}

void blame_write_name(const struct blame_report *report, uint64_t id, bool is_short, int width,
                      char label[256])
{
    const char *path = watched_path(report->watched, id);
    char name[SHORT_NAME_SIZE];

    if (is_short)
        short_path(path, name);
    label_fit(is_short ? name : path, width, report->charset, label, 256);
}
