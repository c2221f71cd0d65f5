/* SPDX-License-Identifier: MIT */
/*
 * osnoise/running.h - the time of threads that haven't left their CPU yet.
 *
 * The kernel counts a thread's time when it is switched out: one that spins for an hour would have
 * none, and then an hour at once. But what of an interval a CPU was neither idle, nor is counted,
 * is the time of the thread that runs now. It is a source of its own, as the thread's name isn't
 * known yet, and is deducted from what the kernel counts once that thread has left.
 *
 * Source: Documentation/filesystems/proc.rst (/proc/stat).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_RUNNING_H
#define HEADROOM_COLLECTORS_OSNOISE_RUNNING_H

#include <stdint.h>

#include "osnoise/sources.h"

struct hr_root;
struct hr_osnoise_running;

/** @param cpus  those that may be reported. @return 0 or -ENOMEM. */
int hr_osnoise_running_open(const struct hr_root *root, const struct hr_cpu_set *cpus,
                            struct hr_osnoise_running **running);

/** NULL is allowed. */
void hr_osnoise_running_close(struct hr_osnoise_running *running);

/**
 * Adds sources HR_OSNOISE_RUNNING, and deducts what they have reported before, so that no CPU has
 * more than the interval. There is none on a CPU that wasn't online at both ends of the interval,
 * or whose threads changed at each tick, as then it isn't certain how long it was idle.
 *
 * @param cpus        the CPUs that are reported; another one begins anew.
 * @param elapsed_ns  since the last call, or the opening.
 * @param counts      of this reading; its sources are replaced, and valid until the next call.
 * @return 0 or -ENOMEM; the sources are those of the kernel then.
 */
int hr_osnoise_running_add(struct hr_osnoise_running *running, const struct hr_cpu_set *cpus,
                           uint64_t elapsed_ns, struct hr_osnoise_counts *counts);

#endif
