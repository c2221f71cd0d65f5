/*
 * waiters.h - which processes of a cgroup, or of the system, wait most for a resource: two samples
 * of the kernel's delay accounting, a moment apart.
 *
 * Sources: see taskstats.h; Documentation/admin-guide/cgroup-v2.rst (cgroup.procs, threaded mode).
 */
#ifndef HEADROOM_WAITERS_H
#define HEADROOM_WAITERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/psi.h"

struct hr_cgroup;
struct hr_root;
struct hr_taskstats;

/** A process that waits. */
struct hr_waiter {
    pid_t pid;
    char name[16];      /**< of its first thread (comm), terminated, as hr_utf8_make_safe() makes
                             it; "?" if the process has ended since, or has no name */
    uint64_t waited_ns; /**< by all its threads, between the two samples */
};

/** What the second sample showed. */
struct hr_waiters_report {
    size_t count;         /**< of waiters filled in */
    size_t sampled_count; /**< tasks looked at in the first sample: processes, or threads of a
                              threaded group */
    size_t skipped_count; /**< tasks seen in it but not looked at, as they were over the limit */
};

/** The first of two samples. */
struct hr_waiters;

/**
 * Tells whether waiting for a resource is accounted.
 *
 * @return 0; -EOPNOTSUPP: kernel.task_delayacct is 0, so only cpu is; -EACCES, -EMFILE, …
 */
int hr_waiters_check(const struct hr_root *root, enum hr_psi_resource resource);

/**
 * Takes the first sample: of all processes in the group and below it, or of the system.
 *
 * Which delays count: cpu: HR_DELAY_CPU; io: BLKIO; memory: SWAPIN, FREEPAGES, THRASHING, COMPACT
 * and WPCOPY; irq: IRQ.
 *
 * @param root       beneath which /proc is; must outlive the object.
 * @param group      NULL: the system. It need not outlive this call.
 * @param taskstats  must outlive the object.
 * @param limit      how many tasks are looked at, at most: those with the highest numbers, as the
 * lowest are mostly the kernel's own threads; and, in the second sample, how many new ones. Of a
 * big tree of groups some 4 to a task are read, the nearest first.
 * @param waiters    receives the object; the caller ends it with hr_waiters_close().
 * @return 0; -EOPNOTSUPP as hr_waiters_check(); -ENODEV: the group was removed; -EXDEV: the root's
 *         /proc is another pid namespace's than ours; -EPERM; -ENODATA: the kernel doesn't tell any
 *         of the delays that count; -EBADMSG; -ENOMEM, -EMFILE, …
 */
int hr_waiters_open(const struct hr_root *root, const struct hr_cgroup *group,
                    struct hr_taskstats *taskstats, enum hr_psi_resource resource, size_t limit,
                    struct hr_waiters **waiters);

/** How many tasks the first sample looked at. */
size_t hr_waiters_sampled_count(const struct hr_waiters *waiters);

/**
 * Takes the second sample and ranks who waited since the first. Whoever ended in between isn't
 * known; a process that began in between counts with all it waited; one that only moved here, or
 * moved away, doesn't count. May be called again: the interval is always that since the first.
 *
 * @param top  receives the first `max` waiters, the longest wait first; none that didn't wait.
 * @return 0, -EPERM, -EBADMSG, -ENOMEM, -EMFILE, … A removed group has no waiters, nor has one that
 *         was made threaded, or was threaded, since the first sample.
 */
int hr_waiters_read(struct hr_waiters *waiters, struct hr_waiter *top, size_t max,
                    struct hr_waiters_report *report);

/** Ends the object. NULL is allowed. */
void hr_waiters_close(struct hr_waiters *waiters);

#endif
