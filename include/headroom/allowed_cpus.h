/* SPDX-License-Identifier: MIT */
/*
 * headroom/allowed_cpus.h - on which CPUs tasks may run, by their affinity, as taskset(1) sets it.
 *
 * Source: Documentation/filesystems/proc.rst ("/proc/PID/status", Cpus_allowed_list), which is
 * within the cpuset of the task's group.
 */
#ifndef HEADROOM_ALLOWED_CPUS_H
#define HEADROOM_ALLOWED_CPUS_H

#include <stddef.h>
#include <sys/types.h>

struct hr_cpu_set;
struct hr_root;

/** Reads those of a task. @return 0; -ENOENT or -ESRCH: it has ended; -EBADMSG; -ERANGE; or the
 * negative errno of open(2). The set is untouched on failure. */
int hr_allowed_cpus_read(const struct hr_root *root, pid_t task, struct hr_cpu_set *cpus);

/**
 * Reads on which CPUs any of the tasks of a group, and of those below it, may run. Each thread is
 * read, up to the first after which enough CPUs were found: mostly the first of all. Each takes
 * some 15 microseconds.
 *
 * @param dirfd   the group's directory.
 * @param most    those that the group may use, as others don't count; NULL: all.
 * @param enough  how many these are.
 * @param threads  how many may be read; what was read is taken off.
 * @param cpus    receives them; untouched on failure.
 * @return 0; -ENODATA: it has no task; -E2BIG: it has more threads than are read; -ENODEV: it was
 * removed; -ENOMEM; or as hr_allowed_cpus_read().
 */
int hr_allowed_cpus_read_group(const struct hr_root *root, int dirfd, const struct hr_cpu_set *most,
                               size_t enough, size_t *threads, struct hr_cpu_set *cpus);

#endif
