/* SPDX-License-Identifier: MIT */
#include "psi/cause_history.h"

#include <stdlib.h>

#include "headroom/clock.h"

void psi_cause_history_clear(struct psi_cause_history *history)
{
    free(history->older);
    free(history->newer);
    *history = (struct psi_cause_history){.older = NULL};
}

bool psi_cause_history_is_empty(const struct psi_cause_history *history)
{
    return history->newer == NULL;
}

void psi_cause_history_take(struct psi_cause_history *history, const struct hr_root *root,
                            const struct hr_cgroup *group, enum hr_psi_resource resource)
{
    struct hr_stall_counters *taken =
        history->older != NULL ? history->older : malloc(sizeof(*taken));

    if (taken == NULL)
        return;
    hr_stall_counters_read(root, group, resource, taken);
    history->older = history->newer;
    history->newer = taken;
}

/* The times of causes are parts of the stall between two reads of the counters, which may be longer
 * than the event's: makes them parts of that. */
static void scale(struct hr_stall_causes *causes, double factor)
{
    for (size_t i = 0; i < causes->count; i++)
        causes->list[i].stalled_us = (uint64_t)(factor * (double)causes->list[i].stalled_us);
}

void psi_cause_history_attribute(const struct psi_cause_history *history,
                                 const struct hr_root *root, const struct hr_cgroup *group,
                                 enum hr_psi_resource resource, const struct hr_psi_event *event,
                                 struct hr_stall_causes *causes)
{
    const struct hr_stall_counters *before =
        history->older != NULL ? history->older : history->newer;
    struct hr_stall_counters after;

    causes->count = 0;
    if (before == NULL || hr_stall_counters_read(root, group, resource, &after) < 0 ||
        event->elapsed_us == 0)
        return;
    uint64_t elapsed_us = (after.time_ns - before->time_ns) / HR_NS_PER_US;
    double share = (double)event->stalled_us / (double)event->elapsed_us;
    uint64_t stalled_us = (uint64_t)((share < 1 ? share : 1) * (double)elapsed_us);
    hr_stall_attribute(before, &after, resource, stalled_us, elapsed_us, causes);
    if (stalled_us > event->stalled_us)
        scale(causes, (double)event->stalled_us / (double)stalled_us);
}
