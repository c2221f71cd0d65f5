/* SPDX-License-Identifier: MIT */
/*
 * osnoise/settings.h - the settings of the osnoise tracer, which all its users share: reading,
 * setting and restoring them.
 *
 * Source: kernel/trace/trace_osnoise.c (osnoise/cpus, period_us, runtime_us, timerlat_period_us,
 * print_stack, options), and tracing_thresh, which other tracers use, too.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_SETTINGS_H
#define HEADROOM_COLLECTORS_OSNOISE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/cpu_set.h"
#include "headroom/reason.h"
#include "osnoise/tracefs.h"

enum hr_osnoise_setting {
    HR_OSNOISE_CPUS,
    HR_OSNOISE_PERIOD,
    HR_OSNOISE_RUNTIME,
    HR_OSNOISE_THRESHOLD,
    HR_OSNOISE_TIMERLAT_PERIOD,
    HR_OSNOISE_PRINT_STACK,            /**< from which latency on stacks are recorded; 0: none */
    HR_OSNOISE_OPTION_WORKLOAD,        /**< OSNOISE_WORKLOAD: kernel threads look for noise */
    HR_OSNOISE_OPTION_IRQ_DISABLE,     /**< OSNOISE_IRQ_DISABLE: with interrupts off */
    HR_OSNOISE_OPTION_PREEMPT_DISABLE, /**< OSNOISE_PREEMPT_DISABLE */
    HR_OSNOISE_OPTION_ALIGN,           /**< TIMERLAT_ALIGN: timers of all CPUs in step */
    HR_OSNOISE_SETTING_COUNT
};

/** Values of settings. All zeros: none. */
struct hr_osnoise_settings {
    bool has[HR_OSNOISE_SETTING_COUNT]; /**< which settings there are */
    struct hr_cpu_set cpus;
    uint64_t numbers[HR_OSNOISE_SETTING_COUNT]; /**< all but the CPUs; options are 0 or 1 */
};

/** Settings of other programs that make a run dangerous, or end it. */
struct hr_osnoise_hazards {
    uint64_t stop_us, stop_total_us; /**< stop_tracing_us, stop_tracing_total_us; 0: unset */
    bool panic;                      /**< PANIC_ON_STOP */
};

/** The name of a setting for messages and files: "cpus", "period_us", "runtime_us",
 * "tracing_thresh", "OSNOISE_WORKLOAD", … */
const char *hr_osnoise_setting_name(enum hr_osnoise_setting setting);

/** Whether nothing else can run on the CPU while the workload runs with this setting on: the
 * options that switch interrupts or preemption off. */
bool hr_osnoise_setting_is_disruptive(enum hr_osnoise_setting setting);

/** Reads all settings; options and those of timerlat that the kernel lacks are left out. @param
 * reason  may be NULL.
 * @return 0; -ENOENT: no such tracer; -EBADMSG; … */
int hr_osnoise_settings_read(const struct hr_tracefs *tracefs, struct hr_osnoise_settings *settings,
                             struct hr_reason *reason);

/** Reads what makes a run dangerous. Parameters and result as of hr_osnoise_settings_read(). */
int hr_osnoise_hazards_read(const struct hr_tracefs *tracefs, struct hr_osnoise_hazards *hazards,
                            struct hr_reason *reason);

/** Checks that noise wouldn't stop the machine. @return 0, or `error`, with the reason. */
int hr_osnoise_hazards_check(const struct hr_osnoise_hazards *hazards, int error,
                             struct hr_reason *reason);

/**
 * Sets the settings that `wanted` has, and reads them back. The order is one that the kernel
 * accepts (runtime is never above the period) and that is safe at every step (interrupts and
 * preemption are switched off last, and on first). A setting that has its value already isn't
 * written, as writing CPUs or options restarts the workload.
 *
 * @return 0; -E2BIG: the list of CPUs is too long for the kernel even in its shortest form;
 *         -EOPNOTSUPP: the kernel lacks an option; -EBUSY: a setting didn't keep its value; … With
 * the reason. Some may be set then: hr_osnoise_settings_restore().
 */
int hr_osnoise_settings_set(const struct hr_tracefs *tracefs,
                            const struct hr_osnoise_settings *wanted, struct hr_reason *reason);

/**
 * Restores the original of each setting of `ours` that still has that value, in such an order. One
 * with another value was changed by another program, and stays.
 *
 * @return 0, or the first negative errno; the other settings are restored nevertheless.
 */
int hr_osnoise_settings_restore(const struct hr_tracefs *tracefs,
                                const struct hr_osnoise_settings *ours,
                                const struct hr_osnoise_settings *original);

/** @return the first setting of `ours` that is different in `now`; HR_OSNOISE_SETTING_COUNT: none.
 */
enum hr_osnoise_setting hr_osnoise_settings_differ(const struct hr_osnoise_settings *ours,
                                                   const struct hr_osnoise_settings *now);

/** Prints the value of a setting, such as "0-3,8" or "1000000" or "on"; truncated if it is longer.
 */
void hr_osnoise_setting_print(const struct hr_osnoise_settings *settings,
                              enum hr_osnoise_setting setting, char *text, size_t size);

#endif
