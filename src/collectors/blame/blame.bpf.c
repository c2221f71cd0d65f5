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
 * The frames of functions that call each other may take 512 bytes in all; older kernels, such as
 * 6.1, round each of them up to 32. So what isn't needed further down has a frame of its own.
 */
#include "blame/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "blame/shared.h"

#define RING_MASK  (BLAME_SLICES - 1)
#define ROOT_ID    1    /* of the root cgroup of a hierarchy */
#define CGROUPS    1024 /* that a CPU has seen; a power of two */
#define WAYS       4    /* tasks of a set */
#define MAX_DEPTH  48   /* of cgroups */
#define MAX_LIMITS 16   /* of run queues, one within the other */

/*
 * Where many tasks wait and each runs for microseconds, each wait has as many slices as there are
 * tasks, and walking them all takes longer than the tasks run: they would run less, wait longer,
 * and so on. So a CPU may walk one slice in 1,024 ns, 5 to 10 % of its time, and what it hasn't
 * used, up to 16 ms, later. Other waits aren't split.
 */
#define ALLOWANCE_SHIFT 10
#define ALLOWANCE_MOST  (16 * BLAME_SLICES)

/* Slices that are walked where the kernel has no bpf_loop(), before 5.17. */
#define SHORT_WALK 128

/* One task's time on a CPU; it ends when the next one begins. */
struct slice {
    __u64 begin;
    __u64 irq, steal; /* the CPU's sums when it began */
    __u32 taker;      /* as of taker_of(); BLAME_TOTAL: unknown */
    __u32 tid;
};

/* The number of the watched group of a cgroup; one of an older generation is worthless. */
struct resolved {
    __u64 cgroup; /* its id */
    __u32 generation;
    __u32 number; /* as of find_watched() */
};

struct ring {
    __u32 count; /* slices so far; the newest is that of the task that runs */
    __u32 epoch;
    __u32 tid;        /* of the task that runs */
    __u32 generation; /* of the watched groups, when its taker was found */
    __u64 since;      /* when that began */
    __u64 css_set;    /* the address of what has the cgroups of the task that runs */
    __u64 switches;   /* of the run queue, by then */
    __s64 allowance;  /* so many slices may be walked, */
    __u64 allowed;    /* as of then */
    struct resolved cgroups[CGROUPS]; /* that were seen, each where its id says */
    struct slice slices[BLAME_SLICES];
};

/* What is kept of a task of a measured group, by its tid. */
struct task {
    __u64 start_time; /* tids are used again */
    __u64 run_delay;  /* so much of it has been split, */
    __u64 arrivals;   /* when it was known after so many */
    __u64 queued;     /* when it was queued last; the rest are the sums of the CPU by then */
    __u64 irq, steal, throttled;
    __u64 counted_of;    /* the wait that was queued then has been counted, */
    __u64 counted_until; /* as far as this, while it lasted */
};

/* The tasks whose tids are the same modulo the number of sets. */
struct task_set {
    __u32 tids[WAYS]; /* 0: free */
    struct task tasks[WAYS];
};

/* The sums of a CPU at one moment. */
struct moment {
    __u64 now; /* by the run queue's clock */
    __u64 irq, steal;
};

const volatile struct blame_settings settings = {0};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct blame_control);
} control SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct blame_status);
} status SEC(".maps");

/* The numbers of the watched groups, marked if they are measured. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, __u64);
    __type(value, __u32);
} watched SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct ring);
} rings SEC(".maps");

/* A hash, but looking a task up in it takes no call: that is done at each wakeup of any task. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, BLAME_TASKS / WAYS);
    __type(key, __u32);
    __type(value, struct task_set);
} tasks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, struct blame_key);
    __type(value, __u64);
} cells SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct blame_name);
} names SEC(".maps");

/* --- Tasks of the kernel -------------------------------------------------- */

extern void *bpf_rdonly_cast(const void *object, __u32 type) __weak __ksym;

/*
 * For each pointer that is read through one that the verifier trusts, the kernel searches all of
 * its types by name, since Linux 6.2, which takes milliseconds; through others it doesn't. These
 * have the fields to read, which is all that is needed here. BPF_CORE_READ() would do, but calls a
 * function for each pointer whenever it runs. The constant is as old as the function.
 */
