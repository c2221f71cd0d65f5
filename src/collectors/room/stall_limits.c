/* SPDX-License-Identifier: MIT */
#include "room/stall_limits.h"

#include <errno.h>
#include <string.h>

#include "cgroup/walk.h"
#include "room/blkio.h"
#include "room/cpu_max.h"
#include "room/cpu_stat.h"
#include "room/io_max.h"
#include "room/io_stat.h"
#include "room/memory_events.h"
#include "room/memory_limit.h"

/* --- A group --------------------------------------------------------------- */

static int read_cpu_level(int dirfd, int version, struct hr_stall_level *level)
{
    struct hr_cpu_max max;
    struct hr_cpu_stat stat;

    int status = hr_cpu_max_read(dirfd, version, &max);
    if (status == 0)
        status = hr_cpu_stat_read(dirfd, &stat);
    if (status == 0)
        level->cpu = (struct hr_stall_cpu){
            .quota_us = max.quota_us,
            .period_us = max.period_us,
            .throttled_count = stat.throttled_count,
            .throttled_us = stat.throttled_us,
        };
    return status;
}

static int read_memory_level(int dirfd, int version, struct hr_stall_level *level)
{
    struct hr_memory_limit limit;
    struct hr_memory_events events;

    int status = hr_memory_limit_read(dirfd, version, &limit);
    if (status == 0)
        status = hr_memory_events_read(dirfd, version, &events);
    if (status == 0)
        level->memory = (struct hr_stall_memory){
            .high_bytes = limit.high_bytes,
            .max_bytes = limit.max_bytes,
            .high_count = events.high_count,
            .max_count = events.max_count,
        };
    return status;
}

/* The limits of devices, and what was done on these. */
static int read_io_level(int dirfd, int version, struct hr_stall_level *level)
{
    struct hr_stall_devices limited = {0}, done;

    if (version == 1)
        return hr_blkio_read(dirfd, &level->io);
    int status = hr_io_max_read(dirfd, &limited);
    if (status == 0 || status == -ENOENT) /* a kernel without CONFIG_BLK_DEV_THROTTLING */
        status = hr_io_stat_read(dirfd, &limited, &done);
    if (status < 0)
        return status;
    for (size_t i = 0; i < limited.count; i++)
        memcpy(limited.list[i].done, done.list[i].done, sizeof(done.list[i].done));
    level->io = limited;
    return 0;
}

int hr_stall_limits_read(int dirfd, int version, enum hr_psi_resource resource,
                         struct hr_stall_level *level)
{
    static int (*const readers[HR_PSI_RESOURCE_COUNT])(int, int, struct hr_stall_level *) = {
        [HR_PSI_CPU] = read_cpu_level,
        [HR_PSI_MEMORY] = read_memory_level,
        [HR_PSI_IO] = read_io_level,
    };

    int status = readers[resource](dirfd, version, level);
    level->known = status == 0;
    level->version = version;
    return status;
}

/* --- Those below it -------------------------------------------------------- */

struct below_walk {
    enum hr_psi_resource resource;
    int version;
    size_t visited_count;
    struct hr_stall_below below;
};

static void add_cpu(struct hr_stall_below *below, const struct hr_stall_cpu *cpu)
{
    if (cpu->quota_us == HR_STALL_NO_LIMIT)
        return;
    below->limited_count++;
    below->throttled_us += cpu->throttled_us;
    if (below->period_us < cpu->period_us)
        below->period_us = cpu->period_us;
}

static void add_memory(struct hr_stall_below *below, const struct hr_stall_memory *memory)
{
    if (memory->high_bytes == HR_STALL_NO_LIMIT && memory->max_bytes == HR_STALL_NO_LIMIT)
        return;
    below->limited_count++;
    below->reached_count += memory->high_count + memory->max_count;
}

static void add_level(struct below_walk *walk, const struct hr_stall_level *level)
{
    if (walk->resource == HR_PSI_CPU)
        add_cpu(&walk->below, &level->cpu);
    else if (walk->resource == HR_PSI_MEMORY)
        add_memory(&walk->below, &level->memory);
    else
        walk->below.limited_count += level->io.count > 0;
}

/* A group without the controller has no limits of its own, nor has any below it. */
static int visit_group(void *state, int dirfd)
{
    struct below_walk *walk = state;
    struct hr_stall_level level = {0};

    if (++walk->visited_count > HR_STALL_GROUPS_BELOW)
        return -E2BIG;
    int status = hr_stall_limits_read(dirfd, walk->version, walk->resource, &level);
    if (status == 0)
        add_level(walk, &level);
    return status;
}

void hr_stall_limits_read_below(int dirfd, int version, enum hr_psi_resource resource,
                                struct hr_stall_below *below)
{
    struct below_walk walk = {
        .resource = resource, .version = version, .below = {.version = version}};

    walk.below.known = hr_cgroup_walk(dirfd, HR_STALL_GROUPS_BELOW + 1, visit_group, &walk) == 0;
    *below = walk.below;
}
