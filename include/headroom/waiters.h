/* SPDX-License-Identifier: MIT */
/*
 * headroom/waiters.h - the processes of a cgroup or of the system that wait most for a resource, by
 * two samples of the kernel's delay accounting.
 *
 * Sources: see headroom/taskstats.h; Documentation/admin-guide/cgroup-v2.rst (cgroup.procs,
 * threaded mode); Documentation/filesystems/proc.rst (task/TID/children).
 */
#ifndef HEADROOM_WAITERS_H
#define HEADROOM_WAITERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/process.h"
#include "headroom/psi.h"

struct hr_cgroup;
struct hr_root;
struct hr_taskstats;

/** A process that waited. */
struct hr_waiter {
    pid_t pid;
    /** Of its first thread (comm), made safe by hr_utf8_make_safe(); "?" if the process has ended
     * since, or has no name. */
    char name[HR_PROCESS_NAME_SIZE];
    /** By all its threads that were sampled. The kernel accounts a wait when it ends: what ended
     * between the two samples counts as a whole. */
    uint64_t waited_ns;
};

/** The outcome of the second sample. */
struct hr_waiters_report {
    size_t count;         /**< waiters filled in */
    size_t sampled_count; /**< threads in the first sample */
    size_t skipped_count; /**< threads left out; a process that wasn't examined counts as one */
    uint64_t elapsed_ns;  /**< from the start of the first sample to the end of the second */
};

/** The first sample. */
struct hr_waiters;

/**
 * Checks whether the kernel accounts waits for a resource.
 *
 * @return 0; -EOPNOTSUPP: kernel.task_delayacct is 0, so that only cpu is accounted; -EACCES,
 *         -EMFILE, …
 */
int hr_waiters_check(const struct hr_root *root, enum hr_psi_resource resource);

/**
 * Takes the first sample of the processes in the group and below it, or of the system, without the
 * kernel's threads.
 *
 * With more threads than the limit, those sampled are distributed evenly over the list, and begin
 * elsewhere at each call: each has the same chance, limit / threads, in each report. A process of
 * more than 128 threads is sampled thread by thread, as its sum would keep interrupts disabled for
 * long: waits of threads that begin or end in between are then missing. It takes half of what is
 * left of the limit at most, if the rest wouldn't suffice for the others.
 *
 * The delays that count are, for cpu: HR_DELAY_CPU; io: BLKIO; memory: SWAPIN, FREEPAGES,
 * THRASHING, COMPACT and WPCOPY; irq: IRQ.
 *
 * @param root       has /proc; must outlive the object.
 * @param group      NULL: the system. It need not outlive this call.
 * @param taskstats  must outlive the object.
 * @param limit      the largest number of threads to sample. In the second sample, also that of
 *                   new ones. Of a big tree of groups, about 4 groups per thread are read, the
 *                   nearest first.
 * @param waiters    receives the object; the caller closes it with hr_waiters_close().
 * @return 0; -EOPNOTSUPP as hr_waiters_check(); -ENODEV: the group was removed; -EXDEV: the root's
 *         /proc belongs to another PID namespace than ours; -EPERM; -ENODATA: the kernel reports
 *         none of the delays that count; -EBADMSG; -ENOMEM, -EMFILE, …
 */
int hr_waiters_open(const struct hr_root *root, const struct hr_cgroup *group,
                    struct hr_taskstats *taskstats, enum hr_psi_resource resource, size_t limit,
                    struct hr_waiters **waiters);

/** @return the number of threads in the first sample. */
size_t hr_waiters_sampled_count(const struct hr_waiters *waiters);

/**
 * Takes the second sample, and ranks the processes that waited since the first. One that has ended
 * since is missing; one that has started since counts with all its waits; one that only moved here,
 * or moved away, doesn't count. May be called again: the interval always starts at the first
 * sample.
 *
 * @param top  receives the first `max` waiters, the longest wait first; none without a wait.
 * @return 0, -EPERM, -EBADMSG, -ENOMEM, -EMFILE, … A group that was removed, or became threaded or
 *         ceased to be so since the first sample, has no waiters.
 */
int hr_waiters_read(struct hr_waiters *waiters, struct hr_waiter *top, size_t max,
                    struct hr_waiters_report *report);

/** Frees the object. NULL is allowed. */
void hr_waiters_close(struct hr_waiters *waiters);

/**
 * Explains to a user why waiting tasks can't be named, as hr_psi_explain() does.
 *
 * @param status  an error of hr_waiters_open(), hr_waiters_read() or hr_taskstats_open().
 */
void hr_waiters_explain(int status, struct hr_reason *reason);

#endif