static __always_inline struct task_struct *to_read(struct task_struct *task)
{
    if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_cgrp_storage_get))
        return task;
    return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
}

/* --- Groups --------------------------------------------------------------- */

/* The address of a task's cgroup, as a number for the verifier. */
static __always_inline struct cgroup *read_cgroup(struct task_struct *task)
{
    struct cgroup_subsys_state *css = 0;

    if (!settings.of_cpu_controller)
        return BPF_CORE_READ(task, cgroups, dfl_cgrp);
    bpf_probe_read_kernel(&css, sizeof(css),
                          &BPF_CORE_READ(task, cgroups)
                               ->subsys[bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id)]);
    return css ? BPF_CORE_READ(css, cgroup) : 0;
}

/* The id of a task's cgroup. */
static __always_inline __u64 cgroup_id_of(struct task_struct *task)
{
    return settings.of_cpu_controller ? BPF_CORE_READ(read_cgroup(task), kn, id)
                                      : task->cgroups->dfl_cgrp->kn->id;
}

/* The deepest watched group that a cgroup is in or below, marked if it is measured; BLAME_OTHER:
 * none. Like others that are rarely needed it isn't static: so it is verified once, not for each
 * of its callers. These take addresses as numbers. */
__noinline __u32 find_watched(__u64 address)
{
    struct cgroup *cgroup = (struct cgroup *)address;

    for (int level = 0; level < MAX_DEPTH && cgroup; level++) {
        __u64 id = BPF_CORE_READ(cgroup, kn, id);
        __u32 *number = bpf_map_lookup_elem(&watched, &id);
        if (number)
            return *number;
        struct cgroup_subsys_state *parent = BPF_CORE_READ(cgroup, self.parent);
        if (!parent)
            break;
        cgroup = BPF_CORE_READ(parent, cgroup);
    }
    return BLAME_OTHER;
}

/* @param ring  that of this CPU, as it is what others don't write to meanwhile. */
static __always_inline __u32 group_of(struct ring *ring, struct task_struct *task, __u64 id,
                                      __u32 generation)
{
    struct resolved *known = &ring->cgroups[id & (CGROUPS - 1)];

    if (known->cgroup == id && known->generation == generation)
        return known->number;
    known->cgroup = id;
    known->generation = generation;
    known->number = find_watched((__u64)read_cgroup(task));
    return known->number;
}

static __always_inline bool is_measured(__u32 group)
{
    return group & BLAME_MEASURED;
}

/* What its cells have. */
static __always_inline __u32 number_of(__u32 group)
{
    return group & ~BLAME_MEASURED;
}

/* --- Kernel threads ------------------------------------------------------- */

#define COMPARED 8 /* bytes of a name */

/* The first bytes of a name as one number. */
static __always_inline __u64 pack_name(const char *text, int length)
{
    union {
        char bytes[COMPARED];
        __u64 word;
    } packed = {.word = 0};

    for (int i = 0; i < length; i++)
        packed.bytes[i] = text[i];
    return packed.word;
}

#define BEGINS_WITH(word, begin)                                                                   \
    ((pack_name("\377\377\377\377\377\377\377\377", sizeof(begin) - 1) & (word)) ==                \
     pack_name(begin, sizeof(begin) - 1))

/* @param name  its first bytes. */
__noinline __u32 class_of_kernel_thread(__u64 name)
{
    if (BEGINS_WITH(name, "kworker"))
        return BLAME_KWORKER;
    if (BEGINS_WITH(name, "ksoftirq"))
        return BLAME_KSOFTIRQD;
    if (BEGINS_WITH(name, "migratio"))
        return BLAME_MIGRATION;
    if (BEGINS_WITH(name, "rcu"))
        return BLAME_RCU;
    if (BEGINS_WITH(name, "kswapd") || BEGINS_WITH(name, "kcompact"))
        return BLAME_RECLAIM;
    if (BEGINS_WITH(name, "irq/"))
        return BLAME_IRQ_THREAD;
    return BLAME_KERNEL;
}

