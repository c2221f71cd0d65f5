/* SPDX-License-Identifier: MIT */
/*
 * perf/cpus.h - which CPUs are online, and which were offline since the previous read. CPUs that
 * aren't chosen are left out, as if they were never online.
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

#include "headroom/cpu_choice.h"

struct hr_root;

struct hr_perf_cpu {
    unsigned number;
    bool online;
    unsigned epoch; /**< incremented each time it comes online */
    uint64_t inode; /**< of its directory "topology"; 0: unknown */
};

/** Chosen CPUs that were ever online, in the order in which they were first seen; indexes are
 * stable. */
struct hr_perf_cpus {
    int dirfd; /**< /sys/devices/system/cpu, or -1 */
    struct hr_cpu_choice choice;
    bool is_choice_known;       /**< `chosen` is set */
    struct hr_cpu_set chosen;   /**< of all CPUs, be they there or not */
    struct hr_cpu_set online;   /**< and chosen */
    struct hr_cpu_set left_out; /**< online, but not chosen */
    unsigned generation;        /**< another one after each change, of those left out, too */
    struct hr_perf_cpu *list;
    size_t count;
    size_t capacity;
};

/** Initialises an empty list. */
void hr_perf_cpus_init(struct hr_perf_cpus *cpus, const struct hr_cpu_choice *choice);

void hr_perf_cpus_end(struct hr_perf_cpus *cpus);

/** Reads which CPUs are online; at first also which are isolated, if that matters. @return 0,
 * -EBADMSG, -ENOMEM, or the negative errno of reading; the list is then unchanged. */
int hr_perf_cpus_read(struct hr_perf_cpus *cpus, const struct hr_root *root);

#endif
