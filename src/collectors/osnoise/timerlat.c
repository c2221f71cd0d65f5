/* SPDX-License-Identifier: MIT */
#include "osnoise/timerlat.h"

#include <errno.h>
#include <stdlib.h>

static const char *const context_names[HR_OSNOISE_CONTEXT_COUNT] = {
    [HR_OSNOISE_TIMER_IRQ] = "irq",
    [HR_OSNOISE_TIMER_THREAD] = "thread",
};

const char *hr_osnoise_context_name(enum hr_osnoise_context context)
{
    return context_names[context];
}

/* --- Latencies ------------------------------------------------------------ */

/* Above 2^i, up to twice that. */
static unsigned bucket_of(uint64_t ns)
{
    return ns < 2 ? 0 : 63 - (unsigned)__builtin_clzll(ns - 1);
}

static void count_latency(struct hr_osnoise_latency *latency, uint64_t ns)
{
    if (latency->count == 0 || ns < latency->min_ns)
        latency->min_ns = ns;
    if (ns > latency->max_ns)
        latency->max_ns = ns;
    latency->last_ns = ns;
    latency->count++;
    latency->sum_ns += ns;
    latency->buckets[bucket_of(ns)]++;
}

void hr_osnoise_latency_add(struct hr_osnoise_latency *sum, const struct hr_osnoise_latency *later)
{
    if (later->count == 0)
        return;
    if (sum->count == 0 || later->min_ns < sum->min_ns)
        sum->min_ns = later->min_ns;
    if (later->max_ns > sum->max_ns)
        sum->max_ns = later->max_ns;
    sum->last_ns = later->last_ns;
    sum->count += later->count;
    sum->sum_ns += later->sum_ns;
    for (size_t i = 0; i < HR_OSNOISE_LATENCY_BUCKETS; i++)
        sum->buckets[i] += later->buckets[i];
}

/* --- CPUs ----------------------------------------------------------------- */

struct hr_osnoise_timerlat {
    struct hr_osnoise_cpu_latencies *reported; /* the second half of all */
    struct hr_osnoise_cpu_latencies all[];     /* by place */
};

int hr_osnoise_timerlat_open(size_t cpu_count, struct hr_osnoise_timerlat **timerlat)
{
    struct hr_osnoise_timerlat *made =
        calloc(1, sizeof(*made) + 2 * cpu_count * sizeof(made->all[0]));

    if (made == NULL)
        return -ENOMEM;
    made->reported = &made->all[cpu_count];
    *timerlat = made;
    return 0;
}

void hr_osnoise_timerlat_close(struct hr_osnoise_timerlat *timerlat)
{
    free(timerlat);
}

void hr_osnoise_timerlat_clear(struct hr_osnoise_timerlat *timerlat, size_t place)
{
    timerlat->all[place] = (struct hr_osnoise_cpu_latencies){0};
}

/* The kernel computes the time since then without a sign. */
static bool is_before_its_time(uint64_t ns)
{
    return ns > INT64_MAX;
}

void hr_osnoise_timerlat_add_record(struct hr_osnoise_timerlat *timerlat, size_t place,
                                    const struct hr_osnoise_record *record)
{
    const uint64_t context = record->latency.context;

    if (context < HR_OSNOISE_CONTEXT_COUNT && !is_before_its_time(record->latency.ns))
        count_latency(&timerlat->all[place].of[context], record->latency.ns);
}

uint64_t hr_osnoise_timerlat_period_count(const struct hr_osnoise_timerlat *timerlat, size_t place)
{
    return timerlat->all[place].of[HR_OSNOISE_TIMER_THREAD].count;
}

const struct hr_osnoise_cpu_latencies *
hr_osnoise_timerlat_take(struct hr_osnoise_timerlat *timerlat, const struct hr_osnoise_cpu *rows,
                         const struct hr_osnoise_cpu *reported, size_t reported_count)
{
    for (size_t i = 0, place = 0; i < reported_count; i++) {
        while (rows[place].cpu != reported[i].cpu)
            place++;
        timerlat->reported[i] = timerlat->all[place];
        timerlat->reported[i].cpu = reported[i].cpu;
    }
    return timerlat->reported;
}
