/* SPDX-License-Identifier: MIT */
/*
 * perf/cpus.h - which CPUs are online, and which were offline since the previous read.
 *
 * When a CPU goes offline, the kernel removes its events for good, though they can still be read. A
 * CPU that went offline and came back between two reads is detected by the inode number of its
 * directory "topology", which the kernel recreates when the CPU comes online
 * (drivers/base/topology.c). Reading an event of the CPU would also show it, but wakes the CPU.
 */
#ifndef HEADROOM_COLLECTORS_PERF_CPUS_H
#define HEADROOM_COLLECTORS_PERF_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/cpu_set.h"

struct hr_root;

struct hr_perf_cpu {
    unsigned number;
    bool online;
    unsigned epoch; /**< incremented each time it comes online */
    uint64_t inode; /**< of its directory "topology"; 0: unknown */
};

/** CPUs that were ever online, in the order in which they were first seen; indexes are stable. */
struct hr_perf_cpus {
    int dirfd; /**< /sys/devices/system/cpu, or -1 */
    struct hr_cpu_set online;
    unsigned generation; /**< incremented with each change */
    struct hr_perf_cpu *list;
    size_t count;
    size_t capacity;
};

/** Initialises an empty list. */
void hr_perf_cpus_init(struct hr_perf_cpus *cpus);

void hr_perf_cpus_end(struct hr_perf_cpus *cpus);

/** Reads which CPUs are online. @return 0, -EBADMSG, -ENOMEM, or the negative errno of reading; the
 * list is then unchanged. */
int hr_perf_cpus_read(struct hr_perf_cpus *cpus, const struct hr_root *root);

#endif
