/* SPDX-License-Identifier: MIT */
/*
 * osnoise/cause_events.h - the kernel's events that have functions, in the instance of a run; and
 * the functions' names.
 *
 * An event has the address of a function. Its name is in a table that a hist trigger of the event
 * fills, as the kernel prints it: /proc/kallsyms would take CAP_SYSLOG, and reading 13 MB.
 *
 * Sources: include/trace/events/workqueue.h, timer.h, csd.h (since Linux 6.5);
 * Documentation/trace/histogram.rst (.sym); Documentation/trace/events.rst (COMM).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_CAUSE_EVENTS_H
#define HEADROOM_COLLECTORS_OSNOISE_CAUSE_EVENTS_H

#include <stdint.h>

#include "headroom/cpu_set.h"
#include "osnoise/tracefs.h"

/**
 * Has an instance record the events, as far as the kernel has them; a run does without any other.
 * Works that begin are recorded of all kworkers; timers, and what other CPUs ask for, where they
 * interrupt the tracer's workload, and in the threads of softirqs.
 *
 * @param cpus  those that are measured; none: all. Hist triggers don't heed tracing_cpumask.
 */
void hr_osnoise_cause_events_record(const struct hr_tracefs *tracefs, const char *instance,
                                    const struct hr_cpu_set *cpus);

struct hr_osnoise_function_names;

/** @param instance  its name. @param names  receives them; to be closed. @return 0 or -ENOMEM. */
int hr_osnoise_function_names_open(const char *instance, struct hr_osnoise_function_names **names);

/** NULL is allowed. */
void hr_osnoise_function_names_close(struct hr_osnoise_function_names *names);

/** Allows the tables to be read once more, and forgets what is of modules. To be called for each
 * reading. */
void hr_osnoise_function_names_renew(struct hr_osnoise_function_names *names);

/**
 * Finds a function's name, "vmstat_update" or "nvme_timeout [nvme]". The tables are read if it is a
 * new one.
 *
 * @param names  NULL: none is known.
 * @return the name, valid until the next call; NULL: it isn't known.
 */
const char *hr_osnoise_function_name(struct hr_osnoise_function_names *names,
                                     const struct hr_tracefs *tracefs, uint64_t function);

#endif
