/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/waits.bpf.h - splits a task's wait, where the CPU may take the time for that.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_WAITS_BPF_H
#define HEADROOM_COLLECTORS_BLAME_WAITS_BPF_H

#include "blame/clocks.bpf.h"
#include "blame/walk.bpf.h"

#define MAX_LIMITS 16 /* of run queues, one within the other */

/*
 * Where many tasks wait and each runs for microseconds, each wait has as many slices as there are
 * tasks, and walking them all takes longer than the tasks run: they would run less, wait longer,
 * and so on. So a CPU may walk one slice in 1,024 ns, 5 to 10 % of its time, and what it hasn't
 * used, up to 16 ms, later. Other waits aren't split.
 */
#define ALLOWANCE_SHIFT 10
#define ALLOWANCE_MOST  (16 * BLAME_SLICES)

/* Without padding, as all of what is handed to a function that isn't static must be set. */
struct wait {
    __u64 queued;
    __u64 throttled; /* whether its task was, or how long, by its end, or now: see throttled_of() */
    __u64 entity;    /* the address of its task's; 0: real time, which no limit concerns */
    __u32 number;    /* of the group */
    __u32 tid;
    __u32 cpu;
    __u16 lasts; /* it doesn't end at the moment */
    __u16 moved; /* it began by moving to its CPU */
};

/* A wait that ends now. @param kept  what is known of the task. */
static __always_inline struct wait wait_of(struct task_struct *task, const struct task *kept,
                                           __u32 group, __u32 cpu, __u64 queued, __u64 now)
{
    return (struct wait){.queued = queued,
                         .throttled = throttled_of(task, now),
                         .entity = task->prio < MAX_RT_PRIO ? 0 : (__u64)&task->se,
                         .number = number_of(group),
                         .tid = task->pid,
                         .cpu = cpu,
                         .moved = is_zero(kept->moved ^ (task->sched_info.pcount + 1))};
}

/* When a run queue that the task is on was throttled last, if that was since it was queued. Before
 * Linux 6.6 the kernel keeps that time after it has let the run queue go on. */
__noinline __u64 throttled_since(__u64 address, __u64 queued)
{
    __u64 latest = 0;

    for (int level = 0; level < MAX_LIMITS && address; level++) {
        /* No task is around a group's, but the addresses are the same, see kernel.h. */
        const struct task_struct *around =
            (void *)address - bpf_core_field_offset(struct task_struct, se);
        __u64 clock = BPF_CORE_READ(around, se.cfs_rq, throttled_clock);
        if (clock >= queued && clock > 0 && (latest == 0 || clock < latest))
            latest = clock;
        address = (__u64)BPF_CORE_READ(around, se.parent);
    }
    return latest;
}

/* Whether how long the task was throttled by when the wait began is known. */
static __always_inline bool is_throttled_known(const struct walk *walk, const struct wait *wait)
{
    return walk->queued_known || wait->moved;
}

/*
 * Since when of a wait its run queue may have been throttled, where it isn't known how long. A task
 * that leaves the CPU as that is throttled is queued a little later, by then; and what is left of a
 * wait that was counted while it lasted may begin long after that.
 */
static __always_inline __u64 find_limited_from(const struct walk *walk, const struct wait *wait,
                                               const struct task *task)
{
    if (is_throttled_known(walk, wait) && task->throttled)
        return walk->queued;
    const __u64 since = throttled_since(wait->entity, walk->queued);
    return since == 0 && wait->throttled ? walk->queued : since;
}

static __always_inline void find_limit(struct walk *walk, const struct wait *wait,
                                       const struct task *task)
{
    struct cfs_rq *cfs_rq = 0;

    if (!wait->entity)
        return;
    if (bpf_core_field_exists(cfs_rq->throttled_clock_self_time)) {
        /* It is less where the task was moved to another group meanwhile. */
        if (is_throttled_known(walk, wait) && wait->throttled > task->throttled)
            walk->throttled = wait->throttled - task->throttled;
    } else if (bpf_core_field_exists(cfs_rq->throttled_clock)) {
        walk->limited_from = find_limited_from(walk, wait, task);
    }
}

/* Whether the CPU may walk its slices; how many these are is known afterwards. */
static __always_inline bool is_allowed(struct ring *ring, __u64 now)
{
    if (now > ring->allowed) {
        const __u64 more = (now - ring->allowed) >> ALLOWANCE_SHIFT;
        ring->allowance += more;
        ring->allowed += more << ALLOWANCE_SHIFT;
    }
    if (ring->allowance > ALLOWANCE_MOST)
        ring->allowance = ALLOWANCE_MOST;
    return ring->allowance > 0;
}

/* Splits a wait until the moment. @param task  as it was when the wait began. */
__noinline int split(const struct wait *wait, const struct task *task, const struct moment *moment)
{
    if (!wait || !task || !moment)
        return 0;
    const __u32 which = wait->lasts ? WALK_LASTING : WALK_ENDED, cpu = wait->cpu;
    struct walk *walk = own_walk(which);
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);

    if (!walk || !ring || !(wait->lasts || is_allowed(ring, moment->now)))
        return 0;
    *walk = (struct walk){
        .queued = wait->queued,
        .end = moment->now,
        .irq = moment->irq,
        .steal = moment->steal,
        .queued_known = task->queued == wait->queued,
        .queued_irq = task->irq,
        .queued_steal = task->steal,
        .cpu = wait->cpu,
        .lasts = wait->lasts,
        .waiter = wait->number,
        .waiter_tid = settings.by_task ? wait->tid : 0,
    };

    find_limit(walk, wait, task);
    walk_back(which);
    if (!wait->lasts)
        ring->allowance -= walk->steps;
    return 0;
}

#endif
