/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/lasting.bpf.h - counts waits that last, as far as they have lasted.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_LASTING_BPF_H
#define HEADROOM_COLLECTORS_BLAME_LASTING_BPF_H

#include "blame/takers.bpf.h"
#include "blame/tasks.bpf.h"

/* Whether a limit may have kept the task from the CPU, now or ever. */
static __noinline bool is_limited(struct task_struct *task, __u64 now)
{
    struct cfs_rq *cfs_rq = BPF_CORE_READ(task, se.cfs_rq);

    return (bpf_core_field_exists(cfs_rq->throttle_count) &&
            BPF_CORE_READ(cfs_rq, throttle_count) != 0) ||
           throttled_of(task, now) != 0;
}

/* Where no switch has been seen since attaching, one task has had the CPU since it arrived. The
 * idle task's arrival isn't kept. Of a task with a limit it isn't known whether that was why it
 * waited. */
static __noinline void charge_running(struct task_struct *task, const struct wait *wait,
                                      const struct moment *moment)
{
    struct task_struct *running = task->se.cfs_rq->rq->curr;

    if (!running || running->pid == 0 || is_limited(task, moment->now))
        return;
    const __u64 arrived = running->sched_info.last_arrival;
    const __u64 begun = arrived > wait->queued ? arrived : wait->queued;
    const struct blame_key key = {
        .waiter = wait->number,
        .taker = number_of(find_taker(running)),
        .waiter_tid = settings.by_task ? task->pid : 0,
        .taker_tid = settings.by_task ? running->pid : 0,
    };
    if (begun < moment->now)
        charge(&key, moment->now - begun, 1);
}

/*
 * Now, by a run queue that isn't locked. Its own CPU alone moves its clock on: not where that has
 * stopped its tick, or is stopped by a hypervisor. The reader's CPU works, so its clock is at most
 * a tick old; both say the same, or nearly so where clocks of CPUs aren't stable.
 */
static __always_inline struct moment moment_of_reading(struct rq *rq)
{
    struct moment moment = moment_of(rq);
    const __u64 now = to_read(bpf_get_current_task_btf())->se.cfs_rq->rq->clock;

    if (now > moment.now)
        moment.now = now;
    return moment;
}

/* Whether a switch on a CPU has been seen since attaching. */
static __always_inline bool has_slices(__u32 cpu, __u32 epoch)
{
    const struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);

    return ring && ring->epoch == epoch && ring->count > 0;
}

/* Counts a wait that lasts until now. It may end at the moment, even at an earlier one by its own
 * CPU's clock. */
static __always_inline void count_lasting(struct task_struct *task, struct task *kept,
                                          struct wait *wait, const struct moment *moment,
                                          __u32 epoch)
{
    const __u64 queued = wait->queued;

    const struct task before = *kept;
    wait->queued = find_counted(&before.counted, queued);
    if (wait->queued >= moment->now)
        return;
    if (!count_until(&kept->counted, &before.counted, &task->sched_info.last_queued, queued,
                     moment->now))
        return;
    keep_queued(task, kept, moment->now, moment);
    if (!charge_total(wait->number, wait->tid, moment->now - wait->queued))
        return;
    if (has_slices(wait->cpu, epoch))
        split(wait, &before, moment);
    else
        charge_running(task, wait, moment);
}

#endif
