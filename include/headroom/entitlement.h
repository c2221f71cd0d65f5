/* SPDX-License-Identifier: MIT */
/*
 * headroom/entitlement.h - what a group is entitled to beside others that want the same: memory
 * that is protected, and its share of CPU time by weights.
 *
 * Both are read when they are called, and nothing is kept.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst ("memory.min", "memory.low", "cpu.weight"),
 * mm/page_counter.c (page_counter_calculate_protection()),
 * Documentation/scheduler/sched-design-CFS.rst ("cpu.shares").
 */
#ifndef HEADROOM_ENTITLEMENT_H
#define HEADROOM_ENTITLEMENT_H

#include <stddef.h>
#include <stdint.h>

struct hr_cgroup;
struct hr_root;

/**
 * Reads how much memory of a group the kernel spares while there is other memory to take within the
 * group `above`: memory.low as far as each group between the two has as much of it, or memory.min
 * in the same way, whichever is more. It may be less where groups within the same one set more
 * together than that one has, as they get what it has in proportion; and more where one between has
 * more, mounted with memory_recursiveprot, as what is left of it goes to those below.
 *
 * @param above  the path of a group that the group is within, "": the machine. If it is the group
 *               itself, nothing is protected.
 * @param bytes  receives it; 0 also in version 1, which has no such thing; UINT64_MAX: all.
 * @return 0; -ENOENT: the memory controller isn't enabled; -ENODEV: the group was removed;
 *         -EBADMSG; or another negative errno of open(2).
 */
int hr_memory_protection_read(const struct hr_root *root, const struct hr_cgroup *group,
                              const char *above, uint64_t *bytes);

/** One of several groups that want CPU time. */
struct hr_cpu_contender {
    const struct hr_cgroup *group;
    double fair_cpus; /**< what it gets if all of them want as much as they can get */
};

/**
 * Divides CPU time between groups by the weights of these and of those above them, cpu.weight or
 * version 1's cpu.shares.
 *
 * @param above       the path of the group that they are within, "": the machine.
 * @param cpus        what there is for all of them.
 * @param contenders  none within another, those within the same group next to each other.
 * @return 0, or why a weight isn't known, as then no share is: -ENOENT: the cpu controller isn't
 *         enabled for a group; -E2BIG: one is more than 16 levels below; -ENODEV: it was removed;
 *         -EBADMSG; -ENOMEM; or another negative errno of open(2). Shares are unchanged then.
 */
int hr_cpu_divide(const struct hr_root *root, const char *above, double cpus,
                  struct hr_cpu_contender *contenders, size_t count);

#endif
