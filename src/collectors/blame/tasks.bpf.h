/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/tasks.bpf.h - what is known of each task, and how much of its waits was counted.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_TASKS_BPF_H
#define HEADROOM_COLLECTORS_BLAME_TASKS_BPF_H

#include "blame/waits.bpf.h"

static __always_inline struct task_set *set_of(__u32 tid)
{
    const __u32 index = tid & (BLAME_TASKS / WAYS - 1);

    return bpf_map_lookup_elem(&tasks, &index);
}

/* @return the task's way in its set, from 1 on; 0: it isn't there. A switch and a reader may have
 * added it at once: the first counts. */
static __always_inline __u32 find_way(const struct task_set *set, __u32 tid)
{
    __u64 found = 0;

    for (__u32 way = 0; way < WAYS; way++) {
        found += is_zero(set->tids[way] ^ tid) * (way + 1 - found);
    }
    return found;
}

/* Which of a set a task gets that isn't there: a free one, or that of the one that was queued least
 * recently; from 0 on. */
static __always_inline __u32 choose_way(const struct task_set *set)
{
    __u64 least = ~0ull;
    __u32 taken = 0;

    for (__u32 way = 0; way < WAYS; way++) {
        const __u64 queued = set->tids[way] ? set->tasks[way].queued : 0;
        if (queued < least) {
            least = queued;
            taken = way;
        }
    }
    return taken;
}

/* Newer compilers see that way < WAYS and drop the mask; the verifier doesn't see it, and rejects
 * the program without the mask. */
static __always_inline __u32 within_ways(__u32 way)
{
    barrier_var(way);
    return way & (WAYS - 1);
}

/* A task that isn't known yet: what it waited for before isn't, either. @return which of its set it
 * is, from 0 on. */
__noinline __u32 add_task(__u32 tid, __u64 start_time, __u64 now)
{
    struct task_set *set = set_of(tid);

    if (!set)
        return 0;
    __u32 way = find_way(set, tid);
    way = within_ways(way > 0 ? way - 1 : choose_way(set));
    set->tids[way] = tid;
    set->tasks[way] = (struct task){.start_time = start_time, .queued = now};
    return way;
}

static __always_inline struct task *find_task(struct task_struct *task)
{
    const __u32 tid = task->pid;
    struct task_set *set = set_of(tid);

    if (!set)
        return 0;
    const __u32 way = find_way(set, tid);
    if (way == 0)
        return 0;
    struct task *found = &set->tasks[within_ways(way - 1)];
    return found->start_time == task->start_time ? found : 0;
}

static __always_inline struct task *find_or_add_task(struct task_struct *task, __u64 now)
{
    const __u32 tid = task->pid;
    struct task_set *set = set_of(tid);

    if (!set)
        return 0;
    __u32 way = find_way(set, tid) - 1;
    if (way >= WAYS || set->tasks[way].start_time != task->start_time)
        way = add_task(tid, task->start_time, now);
    return &set->tasks[within_ways(way)];
}

/* Waits that ended since its last arrival without another, by moving. If there was another one, it
 * was in a group that isn't measured. */
static __always_inline __u64 waited_since_arrival(struct task_struct *task, const struct task *kept)
{
    return excess(task->sched_info.run_delay, kept->run_delay) *
           is_zero(kept->arrivals ^ task->sched_info.pcount);
}

static __always_inline void keep_queued(struct task_struct *task, struct task *kept, __u64 queued,
                                        const struct moment *moment)
{
    kept->queued = queued;
    kept->irq = moment->irq;
    kept->steal = moment->steal;
    kept->throttled = throttled_of(task, moment->now);
    kept->moved = 0;
}

/* It is about to be queued on another CPU, whose clock and sums aren't known here. */
static __always_inline void keep_moved(struct task_struct *task, struct task *kept, __u32 cpu,
                                       const struct moment *moment)
{
    const __u64 address = find_run_queue(task, cpu);

    kept->throttled = address ? throttled_at(address, moment->now) : 0;
    kept->moved = address ? task->sched_info.pcount + 1 : 0;
}

/* @return whether it may be split: of what was lost, parts would be counted as lost again. */
__noinline int charge_total(__u32 number, __u32 tid, __u64 ns)
{
    const struct blame_key key = {
        .waiter = number, .taker = BLAME_TOTAL, .waiter_tid = settings.by_task ? tid : 0};

    return ns == 0 || charge(&key, ns, 1);
}

/* Leaves out what was counted of a wait that ends now, while it lasted. @return how long that was.
 */
static __always_inline __u64 skip_counted(struct task *kept, struct wait *wait, __u64 end)
{
    const __u64 begun = wait->queued;

    if (!settings.lasting)
        return 0;
    begin_ending(&kept->counted, begun);
    wait->queued = finish_ending(&kept->counted, begun, end);
    return wait->queued - begun;
}

#endif
