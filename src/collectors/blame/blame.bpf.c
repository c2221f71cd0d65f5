// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * blame.bpf.c - splits the waits for a CPU by what the CPU did meanwhile.
 *
 * Each CPU has a ring of its last slices: who began to run when. When a task of a measured group
 * begins to run, sched_info.last_queued still has when it was queued, by the clock of the CPU's run
 * queue, as the kernel is about to add the difference to run_delay. Walking the ring back to that
 * moment gives who had the CPU. A task that moves while it waits has its wait added to run_delay
 * by then; the difference to what it was is the wait on the CPU that it leaves.
 *
 * All of it runs with the run queue's lock held: no map allocates memory here.
 *
 * The kernel verifies a static function for each state in which it is called, and each other
 * one once in a program, for whatever it is handed. These take no pointers to the kernel's types,
 * but addresses as numbers, and find out whether a pointer is one.
 *
 * The frames of functions that call each other may take 512 bytes in all; older kernels, such as
 * 6.1, round each of them up to 32. So what isn't needed further down has a frame of its own.
 */
#include "blame/lasting.bpf.h"
#include "blame/slices.bpf.h"

static __always_inline bool is_runnable(struct task_struct *task)
{
    if (bpf_core_field_exists(task->__state))
        return task->__state == TASK_RUNNING;
    return task->state == TASK_RUNNING;
}

/* It isn't known, or not what it waited for, if it wasn't measured when it arrived. */
static __always_inline void record_departure(struct task_struct *task, const struct moment *moment)
{
    struct task *kept = is_runnable(task) ? find_or_add_task(task, moment->now) : 0;

    if (!kept)
        return;
    kept->run_delay = task->sched_info.run_delay;
    kept->arrivals = task->sched_info.pcount;
    keep_queued(task, kept, moment->now, moment);
}

static __noinline void record_arrival(struct task_struct *task, __u32 group, __u32 cpu,
                                      const struct moment *moment)
{
    struct task *kept = find_or_add_task(task, moment->now);
    __u64 queued = task->sched_info.last_queued;
    __u64 waited = queued && queued < moment->now ? moment->now - queued : 0;

    if (!kept)
        return;
    struct wait wait = wait_of(task, kept, group, cpu, queued, moment->now);
    const __u64 counted = waited > 0 ? skip_counted(kept, &wait, moment->now) : 0;
    const bool is_room =
        charge_total(wait.number, wait.tid, waited_since_arrival(task, kept) + waited - counted);
    kept->run_delay = task->sched_info.run_delay + waited;
    kept->arrivals = task->sched_info.pcount + 1;
    if (waited > 0 && is_room)
        split(&wait, kept, moment);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *trusted_previous,
             struct task_struct *trusted_next)
{
    struct task_struct *previous = to_read(trusted_previous), *next = to_read(trusted_next);
    __u32 zero = 0, cpu = bpf_get_smp_processor_id();
    struct blame_control *state = bpf_map_lookup_elem(&control, &zero);
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);

    if (!state || !ring)
        return 0;
    struct rq *rq = next->se.cfs_rq->rq;
    const __u64 id = cgroup_id_of(next);
    const __u64 switches = rq->nr_switches;
    const struct moment moment = moment_of(rq);
    if (is_measured(end_slice(ring, previous, state, switches, &moment)))
        record_departure(previous, &moment);
    ring->generation = state->generation; /* it may change meanwhile */
    const struct slice slice = {.begin = moment.now,
                                .irq = moment.irq,
                                .steal = moment.steal,
                                .taker = taker_of(ring, next, id, ring->generation),
                                .tid = next->pid};
    if (is_measured(slice.taker))
        record_arrival(next, slice.taker, cpu, &moment);
    add_slice(ring, &slice);
    ring->css_set = (__u64)next->cgroups;
    ring->switches = switches;
    if (settings.by_task)
        keep_name(next);
    return 0;
}

