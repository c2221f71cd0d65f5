/* SPDX-License-Identifier: MIT */
/*
 * osnoise/buffers.h - the kernel's buffers for records, one a CPU of an instance: no larger than
 * needed.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_BUFFERS_H
#define HEADROOM_COLLECTORS_OSNOISE_BUFFERS_H

#include "osnoise/instance.h"

/**
 * Sets the sizes of all.
 *
 * @param occupied  receives the CPUs, of those that a run may disturb, on which a real-time task
 *                  leaves ordinary threads no time.
 * @return 0 or a negative errno, with the reason. -EBUSY: with has_workload, a real-time task
 *         leaves no time on a CPU to record; without, such a CPU keeps its large buffer.
 */
int hr_osnoise_buffers_set(const struct hr_tracefs *tracefs, const char *instance,
                           const struct hr_osnoise_plan *plan, struct hr_cpu_set *occupied,
                           struct hr_reason *reason);

/**
 * Sets the sizes of CPUs that have come online since. One on which a real-time task leaves no time
 * keeps what the kernel has given it, after two seconds.
 *
 * @return 0 or a negative errno.
 */
int hr_osnoise_buffers_resize(const struct hr_tracefs *tracefs, const char *instance,
                              const struct hr_osnoise_plan *plan, const struct hr_cpu_set *cpus);

#endif