/* @param group  that of its cgroup. */
static __always_inline __u32 taker_of_group(struct task_struct *task, __u64 id, __u32 group)
{
    if (!(task->flags & PF_KTHREAD) || (group != BLAME_OTHER && id != ROOT_ID))
        return group;
    __u64 name = 0;
    bpf_core_read(&name, COMPARED, &task->comm);
    return class_of_kernel_thread(name);
}

static __always_inline __u32 taker_of(struct ring *ring, struct task_struct *task, __u64 id,
                                      __u32 generation)
{
    return task->pid == 0 ? BLAME_IDLE
                          : taker_of_group(task, id, group_of(ring, task, id, generation));
}

/* The same for readers, which switches may interrupt: without what is kept. */
static __always_inline __u32 find_taker(struct task_struct *task)
{
    return taker_of_group(task, cgroup_id_of(task), find_watched((__u64)read_cgroup(task)));
}

/* --- Clocks --------------------------------------------------------------- */

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

/* How long a task's run queue has been throttled, by itself or with one above. */
static __always_inline __u64 throttled_of(struct task_struct *task, __u64 now)
{
    struct cfs_rq *cfs_rq = task->se.cfs_rq;

    if (!bpf_core_field_exists(cfs_rq->throttled_clock_self_time))
        return 0;
    const __u64 since = cfs_rq->throttled_clock_self;
    return cfs_rq->throttled_clock_self_time + (since && now > since ? now - since : 0);
}

/* --- Cells ---------------------------------------------------------------- */

/* @param may_add  whether a cell may be added: trying costs much where there is no room.
 * @return whether it was charged. */
static __always_inline bool charge(const struct blame_key *key, __u64 ns, bool may_add)
{
    __u32 zero = 0;
    __u64 *sum = bpf_map_lookup_elem(&cells, key);

    if (!sum && may_add) {
        __u64 none = 0;
        bpf_map_update_elem(&cells, key, &none, BPF_NOEXIST);
        sum = bpf_map_lookup_elem(&cells, key);
    }
    if (sum) {
        __sync_fetch_and_add(sum, ns);
        return 1;
    }
    struct blame_status *known = bpf_map_lookup_elem(&status, &zero);
    if (known)
        __sync_fetch_and_add(key->taker == BLAME_TOTAL ? &known->lost_ns : &known->unsplit_ns, ns);
    return 0;
}

static __always_inline void keep_name(struct task_struct *task)
{
    struct blame_name name = {0};
    __u32 tid = task->pid;

    bpf_probe_read_kernel(&name, sizeof(name), task->comm);
    bpf_map_update_elem(&names, &tid, &name, BPF_ANY);
}

/* --- Walking the ring ----------------------------------------------------- */

struct walk {
    __u64 queued, end;              /* what is still to be split */
    __u64 irq, steal;               /* the CPU's sums at its end, */
    __u64 queued_irq, queued_steal; /* and when it was queued, if that is known */
    __u64 ran_self, idle;           /* sums of measure_slices() */
    __u64 limited_idle, unlimited;  /* how much is still due to the limit of the idle slices, and
                                       isn't of others' */
    __u64 throttled;                /* for how much of it */
    __u64 limited_from;             /* where it isn't known how much: since when; 0: never */
    struct blame_key key;
    __u32 cpu;
    __u32 lasts; /* the ring goes on meanwhile */
    __u32 steps; /* slices that were walked */
    bool queued_known;
    bool limited; /* throttled for a known part of it */
    bool is_full; /* there was no room for a cell */
};

/* The walk on each CPU: the stack has no room for it. Interrupts are off, so there is one at a
 * time; but that of a wait that lasts may be interrupted by another. */
enum { WALK_ENDED, WALK_LASTING, WALK_COUNT };

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, WALK_COUNT);
    __type(key, __u32);
    __type(value, struct walk);
} walks SEC(".maps");

static __always_inline struct walk *own_walk(__u32 which)
{
    return bpf_map_lookup_elem(&walks, &which);
}

static __always_inline void charge_to(struct walk *walk, __u32 taker, __u32 tid, __u64 ns)
{
    if (ns == 0 || taker == BLAME_TOTAL)
        return;
    walk->key.taker = taker;
    walk->key.taker_tid = settings.by_task ? tid : 0;
    if (!charge(&walk->key, ns, !walk->is_full))
        walk->is_full = 1;
}

