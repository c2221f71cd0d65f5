/* SPDX-License-Identifier: MIT */
/*
 * room/counters.c - reading what the causes of a stall come from, of a group and those above it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "headroom/stall_cause.h"
#include "psi/file.h"
#include "room/cpu_max.h"
#include "room/cpu_stat.h"
#include "room/group_file.h"
#include "room/io_devices.h"
#include "room/io_max.h"
#include "room/io_stat.h"
#include "room/machine_cpus.h"
#include "room/memory_events.h"
#include "room/memory_limit.h"
#include "room/memory_stat.h"
#include "room/vmstat.h"

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
static int read_limited_devices(int dirfd, struct hr_stall_devices *devices)
{
    struct hr_stall_devices limited = {0}, done;

    int status = hr_io_max_read(dirfd, &limited);
    if (status == 0 || status == -ENOENT) /* a kernel without CONFIG_BLK_DEV_THROTTLING */
        status = hr_io_stat_read(dirfd, &limited, &done);
    if (status < 0)
        return status;
    for (size_t i = 0; i < limited.count; i++)
        memcpy(limited.list[i].done, done.list[i].done, sizeof(done.list[i].done));
    *devices = limited;
    return 0;
}

static int read_io_level(int dirfd, int version, struct hr_stall_level *level)
{
    return version == 2 ? read_limited_devices(dirfd, &level->io) : -ENOENT;
}

/* Adds the devices without a limit, as far as there is room. */
static int read_own_devices(int dirfd, struct hr_stall_devices *devices)
{
    struct hr_stall_devices all;

    int status = hr_io_stat_read(dirfd, NULL, &all);
    for (size_t i = 0; status == 0 && i < all.count; i++) {
        const struct hr_stall_device *found = &all.list[i];
        if (hr_io_devices_find(devices, found->major, found->minor) != NULL)
            continue;
        struct hr_stall_device *added = hr_io_devices_add(devices, found->major, found->minor);
        if (added != NULL)
            *added = *found;
    }
    return status;
}

static const struct {
    const char *controller;
    const char *file; /* see hr_group_directory_open() */
    int (*read_level)(int dirfd, int version, struct hr_stall_level *level);
} of_resource[HR_PSI_RESOURCE_COUNT] = {
    [HR_PSI_CPU] = {"cpu", "cpu.max", read_cpu_level},
    [HR_PSI_MEMORY] = {"memory", "memory.max", read_memory_level},
    [HR_PSI_IO] = {"io", "io.stat", read_io_level},
};

/* --- A group and those above it -------------------------------------------- */

static size_t count_levels(const char *path)
{
    size_t count = 1;

    for (; *path != '\0'; path++)
        count += *path == '/';
    return count < HR_STALL_LEVELS ? count : HR_STALL_LEVELS;
}

static int read_levels(const struct hr_root *root, const struct hr_cgroup *group,
                       enum hr_psi_resource resource, struct hr_stall_counters *counters)
{
    int version;
    /* With a path too long to name groups above, only its own limit is read. */
    size_t count = counters->group[0] == '\0' ? 1 : count_levels(group->path);

    int dirfd = hr_group_directory_open(root, group, of_resource[resource].controller,
                                        of_resource[resource].file, &version);
    if (dirfd < 0)
        return dirfd;
    for (size_t i = 0; i < count && dirfd >= 0; i++) {
        struct hr_stall_level *level = &counters->level[i];
        level->known = of_resource[resource].read_level(dirfd, version, level) == 0;
        if (i == 0 && resource == HR_PSI_MEMORY)
            counters->has_refaults = hr_memory_stat_read(dirfd, &counters->refault_count) == 0;
        if (i == 0 && resource == HR_PSI_IO && level->known)
            level->known = read_own_devices(dirfd, &level->io) == 0;
        dirfd = hr_group_directory_ascend(dirfd);
    }
    if (dirfd >= 0)
        close(dirfd);
    return 0;
}

/* --- Around it ------------------------------------------------------------- */

static void read_cpu_full(const struct hr_cgroup *group, struct hr_stall_counters *counters)
{
    const struct hr_psi_target target = {.group = group};
    struct hr_psi_sample sample;

    int fd = hr_psi_file_open(&target, HR_PSI_CPU, -1, O_RDONLY);
    if (fd < 0)
        return;
    if (hr_psi_file_read(fd, &target, HR_PSI_CPU, &sample) == 0) {
        const struct hr_psi_stall *full = &sample.stall[HR_PSI_FULL];
        counters->has_cpu_full = full->present;
        counters->cpu_full_us = full->total_us;
    }
    close(fd);
}

static void read_reclaim(const struct hr_root *root, const struct hr_cgroup *group,
                         struct hr_stall_counters *counters)
{
    struct hr_vmstat vmstat;

    counters->has_reclaim = hr_vmstat_read(root, &vmstat) == 0;
    if (!counters->has_reclaim)
        return;
    counters->direct_reclaim_count = vmstat.direct_reclaim_count;
    counters->kswapd_page_count = vmstat.kswapd_page_count;
    if (group != NULL)
        return; /* its own are read with its limits */
    counters->has_refaults = true;
    counters->refault_count = vmstat.refault_count;
}

static void read_machine_io(const struct hr_root *root, struct hr_stall_counters *counters)
{
    int mount = hr_root_open_cgroup2(root);

    if (mount < 0)
        return;
    counters->has_machine_io =
        hr_io_stat_read(mount, &counters->level[0].io, &counters->machine_io) == 0;
    close(mount);
}

static void read_machine(const struct hr_root *root, const struct hr_cgroup *group,
                         enum hr_psi_resource resource, struct hr_stall_counters *counters)
{
    switch (resource) {
    case HR_PSI_CPU:
        hr_machine_cpus_read(root, &counters->cpus);
        if (group != NULL)
            read_cpu_full(group, counters);
        break;
    case HR_PSI_MEMORY:
        read_reclaim(root, group, counters);
        break;
    case HR_PSI_IO:
        if (counters->level[0].known)
            read_machine_io(root, counters);
        break;
    case HR_PSI_IRQ:
    case HR_PSI_RESOURCE_COUNT:
        break;
    }
}

int hr_stall_counters_read(const struct hr_root *root, const struct hr_cgroup *group,
                           enum hr_psi_resource resource, struct hr_stall_counters *counters)
{
    int status = 0;

    memset(counters, 0, sizeof(*counters));
    counters->time_ns = hr_clock_ns();
    if (resource >= HR_PSI_IRQ)
        return 0;
    if (group != NULL) {
        if (strlen(group->path) < sizeof(counters->group))
            strcpy(counters->group, group->path);
        status = read_levels(root, group, resource, counters);
    }
    read_machine(root, group, resource, counters);
    return status == -ENODEV ? status : 0;
}
