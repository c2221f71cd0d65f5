/* SPDX-License-Identifier: MIT */
/*
 * headroom/task_cpus.h - on which CPUs the tasks of a group may run, by their affinity and its
 * cpuset.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_TASK_CPUS_H
#define HEADROOM_PLUGIN_HEADROOM_TASK_CPUS_H

#include <stdbool.h>

#include "headroom/takers.h"

/**
 * Finds these; affinities are read of each task, so it is for alarms rather than for intervals.
 *
 * @param takers  of this interval.
 * @return whether they are known, and fewer than the machine has. Where many groups begin to lack
 * CPUs in one interval, or one has very many threads, they aren't.
 */
bool task_cpus_find(struct takers *takers, const struct subject *subject, struct hr_cpu_set *cpus);

#endif
