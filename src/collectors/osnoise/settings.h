/*
 * osnoise/settings.h - the settings of the tracer osnoise, which all its users share: reading,
 * setting and putting them back.
 *
 * Source: kernel/trace/trace_osnoise.c (osnoise/cpus, period_us, runtime_us, options), and
 * tracing_thresh, which other tracers use, too.
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
    HR_OSNOISE_OPTION_WORKLOAD,        /**< OSNOISE_WORKLOAD: threads that look for noise */
    HR_OSNOISE_OPTION_IRQ_DISABLE,     /**< OSNOISE_IRQ_DISABLE: with interrupts off */
    HR_OSNOISE_OPTION_PREEMPT_DISABLE, /**< OSNOISE_PREEMPT_DISABLE */
    HR_OSNOISE_SETTING_COUNT
};

/** Values of knobs. All zeros has none. */
struct hr_osnoise_settings {
    bool has[HR_OSNOISE_SETTING_COUNT]; /**< whether a knob is among them */
    struct hr_cpu_set cpus;
    uint64_t numbers[HR_OSNOISE_SETTING_COUNT]; /**< all but the CPUs; options are 0 or 1 */
};

/** What others may have set that makes a run dangerous, or ends it. */
struct hr_osnoise_hazards {
    uint64_t stop_us, stop_total_us; /**< stop_tracing_us, stop_tracing_total_us; 0: unset */
    bool panic;                      /**< PANIC_ON_STOP */
};

/** A knob's name for messages and files: "cpus", "period_us", "runtime_us", "tracing_thresh",
 * "OSNOISE_WORKLOAD", … */
const char *hr_osnoise_setting_name(enum hr_osnoise_setting setting);

/** Tells whether nothing else can run meanwhile if it is on: the options that switch interrupts or
 * preemption off. */
bool hr_osnoise_setting_is_disruptive(enum hr_osnoise_setting setting);

/** Reads all knobs; options that the kernel doesn't know aren't among them. @param reason  why it
 * can't be done; may be NULL. @return 0; -ENOENT: no such tracer; -EBADMSG; … */
int hr_osnoise_settings_read(const struct hr_tracefs *tracefs, struct hr_osnoise_settings *settings,
                             struct hr_reason *reason);

/** Reads what makes a run dangerous, likewise. */
int hr_osnoise_hazards_read(const struct hr_tracefs *tracefs, struct hr_osnoise_hazards *hazards,
                            struct hr_reason *reason);

/**
 * Sets the knobs that `wanted` has, in an order that the kernel accepts (runtime is never above the
 * period) and that is safe wherever it ends (interrupts and preemption are switched off last, and
 * on first), and reads them back. A knob that has its value already isn't written, as writing CPUs
 * or options restarts the workload.
 *
 * @return 0; -E2BIG: the list of CPUs is too long for the kernel even in its shortest form;
 *         -EOPNOTSUPP: the kernel lacks an option; -EBUSY: a knob didn't keep its value; … With the
 *         reason. Some may be set then: hr_osnoise_settings_restore().
 */
int hr_osnoise_settings_set(const struct hr_tracefs *tracefs,
                            const struct hr_osnoise_settings *wanted, struct hr_reason *reason);

/**
 * Puts back the original of each knob of `ours` that still has our value, in such an order. One
 * that has another value was changed by somebody else, and is theirs.
 *
 * @return 0, or the first negative errno; the others are put back nevertheless.
 */
int hr_osnoise_settings_restore(const struct hr_tracefs *tracefs,
                                const struct hr_osnoise_settings *ours,
                                const struct hr_osnoise_settings *original);

/** Compares: tells the first of `ours` that isn't so in `now`; HR_OSNOISE_SETTING_COUNT: none. */
enum hr_osnoise_setting hr_osnoise_settings_differ(const struct hr_osnoise_settings *ours,
                                                   const struct hr_osnoise_settings *now);

/** Prints a knob's value, such as "0-3,8" or "1000000" or "on"; cut if it is longer. */
void hr_osnoise_setting_print(const struct hr_osnoise_settings *settings,
                              enum hr_osnoise_setting setting, char *text, size_t size);

#endif
