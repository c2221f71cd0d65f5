/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/walk.bpf.h - splits a time by the slices of a CPU, from the newest back.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_WALK_BPF_H
#define HEADROOM_COLLECTORS_BLAME_WALK_BPF_H

#include "blame/cells.bpf.h"

/* Slices that are walked where the kernel has no bpf_loop(), before 5.17. */
#define SHORT_WALK 128

struct walk {
    __u64 queued, end;              /* what is still to be split */
    __u64 irq, steal;               /* the CPU's sums at its end, */
    __u64 queued_irq, queued_steal; /* and when it was queued, if that is known */
    __u64 ran_self, idle;           /* sums of measure_slices() */
    __u64 limited_idle, unlimited;  /* how much is still due to the limit of the idle slices, and
                                       isn't of others' */
    __u64 throttled;                /* for how much of it */
    __u64 limited_from;             /* where it isn't known how much: since when; 0: never */
    __u32 waiter, waiter_tid;       /* as of a key */
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

__noinline int charge_to(struct walk *walk, __u32 taker, __u32 tid, __u64 ns)
{
    if (!walk || ns == 0 || taker == BLAME_TOTAL)
        return 0;
    const struct blame_key key = {.waiter = walk->waiter,
                                  .taker = taker,
                                  .waiter_tid = walk->waiter_tid,
                                  .taker_tid = settings.by_task ? tid : 0};
    if (!charge(&key, ns, !walk->is_full))
        walk->is_full = 1;
    return 0;
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
 * as nothing else kept it from the CPU then, and before the others, as throttling begins while the
 * group runs: first in what is older than all slices, then in the oldest of these.
 */
static __always_inline __u64 charge_limit(struct walk *walk, __u32 taker, __u64 ns)
{
    if (!walk->limited || taker == walk->waiter)
        return ns;
    __u64 *budget = taker == BLAME_IDLE ? &walk->limited_idle : &walk->unlimited;
    __u64 part = ns < *budget ? ns : *budget;
    __u64 limited = taker == BLAME_IDLE ? part : ns - part;
    *budget -= part;
    charge_to(walk, BLAME_LIMIT, 0, limited);
    return ns - limited;
}

/* The same where only the latest beginning is known. Nothing but a limit, and waking up, keeps a
 * task from an idle CPU, also before that; what others ran since may be the limit's. */
static __always_inline __u64 charge_limit_since(struct walk *walk, __u32 taker, __u64 begin,
                                                __u64 ns)
{
    if (taker == walk->waiter || !walk->limited_from)
        return ns;
    if (taker == BLAME_IDLE) {
        charge_to(walk, BLAME_LIMIT, 0, ns);
        return 0;
    }
    if (walk->end <= walk->limited_from)
        return ns;
    return ns - (walk->end - (begin > walk->limited_from ? begin : walk->limited_from));
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
    if (number_of(slice->taker) == walk->waiter)
        walk->ran_self += walk->end - begin;
    else if (slice->taker == BLAME_IDLE)
        walk->idle += walk->end - begin;
    walk->end = begin;
    return 0;
}

static __always_inline void find_limited(struct walk *walk, __u32 which)
{
    const __u64 end = walk->end, waited = end - walk->queued;
    __u64 throttled = walk->throttled < waited ? walk->throttled : waited;

    if (throttled == 0)
        return;
    LOOP(BLAME_SLICES, SHORT_WALK, measure_slices, &which);
    const __u64 older = walk->end > walk->queued ? walk->end - walk->queued : 0;
    const __u64 others = waited - older - walk->ran_self - walk->idle;
    walk->end = end;
    walk->limited = 1;
    walk->limited_idle = throttled < walk->idle ? throttled : walk->idle;
    throttled -= walk->limited_idle;
    const __u64 limited_older = throttled < older ? throttled : older;
    charge_to(walk, BLAME_LIMIT, 0, limited_older);
    throttled -= limited_older;
    walk->unlimited = throttled < others ? others - throttled : 0;
}

/* Splits the wait that this CPU's walk has. */
__noinline int walk_back(__u32 which)
{
    struct walk *walk = own_walk(which);

    if (!walk)
        return 0;
    find_limited(walk, which);
    LOOP(BLAME_SLICES, SHORT_WALK, charge_slices, &which);
    return 0;
}

#endif
