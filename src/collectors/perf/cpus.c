/* SPDX-License-Identifier: MIT */
#include "perf/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/array.h"
#include "headroom/root.h"

void hr_perf_cpus_init(struct hr_perf_cpus *cpus, const struct hr_cpu_choice *choice)
{
    /* Unlike that of a target, which was never opened. */
    *cpus = (struct hr_perf_cpus){.dirfd = -1, .choice = *choice, .generation = 1};
}

void hr_perf_cpus_end(struct hr_perf_cpus *cpus)
{
    hr_descriptor_close(&cpus->dirfd);
    free(cpus->list);
}

static int read_online(int dirfd, struct hr_cpu_set *online)
{
    char text[4096];
    size_t length;
    int fd = openat(dirfd, "online", O_RDONLY | O_CLOEXEC);

    int status = hr_text_read_and_close(fd < 0 ? -errno : fd, text, sizeof(text), &length);
    return status < 0 ? status : hr_cpu_set_parse(text, length, online);
}

static int find_chosen(struct hr_perf_cpus *cpus, const struct hr_root *root)
{
    int status = cpus->is_choice_known ? 0 : hr_cpu_choice_find(&cpus->choice, root, &cpus->chosen);

    cpus->is_choice_known = status == 0;
    return status;
}

/* Splits those that are online into those that are chosen and the others: also where only one of
 * these comes or goes, events may be counted on other CPUs, as those of its package. */
static void leave_out(struct hr_perf_cpus *cpus, struct hr_cpu_set *online)
{
    struct hr_cpu_set left_out = *online;

    hr_cpu_set_keep(online, &cpus->chosen);
    hr_cpu_set_remove(&left_out, online);
    cpus->generation += memcmp(&left_out, &cpus->left_out, sizeof(left_out)) != 0;
    cpus->left_out = left_out;
}

static uint64_t read_topology_inode(int dirfd, unsigned number)
{
    struct stat about;
    char path[40];

    snprintf(path, sizeof(path), "cpu%u/topology", number);
    return fstatat(dirfd, path, &about, 0) == 0 ? about.st_ino : 0;
}

static struct hr_perf_cpu *find_cpu(const struct hr_perf_cpus *cpus, unsigned number)
{
    for (size_t i = 0; i < cpus->count; i++)
        if (cpus->list[i].number == number)
            return &cpus->list[i];
    return NULL;
}

static struct hr_perf_cpu *append_cpu(struct hr_perf_cpus *cpus, unsigned number)
{
    if (HR_ARRAY_RESERVE(cpus->list, cpus->capacity, cpus->count + 1) < 0)
        return NULL;
    struct hr_perf_cpu *cpu = &cpus->list[cpus->count++];
    *cpu = (struct hr_perf_cpu){.number = number};
    return cpu;
}

static int append_new_cpus(struct hr_perf_cpus *cpus, const struct hr_cpu_set *online)
{
    unsigned number = hr_cpu_set_next(online, 0);

    for (; number < HR_CPU_MAX; number = hr_cpu_set_next(online, number + 1))
        if (!hr_cpu_set_has(&cpus->online, number) && find_cpu(cpus, number) == NULL &&
            append_cpu(cpus, number) == NULL)
            return -ENOMEM;
    return 0;
}

/* @return whether the CPU went offline or came online. */
static bool update_cpu(struct hr_perf_cpu *cpu, bool online, uint64_t inode)
{
    const bool was_online = cpu->online;
    bool was_offline = inode != 0 && cpu->inode != 0 && inode != cpu->inode;

    if (online && (!was_online || was_offline))
        cpu->epoch++;
    cpu->online = online;
    if (inode != 0)
        cpu->inode = inode;
    return online != was_online || was_offline;
}

int hr_perf_cpus_read(struct hr_perf_cpus *cpus, const struct hr_root *root)
{
    struct hr_cpu_set online;

    if (cpus->dirfd < 0) {
        int fd = hr_root_openat(root, "sys/devices/system/cpu", O_RDONLY | O_DIRECTORY);
        if (fd < 0)
            return fd;
        cpus->dirfd = fd;
    }
    int status = read_online(cpus->dirfd, &online);
    if (status == 0)
        status = find_chosen(cpus, root);
    if (status < 0)
        return status;
    leave_out(cpus, &online);
    status = append_new_cpus(cpus, &online);
    if (status < 0)
        return status;
    cpus->online = online;
    for (size_t i = 0; i < cpus->count; i++) {
        struct hr_perf_cpu *cpu = &cpus->list[i];
        bool is_online = hr_cpu_set_has(&online, cpu->number);
        uint64_t inode = is_online ? read_topology_inode(cpus->dirfd, cpu->number) : 0;
        cpus->generation += update_cpu(cpu, is_online, inode);
    }
    return 0;
}
