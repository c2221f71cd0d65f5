/* SPDX-License-Identifier: MIT */
/*
 * blame/kernel.h - what the BPF program needs of the kernel's types. The names are the kernel's,
 * the offsets are found when the program is loaded (CO-RE), so that any build machine will do.
 * libbpf looks through all of the kernel's types for each whose fields are read, which takes about
 * a millisecond: so one that is part of another is read by way of that.
 *
 * Sources: include/linux/sched.h, kernel/sched/sched.h, include/linux/cgroup-defs.h,
 * include/linux/kernfs.h.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_KERNEL_H
#define HEADROOM_COLLECTORS_BLAME_KERNEL_H

#include "base/bpf_types.h"

#define TASK_RUNNING         0
#define TASK_ON_RQ_MIGRATING 2
#define PF_KTHREAD           0x00200000
#define MAX_RT_PRIO          100

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
    __u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
    struct cgroup *cgroup;
    struct cgroup_subsys_state *parent;
};

struct cgroup {
    struct cgroup_subsys_state self;
    struct kernfs_node *kn;
    void *bpf_cgrp_storage; /* since 6.2, as bpf_rdonly_cast() */
};

struct css_set {
    struct cgroup_subsys_state *subsys[16];
    struct cgroup *dfl_cgrp;
};

enum cgroup_subsys_id { cpu_cgrp_id = 1 };

/* Which helpers there are is asked for when the program is loaded. */
#define has_bpf_loop() (settings.has_loop)

/* Not all kernels have the accounting of interrupts, nor the throttled time of each CPU. */
struct task_struct;

struct rq {
    int cpu;
    struct task_struct *curr;
    __u64 nr_switches;
    __u64 clock;
    __u64 clock_task;
    __u64 prev_irq_time;
};

struct cfs_rq {
    struct rq *rq;
    __u64 throttled_clock;
    __u64 throttled_clock_self;
    __u64 throttled_clock_self_time;
    int throttle_count;
};

struct task_group {
    struct sched_entity **se; /* before 7.3 */
    struct cfs_rq **cfs_rq;   /* since then not one for each CPU, but as of per_cpu_ptr() */
};

struct sched_entity {
    struct sched_entity *parent;
    struct cfs_rq *cfs_rq;
};

struct sched_info {
    unsigned long pcount;
    unsigned long long run_delay;
    unsigned long long last_arrival;
    unsigned long long last_queued;
};

struct task_struct {
    unsigned int __state;
    long state; /* instead, before 5.14 */
    unsigned int flags;
    unsigned int on_rq; /* int, and of one byte since 7.3: libbpf fits loads of what is unsigned */
    int prio;
    struct sched_entity se;
    struct task_group *sched_task_group;
    struct sched_info sched_info;
    int pid;
    __u64 start_time;
    struct css_set *cgroups;
    char comm[16];
};

#pragma clang attribute pop

/* What a program that iterates over tasks is handed; it has no more fields. */
struct bpf_iter__task {
    __u64 meta;
    struct task_struct *task;
};

#endif
