/* SPDX-License-Identifier: MIT */
#include "support/frozen_clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "headroom/clock.h"

atomic_uint_fast64_t frozen_ns;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    const uint64_t now_ns = frozen_ns;

    if (now_ns == 0 || clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, time);
    *time = (struct timespec){(time_t)(now_ns / HR_NS_PER_S), (long)(now_ns % HR_NS_PER_S)};
    return 0;
}
