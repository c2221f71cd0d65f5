/* SPDX-License-Identifier: MIT */
/*
 * base/scheduler_domains.h - CPUs that are in no domain of the scheduler: it moves no task there.
 *
 * Source: /sys/devices/system/cpu/isolated, of isolcpus=; and cpuset.cpus.isolated at the top of
 * cgroup2, of cpuset partitions of the type "isolated", which change at any time. See
 * Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef HEADROOM_COLLECTORS_BASE_SCHEDULER_DOMAINS_H
#define HEADROOM_COLLECTORS_BASE_SCHEDULER_DOMAINS_H

#include "headroom/cpu_set.h"
#include "headroom/root.h"

/**
 * Finds the CPUs that are in no domain of the scheduler.
 *
 * @param cpus  receives them, as far as they can be read.
 * @return 0; -EOPNOTSUPP: there may be partitions that aren't known, as before Linux 6.7, or where
 *         the top of cgroup2 can't be seen, as in a container; or another negative errno.
 */
int hr_cpus_without_domain_read(const struct hr_root *root, struct hr_cpu_set *cpus);

#endif
