/* SPDX-License-Identifier: MIT */
/*
 * headroom/task_cpus.h - on which CPUs the tasks of a group may run, by their affinity and its
 * cpuset.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_TASK_CPUS_H
#define HEADROOM_PLUGIN_HEADROOM_TASK_CPUS_H

#include "headroom/takers.h"

/** How many threads are read in an interval: what the read callback takes for it, some 15 ms. */
#define TASK_CPUS_THREADS 1024

/**
 * Finds these. Affinities are read of each task, so it is for alarms rather than for intervals.
 *
 * @param takers  of this interval.
 * @param cpus    receives them; untouched on failure.
 * @return how many they are; 0: that isn't known, as where no task is left, or there are more
 * threads than are read, and its cpuset has all CPUs of the machine.
 */
size_t task_cpus_find(struct takers *takers, const struct subject *subject,
                      struct hr_cpu_set *cpus);

#endif
