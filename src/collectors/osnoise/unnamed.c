/* SPDX-License-Identifier: MIT */
#include "osnoise/unnamed.h"

#include <string.h>

#include "headroom/array.h"

/* By how much a CPU's sum exceeds its names since the beginning; and how much of that was taken. */
struct hr_osnoise_excess {
    int64_t count, duration_ns;
    int64_t taken_count, taken_ns;
};

int hr_osnoise_unnamed_reserve(struct hr_osnoise_unnamed *unnamed, unsigned cpu)
{
    if (cpu < unnamed->cpu_end)
        return 0;
    if (HR_ARRAY_RESERVE(unnamed->cpus, unnamed->cpu_capacity, (size_t)cpu + 1) < 0)
        return -ENOMEM;
    memset(unnamed->cpus + unnamed->cpu_end, 0,
           (cpu + 1 - unnamed->cpu_end) * sizeof(*unnamed->cpus));
    unnamed->cpu_end = cpu + 1;
    return 0;
}

void hr_osnoise_unnamed_end(struct hr_osnoise_unnamed *unnamed)
{
    free(unnamed->cpus);
    *unnamed = (struct hr_osnoise_unnamed){0};
}

/* Sums of any numbers, as the kernel's are: they may wrap. */
static void add(int64_t *sum, uint64_t more, bool is_sum)
{
    *sum = (int64_t)(is_sum ? (uint64_t)*sum + more : (uint64_t)*sum - more);
}

void hr_osnoise_unnamed_add(struct hr_osnoise_unnamed *unnamed, unsigned cpu, bool is_sum,
                            uint64_t count, uint64_t duration_ns)
{
    if (cpu >= unnamed->cpu_end)
        return;
    add(&unnamed->cpus[cpu].count, count, is_sum);
    add(&unnamed->cpus[cpu].duration_ns, duration_ns, is_sum);
}

/* Only more than ever before is new. @return how much that is. */
static uint64_t take_increase(int64_t now, int64_t *taken)
{
    if (now <= *taken)
        return 0;
    uint64_t increase = (uint64_t)now - (uint64_t)*taken;
    *taken = now;
    return increase;
}

bool hr_osnoise_unnamed_take(struct hr_osnoise_unnamed *unnamed, unsigned cpu, uint64_t *count,
                             uint64_t *duration_ns)
{
    struct hr_osnoise_excess *excess = &unnamed->cpus[cpu];

    *count = take_increase(excess->count, &excess->taken_count);
    *duration_ns = take_increase(excess->duration_ns, &excess->taken_ns);
    return *count > 0 || *duration_ns > 0;
}

void hr_osnoise_unnamed_reset(struct hr_osnoise_unnamed *unnamed)
{
    if (unnamed->cpu_end > 0)
        memset(unnamed->cpus, 0, unnamed->cpu_end * sizeof(*unnamed->cpus));
}
