/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/state.bpf.h - what the BPF programs keep: slices of CPUs, tasks, and their maps.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_STATE_BPF_H
#define HEADROOM_COLLECTORS_BLAME_STATE_BPF_H

#include "blame/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "blame/counted.bpf.h"
#include "blame/shared.h"

#define RING_MASK (BLAME_SLICES - 1)
#define CGROUPS   1024 /* that a CPU has seen; a power of two */
#define WAYS      4    /* tasks of a set */

/* Calls each(0), each(1) and so on until one isn't 0, `most` times at most. The kernel has
 * bpf_loop() since 5.17, of which it verifies one round; of a loop it verifies all rounds, so that
 * this has `most_before` of them. */
#define LOOP(most, most_before, each, context)                                                     \
    do {                                                                                           \
        if (has_bpf_loop())                                                                        \
            bpf_loop(most, each, context, 0);                                                      \
        else                                                                                       \
            for (__u32 round = 0; round < (most_before) && !each(round, context); round++)         \
                ;                                                                                  \
    } while (0)

/* One task's time on a CPU; it ends when the next one begins. */
struct slice {
    __u64 begin;
    __u64 irq, steal; /* the CPU's sums when it began */
    __u32 taker;      /* as of taker_of(); BLAME_TOTAL: unknown */
    __u32 tid;
};

/* Neither has branches, as what follows one is verified for each of its ways. */

/* @param n  less than 2^63. */
static __always_inline __u64 is_zero(__u64 n)
{
    return (n - 1) >> 63;
}

/* How much more one number is than the other; 0: it is less. Both are less than 2^63. */
static __always_inline __u64 excess(__u64 more, __u64 than)
{
    const __u64 difference = more - than;

    return difference & ((difference >> 63) - 1);
}

/* Of a taker, or the group of a task. */
static __always_inline bool is_measured(__u32 group)
{
    return group & BLAME_MEASURED;
}

/* What its cells have. */
static __always_inline __u32 number_of(__u32 group)
{
    return group & ~BLAME_MEASURED;
}

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
    __u64 css_set;    /* the address of what has the cgroups of the task that runs, */
    __u64 rq;         /* and of the run queue, since attaching */
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
    __u64 irq, steal;
    __u64 throttled; /* or whether it was throttled by then, see throttled_of() */
    __u64 moved;     /* its wait before this arrival began by moving; `throttled` is as of then */
    struct counted counted;
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

#endif
