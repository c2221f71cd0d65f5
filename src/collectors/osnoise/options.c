/* SPDX-License-Identifier: MIT */
#include "headroom/clock.h"
#include "headroom/osnoise.h"

#include <errno.h>
#include <string.h>

#include "base/reason.h"
#include "osnoise/internal.h"

/* Interrupts must not be off for longer than a machine with other work can bear. */
#define MAX_INTERRUPTS_OFF_US 100000

static const char *const mode_names[HR_OSNOISE_MODE_COUNT] = {
    [HR_OSNOISE_WORKLOAD] = "osnoise",  [HR_OSNOISE_HARDWARE] = "hwnoise",
    [HR_OSNOISE_SOURCES] = "sources",   [HR_OSNOISE_ATTACH] = "attach",
    [HR_OSNOISE_TIMERLAT] = "timerlat",
};

static const char *const kind_names[HR_OSNOISE_KIND_COUNT] = {
    [HR_OSNOISE_IRQ] = "irq",
    [HR_OSNOISE_SOFTIRQ] = "softirq",
    [HR_OSNOISE_THREAD] = "thread",
    [HR_OSNOISE_NMI] = "nmi",
};

const char *hr_osnoise_mode_name(enum hr_osnoise_mode mode)
{
    return mode_names[mode];
}

int hr_osnoise_mode_parse(const char *name, enum hr_osnoise_mode *mode)
{
    for (size_t i = 0; i < HR_OSNOISE_MODE_COUNT; i++) {
        if (strcmp(name, mode_names[i]) == 0) {
            *mode = (enum hr_osnoise_mode)i;
            return 0;
        }
    }
    return -ENOENT;
}

const char *hr_osnoise_tracer_name(enum hr_osnoise_mode mode)
{
    return mode == HR_OSNOISE_TIMERLAT ? "timerlat" : "osnoise";
}

const char *hr_osnoise_kind_name(enum hr_osnoise_kind kind)
{
    return kind_names[kind];
}

const struct hr_osnoise_options hr_osnoise_defaults = {
    .mode = HR_OSNOISE_WORKLOAD,
    .period_us = HR_US_PER_S,
    .runtime_us = HR_US_PER_S / 100,
    .threshold_us = 1,
    .timerlat = {.period_us = 1000, .priority = {HR_OSNOISE_TIMERLAT_RANK}},
    .max_duty_pct = 10,
};

/* --- Checking ------------------------------------------------------------- */

static int check_times(const struct hr_osnoise_options *options, struct hr_reason *reason)
{
    const char *wrong = NULL;

    if (options->period_us < 1000 || options->period_us > 3600 * HR_US_PER_S)
        wrong = "the period is out of range: it may be 0.001 to 3600 seconds";
    else if (options->runtime_us < 100)
        wrong = "the runtime is too short: it may be 0.0001 seconds or more";
    else if (options->runtime_us > options->period_us)
        wrong = "the runtime is longer than the period: it is the part of it that is measured";
    else if (options->threshold_us < 1 || options->threshold_us > HR_US_PER_S)
        wrong = "the threshold is out of range: it may be 0.000001 to 1 second";
    else if (options->mode == HR_OSNOISE_HARDWARE && options->runtime_us > MAX_INTERRUPTS_OFF_US)
        wrong = "the runtime is too long for the hwnoise mode: interrupts are off that long, so it "
                "may be 0.1 seconds at most";
    return wrong == NULL ? 0 : hr_reason_set(reason, -EINVAL, "%s", wrong);
}

/* The kernel doesn't report gaps below the threshold. */
static int check_limit(const struct hr_osnoise_options *options, struct hr_reason *reason)
{
    if (options->max_single_ns == 0 || options->max_single_ns >= options->threshold_us * 1000)
        return 0;
    return hr_reason_set(reason, -EINVAL,
                         "the limit for single noises is below the threshold, so that those "
                         "between aren't seen: raise it, or lower the threshold");
}

static int check_duty(const struct hr_osnoise_options *options, struct hr_reason *reason)
{
    double duty_pct = 100.0 * (double)options->runtime_us / (double)options->period_us;

    if (!(options->max_duty_pct > 0 && options->max_duty_pct <= 100))
        return hr_reason_set(
            reason, -EINVAL,
            "the maximum duty is out of range: it may be above 0, up to 100 percent");
    if (duty_pct <= options->max_duty_pct)
        return 0;
    return hr_reason_set(
        reason, -EINVAL,
        "the workload would take %.4g %% of each CPU (runtime / period), and %.4g %% "
        "are allowed: shorten the runtime, lengthen the period, or allow a higher "
        "duty",
        duty_pct, options->max_duty_pct);
}

static int refuse_all_cpus(struct hr_reason *reason)
{
    return hr_reason_set(reason, -EINVAL,
                         "no CPUs are given for the workload: list those to measure");
}

static int check_workload(const struct hr_osnoise_options *options, struct hr_reason *reason)
{
    if (hr_cpu_choice_is_all(&options->cpus))
        return refuse_all_cpus(reason);
    int status = check_times(options, reason);
    if (status == 0)
        status = check_limit(options, reason);
    return status < 0 ? status : check_duty(options, reason);
}

static int check_timerlat(const struct hr_osnoise_options *options, struct hr_reason *reason)
{
    const uint64_t period_us = options->timerlat.period_us;

    if (hr_cpu_choice_is_all(&options->cpus))
        return refuse_all_cpus(reason);
    if (period_us < 100 || period_us > HR_US_PER_S)
        return hr_reason_set(reason, -EINVAL,
                             "the period is out of range: in the timerlat mode it may be 0.0001 to "
                             "1 second");
    if (options->by_source || options->max_single_ns > 0)
        return hr_reason_set(reason, -EINVAL,
                             "the timerlat mode measures latencies, not noise and its sources: use "
                             "the osnoise mode for these");
    return 0;
}

static int check_buffer(const struct hr_osnoise_options *options, struct hr_reason *reason)
{
    if (options->buffer_bytes == 0 || (options->buffer_bytes >= HR_OSNOISE_LEAST_BUFFER &&
                                       options->buffer_bytes <= HR_OSNOISE_MOST_BUFFER))
        return 0;
    return hr_reason_set(reason, -EINVAL,
                         "the size of the buffer is out of range: it may be 16 KiB to 16 MiB");
}

int hr_osnoise_check(const struct hr_osnoise_options *options, struct hr_reason *reason)
{
    hr_reason_clear(reason);
    if (options->state_path == NULL || options->state_path[0] != '/')
        return hr_reason_set(reason, -EINVAL, "the state file's path isn't absolute");
    int status = check_buffer(options, reason);
    if (status < 0)
        return status;

    switch (options->mode) {
    case HR_OSNOISE_WORKLOAD:
    case HR_OSNOISE_HARDWARE:
        return check_workload(options, reason);
    case HR_OSNOISE_SOURCES:
        if (options->max_single_ns > 0 || options->histogram)
            return hr_reason_set(reason, -EINVAL,
                                 "the sources mode has no single noises, as no thread looks for "
                                 "them: use the osnoise mode for alerts and histograms");
        return 0;
    case HR_OSNOISE_TIMERLAT:
        return check_timerlat(options, reason);
    case HR_OSNOISE_ATTACH:
    case HR_OSNOISE_MODE_COUNT:
        break;
    }
    return 0;
}
