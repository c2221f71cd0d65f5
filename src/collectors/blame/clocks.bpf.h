/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/clocks.bpf.h - the clocks of a CPU's run queue.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_CLOCKS_BPF_H
#define HEADROOM_COLLECTORS_BLAME_CLOCKS_BPF_H

#include "blame/state.bpf.h"

/* The clock of tasks stands still during interrupts that are accounted for, and steal. */
static __always_inline struct moment moment_of(struct rq *rq)
{
    struct moment moment = {.now = rq->clock};
    __u64 behind = moment.now - rq->clock_task;

    if (bpf_core_field_exists(rq->prev_irq_time))
        moment.irq = rq->prev_irq_time;
    moment.steal = behind - moment.irq;
    return moment;
}

/* How long a task's run queue has been throttled, by itself or with one above. Before Linux 6.6 the
 * kernel doesn't know how long: then it is 0 if it isn't throttled now, else another number. */
static __always_inline __u64 throttled_of(struct task_struct *task, __u64 now)
{
    struct cfs_rq *cfs_rq = task->se.cfs_rq;

    if (!bpf_core_field_exists(cfs_rq->throttled_clock_self_time))
        return bpf_core_field_exists(cfs_rq->throttle_count) ? cfs_rq->throttle_count : 0;
    const __u64 since = cfs_rq->throttled_clock_self;
    return cfs_rq->throttled_clock_self_time + (since && now > since ? now - since : 0);
}

#endif
