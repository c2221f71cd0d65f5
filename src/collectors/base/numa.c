/* SPDX-License-Identifier: MIT */
#include "headroom/numa.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "headroom/array.h"

#define FOLDER "sys/devices/system/node"

/* One that went meanwhile has no CPUs. */
static int read_node(const struct hr_root *root, unsigned number, struct hr_numa *numa)
{
    struct hr_numa_node node = {.number = number};
    char path[sizeof(FOLDER "/node/cpulist") + 10];

    snprintf(path, sizeof(path), FOLDER "/node%u/cpulist", number);
    int status = hr_cpu_set_read(root, path, &node.cpus);
    if (status == -ENOENT || (status == 0 && hr_cpu_set_count(&node.cpus) == 0))
        return 0;
    if (status == 0)
        status = HR_ARRAY_RESERVE(numa->nodes, numa->capacity, numa->count + 1);
    if (status == 0)
        numa->nodes[numa->count++] = node;
    return status;
}

int hr_numa_read(const struct hr_root *root, struct hr_numa *numa)
{
    struct hr_cpu_set online = {{0}}; /* of nodes, whose lists are written alike */
    int status = hr_cpu_set_read(root, FOLDER "/online", &online);

    if (status == -ENOENT)
        return 0;
    for (unsigned number = hr_cpu_set_next(&online, 0); status == 0 && number < HR_CPU_MAX;
         number = hr_cpu_set_next(&online, number + 1))
        status = read_node(root, number, numa);
    if (status != 0)
        hr_numa_free(numa);
    return status;
}

void hr_numa_free(struct hr_numa *numa)
{
    free(numa->nodes);
    *numa = (struct hr_numa){0};
}
