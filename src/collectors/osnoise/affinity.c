/* SPDX-License-Identifier: MIT */
#include "osnoise/affinity.h"

#include <pthread.h>
#include <string.h>

/* Whatever others have set meanwhile is where it may run. */
static bool find_allowed(struct hr_osnoise_affinity *affinity)
{
    cpu_set_t now[HR_CPU_MAX / CPU_SETSIZE];

    CPU_ZERO_S(sizeof(now), now);
    if (pthread_getaffinity_np(pthread_self(), sizeof(now), now) != 0)
        return false;
    if (!affinity->is_moved || !CPU_EQUAL_S(sizeof(now), now, affinity->moved))
        memcpy(affinity->before, now, sizeof(now));
    return true;
}

/* Unless none would be left. */
static void leave_out(struct hr_osnoise_affinity *affinity, const struct hr_cpu_set *cpus)
{
    const size_t size = sizeof(affinity->moved);
    cpu_set_t left[HR_CPU_MAX / CPU_SETSIZE];

    memcpy(left, affinity->moved, size);
    for (unsigned cpu = hr_cpu_set_next(cpus, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(cpus, cpu + 1))
        CPU_CLR_S(cpu, size, left);
    if (CPU_COUNT_S(size, left) > 0)
        memcpy(affinity->moved, left, size);
}

void hr_osnoise_affinity_avoid(struct hr_osnoise_affinity *affinity, const struct hr_cpu_set *cpus,
                               const struct hr_cpu_set *occupied, const struct hr_cpu_set *isolated)
{
    const size_t size = sizeof(affinity->before);

    if (!find_allowed(affinity))
        return;
    memcpy(affinity->moved, affinity->before, size);
    leave_out(affinity, occupied);
    leave_out(affinity, isolated);
    leave_out(affinity, cpus);
    affinity->is_moved = pthread_setaffinity_np(pthread_self(), size, affinity->moved) == 0;
}
