/* SPDX-License-Identifier: MIT */
/*
 * osnoise/running_task.h - which task is running on a CPU, and how long a CPU was idle: what the
 * tracer tells only once the task is switched out.
 *
 * Source: Documentation/filesystems/proc.rst (/proc/PID/stat, /proc/stat).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_RUNNING_TASK_H
#define HEADROOM_COLLECTORS_OSNOISE_RUNNING_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_text.h"
#include "headroom/cpu_set.h"

struct hr_root;

/** A task on a CPU. */
struct hr_osnoise_running_task {
    pid_t process, id; /**< id 0: none was found */
    unsigned priority; /**< of the tasks that want to run there, the highest runs */
    char name[16];     /**< of any bytes but NUL */
};

/**
 * Parses /proc/PID/task/TID/stat of a task that wants to run, or runs.
 *
 * @return 1; 0: it wants no CPU; -EBADMSG.
 */
int hr_osnoise_running_task_parse(const char *text, size_t length, unsigned *cpu,
                                  struct hr_osnoise_running_task *task);

/** Reads a task that was found before. @return whether it is still runnable on that CPU; then its
 * name is the present one. */
bool hr_osnoise_running_task_stays(const struct hr_root *root, unsigned cpu,
                                   struct hr_osnoise_running_task *task);

/**
 * Finds which task runs on each of these CPUs, by reading all tasks of the system: some
 * microseconds each. Where several want to run it is one of the highest priority.
 *
 * @param tasks  by CPU, up to the highest of the set; those of the set are replaced.
 * @return 0, -ENOMEM, or the negative errno of reading the list of processes.
 */
int hr_osnoise_running_task_find(const struct hr_root *root, const struct hr_cpu_set *cpus,
                                 struct hr_osnoise_running_task *tasks);

/**
 * Reads how long CPUs were idle since boot, waiting for I/O included.
 *
 * @param text     of the file; its memory is used again.
 * @param idle_ns  by CPU; those that are offline, or beyond cpu_end, are left out.
 * @return 0, -EBADMSG, or the negative errno of reading.
 */
int hr_osnoise_read_idle(const struct hr_root *root, struct hr_file_text *text, uint64_t *idle_ns,
                         size_t cpu_end);

#endif
