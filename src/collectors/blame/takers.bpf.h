/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/takers.bpf.h - who a task is as a taker: its group, or its kind of kernel thread.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_TAKERS_BPF_H
#define HEADROOM_COLLECTORS_BLAME_TAKERS_BPF_H

#include "blame/state.bpf.h"

#define ROOT_ID   1  /* of the root cgroup of a hierarchy */
#define MAX_DEPTH 48 /* of cgroups */

/* --- Tasks of the kernel -------------------------------------------------- */

extern void *bpf_rdonly_cast(const void *object, __u32 type) __weak __ksym;

/*
 * For each pointer that is read through one that the verifier trusts, the kernel searches all of
 * its types by name, since Linux 6.2, which takes milliseconds; through others it doesn't. These
 * have the fields to read, which is all that is needed here. BPF_CORE_READ() would do, but calls a
 * function for each pointer whenever it runs.
 */
static __always_inline struct task_struct *to_read(struct task_struct *task)
{
    const struct cgroup *cgroup = 0;

    if (!bpf_core_field_exists(cgroup->bpf_cgrp_storage))
        return task;
    return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
}

/* --- Groups --------------------------------------------------------------- */

/* The address of the cgroup that a controller's state is of, as a number for the verifier. It
 * needn't be the state in a cgroup, but the addresses are the same, see kernel.h. */
static __always_inline __u64 cgroup_of(struct cgroup_subsys_state *css)
{
    const struct cgroup *around = (void *)css - bpf_core_field_offset(struct cgroup, self);

    return css ? (__u64)BPF_CORE_READ(around, self.cgroup) : 0;
}

/* The address of a task's cgroup, as a number for the verifier. */
static __always_inline __u64 read_cgroup(struct task_struct *task)
{
    struct cgroup_subsys_state *css = 0;

    if (!settings.of_cpu_controller)
        return (__u64)BPF_CORE_READ(task, cgroups, dfl_cgrp);
    bpf_probe_read_kernel(&css, sizeof(css),
                          &BPF_CORE_READ(task, cgroups)
                               ->subsys[bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id)]);
    return cgroup_of(css);
}

/* The id of a task's cgroup. */
static __always_inline __u64 cgroup_id_of(struct task_struct *task)
{
    return settings.of_cpu_controller ? BPF_CORE_READ((struct cgroup *)read_cgroup(task), kn, id)
                                      : task->cgroups->dfl_cgrp->kn->id;
}

/* Each is a function of its own, so that the loop that calls them has few instructions. */

/* The number of a watched group by its cgroup; 0: it isn't watched. */
__noinline __u32 number_of_cgroup(__u64 address)
{
    const __u64 id = BPF_CORE_READ((struct cgroup *)address, kn, id);
    const __u32 *number = bpf_map_lookup_elem(&watched, &id);

    return number ? *number : 0;
}

/* The cgroup that one is in; 0: none. */
__noinline __u64 parent_of_cgroup(__u64 address)
{
    return cgroup_of(BPF_CORE_READ((struct cgroup *)address, self.parent));
}

struct search {
    __u64 address; /* of the next cgroup; 0: none */
    __u32 found;
};

static long search_cgroup(__u32 level, void *context)
{
    struct search *search = context;

    (void)level;
    search->found = number_of_cgroup(search->address);
    if (search->found)
        return 1;
    search->address = parent_of_cgroup(search->address);
    return search->address == 0;
}

/* The deepest watched group that a cgroup is in or below, marked if it is measured; BLAME_OTHER:
 * none. */
__noinline __u32 find_watched(__u64 address)
{
    struct search search = {.address = address};

    if (address)
        LOOP(MAX_DEPTH, MAX_DEPTH, search_cgroup, &search);
    return search.found ? search.found : BLAME_OTHER;
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
    known->number = find_watched(read_cgroup(task));
    return known->number;
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
    return taker_of_group(task, cgroup_id_of(task), find_watched(read_cgroup(task)));
}

#endif
