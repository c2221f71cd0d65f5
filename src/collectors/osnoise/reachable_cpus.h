/* SPDX-License-Identifier: MIT */
/*
 * osnoise/reachable_cpus.h - the CPUs on which the kernel's ordinary threads get time.
 *
 * A real-time task that never sleeps may occupy a CPU (SCHED_FIFO, with throttling off:
 * kernel.sched_rt_runtime_us is -1). Work that the kernel queues there for its ordinary threads is
 * never done, and a process that waits for it can't be killed. Such work is resizing a CPU's
 * buffer, and stopping the tracer's thread there.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_REACHABLE_CPUS_H
#define HEADROOM_COLLECTORS_OSNOISE_REACHABLE_CPUS_H

#include <stdint.h>

#include "headroom/cpu_set.h"

/**
 * Tests CPUs, all at once, by a thread of ordinary priority on each, which has to run once. All
 * threads have ended at the return.
 *
 * @param cpus        the CPUs to test.
 * @param timeout_ns  how long to wait for the threads.
 * @param reachable   receives the CPUs where the thread ran; and those where it isn't allowed to
 * run, by a cpuset, or because they are offline, which says nothing about them.
 * @return 0, or a negative errno: -ENOMEM, -EAGAIN: no more threads can be created.
 */
int hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t timeout_ns,
                                   struct hr_cpu_set *reachable);

#endif
