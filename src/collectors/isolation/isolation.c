/* SPDX-License-Identifier: MIT */
#include "headroom/isolation.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/array.h"
#include "isolation/internal.h"

/* --- Sets and lists ------------------------------------------------------- */

struct hr_cpu_set hr_isolation_common(const struct hr_cpu_set *a, const struct hr_cpu_set *b)
{
    struct hr_cpu_set common = *a;

    hr_cpu_set_keep(&common, b);
    return common;
}

struct hr_cpu_set hr_isolation_without(const struct hr_cpu_set *a, const struct hr_cpu_set *b)
{
    struct hr_cpu_set rest = *a;

    hr_cpu_set_remove(&rest, b);
    return rest;
}

/* Without patterns, which programs write in another way than the kernel. */
const char *hr_isolation_list(const struct hr_cpu_set *cpus, char text[HR_ISOLATION_LIST])
{
    size_t length = 0;

    text[0] = '\0';
    for (unsigned first = hr_cpu_set_next(cpus, 0), last; first < HR_CPU_MAX;
         first = hr_cpu_set_next(cpus, last + 1)) {
        for (last = first; hr_cpu_set_has(cpus, last + 1);)
            last++;
        length +=
            (size_t)snprintf(text + length, HR_ISOLATION_LIST - length,
                             last > first ? "%s%u-%u" : "%s%u", length > 0 ? "," : "", first, last);
        if (length >= HR_ISOLATION_LIST)
            return strcpy(text, "LIST");
    }
    return text;
}

/* --- Faults --------------------------------------------------------------- */

void hr_isolation_add(struct hr_isolation_context *context, enum hr_isolation_aspect aspect,
                      const char *cause, const char *remedy_format, ...)
{
    struct hr_isolation *found = context->found;
    va_list arguments;

    if (HR_ARRAY_RESERVE(found->faults, found->fault_capacity, found->fault_count + 1) < 0) {
        context->lacks_memory = true;
        return;
    }
    struct hr_isolation_fault *fault = &found->faults[found->fault_count++];
    fault->aspect = aspect;
    snprintf(fault->cause, sizeof(fault->cause), "%s", cause);
    va_start(arguments, remedy_format);
    vsnprintf(fault->remedy, sizeof(fault->remedy), remedy_format, arguments);
    va_end(arguments);
}

void hr_isolation_free(struct hr_isolation *isolation)
{
    free(isolation->faults);
    *isolation = (struct hr_isolation){0};
}

/* --- Checking ------------------------------------------------------------- */

static int (*const checks[HR_ISOLATION_ASPECT_COUNT])(struct hr_isolation_context *context) = {
    [HR_ISOLATION_TASKS] = hr_isolation_check_tasks,
    [HR_ISOLATION_IRQS] = hr_isolation_check_irqs,
    [HR_ISOLATION_NEW_IRQS] = hr_isolation_check_new_irqs,
    [HR_ISOLATION_THREADS] = hr_isolation_check_threads,
    [HR_ISOLATION_WORKQUEUES] = hr_isolation_check_workqueues,
    [HR_ISOLATION_WATCHDOG] = hr_isolation_check_watchdog,
    [HR_ISOLATION_TICKS] = hr_isolation_check_ticks,
    [HR_ISOLATION_TIMERS] = hr_isolation_check_timers,
    [HR_ISOLATION_RCU] = hr_isolation_check_rcu,
};

static int find_cpus(struct hr_isolation_context *context, const struct hr_cpu_set *cpus,
                     struct hr_reason *reason)
{
    struct hr_cpu_set online, possible;
    int status = hr_cpu_set_read(context->root, "sys/devices/system/cpu/online", &online);

    if (status == 0)
        status = hr_cpu_set_read(context->root, "sys/devices/system/cpu/possible", &possible);
    if (status < 0)
        return hr_reason_set(reason, status,
                             "can't read which CPUs there are (online and possible in "
                             "/sys/devices/system/cpu: %s)",
                             strerror(-status));
    context->cpus = hr_isolation_common(cpus, &possible);
    context->others = hr_isolation_without(&online, cpus);
    if (hr_cpu_set_count(&context->cpus) == 0)
        return hr_reason_set(reason, -ENXIO,
                             "this machine has none of the CPUs: see "
                             "/sys/devices/system/cpu/possible");
    if (hr_cpu_set_count(&context->others) == 0)
        return hr_reason_set(reason, -ENXIO,
                             "no other CPU is online that could do what these shouldn't: leave one "
                             "out");
    return 0;
}

int hr_isolation_check(const struct hr_root *root, const struct hr_cpu_set *cpus,
                       struct hr_isolation *isolation, struct hr_reason *reason)
{
    struct hr_isolation_context context = {.root = root, .found = isolation};

    hr_reason_clear(reason);
    int status = find_cpus(&context, cpus, reason);
    if (status < 0)
        return status;
    for (int i = 0; i < HR_ISOLATION_ASPECT_COUNT; i++)
        isolation->status[i] = checks[i](&context);
    return context.lacks_memory ? hr_reason_set(reason, -ENOMEM, "out of memory") : 0;
}
