/* SPDX-License-Identifier: MIT */
/*
 * headroom/isolation.h - what disturbs CPUs that are to be left alone: what runs there, or may, and
 * could be elsewhere; with the command that moves it.
 *
 * Sources: Documentation/admin-guide/kernel-parameters.txt (isolcpus, nohz_full, rcu_nocbs),
 * Documentation/core-api/irq/irq-affinity.rst, Documentation/core-api/workqueue.rst,
 * Documentation/admin-guide/lockup-watchdogs.rst, Documentation/timers/no_hz.rst.
 */
#ifndef HEADROOM_ISOLATION_H
#define HEADROOM_ISOLATION_H

#include <stddef.h>

#include "headroom/cpu_set.h"
#include "headroom/reason.h"

struct hr_root;

enum hr_isolation_aspect {
    HR_ISOLATION_TASKS,      /**< the scheduler may choose them for any task */
    HR_ISOLATION_IRQS,       /**< interrupts of devices are handled there */
    HR_ISOLATION_NEW_IRQS,   /**< those of devices that come later may be */
    HR_ISOLATION_THREADS,    /**< threads of the kernel may run there that aren't bound to them */
    HR_ISOLATION_WORKQUEUES, /**< unbound work of the kernel, such as writeback, may be done there
                              */
    HR_ISOLATION_WATCHDOG,   /**< the watchdog of lockups looks after them */
    HR_ISOLATION_TICKS,      /**< they have ticks also while they run one task */
    HR_ISOLATION_TIMERS,     /**< timers of others, or that others could have, expire there */
    HR_ISOLATION_RCU,        /**< callbacks of RCU are called there */
    HR_ISOLATION_ASPECT_COUNT
};

#define HR_ISOLATION_TEXT 256

struct hr_isolation_fault {
    enum hr_isolation_aspect aspect;
    char cause[HR_ISOLATION_TEXT];  /**< safe to show */
    char remedy[HR_ISOLATION_TEXT]; /**< a command for root's shell; or which parameter to boot
                                       with, where there is none */
};

/** All zeros is an empty one. */
struct hr_isolation {
    int status[HR_ISOLATION_ASPECT_COUNT]; /**< 0: it was examined; or the negative errno of it */
    struct hr_isolation_fault *faults;     /**< by aspect; several of one may be there */
    size_t fault_count, fault_capacity;
};

/**
 * Examines CPUs, and changes nothing. Those that are offline are disturbed by nothing, but may be
 * later, by what is set for them.
 *
 * @param cpus       to be left alone.
 * @param isolation  an empty one; the caller frees it with hr_isolation_free(), whatever is
 * returned.
 * @return 0; -ENXIO: none of the CPUs is there, or no other is online; -ENOMEM; or the negative
 *         errno of reading which there are. With the reason.
 */
int hr_isolation_check(const struct hr_root *root, const struct hr_cpu_set *cpus,
                       struct hr_isolation *isolation, struct hr_reason *reason);

void hr_isolation_free(struct hr_isolation *isolation);

#endif
