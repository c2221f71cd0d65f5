/*
 * osnoise/reachable_cpus.h - which CPUs the kernel can get work done on.
 *
 * A real-time task that never sleeps may have a CPU for itself (SCHED_FIFO, with throttling off:
 * kernel.sched_rt_runtime_us is -1). What the kernel queues there for its ordinary threads is never
 * done, and who waits for it can't be killed. Such is resizing a CPU's buffer, and ending the
 * tracer's thread there.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_REACHABLE_CPUS_H
#define HEADROOM_COLLECTORS_OSNOISE_REACHABLE_CPUS_H

#include <stdint.h>

#include "headroom/cpu_set.h"

/**
 * Tries CPUs, all at once: with a thread of ordinary priority on each, which has to run once. None
 * of them is left behind.
 *
 * @param cpus     those to be tried.
 * @param most_ns  they are waited for so long.
 * @param reached  receives those where it ran; and those where it may not run at all, which tells
 *                 nothing: by a cpuset, or as they are offline.
 * @return 0, or a negative errno: -ENOMEM, -EAGAIN: no more threads can be made.
 */
int hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t most_ns,
                                   struct hr_cpu_set *reached);

#endif
