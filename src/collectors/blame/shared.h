/* SPDX-License-Identifier: MIT */
/*
 * blame/shared.h - the contents of the BPF program's maps, for both sides.
 *
 * Users define the types __u32 and __u64 before: <linux/types.h>, or blame/kernel.h.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_SHARED_H
#define HEADROOM_COLLECTORS_BLAME_SHARED_H

/* Slices of a CPU that are kept; a power of two. */
#define BLAME_SLICES 1024

/* Tasks of watched groups whose last wait is kept; the least recent ones give way. */
#define BLAME_TASKS 16384

/* What a cell is for. Those from BLAME_FIRST_GROUP on are watched groups, each by a number of its
 * own that is never used again, below BLAME_MEASURED. */
enum {
    BLAME_TOTAL, /* the whole wait; what the other cells lack of it is unknown */
    BLAME_OTHER,
    BLAME_KWORKER,
    BLAME_KSOFTIRQD,
    BLAME_MIGRATION,
    BLAME_RCU,
    BLAME_RECLAIM,
    BLAME_IRQ_THREAD,
    BLAME_KERNEL,
    BLAME_INTERRUPTS,
    BLAME_STEAL,
    BLAME_LIMIT,
    BLAME_IDLE,
    BLAME_FIRST_GROUP
};

/* Added to the number of a group, where it isn't of a cell, if its waits are measured. */
#define BLAME_MEASURED 0x80000000u

/* The only value of the map `control`, which the programs read. */
struct blame_control {
    __u32 generation; /* of the watched groups: changes with them */
    __u32 epoch;      /* changes at each attaching: slices from before are worthless; never 0 */
};

/* The only value of the map `status`, which they write. */
struct blame_status {
    __u64 lost_ns;          /* waits for which the map of cells had no room, */
    __u64 unsplit_ns;       /* and parts of waits whose taker had none */
    __u32 knows_interrupts; /* what the kernel accounts for; since the first switch */
    __u32 knows_limit;
};

/* Constant from loading on. */
struct blame_settings {
    __u32 of_cpu_controller; /* groups of the cpu controller's hierarchy; 0: of cgroup2 */
    __u32 by_task;
    __u32 lasting;  /* whether on_reading() is loaded, which counts waits while they last */
    __u32 has_loop; /* whether the kernel has bpf_loop(); set by who loads the programs */
};

/* The map `cells` has nanoseconds for each. */
struct blame_key {
    __u32 waiter; /* number of a watched group */
    __u32 taker;  /* BLAME_…, or number of a watched group */
    __u32 waiter_tid, taker_tid;
};

struct blame_name {
    char text[16];
};

#endif
