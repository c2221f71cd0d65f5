/* SPDX-License-Identifier: MIT */
#include "room/group_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/cgroup.h"
#include "headroom/cpu_set.h"
#include "headroom/root.h"
#include "room/cpu_max.h"
#include "room/cpu_stat.h"
#include "room/group_file.h"
#include "room/memory_limit.h"

/* Bytes for a name after "../" for each level. */
#define UP_SIZE (3 * HR_STALL_LEVELS + 32)

#define CPUSET_FILE "cpuset.cpus.effective"

/* --- Directories --------------------------------------------------------------- */

static void close_directory(struct hr_room_directory *directory)
{
    hr_descriptor_close(&directory->fd);
    directory->status = -ENOENT;
}

/* @param file  see hr_group_directory_open(). */
static void open_directory(struct hr_room_directory *directory, const struct hr_root *root,
                           const struct hr_cgroup *group, const char *controller, const char *file)
{
    int version, fd = hr_group_directory_open(root, group, controller, file, &version);

    close_directory(directory);
    directory->status = fd < 0 ? fd : 0;
    if (fd < 0)
        return;
    if (faccessat(fd, version == 1 ? "." : file, F_OK, 0) < 0)
        directory->status = -ENOENT;
    else if (!hr_descriptor_keep(&fd, HR_KEEP_FILE))
        directory->status = -EMFILE;
    directory->version = version;
    directory->fd = fd;
    if (directory->status != 0)
        hr_descriptor_close(&directory->fd);
}

static void name_above(size_t level, const char *file, char name[UP_SIZE])
{
    size_t used = 0;

    for (size_t i = 0; i < level && i < HR_STALL_LEVELS; i++)
        used += (size_t)snprintf(name + used, UP_SIZE - used, "../");
    snprintf(name + used, UP_SIZE - used, "%s", file);
}

