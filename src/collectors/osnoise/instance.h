/* SPDX-License-Identifier: MIT */
/*
 * osnoise/instance.h - the trace instance of a run: its buffers, the events that are recorded or
 * counted in it, and its tracer.
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

/** The tables in which the kernel counts, by hist triggers. The first four are of sources. */
enum hr_osnoise_table {
    HR_OSNOISE_TABLE_IRQ = HR_OSNOISE_IRQ,         /**< by CPU and name */
    HR_OSNOISE_TABLE_SOFTIRQ = HR_OSNOISE_SOFTIRQ, /**< by CPU and vector */
    HR_OSNOISE_TABLE_THREAD = HR_OSNOISE_THREAD,   /**< by CPU and name; not of idle tasks */
    HR_OSNOISE_TABLE_NMI = HR_OSNOISE_NMI,         /**< by CPU */
    HR_OSNOISE_TABLE_DURATION,                     /**< single noises, by CPU and power of two */
    HR_OSNOISE_TABLE_COUNT
};

struct hr_osnoise_plan {
    struct hr_cpu_set cpus; /**< CPUs to record; of others nothing is kept. None: all */
    struct hr_cpu_set online;
    struct hr_cpu_set counted;  /**< CPUs that the tracer measures, online or not: their noise is
                                   counted, be they recorded or not */
    struct hr_cpu_set isolated; /**< CPUs that keep the large buffer of a new instance, unless they
                                   are recorded: resizing it would run a thread there */
    const char *tracer;         /**< "osnoise" or "timerlat" */
    bool has_workload;          /**< this run is going to start the tracer's threads on the CPUs */
    bool by_source, histogram;
    uint64_t period_us;  /**< the interval of samples, which are kept for two seconds; 0: unknown */
    uint64_t runtime_us; /**< how much of it is measured; 0: unknown */
    uint64_t buffer_bytes;  /**< of a CPU to record; 0: as needed */
    bool samples_by_event;  /**< record samples though the instance won't have the tracer */
    uint64_t max_single_ns; /**< 0: interferences and single noises aren't recorded one by one */
    bool causes;            /**< record the functions of interferences, too, where they are */
};

/**
 * Creates an instance with buffers no larger than needed, which records what the plan says, and has
 * no tracer yet. Tables have room by the number of CPUs that are counted, of names by those of them
 * that are online. Beside a table with names, which anyone may choose, is one of the sums by CPU,
 * so that what has no room there isn't lost.
 *
 * Durations that began before the tracer did (start 0) aren't counted: they would be the time since
 * boot.
 *
 * The kernel stops the instance when this process exits, where it can: see osnoise/process_exit.h.
 *
 * @param name      its name.
 * @param occupied  receives the CPUs, of those that are recorded or aren't isolated, on which a
 *                  real-time task leaves ordinary threads no time.
 * @param lock      receives the instance's lock, see osnoise/owner.h.
 * @return 0; -EEXIST: there is one of that name; -EOPNOTSUPP: the kernel has no hist triggers, or
 * no osnoise in instances; -ENOENT: it has no events of osnoise; -EACCES, -EPERM, -ENOMEM, … With
 *         the reason; nothing is left behind. -EBUSY: with has_workload, if a real-time task leaves
 * no time on a CPU to record; without, such a CPU keeps the large buffer of a new instance.
 */
int hr_osnoise_instance_make(const struct hr_tracefs *tracefs, const char *name,
                             const struct hr_osnoise_plan *plan, struct hr_cpu_set *occupied,
                             int *lock, struct hr_reason *reason);

/** Whether an instance has a tracer of runs set: osnoise or timerlat. @return 1; 0; or a negative
 * errno: -ENOENT: there is no such instance. */
int hr_osnoise_instance_has_tracer(const struct hr_tracefs *tracefs, const char *name);

/** Starts a tracer in an instance. @return 0; -EBUSY: of osnoise and timerlat the other runs; … */
int hr_osnoise_instance_start(const struct hr_tracefs *tracefs, const char *name,
                              const char *tracer);

/** Whether the buffer of a CPU has records that weren't read. @return 1, 0, or a negative errno. */
int hr_osnoise_instance_has_records(const struct hr_tracefs *tracefs, const char *name,
                                    unsigned cpu);

/** Whether instances without the tracer get samples, too, by the event osnoise:osnoise_sample:
 * since Linux 6.15. */
bool hr_osnoise_instance_has_sample_event(const struct hr_tracefs *tracefs);

/** Checks whether an instance records (tracing_on), and still has a tracer set. @param tracer NULL:
 * it is to have none. @return 1; 0; or a negative errno: -ENOENT: the instance was removed. */
int hr_osnoise_instance_is_running(const struct hr_tracefs *tracefs, const char *name,
                                   const char *tracer);

/**
 * Stops the tracer and removes the instance; close its pipes first.
 *
 * @param lock  the instance's lock, which is released in between, as stopping may take seconds;
 *              NULL: this process has none.
 * @return 0, also if there is none; -EBUSY: another program has it open; … Even if the instance
 * stays, it records nothing, and the tracer is stopped, unless its pipes are being read: then the
 *         workload of osnoise sleeps, if no other instance with the tracer records.
 */
int hr_osnoise_instance_remove(const struct hr_tracefs *tracefs, const char *name, int *lock);

/** Removes an instance, and stops its tracer, unless a file of it is open: then nothing is changed.
 * @return 0, also if there is none; -EBUSY; … */
int hr_osnoise_instance_remove_unused(const struct hr_tracefs *tracefs, const char *name);

/** Prints the path of a table, below tracefs. */
void hr_osnoise_instance_table_path(const char *name, enum hr_osnoise_table table, char *path,
                                    size_t size);

/** Empties a table, which keeps counting. @return 0 or a negative errno. */
int hr_osnoise_instance_clear_table(const struct hr_tracefs *tracefs, const char *name,
                                    enum hr_osnoise_table table);

#endif
