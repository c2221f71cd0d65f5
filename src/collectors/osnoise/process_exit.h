/* SPDX-License-Identifier: MIT */
/*
 * osnoise/process_exit.h - the kernel stops an instance when the process that made it exits, by
 * SIGKILL, too, as when its container is ended.
 *
 * That is the trigger "traceoff if pid == PID" of sched:sched_process_exit: the instance's
 * tracing_on becomes 0. As long as an instance has the tracer set and tracing on, the kernel runs
 * the workload with whatever settings there are. If no instance has tracing on, the workload
 * sleeps, but that of timerlat.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_PROCESS_EXIT_H
#define HEADROOM_COLLECTORS_OSNOISE_PROCESS_EXIT_H

#include <stdbool.h>
#include <stdint.h>

#include "osnoise/tracefs.h"

/** Whether the kernel can stop the workload of an instance when the process that made it exits. */
bool hr_osnoise_exit_can_stop(const struct hr_tracefs *tracefs);

/** Whether it is set to do so for this one. */
bool hr_osnoise_exit_will_stop(const struct hr_tracefs *tracefs, const char *instance);

/**
 * Finds the PID by which the kernel's events know this process, or in a container with PIDs of its
 * own this thread, which goes when the process does.
 *
 * @param instance  which is new.
 * @return 0: it isn't known.
 */
uint64_t hr_osnoise_exit_find_pid(const struct hr_tracefs *tracefs, const char *instance);

/** Has the kernel stop an instance. A safeguard only: a run does without where the kernel has no
 * such trigger. @param pid  0: it isn't known, and nothing is done. */
void hr_osnoise_exit_stop(const struct hr_tracefs *tracefs, const char *instance, uint64_t pid);

#endif
