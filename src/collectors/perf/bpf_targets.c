/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "headroom/cgroup.h"
#include "perf/bpf_state.h"

/* Whether a target counts all that another one does. */
static bool is_above(const struct hr_perf_target *above, const struct hr_perf_target *below)
{
    if (above->group == NULL || below->group == NULL)
        return above->group == NULL && below->group != NULL;
    const size_t length = strlen(above->group->path);
    return strncmp(above->group->path, below->group->path, length) == 0 &&
           below->group->path[length] == '/';
}

/* Each target goes from one above to a new one that is nearer. */
void hr_perf_bpf_add_target(struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;
    struct hr_perf_bpf *bpf = perf->bpf;
    struct hr_perf_bpf_slot *rest = &bpf->slots[COUNT_REST];

    target->parent = bpf->machine;
    for (struct hr_perf_target *other = perf->targets; other != NULL; other = other->next) {
        if (is_above(other, target) && (target->parent == NULL || is_above(target->parent, other)))
            target->parent = other;
    }
    for (struct hr_perf_target *other = perf->targets; other != NULL; other = other->next)
        if (other->parent == target->parent && is_above(target, other))
            other->parent = target;
    if (target->group == NULL)
        bpf->machine = rest->target = target;
}

void hr_perf_bpf_remove_target(struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;
    struct hr_perf_bpf *bpf = perf->bpf;

    hr_perf_bpf_deselect_group(target);
    for (struct hr_perf_target *other = perf->targets; other != NULL; other = other->next)
        if (other->parent == target)
            other->parent = target->parent;
    for (size_t slot = 0; slot < bpf->slot_count; slot++)
        if (bpf->slots[slot].target == target)
            bpf->slots[slot].target = target->parent;
    if (bpf->machine == target)
        bpf->machine = target->parent;
}

static size_t find_free_slot(const struct hr_perf_bpf *bpf)
{
    size_t slot = COUNT_FIRST_GROUP;

    while (slot < bpf->slot_max && bpf->slots[slot].used)
        slot++;
    return slot;
}

int hr_perf_bpf_select_group(struct hr_perf_target *target)
{
    struct hr_perf_bpf *bpf = target->perf->bpf;

    if (target->slot != 0)
        return 0;
    size_t slot = find_free_slot(bpf);
    /* Many ended lately. */
    for (int i = 0; i < HR_PERF_BPF_LAST_READINGS && slot == bpf->slot_max; i++) {
        hr_perf_bpf_read(target->perf);
        slot = find_free_slot(bpf);
    }
    if (slot == bpf->slot_max)
        return -ENOSPC;
    int status = bpf->calls->select(bpf->object, target->group->id, (__u32)slot);
    if (status < 0)
        return status;
    bpf->slots[slot] = (struct hr_perf_bpf_slot){.used = true, .target = target};
    if (slot >= bpf->slot_count)
        bpf->slot_count = slot + 1;
    target->slot = (__u32)slot;
    return 0;
}

void hr_perf_bpf_deselect_group(struct hr_perf_target *target)
{
    struct hr_perf_bpf *bpf = target->perf->bpf;
    const __u32 number = target->slot;
    struct hr_perf_bpf_slot *slot = &bpf->slots[number];

    if (number == 0)
        return;
    /* If it fails, the slot is never used again. */
    if (bpf->calls->deselect(bpf->object, target->group->id) == 0)
        slot->last_readings = HR_PERF_BPF_LAST_READINGS;
    hr_perf_bpf_read_slot(target->perf, number);
    slot->target = target->parent; /* for what is added in this moment */
    target->slot = 0;
}