/* Takes interrupts and steal out of the part of a slice from `begin` to walk->end. */
static __always_inline __u64 charge_interruptions(struct walk *walk, const struct slice *slice,
                                                  bool whole, __u64 ns)
{
    if (!whole && !walk->queued_known)
        return ns;
    __u64 irq = walk->irq - (whole ? slice->irq : walk->queued_irq);
    __u64 steal = walk->steal - (whole ? slice->steal : walk->queued_steal);
    if (irq > ns) /* also if a sum went back */
        irq = 0;
    if (steal > ns - irq)
        steal = 0;
    charge_to(walk, BLAME_INTERRUPTS, 0, irq);
    charge_to(walk, BLAME_STEAL, 0, steal);
    return ns - irq - steal;
}

/*
 * Time taken by the limit is charged to no other taker, whatever ran meanwhile; tasks of the group
 * itself can't run then. How long the group was throttled is known, but not when: in idle slices,
 * and in the oldest of others, as throttling begins while the group runs.
 */
static __always_inline __u64 charge_limit(struct walk *walk, __u32 taker, __u64 ns)
{
    if (!walk->limited || taker == walk->key.waiter)
        return ns;
    __u64 *budget = taker == BLAME_IDLE ? &walk->limited_idle : &walk->unlimited;
    __u64 part = ns < *budget ? ns : *budget;
    __u64 limited = taker == BLAME_IDLE ? part : ns - part;
    *budget -= part;
    charge_to(walk, BLAME_LIMIT, 0, limited);
    return ns - limited;
}

/* The same where only the beginning is known: what others ran since may be the limit's. */
static __always_inline __u64 charge_limit_since(struct walk *walk, __u32 taker, __u64 begin,
                                                __u64 ns)
{
    if (taker == walk->key.waiter || !walk->limited_from || walk->end <= walk->limited_from)
        return ns;
    __u64 limited = walk->end - (begin > walk->limited_from ? begin : walk->limited_from);
    if (taker == BLAME_IDLE)
        charge_to(walk, BLAME_LIMIT, 0, limited);
    return ns - limited;
}

static __always_inline void charge_slice(struct walk *walk, const struct slice *slice)
{
    bool whole = slice->begin >= walk->queued;
    __u64 begin = whole ? slice->begin : walk->queued;
    __u64 ns = walk->end - begin;
    __u32 taker = number_of(slice->taker);
    __u64 left = charge_limit(walk, taker, ns);

    left = charge_limit_since(walk, taker, begin, left);
    if (left == ns)
        left = charge_interruptions(walk, slice, whole, ns);
    charge_to(walk, taker, slice->tid, left);
    walk->end = begin;
    walk->irq = slice->irq;
    walk->steal = slice->steal;
}

/* The slice before those that were walked; NULL: the walk is at its end. */
static __always_inline struct slice *slice_before(__u32 step, struct walk *walk)
{
    __u32 cpu = walk->cpu;
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);

    if (!ring || step >= ring->count || step >= BLAME_SLICES || walk->end <= walk->queued)
        return 0;
    walk->steps++;
    return &ring->slices[(ring->count - 1 - step) & RING_MASK];
}

/* Whether a slice isn't part of what is walked: of a wait that lasts it is newer, and those before
 * it follow. */
static __always_inline bool is_beyond(const struct walk *walk, const struct slice *slice)
{
    return slice->begin > walk->end;
}

static long charge_slices(__u32 step, void *which)
{
    struct walk *walk = own_walk(*(__u32 *)which);
    struct slice *slice = walk ? slice_before(step, walk) : 0;

    if (!slice)
        return 1;
    if (is_beyond(walk, slice))
        return walk->lasts ? 0 : 1;
    charge_slice(walk, slice);
    return 0;
}