/* The run queue is locked, and its clock that of the queueing. Tasks that haven't run yet aren't
 * known. */
static __always_inline int record_wakeup(struct task_struct *task)
{
    struct task *kept = find_task(task);

    if (!kept)
        return 0;
    const struct moment moment = moment_of(task->se.cfs_rq->rq);
    keep_queued(task, kept, task->sched_info.last_queued, &moment);
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
    return record_wakeup(to_read(task));
}

/* So is a process that is new: otherwise it isn't known whether a limit or what else kept it from
 * the CPU until it runs for the first time. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_start, struct task_struct *trusted)
{
    struct task_struct *task = to_read(trusted);
    __u32 zero = 0, cpu = bpf_get_smp_processor_id();
    struct blame_control *state = bpf_map_lookup_elem(&control, &zero);
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);

    if (!state || !ring ||
        !is_measured(group_of(ring, task, cgroup_id_of(task), state->generation)))
        return 0;
    const struct moment moment = moment_of(task->se.cfs_rq->rq);
    struct task *kept = find_or_add_task(task, moment.now);
    if (kept)
        keep_queued(task, kept, task->sched_info.last_queued, &moment);
    return 0;
}

/* The wait on the CPU that a task leaves. */
static __always_inline void record_move(struct task_struct *task, struct task *kept, __u32 group,
                                        const struct moment *moment)
{
    const __u64 waited = waited_since_arrival(task, kept);

    if (waited == 0)
        return;
    kept->run_delay = task->sched_info.run_delay;
    if (!is_measured(group))
        return;
    struct wait wait =
        wait_of(task, kept, group, task->se.cfs_rq->rq->cpu, moment->now - waited, moment->now);
    if (charge_total(wait.number, wait.tid, waited - skip_counted(kept, &wait, moment->now)) &&
        waited < moment->now)
        split(&wait, kept, moment);
}

/* A queued task leaves a run queue, which is locked, for another one. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *trusted, int destination)
{
    struct task_struct *task = to_read(trusted);
    __u32 zero = 0, cpu = bpf_get_smp_processor_id();
    struct blame_control *state = bpf_map_lookup_elem(&control, &zero);
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);

    if (!state || !ring || task->on_rq != TASK_ON_RQ_MIGRATING)
        return 0;
    struct task *kept = find_task(task);
    if (!kept)
        return 0;
    const __u32 group = group_of(ring, task, cgroup_id_of(task), state->generation);
    const struct moment moment = moment_of(task->se.cfs_rq->rq);
    record_move(task, kept, group, &moment);
    keep_moved(task, kept, destination, &moment);
    return 0;
}

SEC("iter/task")
int on_reading(struct bpf_iter__task *context)
{
    __u32 zero = 0;
    struct task_struct *trusted = context->task;
    struct blame_control *state = bpf_map_lookup_elem(&control, &zero);

    if (!trusted || !state)
        return 0;
    struct task_struct *task = to_read(trusted);
    if (task->sched_info.last_queued == 0)
        return 0;
    struct cfs_rq *cfs_rq = task->se.cfs_rq;
    if (!cfs_rq)
        return 0;
    struct rq *rq = cfs_rq->rq;
    const struct moment moment = moment_of_reading(rq);
    const __u32 group = find_taker(task);
    const __u64 queued = task->sched_info.last_queued;
    if (!is_measured(group) || queued == 0 || queued >= moment.now)
        return 0;
    struct task *kept = find_task(task);
    if (!kept) {
        kept = find_or_add_task(task, moment.now);
        if (!kept)
            return 0;
        kept->run_delay = task->sched_info.run_delay;
        kept->arrivals = task->sched_info.pcount;
    }
    if (settings.by_task)
        keep_name(task); /* it may not have run yet */
    struct wait wait = wait_of(task, kept, group, rq->cpu, queued, moment.now);
    wait.lasts = 1;
    count_lasting(task, kept, &wait, &moment, state->epoch);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
