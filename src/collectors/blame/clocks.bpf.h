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

/* @param since  when a run queue was throttled that still is; else 0. */
static __always_inline __u64 add_throttled(__u64 before, __u64 since, __u64 now)
{
    return before + excess(now, since) * (1 - is_zero(since));
}

/* How long a task's run queue has been throttled, by itself or with one above. Before Linux 6.6 the
 * kernel doesn't know how long: then it is 0 if it isn't throttled now, else another number. */
static __always_inline __u64 throttled_of(struct task_struct *task, __u64 now)
{
    struct cfs_rq *cfs_rq = task->se.cfs_rq;

    if (!bpf_core_field_exists(cfs_rq->throttled_clock_self_time))
        return bpf_core_field_exists(cfs_rq->throttle_count) ? cfs_rq->throttle_count : 0;
    return add_throttled(cfs_rq->throttled_clock_self_time, cfs_rq->throttled_clock_self, now);
}

/* The same of a run queue by its address, which isn't locked. */
__noinline __u64 throttled_at(__u64 address, __u64 now)
{
    struct cfs_rq *cfs_rq = (struct cfs_rq *)address;

    if (!bpf_core_field_exists(cfs_rq->throttled_clock_self_time))
        return bpf_core_field_exists(cfs_rq->throttle_count) ? BPF_CORE_READ(cfs_rq, throttle_count)
                                                             : 0;
    return add_throttled(BPF_CORE_READ(cfs_rq, throttled_clock_self_time),
                         BPF_CORE_READ(cfs_rq, throttled_clock_self), now);
}

/* The address of the run queue that a task's group has on another CPU; 0: it isn't known. Since
 * Linux 7.3 it is as far from the group's on this one as the CPUs' own are from each other. */
static __always_inline __u64 find_run_queue(struct task_struct *task, __u32 cpu)
{
    const struct task_group *group = 0;
    __u64 address = 0;

    if (bpf_core_field_exists(group->se)) {
        bpf_probe_read_kernel(&address, sizeof(address),
                              BPF_CORE_READ(task, sched_task_group, cfs_rq) + cpu);
        return address;
    }
    const struct ring *there = bpf_map_lookup_elem(&rings, &cpu);
    const __u64 here = (__u64)BPF_CORE_READ(task, se.cfs_rq, rq);
    if (!there)
        return 0;
    address = (__u64)BPF_CORE_READ(task, se.cfs_rq) + (there->rq - here);
    return (__u64)BPF_CORE_READ((struct cfs_rq *)address, rq) == there->rq ? address : 0;
}

#endif
