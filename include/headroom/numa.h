/* SPDX-License-Identifier: MIT */
/*
 * headroom/numa.h - which CPUs are near the same memory.
 *
 * Source: /sys/devices/system/node (Documentation/ABI/stable/sysfs-devices-node).
 */
#ifndef HEADROOM_NUMA_H
#define HEADROOM_NUMA_H

#include "headroom/cpu_set.h"

struct hr_root;

struct hr_numa_node {
    unsigned number;
    struct hr_cpu_set cpus; /**< those that are online */
};

/** All zeros is none. */
struct hr_numa {
    struct hr_numa_node *nodes; /**< those with CPUs, by number; owned */
    size_t count, capacity;
};

/**
 * Reads the nodes. A kernel without NUMA has none.
 *
 * @param numa  empty; the caller frees it with hr_numa_free().
 * @return 0, -ENOMEM, -EBADMSG, -ERANGE, or the negative errno of open(2) and read(2); then it has
 *         none.
 */
int hr_numa_read(const struct hr_root *root, struct hr_numa *numa);

/** Frees what it holds, and empties it. */
void hr_numa_free(struct hr_numa *numa);

#endif
