/* SPDX-License-Identifier: MIT */
/*
 * perf/bpf_shared.h - the contents of the BPF programs' maps, for both sides.
 *
 * Users define the types __u32 and __u64 before: <linux/types.h>, or base/bpf_types.h.
 */
#ifndef HEADROOM_COLLECTORS_PERF_BPF_SHARED_H
#define HEADROOM_COLLECTORS_PERF_BPF_SHARED_H

/* The most events that are counted. */
#define COUNT_EVENTS 64

/* What a slot is for: each has a struct count_value of each event, on each CPU. The map `slots` has
 * a row of them of each CPU. */
enum {
    COUNT_LAST, /* not sums, but the events as they were read last */
    COUNT_REST, /* what no selected group did */
    COUNT_FIRST_GROUP
};

/* struct bpf_perf_event_value of the kernel, or sums of them. */
struct count_value {
    __u64 count;
    __u64 enabled_ns;
    __u64 running_ns;
};

/* Constant from loading on. */
struct count_settings {
    __u32 event_count;
    __u32 cpu_limit;  /* numbers of CPUs are below it */
    __u32 slot_count; /* of a row */
};

/* The map `current`: both change while programs run. */
struct count_current {
    __u32 generation; /* of the selected groups */
    __u32 reading;    /* its number */
};

/* The map `marks` has a byte of each slot on each CPU: the lower bits of the number of the reading
 * after which it was added to. */

/* The map `cpus`, of each CPU. */
struct count_cpu {
    __u64 idle_task; /* its address; 0: not seen yet */
    __u64 is_idle;
    __u64
        unreadable; /* at the last reading: a bit of each event that is there, but can't be read */
};

#endif
