/* SPDX-License-Identifier: MIT */
#include "osnoise/buffers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/reason.h"
#include "osnoise/instance_file.h"
#include "osnoise/reachable_cpus.h"

/* A new instance has 1.4 MB for each CPU, which is enough for any period. Recording single noises
 * with all their interferences takes as much each second as there is noise. */
#define SMALL_KB         16
#define SINGLE_NOISES_KB 128
#define MOST_KB          1408

/* Works of kworkers are recorded all the time, by 28 bytes: 9,000 a second. */
#define CAUSES_KB 256

/* The size of a sample record, or of the two of a timer; and how long samples are kept, as they are
 * read each second by a thread that may be late. */
#define SAMPLE_SIZE 64
#define KEPT_US     UINT64_C(2000000)

/* A throttled real-time task leaves the other threads 50 ms of each second. */
#define REACHABLE_TIMEOUT_NS UINT64_C(2000000000)

/* Interferences are recorded while the tracer looks for noise: what a CPU that is measured all the
 * time may need, by its share of that time. */
static uint64_t single_noises_kb(const struct hr_osnoise_plan *plan)
{
    if (plan->max_single_ns == 0)
        return SMALL_KB;
    if (plan->period_us == 0 || plan->runtime_us >= plan->period_us)
        return MOST_KB;
    uint64_t kb = (uint64_t)((double)plan->runtime_us / (double)plan->period_us * MOST_KB) + 1;
    if (kb < SINGLE_NOISES_KB)
        kb = SINGLE_NOISES_KB;
    if (plan->causes)
        kb += CAUSES_KB;
    return kb < MOST_KB ? kb : MOST_KB;
}

/* The buffer size that a measured CPU needs. */
static uint64_t needed_kb(const struct hr_osnoise_plan *plan)
{
    uint64_t kb = single_noises_kb(plan), samples_kb = 0;

    if (plan->buffer_bytes > 0)
        return plan->buffer_bytes / 1024;
    if (plan->period_us > 0)
        samples_kb = (KEPT_US / plan->period_us + 1) * SAMPLE_SIZE / 1024 + 1;
    if (samples_kb > MOST_KB)
        samples_kb = MOST_KB;
    return samples_kb > kb ? samples_kb : kb;
}

static bool is_measured(const struct hr_osnoise_plan *plan, unsigned cpu)
{
    return hr_cpu_set_count(&plan->cpus) == 0 || hr_cpu_set_has(&plan->cpus, cpu);
}

/* The tracer's threads would never run there, and stopping the tracer would wait for them forever.
 */
static int check_reachable(const struct hr_osnoise_plan *plan, const struct hr_cpu_set *occupied,
                           struct hr_reason *reason)
{
    struct hr_cpu_set unreachable = *occupied;
    char list[128] = "";

    if (!plan->has_workload)
        return 0;
    if (hr_cpu_set_count(&plan->cpus) > 0)
        hr_cpu_set_keep(&unreachable, &plan->cpus);
    if (hr_cpu_set_count(&unreachable) == 0)
        return 0;
    if (hr_cpu_set_format(&unreachable, list, sizeof(list)) < 0)
        snprintf(list, sizeof(list), "%u and others", hr_cpu_set_next(&unreachable, 0));
    return hr_reason_set(reason, -EBUSY,
                         "a real-time task leaves the kernel no time on CPU %s, where its tracer "
                         "could neither measure nor be stopped: leave that CPU out, or use the "
                         "sources mode, which runs no thread there",
                         list);
}

static struct hr_cpu_set find_disturbed_cpus(const struct hr_osnoise_plan *plan)
{
    struct hr_cpu_set disturbed = {0};

    for (unsigned cpu = hr_cpu_set_next(&plan->online, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(&plan->online, cpu + 1))
        if (is_measured(plan, cpu) || !hr_cpu_set_has(&plan->isolated, cpu))
            hr_cpu_set_add(&disturbed, cpu);
    return disturbed;
}

static int resize(const struct hr_tracefs *tracefs, const char *instance,
                  const struct hr_osnoise_plan *plan, const struct hr_cpu_set *cpus)
{
    char file[64];
    int status = 0;

    for (unsigned cpu = hr_cpu_set_next(cpus, 0); status == 0 && cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(cpus, cpu + 1)) {
        snprintf(file, sizeof(file), "per_cpu/cpu%u/buffer_size_kb", cpu);
        status = hr_osnoise_instance_write_number(
            tracefs, instance, file, is_measured(plan, cpu) ? needed_kb(plan) : SMALL_KB);
        if (status == -ENOENT)
            status = 0; /* the CPU wasn't there when the instance was created */
    }
    return status;
}

/* Each CPU resizes its own buffer, in a worker that the kernel waits for unkillably: so CPUs where
 * ordinary threads get no time keep the large one. The file for all CPUs would wait for those, too.
 */
int hr_osnoise_buffers_set(const struct hr_tracefs *tracefs, const char *instance,
                           const struct hr_osnoise_plan *plan, struct hr_cpu_set *occupied,
                           struct hr_reason *reason)
{
    const struct hr_cpu_set disturbed = find_disturbed_cpus(plan);
    struct hr_cpu_set reachable;

    int status = hr_osnoise_find_reachable_cpus(&disturbed, REACHABLE_TIMEOUT_NS, &reachable);
    if (status < 0)
        return hr_reason_set(reason, status, "can't run a thread on each CPU (%s)",
                             strerror(-status));
    *occupied = disturbed;
    hr_cpu_set_remove(occupied, &reachable);
    status = check_reachable(plan, occupied, reason);
    if (status < 0)
        return status;
    status = resize(tracefs, instance, plan, &reachable);
    return status < 0 ? hr_osnoise_instance_explain(reason, status, "can't set the size of buffers")
                      : 0;
}

int hr_osnoise_buffers_resize(const struct hr_tracefs *tracefs, const char *instance,
                              const struct hr_osnoise_plan *plan, const struct hr_cpu_set *cpus)
{
    struct hr_cpu_set reachable;
    int status = hr_osnoise_find_reachable_cpus(cpus, REACHABLE_TIMEOUT_NS, &reachable);

    return status < 0 ? status : resize(tracefs, instance, plan, &reachable);
}
