/* SPDX-License-Identifier: MIT */
#include "headroom/perf_choice.h"

#include <stdio.h>

#include "perf/internal.h"
#include "perf/open_group.h"

/* Whether events of a PMU are counted in cgroups. */
static bool uses_pmu(const struct hr_perf *perf)
{
    for (size_t i = 0; i < perf->cpus.count; i++) {
        const struct hr_perf_place place = {.cpu = perf->cpus.list[i].number};
        for (size_t g = 0; g < perf->group_count; g++)
            if (!hr_perf_is_by_bpf(perf, g) &&
                hr_perf_group_uses_pmu(&place, &perf->groups[g],
                                       perf->probes[HR_PERF_CGROUP].usable[g]))
                return true;
    }
    return false;
}

/* What targets, or BPF, have found out is known; the rest is tried on the machine, and forgotten
 * again, as cgroups may find something else. */
struct hr_perf_need hr_perf_find_need(struct hr_perf *perf, const struct hr_perf_demand *demand)
{
    const bool is_known[HR_PERF_SCOPE_COUNT] = {
        [HR_PERF_SYSTEM] = perf->probes[HR_PERF_SYSTEM].done,
        [HR_PERF_CGROUP] = perf->probes[HR_PERF_CGROUP].done || perf->bpf != NULL,
    };
    struct hr_perf_need need = {.files = 0};

    if (!is_known[HR_PERF_SYSTEM] && (demand->system || !is_known[HR_PERF_CGROUP]))
        hr_perf_probe_update(perf, HR_PERF_SYSTEM, NULL, -1);
    if (!is_known[HR_PERF_CGROUP])
        hr_perf_probe_cgroups_by_machine(perf);
    if (demand->system)
        need.files = hr_perf_count_files(perf, HR_PERF_SYSTEM);
    need.files += demand->groups * hr_perf_count_files(perf, HR_PERF_CGROUP);
    need.limit = hr_perf_budget_update_limit(&perf->budget);
    need.turns = demand->nested && uses_pmu(perf);
    for (int i = 0; i < HR_PERF_SCOPE_COUNT; i++)
        if (!is_known[i])
            hr_perf_probe_forget(perf, i);
    return need;
}

void hr_perf_choose(const struct hr_perf_need *need, struct hr_perf_choice *choice)
{
    choice->fits = need->files <= need->limit;
    choice->counting = choice->fits && !need->turns ? HR_PERF_DESCRIPTORS : HR_PERF_BPF;
    if (!choice->fits)
        snprintf(choice->why, sizeof(choice->why),
                 "descriptors would be %zu, but no more than %zu are allowed", need->files,
                 need->limit);
    else if (need->turns)
        snprintf(choice->why, sizeof(choice->why),
                 "by descriptors, a cgroup and what it is in would each take counters of the PMU");
    else if (need->files == 0)
        snprintf(choice->why, sizeof(choice->why), "nothing can be counted now");
    else
        snprintf(choice->why, sizeof(choice->why),
                 "%zu are enough, and no events of a PMU would have to take turns", need->files);
}
