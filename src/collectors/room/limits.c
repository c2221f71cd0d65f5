/* SPDX-License-Identifier: MIT */
#include "headroom/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/cgroup.h"
#include "room/cpu_max.h"
#include "room/group_file.h"
#include "room/memory_limit.h"

struct hr_limits {
    size_t level_count; /* the group and those above it, without the mount's own */
    struct {
        int dirfd; /* or the negative errno of opening it */
        int version;
    } of[HR_LIMIT_KIND_COUNT];
};

/* --- A group --------------------------------------------------------------- */

static int read_memory(int dirfd, int version, uint64_t *value)
{
    struct hr_memory_limit limit;

    int status = hr_memory_limit_read(dirfd, version, &limit);
    if (status == 0)
        *value = limit.high_bytes < limit.max_bytes ? limit.high_bytes : limit.max_bytes;
    return status;
}

static int read_cpu(int dirfd, int version, uint64_t *value)
{
    struct hr_cpu_max max;

    int status = hr_cpu_max_read(dirfd, version, &max);
    if (status == 0)
        *value = max.quota_us == UINT64_MAX
                     ? HR_NO_LIMIT
                     : (uint64_t)((double)max.quota_us * 1e6 / (double)max.period_us);
    return status;
}

static const struct {
    const char *controller;
    const char *file; /* see hr_group_directory_open() */
    int (*read)(int dirfd, int version, uint64_t *value);
} kinds[HR_LIMIT_KIND_COUNT] = {
    [HR_LIMIT_MEMORY] = {"memory", "memory.max", read_memory},
    [HR_LIMIT_CPU] = {"cpu", "cpu.max", read_cpu},
};

/* --- Opening --------------------------------------------------------------- */

static size_t count_levels(const char *path)
{
    size_t count = 1;

    for (; *path != '\0'; path++)
        count += *path == '/';
    return count;
}

int hr_limits_open(const struct hr_root *root, const struct hr_cgroup *group,
                   struct hr_limits **limits)
{
    struct hr_limits *opened = calloc(1, sizeof(*opened));
    int status = -ENOENT;

    if (opened == NULL)
        return -ENOMEM;
    opened->level_count = count_levels(group->path);
    for (int i = 0; i < HR_LIMIT_KIND_COUNT; i++) {
        opened->of[i].dirfd = hr_group_directory_open(root, group, kinds[i].controller,
                                                      kinds[i].file, &opened->of[i].version);
        if (opened->of[i].dirfd >= 0)
            status = 0;
        else if (status != 0)
            status = opened->of[i].dirfd;
    }
    if (status != 0 && status != -ENOENT) {
        hr_limits_close(opened);
        return status;
    }
    *limits = opened;
    return 0;
}

void hr_limits_close(struct hr_limits *limits)
{
    if (limits == NULL)
        return;
    for (int i = 0; i < HR_LIMIT_KIND_COUNT; i++)
        if (limits->of[i].dirfd >= 0)
            close(limits->of[i].dirfd);
    free(limits);
}

/* --- Reading --------------------------------------------------------------- */

/* Whether version 1 has a group's memory counted in the one above, memory.use_hierarchy of that
 * one. */
static bool is_limited_from_above(enum hr_limit_kind kind, int version, int above)
{
    char text[8];
    size_t length;

    if (kind != HR_LIMIT_MEMORY || version != 1 ||
        hr_group_file_read(above, "memory.use_hierarchy", text, sizeof(text), &length) < 0)
        return true;
    return length == 0 || text[0] != '0';
}

/* Reads from a directory upwards, and closes it. */
static int read_upwards(const struct hr_limits *limits, enum hr_limit_kind kind, int dirfd,
                        struct hr_limit *limit)
{
    struct hr_limit tightest = {.value = HR_NO_LIMIT};
    const int version = limits->of[kind].version;
    int status = 0;

    for (size_t level = 0; status == 0 && level < limits->level_count; level++) {
        uint64_t value;
        if (level > 0) {
            dirfd = hr_group_directory_ascend(dirfd);
            if (dirfd < 0)
                return dirfd;
            if (!is_limited_from_above(kind, version, dirfd))
                break;
        }
        status = kinds[kind].read(dirfd, version, &value);
        if (status == 0 && value < tightest.value)
            tightest = (struct hr_limit){value, level};
    }
    close(dirfd);
    if (status == 0)
        *limit = tightest;
    return status;
}

int hr_limits_read(const struct hr_limits *limits, enum hr_limit_kind kind, struct hr_limit *limit)
{
    if (limits->of[kind].dirfd < 0)
        return limits->of[kind].dirfd;
    int dirfd = openat(limits->of[kind].dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dirfd < 0 ? -errno : read_upwards(limits, kind, dirfd, limit);
}

int hr_limits_read_memory(const struct hr_limits *limits, uint64_t *bytes)
{
    char text[32];
    size_t length;
    const int dirfd = limits->of[HR_LIMIT_MEMORY].dirfd;
    const bool is_version_1 = limits->of[HR_LIMIT_MEMORY].version == 1;

    if (dirfd < 0)
        return dirfd;
    int status =
        hr_group_file_read(dirfd, is_version_1 ? "memory.usage_in_bytes" : "memory.current", text,
                           sizeof(text), &length);
    return status < 0 ? status : hr_text_number_parse(text, length, UINT64_MAX, bytes);
}