static long measure_slices(__u32 step, void *which)
{
    struct walk *walk = own_walk(*(__u32 *)which);
    struct slice *slice = walk ? slice_before(step, walk) : 0;

    if (!slice)
        return 1;
    if (is_beyond(walk, slice))
        return walk->lasts ? 0 : 1;
    __u64 begin = slice->begin > walk->queued ? slice->begin : walk->queued;
    if (number_of(slice->taker) == walk->key.waiter)
        walk->ran_self += walk->end - begin;
    else if (slice->taker == BLAME_IDLE)
        walk->idle += walk->end - begin;
    walk->end = begin;
    return 0;
}

#define WALK(each, which)                                                                          \
    do {                                                                                           \
        __u32 walked = which;                                                                      \
        if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))                           \
            bpf_loop(BLAME_SLICES, each, &walked, 0);                                              \
        else                                                                                       \
            for (__u32 step = 0; step < SHORT_WALK && !each(step, &walked); step++)                \
                ;                                                                                  \
    } while (0)

static __always_inline void find_limited(struct walk *walk, __u32 which)
{
    const __u64 end = walk->end, waited = end - walk->queued;
    __u64 throttled = walk->throttled < waited ? walk->throttled : waited;

    if (throttled == 0)
        return;
    WALK(measure_slices, which);
    walk->end = end;
    walk->limited = 1;
    const __u64 others = waited - walk->ran_self - walk->idle;
    walk->limited_idle = throttled < walk->idle ? throttled : walk->idle;
    throttled -= walk->limited_idle;
    walk->unlimited = throttled < others ? others - throttled : 0;
}

/* Splits the wait that this CPU's walk has. */
__noinline int walk_back(__u32 which)
{
    struct walk *walk = own_walk(which);

    if (!walk)
        return 0;
    find_limited(walk, which);
    WALK(charge_slices, which);
    return 0;
}

/* --- Waits ---------------------------------------------------------------- */

static __always_inline bool is_real_time(struct task_struct *task)
{
    return task->prio < MAX_RT_PRIO;
}

/* When a run queue that the task is on was throttled last, if that was since it was queued. */
static __noinline __u64 throttled_since(struct task_struct *task, __u64 queued)
{
    struct sched_entity *entity = &task->se;
    __u64 latest = 0;

    for (int level = 0; level < MAX_LIMITS && entity; level++) {
        __u64 clock = BPF_CORE_READ(entity, cfs_rq, throttled_clock);
        if (clock >= queued && clock > 0 && (latest == 0 || clock < latest))
            latest = clock;
        entity = BPF_CORE_READ(entity, parent);
    }
    return latest;
}

static __always_inline void find_limit(struct walk *walk, struct task_struct *waiter,
                                       const struct task *task)
{
    struct cfs_rq *cfs_rq = 0;

    if (is_real_time(waiter))
        return;
    if (bpf_core_field_exists(cfs_rq->throttled_clock_self_time)) {
        __u64 throttled = throttled_of(waiter, walk->end);
        /* It is less where the task was moved to another group meanwhile. */
        if (walk->queued_known && throttled > task->throttled)
            walk->throttled = throttled - task->throttled;
    } else if (bpf_core_field_exists(cfs_rq->throttled_clock)) {
        walk->limited_from = throttled_since(waiter, walk->queued);
    }
}

struct wait {
    __u64 queued;
    __u32 number; /* of the group */
    __u32 cpu;
    __u32 lasts; /* it doesn't end at the moment */
};

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

/* Splits a wait until the moment. */
static __noinline void split(struct task_struct *waiter, const struct task *task,
                             const struct wait *wait, const struct moment *moment)
{
    const __u32 which = wait->lasts ? WALK_LASTING : WALK_ENDED, cpu = wait->cpu;
    struct walk *walk = own_walk(which);
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);

    if (!walk || !ring || !(wait->lasts || is_allowed(ring, moment->now)))
        return;
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
        .key = {.waiter = wait->number, .waiter_tid = settings.by_task ? waiter->pid : 0},
    };

    find_limit(walk, waiter, task);
    walk_back(which);
    if (!wait->lasts)
        ring->allowance -= walk->steps;
}

/* --- Tasks ---------------------------------------------------------------- */

static __always_inline struct task_set *set_of(__u32 tid)
{
    const __u32 index = tid & (BLAME_TASKS / WAYS - 1);

    return bpf_map_lookup_elem(&tasks, &index);
}

