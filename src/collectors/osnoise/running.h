/* SPDX-License-Identifier: MIT */
/*
 * osnoise/running.h - the time of threads that haven't left their CPU yet.
 *
 * The kernel counts a thread's time when it is switched out: one that spins for an hour would have
 * none, and then an hour at once. But all time is some thread's, the idle one's included, or an
 * interrupt's: what of an interval isn't counted yet is that of the thread which runs now. It is
 * added to that thread, and deducted from what the kernel counts when it is switched out.
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
 * Adds the time of threads that run now to the sources, and deducts what was added before: of no
 * CPU the threads' time is more than the interval's. A thread that isn't found has no name. Reads
 * all tasks of the system if it isn't known which runs; as that takes long where there are many, so
 * seldom that it takes no more than a thousandth of the time: the name comes later then.
 *
 * @param cpus        the CPUs that are reported; another one begins anew.
 * @param elapsed_ns  since the last reading.
 * @param counts      of this reading; its sources are replaced, and valid until the next call.
 * @return 0 or -ENOMEM; the sources are those of the kernel then.
 */
int hr_osnoise_running_add(struct hr_osnoise_running *running, const struct hr_cpu_set *cpus,
                           uint64_t elapsed_ns, struct hr_osnoise_counts *counts);

#endif
