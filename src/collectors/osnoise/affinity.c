/* SPDX-License-Identifier: MIT */
/*
 * osnoise/affinity.c - moving the thread that reads off the CPUs that are measured.
 */
#include <pthread.h>
#include <sched.h>

#include "headroom/osnoise.h"

void hr_osnoise_leave_cpus(const struct hr_cpu_set *measured)
{
    cpu_set_t allowed[HR_CPU_MAX / CPU_SETSIZE]; /* one large set */

    CPU_ZERO_S(sizeof(allowed), allowed);
    if (pthread_getaffinity_np(pthread_self(), sizeof(allowed), allowed) != 0)
        return;
    for (unsigned cpu = hr_cpu_set_next(measured, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(measured, cpu + 1))
        CPU_CLR_S(cpu, sizeof(allowed), allowed);
    if (CPU_COUNT_S(sizeof(allowed), allowed) > 0)
        pthread_setaffinity_np(pthread_self(), sizeof(allowed), allowed);
}
