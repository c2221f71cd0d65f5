/* SPDX-License-Identifier: MIT */
#include "memory/damon_user.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "headroom/root.h"
#include "memory/damon_sysfs.h"

/* How many monitorings of programs are read; one is usual. */
#define KDAMONDS_MAX 64

static const struct hr_damon_part parts[] = {
    {"DAMON_STAT", "/sys/module/damon_stat/parameters/enabled"},
    {"DAMON_RECLAIM", "/sys/module/damon_reclaim/parameters/enabled"},
    {"DAMON_LRU_SORT", "/sys/module/damon_lru_sort/parameters/enabled"},
};

static bool begins_with(const struct hr_root *root, const char *path, const char *word)
{
    char buffer[16];
    size_t length;

    if (hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), buffer, sizeof(buffer),
                               &length) < 0)
        return false;
    struct hr_text text = {buffer, length};
    return hr_text_skip(&text, word);
}

const struct hr_damon_part *hr_damon_find_part(const struct hr_root *root)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (begins_with(root, parts[i].path, "Y"))
            return &parts[i];
    return NULL;
}

const char *hr_damon_find_user(const struct hr_root *root)
{
    const struct hr_damon_part *part = hr_damon_find_part(root);
    uint64_t count = 0;
    char path[96];

    if (part != NULL)
        return part->path;
    if (hr_damon_read_count(root, &count) < 0)
        return NULL;
    for (uint64_t i = 0; i < count && i < KDAMONDS_MAX; i++) {
        snprintf(path, sizeof(path), HR_DAMON_KDAMONDS "/%u/state", (unsigned)i);
        if (begins_with(root, path, "on"))
            return HR_DAMON_KDAMONDS;
    }
    return NULL;
}
