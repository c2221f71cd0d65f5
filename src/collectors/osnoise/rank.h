/* SPDX-License-Identifier: MIT */
/*
 * osnoise/rank.h - the rank of the workload's threads before other tasks. The kernel starts those
 * of osnoise as ordinary tasks, which take their runtime from what runs there, and those of
 * timerlat with SCHED_FIFO 95.
 *
 * Source: kernel/trace/trace_osnoise.c (the names of threads: "osnoise/3", "timerlat/3").
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_RANK_H
#define HEADROOM_COLLECTORS_OSNOISE_RANK_H

#include "headroom/cpu_set.h"
#include "headroom/priority.h"

struct hr_root;

/**
 * Gives the threads of some CPUs that rank; those that have it already are left alone. To be called
 * again when the kernel has started others, as for a CPU that came online.
 *
 * @return how many there are; or the first negative errno: -EPERM, which takes CAP_SYS_NICE; or of
 *         reading /proc.
 */
int hr_osnoise_rank_workload(const struct hr_root *root, const struct hr_cpu_set *cpus,
                             const struct hr_priority *priority);

/**
 * Makes those threads of some CPUs ordinary tasks again that run only if nothing else does, and
 * gives those of a real-time rank the highest one. To be called before they are stopped: the kernel
 * waits for the end of each with its lock of tracers held, and that of CPUs' coming and going,
 * which a busy CPU could delay by seconds or more; what polls at a higher rank, for ever.
 */
void hr_osnoise_let_workload_end(const struct hr_root *root, const struct hr_cpu_set *cpus);

#endif
