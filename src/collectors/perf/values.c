/* SPDX-License-Identifier: MIT */
/*
 * perf/values.c - the values of a target at its last read.
 */
#include "headroom/perf_event.h"
#include "perf/bpf_counting.h"
#include "perf/target.h"

/* A target that didn't run has counted nothing, which is a valid value, unless it ran before and
 * had no turn. */
static bool is_counted(const struct hr_perf_value *value, const struct hr_perf_times *ever)
{
    return value->running_ns > 0 ||
           (value->enabled_ns == 0 && (ever->running_ns > 0 || ever->enabled_ns == 0));
}

/* The probe may have found more since the events were opened, which then wait. */
static bool is_usable(const struct hr_perf_target *target, size_t group, size_t event)
{
    const struct hr_perf *perf = target->perf;
    const uint32_t usable =
        hr_perf_is_by_bpf(perf, group) ? hr_perf_bpf_usable(perf, group) : target->usable[group];

    return (usable >> event & 1) != 0;
}

/* Whether the event is open on a CPU, or was at the last read. */
static bool is_open_on_cpu(const struct hr_perf_target *target, size_t index, size_t group,
                           const struct hr_perf_event *event)
{
    const struct hr_perf *perf = target->perf;
    const struct hr_perf_cpu_counters *cpu = target->cpus[index];
    const bool open = hr_perf_is_by_bpf(perf, group)
                          ? hr_perf_bpf_was_open(perf, index)
                          : cpu != NULL && ((cpu->open && target->whole) || cpu->was_read);

    return open && hr_perf_find_encoding(event, perf->cpus.list[index].number) != NULL;
}

static bool is_open_anywhere(const struct hr_perf_target *target, size_t group,
                             const struct hr_perf_event *event)
{
    const bool by_bpf = hr_perf_is_by_bpf(target->perf, group);

    if (by_bpf && target->bpf_failed < 0)
        return false;
    if (event->encodings[0].every_cpu && by_bpf)
        return target->group == NULL || target->slot != 0 || target->was_selected;
    if (event->encodings[0].every_cpu)
        return target->whole || target->was_read;
    for (size_t i = 0; i < target->cpu_count; i++)
        if (is_open_on_cpu(target, i, group, event))
            return true;
    return false;
}

struct hr_perf_value hr_perf_target_value(const struct hr_perf_target *target, size_t group,
                                          size_t event)
{
    const struct hr_perf_sums *sums = &target->sums;
    const size_t number = target->perf->first_event[group] + event;
    struct hr_perf_value value = {
        .total = sums->totals[number],
        .delta = sums->deltas[number],
        .enabled_ns = sums->interval[group].enabled_ns,
        .running_ns = sums->interval[group].running_ns,
    };

    if (!is_usable(target, group, event))
        return (struct hr_perf_value){.total = value.total};
    value.counted = is_open_anywhere(target, group, target->perf->groups[group].events[event]) &&
                    is_counted(&value, &sums->ever[group]);
    return value;
}

bool hr_perf_target_cpu(const struct hr_perf_target *target, size_t index, unsigned *cpu)
{
    if (index >= target->cpu_count)
        return false;
    *cpu = target->perf->cpus.list[index].number;
    return true;
}

struct hr_perf_value hr_perf_target_cpu_value(const struct hr_perf_target *target, size_t index,
                                              size_t group, size_t event)
{
    const struct hr_perf_cpu_counters *cpu = target->cpus[index];

    if (!is_usable(target, group, event) ||
        !is_open_on_cpu(target, index, group, target->perf->groups[group].events[event]))
        return (struct hr_perf_value){
            .total = cpu != NULL ? cpu->totals[target->perf->first_event[group] + event] : 0};
    if (cpu == NULL)
        return (struct hr_perf_value){.counted = true}; /* it never ran there */
    const struct hr_perf_open_group *open_group = &cpu->open_groups[group];
    struct hr_perf_value value = {
        .total = cpu->totals[target->perf->first_event[group] + event],
        .delta = open_group->deltas[event],
        .enabled_ns = open_group->interval.enabled_ns,
        .running_ns = open_group->interval.running_ns,
    };
    value.counted = is_counted(&value, &cpu->ever[group]);
    return value;
}

uint64_t hr_perf_target_starved_ns(const struct hr_perf_target *target, size_t group)
{
    return target->sums.starved_ns[group];
}
