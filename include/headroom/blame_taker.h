/* SPDX-License-Identifier: MIT */
/*
 * headroom/blame_taker.h - what can have a CPU for which a task waits, and its names: those of
 * series and JSON. Apart from headroom/blame.h, as who reads these needs nothing that measures.
 */
#ifndef HEADROOM_BLAME_TAKER_H
#define HEADROOM_BLAME_TAKER_H

#include <stdbool.h>

/** What a CPU did while a task waited for it. */
enum hr_blame_taker {
    HR_BLAME_GROUP,      /**< ran another watched group */
    HR_BLAME_ITSELF,     /**< ran another task of the same group */
    HR_BLAME_OTHER,      /**< ran tasks of no watched group */
    HR_BLAME_KWORKER,    /**< ran kernel threads: kworker/…, */
    HR_BLAME_KSOFTIRQD,  /**< ksoftirqd/…, */
    HR_BLAME_MIGRATION,  /**< migration/…, */
    HR_BLAME_RCU,        /**< rcu…, */
    HR_BLAME_RECLAIM,    /**< kswapd…, kcompactd…, */
    HR_BLAME_IRQ_THREAD, /**< irq/…: threaded interrupts, */
    HR_BLAME_KERNEL,     /**< or any other kernel thread */
    HR_BLAME_INTERRUPTS, /**< interrupts and softirqs; only where the kernel accounts for them, see
                              hr_blame_knows_interrupts(); else they are part of what they
                              interrupted */
    HR_BLAME_STEAL,      /**< the hypervisor ran something else */
    HR_BLAME_LIMIT,      /**< the group was throttled by its cpu.max, or that of one above */
    HR_BLAME_IDLE,       /**< nothing: waking up an idle CPU takes time */
    HR_BLAME_UNKNOWN,    /**< not known; of a matrix of hr_blame_read(): the whole wait */
    HR_BLAME_TAKER_COUNT
};

/** "kworker", "interrupts", "limit", …: short and fixed, without blanks. */
const char *hr_blame_taker_name(enum hr_blame_taker taker);

/** Finds the taker of such a name. @return whether there is one. */
bool hr_blame_taker_find(const char *name, enum hr_blame_taker *taker);

#endif
