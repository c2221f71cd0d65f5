/*
 * osnoise/instance.h - a trace instance of our own: its buffers, the events that are recorded or
 * counted in it, and the tracer.
 *
 * Source: Documentation/trace/ftrace.rst (Instances), histogram.rst.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_INSTANCE_H
#define HEADROOM_COLLECTORS_OSNOISE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/cpu_set.h"
#include "headroom/osnoise.h"
#include "osnoise/tracefs.h"

/** The tables in which the kernel counts, by hist triggers. The first are of sources. */
enum hr_osnoise_table {
    HR_OSNOISE_TABLE_IRQ = HR_OSNOISE_IRQ,         /**< by CPU and name */
    HR_OSNOISE_TABLE_SOFTIRQ = HR_OSNOISE_SOFTIRQ, /**< by CPU and vector */
    HR_OSNOISE_TABLE_THREAD = HR_OSNOISE_THREAD,   /**< by CPU and name; not of idle tasks */
    HR_OSNOISE_TABLE_NMI = HR_OSNOISE_NMI,         /**< by CPU */
    HR_OSNOISE_TABLE_DURATION,                     /**< single noises, by CPU and power of two */
    HR_OSNOISE_TABLE_COUNT
};

/** How many entries a table has room for. */
#define HR_OSNOISE_TABLE_SIZE 4096

struct hr_osnoise_plan {
    struct hr_cpu_set cpus; /**< those recorded; of others nothing is kept. None: all */
    struct hr_cpu_set online;
    bool has_workload; /**< the tracer's threads are going to run on the CPUs, by our doing */
    bool by_source, histogram;
    uint64_t period_us;     /**< a sample comes so often, and is kept for two seconds; 0: unknown */
    uint64_t max_single_ns; /**< 0: sources and single noises aren't recorded one by one */
};

/**
 * Makes an instance: new, with buffers no larger than needed, recording what the plan says, and
 * without tracer.
 *
 * Durations that began before the tracer did (start 0) aren't counted: they would be the time since
 * boot.
 *
 * It has a dead man's switch, the trigger "traceoff if pid == OURS" of sched:sched_process_exit:
 * once this process has ended, by SIGKILL, too, the instance's tracing_on is 0. As long as an
 * instance has the tracer, the kernel runs the workload with whatever settings there are: that of a
 * run that was attached would have the defaults, all of every CPU, when the other has ended. Only
 * if no instance has tracing on does it sleep. It is left out where the kernel lacks the event, and
 * outside of the first PID namespace, whose PIDs aren't those of the event.
 *
 * @param name  its name.
 * @return 0; -EEXIST: there is one of that name; -EOPNOTSUPP: the kernel has no hist triggers, or
 * no osnoise in instances; -ENOENT: it has no events of osnoise; -EACCES, -EPERM, -ENOMEM, … With
 * the reason; nothing is left behind. -EBUSY: with has_workload, if a real-time task leaves a CPU
 * that is recorded no time; otherwise such a CPU just keeps the large buffer of a new instance.
 */
int hr_osnoise_instance_make(const struct hr_tracefs *tracefs, const char *name,
                             const struct hr_osnoise_plan *plan, struct hr_reason *reason);

/** Starts the tracer in it. @return 0; -EBUSY: timerlat runs; … */
int hr_osnoise_instance_start(const struct hr_tracefs *tracefs, const char *name);

/** Tells whether the tracer is still set in it and records (tracing_on). @return 1; 0; or a
 * negative errno: -ENOENT: somebody removed it. */
int hr_osnoise_instance_is_running(const struct hr_tracefs *tracefs, const char *name);

/** Stops the tracer and removes the instance; whoever reads its pipes must have closed them.
 * @return 0, also if there is none; -EBUSY: somebody else has it open; … Even if the instance stays
 * it records nothing, and the tracer is stopped, unless its pipes are being read: then the workload
 * sleeps, if no other instance with the tracer records. */
int hr_osnoise_instance_remove(const struct hr_tracefs *tracefs, const char *name);

/** Where a table is read from: a path below tracefs, terminated. */
void hr_osnoise_instance_table_path(const char *name, enum hr_osnoise_table table, char *path,
                                    size_t size);

/** Empties a table, which keeps counting. @return 0 or a negative errno. */
int hr_osnoise_instance_clear_table(const struct hr_tracefs *tracefs, const char *name,
                                    enum hr_osnoise_table table);

#endif
