/* SPDX-License-Identifier: MIT */
/*
 * perf/cpus.h - the CPUs that are online, and whether they were all the time.
 *
 * When a CPU goes offline, the kernel takes the events off it for good, though they can be read on.
 * A CPU that went and came back between two looks is told by the inode number of its folder
 * "topology", which the kernel makes anew when the CPU comes online (drivers/base/topology.c).
 * Asking an event of the CPU would tell, too, but wakes it.
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
    unsigned epoch; /**< another one each time it comes online */
    uint64_t inode; /**< of its folder "topology"; 0: unknown */
};

/** CPUs that ever were online, in the order in which they came; an index stays that CPU's. */
struct hr_perf_cpus {
    int dirfd; /**< /sys/devices/system/cpu; -1 */
    struct hr_cpu_set online;
    unsigned generation; /**< another one with each change */
    struct hr_perf_cpu *list;
    size_t count;
    size_t capacity;
};

/** Knows no CPU yet. */
void hr_perf_cpus_init(struct hr_perf_cpus *cpus);

void hr_perf_cpus_end(struct hr_perf_cpus *cpus);

/** Looks which are online. @return 0, -EBADMSG, -ENOMEM, or the negative errno of reading; what was
 * known is then kept. */
int hr_perf_cpus_read(struct hr_perf_cpus *cpus, const struct hr_root *root);

#endif
