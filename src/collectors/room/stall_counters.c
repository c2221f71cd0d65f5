/* SPDX-License-Identifier: MIT */
/*
 * room/stall_counters.c - reads the counters by which a stall is attributed to its causes, of a
 * group and those above it.
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
#include "room/disk_stack.h"
#include "room/disk_stat.h"
#include "room/group_file.h"
#include "room/io_devices.h"
#include "room/io_stat.h"
#include "room/machine_cpus.h"
#include "room/memory_stat.h"
#include "room/stall_limits.h"
#include "room/vmstat.h"

/* Adds the devices without a limit, as far as there is room. */
static int read_own_devices(const struct hr_root *root, int dirfd, struct hr_stall_devices *devices,
                            uint64_t *bytes)
{
    struct hr_stall_devices all;

    int status = hr_io_stat_read_own(root, dirfd, &all, bytes);
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
    const char *controller; /* of version 1; of cgroup2 the file says it */
    const char *file;       /* see hr_group_directory_open() */
} of_resource[HR_PSI_RESOURCE_COUNT] = {
    [HR_PSI_CPU] = {"cpu", "cpu.max"},
    [HR_PSI_MEMORY] = {"memory", "memory.max"},
    [HR_PSI_IO] = {"blkio", "io.stat"},
};

static const struct hr_stall_memory without_limits = {.high_bytes = HR_STALL_NO_LIMIT,
                                                      .max_bytes = HR_STALL_NO_LIMIT};

/* --- A group and those above it -------------------------------------------- */

static void read_group_memory(int dirfd, struct hr_stall_counters *counters)
{
    struct hr_memory_stat stat;

    if (hr_memory_stat_read(dirfd, &stat) < 0)
        return;
    counters->has_refaults = true;
    counters->refault_count = stat.refault_count;
    counters->has_own_kswapd = stat.has_kswapd;
    counters->kswapd_page_count = stat.kswapd_page_count;
}

/* What is read of the group alone. */
static void read_own(const struct hr_root *root, int dirfd, int version,
                     enum hr_psi_resource resource, struct hr_stall_counters *counters)
{
    struct hr_stall_level *own = &counters->level[0];

    if (counters->group[0] != '\0') /* else limits above aren't known */
        hr_stall_limits_read_below(dirfd, version, resource, &counters->below);
    if (resource == HR_PSI_MEMORY)
        read_group_memory(dirfd, counters);
    if (resource == HR_PSI_IO && version == 2 && own->known)
        own->known = read_own_devices(root, dirfd, &own->io, &counters->rereads.own_bytes) == 0;
}

/* Version 1's limits of I/O don't hold for groups below. With a path too long to name groups above,
 * only its own limit is read. */
static size_t count_limits(const struct hr_stall_counters *counters, int version,
                           enum hr_psi_resource resource)
{
    if (counters->group[0] == '\0' || (resource == HR_PSI_IO && version == 1))
        return 1;
    return hr_group_count_levels(counters->group, HR_STALL_LEVELS);
}

static int read_levels(const struct hr_root *root, const struct hr_cgroup *group,
                       enum hr_psi_resource resource, struct hr_stall_counters *counters)
{
    const char *controller = of_resource[resource].controller;
    int version;

    int dirfd = hr_group_directory_open(root, NULL, group, controller, of_resource[resource].file,
                                        &version);
    if (dirfd < 0) {
        counters->below.known = hr_group_is_at_top(root, group, controller);
        return dirfd;
    }
    const bool is_deep = hr_group_count_levels(group->path, HR_STALL_LEVELS + 1) > HR_STALL_LEVELS;
    size_t count = count_limits(counters, version, resource);
    for (size_t i = 0; i < count && dirfd >= 0; i++) {
        hr_stall_limits_read(dirfd, version, resource, &counters->level[i]);
        if (i == 0)
            read_own(root, dirfd, version, resource, counters);
        dirfd = hr_group_directory_ascend(dirfd);
    }
    if (dirfd >= 0)
        close(dirfd);
    if (is_deep) /* a limit that isn't read may be why, rather than others */
        counters->below.known = false;
    return 0;
}

/* What the group reads again for lack of memory, and the limits of memory that may be why. */
static void read_rereads(const struct hr_root *root, const struct hr_cgroup *group,
                         struct hr_stall_counters *counters)
{
    struct hr_stall_rereads *rereads = &counters->rereads;
    struct hr_memory_stat stat;
    struct hr_vmstat vmstat;

    int dirfd =
        hr_group_directory_open(root, NULL, group, "memory", "memory.max", &rereads->version);
    if (dirfd < 0)
        return;
    rereads->known = hr_memory_stat_read(dirfd, &stat) == 0 && hr_vmstat_read(root, &vmstat) == 0;
    for (size_t i = 0; i < count_limits(counters, rereads->version, HR_PSI_MEMORY) && dirfd >= 0;
         i++) {
        struct hr_stall_level level = {0};
        hr_stall_limits_read(dirfd, rereads->version, HR_PSI_MEMORY, &level);
        rereads->memory[i] = level.known ? level.memory : without_limits;
        dirfd = hr_group_directory_ascend(dirfd);
    }
    if (dirfd >= 0)
        close(dirfd);
    if (!rereads->known)
        return;
    rereads->refault_bytes = stat.refault_count * (uint64_t)sysconf(_SC_PAGESIZE);
    rereads->zswap_bytes = stat.zswap_count * (uint64_t)sysconf(_SC_PAGESIZE);
    rereads->machine_bytes = vmstat.moved_kib << 10;
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
    if (!counters->has_own_kswapd)
        counters->kswapd_page_count = vmstat.memory.kswapd_page_count;
    if (group != NULL)
        return; /* its own are read with its limits */
    counters->has_refaults = true;
    counters->refault_count = vmstat.memory.refault_count;
    counters->machine_page_count = vmstat.machine_page_count;
    counters->limit_page_count = vmstat.limit_page_count;
}

/* A request of a device that is made of others is under way for as long as theirs. */
static int read_request_ms(const struct hr_root *root, struct hr_stall_device *device)
{
    if (hr_disk_is_counted_twice(root, device->major, device->minor))
        return 0;
    return hr_disk_stat_read(root, device->major, device->minor, &device->request_ms);
}

static void read_machine_io(const struct hr_root *root, struct hr_stall_counters *counters)
{
    int mount = hr_root_open_cgroup2(root);

    if (mount < 0)
        return;
    counters->has_machine_io =
        hr_io_stat_read(mount, &counters->level[0].io, &counters->machine_io) == 0;
    close(mount);
    for (size_t i = 0; counters->has_machine_io && i < counters->machine_io.count; i++)
        counters->has_machine_io = read_request_ms(root, &counters->machine_io.list[i]) == 0;
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
    counters->below.known = group == NULL;
    if (group != NULL) {
        if (strlen(group->path) < sizeof(counters->group))
            strcpy(counters->group, group->path);
        status = read_levels(root, group, resource, counters);
        if (resource == HR_PSI_IO && status != -ENODEV)
            read_rereads(root, group, counters);
    }
    read_machine(root, group, resource, counters);
    return status == -ENODEV ? status : 0;
}