/* @return which of its set a task is, from 1 on; 0: none. It has no branches, as each would be
 * verified to the program's end. A switch and a reader may have added a task at once. */
static __always_inline __u32 find_way(const struct task_set *set, __u32 tid)
{
    __u64 found = 0;

    for (__u32 way = 0; way < WAYS; way++) {
        const __u64 differs = set->tids[way] ^ tid, is_same = (differs - 1) >> 63;
        found += is_same * (way + 1 - found);
    }
    return found;
}

/* Which a task gets that isn't there: a free one, or that of the one that was queued least
 * recently; from 0 on. */
__noinline __u32 take_way(__u32 tid)
{
    struct task_set *set = set_of(tid);
    __u64 least = ~0ull;
    __u32 taken = 0;

    if (!set)
        return 0;
    for (__u32 way = 0; way < WAYS; way++) {
        const __u64 queued = set->tids[way] ? set->tasks[way].queued : 0;
        if (queued < least) {
            least = queued;
            taken = way;
        }
    }
    return taken;
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
    struct task *found = &set->tasks[(way - 1) & (WAYS - 1)];
    return found->start_time == task->start_time ? found : 0;
}

/* A task that isn't known yet: what it waited for before isn't, either. */
static __noinline struct task *add_task(struct task_struct *task, __u64 now)
{
    const __u32 tid = task->pid;
    struct task_set *set = set_of(tid);

    if (!set)
        return 0;
    __u32 way = find_way(set, tid);
    way = (way > 0 ? way - 1 : take_way(tid)) & (WAYS - 1);
    set->tids[way] = tid;
    set->tasks[way] = (struct task){.start_time = task->start_time, .queued = now};
    return &set->tasks[way];
}

static __always_inline struct task *keep_task(struct task_struct *task, __u64 now)
{
    struct task *kept = find_task(task);

    return kept ? kept : add_task(task, now);
}

/* Waits that ended since its last arrival without another, by moving. If there was another one, it
 * was in a group that isn't measured. */
static __always_inline __u64 waited_since_arrival(struct task_struct *task, const struct task *kept)
{
    __u64 run_delay = task->sched_info.run_delay;

    return kept->arrivals == task->sched_info.pcount && run_delay > kept->run_delay
               ? run_delay - kept->run_delay
               : 0;
}

static __always_inline void keep_queued(struct task_struct *task, struct task *kept, __u64 queued,
                                        const struct moment *moment)
{
    kept->queued = queued;
    kept->irq = moment->irq;
    kept->steal = moment->steal;
    kept->throttled = throttled_of(task, moment->now);
}

/* @return whether it may be split: of what was lost, parts would be counted as lost again. */
static __noinline bool charge_total(struct task_struct *task, __u32 number, __u64 ns)
{
    const struct blame_key key = {
        .waiter = number, .taker = BLAME_TOTAL, .waiter_tid = settings.by_task ? task->pid : 0};

    return ns == 0 || charge(&key, ns, 1);
}

/* Leaves out what was counted of a wait while it lasted. @return how long that was. */
static __always_inline __u64 skip_counted(const struct task *kept, struct wait *wait)
{
    const __u64 begun = wait->queued;

    if (kept->counted_of != begun || kept->counted_until <= begun)
        return 0;
    wait->queued = kept->counted_until;
    return wait->queued - begun;
}

/* --- Slices --------------------------------------------------------------- */

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
static __noinline int split_missed_arrival(struct task_struct *task, __u32 number,
                                           const struct moment *moment)
{
    struct task *kept = keep_task(task, moment->now);
    const __u64 run_delay = task->sched_info.run_delay, arrivals = task->sched_info.pcount;

    if (!kept)
        return 0;
    const __u64 waited = run_delay - kept->run_delay;
    struct moment arrival = *moment;
    arrival.now = task->sched_info.last_arrival;
    struct wait wait = {
        .queued = arrival.now - waited, .number = number, .cpu = bpf_get_smp_processor_id()};
    if (kept->arrivals + 1 == arrivals && waited > 0 && waited < arrival.now &&
        charge_total(task, number, waited - skip_counted(kept, &wait)))
        split(task, kept, &wait, &arrival);
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
            split_missed_arrival(task, number_of(taker), moment);
    }
    add_running(ring, task, taker, moment);
    return taker;
}

