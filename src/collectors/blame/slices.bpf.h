/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/slices.bpf.h - a CPU's slices: who began to run when.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_SLICES_BPF_H
#define HEADROOM_COLLECTORS_BLAME_SLICES_BPF_H

#include "blame/takers.bpf.h"
#include "blame/tasks.bpf.h"

static __always_inline struct slice *newest(struct ring *ring)
{
    return &ring->slices[(ring->count - 1) & RING_MASK];
}

/* Slices of one taker that follow one another are one, unless tasks matter. */
static __always_inline void add_slice(struct ring *ring, const struct slice *slice)
{
    ring->tid = slice->tid;
    ring->since = slice->begin;
    if (!settings.by_task && ring->count > 0 && newest(ring)->taker == slice->taker)
        return;
    ring->slices[ring->count & RING_MASK] = *slice;
    ring->count++;
    /* Still a whole ring, and never 0 again. */
    if (ring->count == 0)
        ring->count = BLAME_SLICES;
}

static __noinline int keep_status(void)
{
    __u32 zero = 0;
    struct blame_status *known = bpf_map_lookup_elem(&status, &zero);
    struct rq *rq = 0;
    struct cfs_rq *cfs_rq = 0;

    if (!known)
        return 0;
    known->knows_interrupts = bpf_core_field_exists(rq->prev_irq_time);
    known->knows_limit = bpf_core_field_exists(cfs_rq->throttled_clock_self_time);
    return 0;
}

/* A task that runs, from its arrival on; the idle task's isn't kept by the kernel. */
static __always_inline void add_running(struct ring *ring, struct task_struct *task, __u32 taker,
                                        const struct moment *moment)
{
    const struct slice slice = {.begin = task->sched_info.last_arrival,
                                .irq = moment->irq,
                                .steal = moment->steal,
                                .taker = taker,
                                .tid = task->pid};

    if (slice.tid != 0 && slice.begin < moment->now)
        add_slice(ring, &slice);
}

/* Splits the wait that ended with the arrival of a task, now that it leaves. */
static __noinline int split_missed_arrival(struct task_struct *task, __u32 group,
                                           const struct moment *moment)
{
    struct task *kept = find_or_add_task(task, moment->now);
    const __u64 run_delay = task->sched_info.run_delay, arrivals = task->sched_info.pcount;

    if (!kept)
        return 0;
    const __u64 waited = run_delay - kept->run_delay;
    struct moment arrival = *moment;
    arrival.now = task->sched_info.last_arrival;
    struct wait wait =
        wait_of(task, kept, group, bpf_get_smp_processor_id(), arrival.now - waited, arrival.now);
    if (kept->arrivals + 1 == arrivals && waited > 0 && waited < arrival.now &&
        charge_total(wait.number, wait.tid, waited - skip_counted(kept, &wait, arrival.now)))
        split(&wait, kept, &arrival);
    kept->run_delay = run_delay;
    kept->arrivals = arrivals;
    return 0;
}

/* Brings the ring up to date at attaching, and where switches went by without the program. If that
 * was one, the task before ran until the arrival of the one that runs; else that isn't known. */
static __noinline int resync_ring(struct ring *ring, struct task_struct *task, __u32 epoch,
                                  __u64 switches, const struct moment *moment)
{
    if (ring->epoch != epoch) {
        keep_status();
        ring->epoch = epoch;
        ring->rq = (__u64)task->se.cfs_rq->rq;
        ring->count = 0;
    } else if (ring->count > 0 && (switches != ring->switches + 2 || task->pid == 0)) {
        const struct slice unknown = {
            .begin = ring->since, .irq = moment->irq, .steal = moment->steal, .taker = BLAME_TOTAL};
        add_slice(ring, &unknown);
    }
    return 0;
}

/* Who had the CPU until now; meanwhile the task may have been moved to another group, or other
 * groups may be watched. */
static __always_inline __u32 end_slice(struct ring *ring, struct task_struct *task,
                                       const struct blame_control *state, __u64 switches,
                                       const struct moment *moment)
{
    struct slice *slice = newest(ring);
    bool follows = ring->epoch == state->epoch && ring->count > 0 && ring->tid == (__u32)task->pid;

    /* Asking for the id takes a call. */
    if (follows && ring->css_set == (__u64)task->cgroups && ring->generation == state->generation)
        return slice->taker;
    const __u64 id = cgroup_id_of(task);
    __u32 taker = taker_of(ring, task, id, state->generation);
    if (follows && number_of(slice->taker) == number_of(taker))
        return taker;
    if (!follows) {
        resync_ring(ring, task, state->epoch, switches, moment);
        if (is_measured(taker))
            split_missed_arrival(task, taker, moment);
    }
    add_running(ring, task, taker, moment);
    return taker;
}

#endif
