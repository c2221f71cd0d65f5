/* SPDX-License-Identifier: MIT */
/*
 * osnoise/affinity.h - moving the thread that reads off the CPUs that are measured, where it would
 * be noise.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_AFFINITY_H
#define HEADROOM_COLLECTORS_OSNOISE_AFFINITY_H

#include <sched.h>
#include <stdbool.h>

#include "headroom/cpu_set.h"

/** Where a thread may run. All zeros: it was never moved. */
struct hr_osnoise_affinity {
    bool is_moved;
    cpu_set_t before[HR_CPU_MAX / CPU_SETSIZE]; /**< one large set */
    cpu_set_t moved[HR_CPU_MAX / CPU_SETSIZE];
};

/**
 * Moves the calling thread off some CPUs, and back to those that it was moved off before. If it may
 * run nowhere else, it may run where it was allowed to before; if moving fails, it stays.
 *
 * @param occupied  CPUs on which it would get no time. It is moved off these, too; before all, as a
 *                  thread that never runs can't be killed either.
 * @param isolated  CPUs of which that isn't known: it is moved off these next.
 */
void hr_osnoise_affinity_avoid(struct hr_osnoise_affinity *affinity, const struct hr_cpu_set *cpus,
                               const struct hr_cpu_set *occupied,
                               const struct hr_cpu_set *isolated);

#endif