/* --- Programs ------------------------------------------------------------- */

static __always_inline bool is_runnable(struct task_struct *task)
{
    if (bpf_core_field_exists(task->__state))
        return task->__state == TASK_RUNNING;
    return BPF_CORE_READ((struct task_struct___with_state *)task, state) == TASK_RUNNING;
}

/* It isn't known, or not what it waited for, if it wasn't measured when it arrived. */
static __always_inline void record_departure(struct task_struct *task, const struct moment *moment)
{
    struct task *kept = is_runnable(task) ? keep_task(task, moment->now) : 0;

    if (!kept)
        return;
    kept->run_delay = task->sched_info.run_delay;
    kept->arrivals = task->sched_info.pcount;
    keep_queued(task, kept, moment->now, moment);
}

static __noinline void record_arrival(struct task_struct *task, __u32 number, __u32 cpu,
                                      const struct moment *moment)
{
    struct task *kept = keep_task(task, moment->now);
    __u64 queued = task->sched_info.last_queued;
    __u64 waited = queued && queued < moment->now ? moment->now - queued : 0;

    if (!kept)
        return;
    struct wait wait = {.queued = queued, .number = number, .cpu = cpu};
    const __u64 counted = waited > 0 ? skip_counted(kept, &wait) : 0;
    const bool is_room =
        charge_total(task, number, waited_since_arrival(task, kept) + waited - counted);
    kept->run_delay = task->sched_info.run_delay + waited;
    kept->arrivals = task->sched_info.pcount + 1;
    if (waited > 0 && is_room)
        split(task, kept, &wait, moment);
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
        record_arrival(next, number_of(slice.taker), cpu, &moment);
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
    const __u64 waited = waited_since_arrival(task, kept);
    if (waited == 0)
        return 0;
    const __u32 group = group_of(ring, task, cgroup_id_of(task), state->generation);
    struct rq *rq = task->se.cfs_rq->rq;
    const struct moment moment = moment_of(rq);
    kept->run_delay = task->sched_info.run_delay;
    if (!is_measured(group))
        return 0;
    struct wait wait = {.queued = moment.now - waited, .number = number_of(group), .cpu = rq->cpu};
    if (charge_total(task, wait.number, waited - skip_counted(kept, &wait)) && waited < moment.now)
        split(task, kept, &wait, &moment);
    return 0;
}

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

/* Counts a wait that lasts until now. The run queue isn't locked, so its clock may be some
 * milliseconds old. That it is counted is noted first, for where it ends at the moment: else it
 * would be counted twice. */
static __always_inline void count_lasting(struct task_struct *task, struct task *kept,
                                          struct wait *wait, const struct moment *moment,
                                          bool is_current)
{
    const __u64 queued = wait->queued;

    const struct task before = *kept;
    skip_counted(&before, wait);
    if (wait->queued >= moment->now)
        return;
    kept->counted_until = moment->now;
    kept->counted_of = queued;
    if (*(volatile unsigned long long *)&task->sched_info.last_queued != queued)
        return;
    keep_queued(task, kept, moment->now, moment);
    if (!charge_total(task, wait->number, moment->now - wait->queued))
        return;
    if (is_current)
        split(task, &before, wait, moment);
    else
        charge_running(task, wait, moment);
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
    const struct moment moment = moment_of(rq);
    const __u32 group = find_taker(task);
    struct wait wait = {.queued = task->sched_info.last_queued,
                        .number = number_of(group),
                        .cpu = rq->cpu,
                        .lasts = 1};
    if (!is_measured(group) || wait.queued == 0 || wait.queued >= moment.now)
        return 0;
    struct task *kept = find_task(task);
    if (!kept) {
        kept = add_task(task, moment.now);
        if (!kept)
            return 0;
        kept->run_delay = task->sched_info.run_delay;
        kept->arrivals = task->sched_info.pcount;
    }
    const __u32 cpu = wait.cpu;
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);
    const bool is_current = ring && ring->epoch == state->epoch && ring->count > 0;
    count_lasting(task, kept, &wait, &moment, is_current);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
