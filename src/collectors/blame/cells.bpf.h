/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * blame/cells.bpf.h - the sums: how long who waited for whom.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_CELLS_BPF_H
#define HEADROOM_COLLECTORS_BLAME_CELLS_BPF_H

#include "blame/state.bpf.h"

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

#endif