/* The directory so many levels above; the caller closes it. */
static int open_level(const struct hr_room_directory *directory, size_t level)
{
    char name[UP_SIZE];

    name_above(level, ".", name);
    int fd = openat(directory->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

void hr_room_limits_init(struct hr_room_limits *limits)
{
    *limits = (struct hr_room_limits){
        .cpu = {.fd = -1, .status = -ENOENT},
        .memory = {.fd = -1, .status = -ENOENT},
    };
}

void hr_room_limits_close(struct hr_room_limits *limits)
{
    close_directory(&limits->cpu);
    close_directory(&limits->memory);
    free(limits->cpus);
    limits->cpus = NULL;
}

/* --- Limits --------------------------------------------------------------------- */

static void read_cpu_limit(const struct hr_room_directory *directory, size_t at,
                           struct hr_room_level *level)
{
    struct hr_cpu_max max;
    int fd = open_level(directory, at);

    if (fd < 0)
        return;
    if (hr_cpu_max_read(fd, directory->version, &max) == 0 && max.quota_us != UINT64_MAX)
        level->cpus = (double)max.quota_us / (double)max.period_us;
    close(fd);
}

static void read_memory_limit(const struct hr_room_directory *directory, size_t at,
                              struct hr_room_level *level)
{
    struct hr_memory_limit limit;
    int fd = open_level(directory, at);

    if (fd < 0)
        return;
    if (hr_memory_limit_read(fd, directory->version, &limit) == 0) {
        const bool is_high = limit.high_bytes < limit.max_bytes;
        level->memory_bytes = is_high ? limit.high_bytes : limit.max_bytes;
        level->memory_bound = is_high ? HR_ROOM_MEMORY_HIGH : HR_ROOM_MEMORY_MAX;
    }
    hr_swap_limit_read(fd, directory->version, &level->swap_bytes);
    close(fd);
}

static int read_cpuset_of_version_1(const struct hr_root *root, const struct hr_cgroup *group,
                                    char *text, size_t size, size_t *length)
{
    int version, fd = hr_group_directory_open(root, group, "cpuset", CPUSET_FILE, &version);

    if (fd < 0)
        return fd;
    int status = hr_group_file_read(fd, version == 1 ? "cpuset.effective_cpus" : CPUSET_FILE, text,
                                    size, length);
    close(fd);
    return status;
}

/* The nearest group that says which CPUs it may use; in version 1 all of them do. */
static int read_cpuset(const struct hr_root *root, const struct hr_cgroup *group,
                       struct hr_cpu_set *cpus)
{
    char name[UP_SIZE], text[4096];
    size_t length, levels = hr_group_count_levels(group->path, HR_STALL_LEVELS);
    int status = -ENOENT;

    for (size_t i = 0; i <= levels && status == -ENOENT; i++) {
        name_above(i, CPUSET_FILE, name);
        status = hr_text_read_and_close(hr_cgroup_openat(group, name, O_RDONLY), text, sizeof(text),
                                        &length);
    }
    if (status == -ENOENT)
        status = read_cpuset_of_version_1(root, group, text, sizeof(text), &length);
    return status < 0 ? status : hr_cpu_set_parse(text, length, cpus);
}

/* Whether what a group has counts for the groups above, too; in version 1 these say it. */
static bool is_counted_above(const struct hr_room_directory *directory, size_t above)
{
    char name[UP_SIZE], text[8];
    size_t length;

    if (directory->version == 2)
        return true;
    name_above(above, "memory.use_hierarchy", name);
    return hr_group_file_read(directory->fd, name, text, sizeof(text), &length) < 0 ||
           length == 0 || text[0] != '0';
}

/* Most groups may use all CPUs, so that nothing is kept of these. */
static void read_cpus(struct hr_room_limits *limits, const struct hr_root *root,
                      const struct hr_cgroup *group)
{
    struct hr_cpu_set cpus;

    if (read_cpuset(root, group, &cpus) < 0 || hr_cpu_set_count(&cpus) == 0) {
        free(limits->cpus);
        limits->cpus = NULL;
        return;
    }
    if (limits->cpus == NULL)
        limits->cpus = malloc(sizeof(cpus));
    if (limits->cpus != NULL)
        *limits->cpus = cpus;
}

void hr_room_limits_read(struct hr_room_limits *limits, const struct hr_root *root,
                         const struct hr_cgroup *group)
{
    open_directory(&limits->cpu, root, group, "cpu", "cpu.max");
    open_directory(&limits->memory, root, group, "memory", "memory.max");
    read_cpus(limits, root, group);
    limits->count = hr_group_count_levels(group->path, HR_STALL_LEVELS);
    bool is_counted = limits->memory.status == 0;
    for (size_t i = 0; i < limits->count; i++) {
        struct hr_room_level *level = &limits->level[i];
        *level = (struct hr_room_level){INFINITY, UINT64_MAX, UINT64_MAX, HR_ROOM_MEMORY_MAX};
        if (limits->cpu.status == 0)
            read_cpu_limit(&limits->cpu, i, level);
        is_counted = is_counted && (i == 0 || is_counted_above(&limits->memory, i));
        if (is_counted)
            read_memory_limit(&limits->memory, i, level);
    }
}

/* --- What is used ---------------------------------------------------------------- */

int hr_room_read_cpu_usage(const struct hr_cgroup *group, size_t level, uint64_t *used_us)
{
    char name[UP_SIZE], text[4096];
    size_t length;

    name_above(level, "cpu.stat", name);
    int status = hr_text_read_and_close(hr_cgroup_openat(group, name, O_RDONLY), text, sizeof(text),
                                        &length);
    return status < 0 ? status : hr_cpu_usage_parse(text, length, used_us);
}

int hr_room_read_cpu_counts(const struct hr_room_limits *limits, const struct hr_cgroup *group,
                            size_t level, struct hr_room_cpu_counts *counts)
{
    struct hr_cpu_stat stat;
    int fd = open_level(&limits->cpu, level);

    if (fd < 0)
        return fd;
    int status = hr_cpu_stat_read(fd, &stat);
    close(fd);
    if (status < 0)
        return status;
    counts->period_count = stat.period_count;
    counts->throttled_count = stat.throttled_count;
    counts->throttled_us = stat.throttled_us;
    return hr_room_read_cpu_usage(group, level, &counts->used_us);
}

static int read_memory_level(const struct hr_room_directory *directory, size_t level,
                             struct hr_memory_use *use)
{
    int fd = open_level(directory, level);

    if (fd < 0)
        return fd;
    int status = hr_memory_use_read(fd, directory->version, use);
    close(fd);
    return status;
}

/* How much a level may still swap out, which the levels above have let it. */
static uint64_t swap_left(const struct hr_room_level *level, const struct hr_memory_use *use,
                          uint64_t above_bytes)
{
    uint64_t bytes =
        level->swap_bytes > use->swapped_bytes ? level->swap_bytes - use->swapped_bytes : 0;

    return level->swap_bytes == UINT64_MAX || bytes > above_bytes ? above_bytes : bytes;
}

int hr_room_read_memory(const struct hr_room_limits *limits, uint64_t swap_free_bytes,
                        struct hr_memory_use *use,
                        struct hr_room_memory_limit bounds[HR_STALL_LEVELS], size_t *count)
{
    struct hr_memory_use level_use;
    uint64_t swap_left_bytes = swap_free_bytes;

    if (limits->memory.status < 0)
        return limits->memory.status;
    *count = 0;
    for (size_t i = limits->count; i-- > 0;) {
        const struct hr_room_level *level = &limits->level[i];
        if (i > 0 && level->memory_bytes == UINT64_MAX && level->swap_bytes == UINT64_MAX)
            continue;
        int status = read_memory_level(&limits->memory, i, &level_use);
        if (status < 0)
            return status;
        swap_left_bytes = swap_left(level, &level_use, swap_left_bytes);
        if (level->memory_bytes != UINT64_MAX)
            bounds[(*count)++] = (struct hr_room_memory_limit){
                .limit_bytes = level->memory_bytes,
                .resident_bytes = hr_memory_resident(&level_use),
                .swap_left_bytes = swap_left_bytes,
                .bound = level->memory_bound,
                .level = i,
            };
    }
    *use = level_use; /* the group's own, the last */
    return 0;
}
