/* SPDX-License-Identifier: MIT */
#include "headroom/stall_hour.h"

#include <math.h>
#include <string.h>

#include "headroom/clock.h"

#define SLOT_S  300
#define SLOT_NS (SLOT_S * HR_NS_PER_S)

enum hr_stall_part hr_stall_part_of(enum hr_stall_kind kind)
{
    switch (kind) {
    case HR_STALL_OWN_LIMIT:
    case HR_STALL_ANCESTOR_LIMIT:
    case HR_STALL_LIMITS_BELOW:
        return HR_STALL_BY_LIMIT;
    case HR_STALL_NEIGHBOURS:
        return HR_STALL_BY_NEIGHBOURS;
    case HR_STALL_ITSELF:
        return HR_STALL_BY_ITSELF;
    case HR_STALL_HYPERVISOR:
        return HR_STALL_BY_STEAL;
    case HR_STALL_INTERRUPTS:
        return HR_STALL_BY_IRQ;
    case HR_STALL_MACHINE_RECLAIM:
        return HR_STALL_BY_RECLAIM;
    }
    return HR_STALL_BY_UNKNOWN;
}

const char *hr_stall_part_name(enum hr_stall_part part)
{
    static const char *const names[HR_STALL_PART_COUNT] = {
        [HR_STALL_BY_LIMIT] = "limit",     [HR_STALL_BY_NEIGHBOURS] = "neighbours",
        [HR_STALL_BY_ITSELF] = "itself",   [HR_STALL_BY_STEAL] = "steal",
        [HR_STALL_BY_IRQ] = "irq",         [HR_STALL_BY_RECLAIM] = "reclaim",
        [HR_STALL_BY_UNKNOWN] = "unknown",
    };

    return names[part];
}

/* What was there is too old. */
static struct hr_stall_slot *advance(struct hr_stall_hour *hour, uint64_t slot)
{
    const uint64_t passed = slot - hour->latest;

    for (uint64_t i = 1; i <= passed && i <= HR_STALL_SLOTS; i++)
        hour->slots[(hour->latest + i) % HR_STALL_SLOTS] = (struct hr_stall_slot){.known_cs = {0}};
    hour->latest = slot;
    return &hour->slots[slot % HR_STALL_SLOTS];
}

static void add(uint16_t *sum_cs, double seconds)
{
    *sum_cs = (uint16_t)fmin(*sum_cs + round(100 * seconds), UINT16_MAX);
}

void hr_stall_hour_add(struct hr_stall_hour *hour, uint64_t time_ns, enum hr_psi_resource resource,
                       double elapsed_s, const double pct[HR_STALL_PART_COUNT])
{
    struct hr_stall_slot *slot = advance(hour, time_ns / SLOT_NS);
    const double counted_s = fmin(elapsed_s, SLOT_S);

    add(&slot->known_cs[resource], counted_s);
    for (int i = 0; i < HR_STALL_PART_COUNT; i++)
        add(&slot->stalled_cs[resource][i], counted_s * pct[i] / 100);
}

double hr_stall_hour_sum(const struct hr_stall_hour *hour, uint64_t time_ns,
                         enum hr_psi_resource resource, double pct[HR_STALL_PART_COUNT])
{
    const uint64_t now = time_ns / SLOT_NS;
    double known_cs = 0, stalled_cs[HR_STALL_PART_COUNT] = {0};

    for (uint64_t i = 0; i < HR_STALL_SLOTS && i <= hour->latest; i++) {
        const struct hr_stall_slot *slot = &hour->slots[(hour->latest - i) % HR_STALL_SLOTS];
        if (now - (hour->latest - i) >= HR_STALL_SLOTS)
            break;
        known_cs += slot->known_cs[resource];
        for (int j = 0; j < HR_STALL_PART_COUNT; j++)
            stalled_cs[j] += slot->stalled_cs[resource][j];
    }
    for (int j = 0; j < HR_STALL_PART_COUNT; j++)
        pct[j] = known_cs > 0 ? fmin(100 * stalled_cs[j] / known_cs, 100) : 0;
    return known_cs / 100;
}

bool hr_stall_hour_is_valid(const struct hr_stall_hour *hour, uint64_t time_ns)
{
    return hour->latest <= time_ns / SLOT_NS;
}
