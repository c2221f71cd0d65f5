/* SPDX-License-Identifier: MIT */
/*
 * perf/target.c - the counters of one cgroup, or of the machine: reading, summing over CPUs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/perf_event.h"
#include "perf/bpf_counting.h"
#include "perf/closing.h"
#include "perf/opening.h"

/* --- Memory --------------------------------------------------------------- */

/* One block of memory, so that values that are read together are adjacent. */
struct hr_perf_cpu_counters *hr_perf_cpu_counters_new(const struct hr_perf *perf)
{
    const size_t groups = perf->group_count, events = perf->event_count;
    struct hr_perf_cpu_counters *cpu =
        calloc(1, sizeof(*cpu) + groups * (sizeof(*cpu->open_groups) + sizeof(*cpu->ever)) +
                      events * (sizeof(*cpu->sums) + 3 * sizeof(uint64_t) + sizeof(int)) +
                      groups * (sizeof(uint64_t) + sizeof(int)));
    if (cpu == NULL)
        return NULL;
    cpu->open_groups = (struct hr_perf_open_group *)(cpu + 1);
    cpu->ever = (struct hr_perf_times *)(cpu->open_groups + groups);
    cpu->sums = (struct count_value *)(cpu->ever + groups);
    cpu->totals = (uint64_t *)(cpu->sums + events);
    uint64_t *deltas = cpu->totals + events, *base_counts = deltas + events;
    int *fds = (int *)(base_counts + events + groups);
    for (size_t g = 0; g < groups; g++) {
        cpu->open_groups[g].size = perf->groups[g].count;
        cpu->open_groups[g].base_counts = base_counts + perf->first_event[g] + g; /* a clock each */
        cpu->open_groups[g].deltas = deltas + perf->first_event[g];
        cpu->open_groups[g].fds = fds + perf->first_event[g] + g;
    }
    return cpu;
}

static int open_target(struct hr_perf *perf, enum hr_perf_scope scope,
                       const struct hr_cgroup *group, struct hr_perf_target **target)
{
    const size_t groups = perf->group_count, events = perf->event_count;
    struct hr_perf_target *opened =
        calloc(1, sizeof(*opened) + groups * (2 * sizeof(struct hr_perf_times) + sizeof(uint64_t)) +
                      events * 2 * sizeof(uint64_t) + groups * sizeof(uint32_t));
    if (opened == NULL)
        return -ENOMEM;
    *opened = (struct hr_perf_target){.perf = perf, .scope = scope, .group = group};
    struct hr_perf_sums *sums = &opened->sums;
    sums->interval = (struct hr_perf_times *)(opened + 1);
    sums->ever = sums->interval + groups;
    sums->starved_ns = (uint64_t *)(sums->ever + groups);
    sums->deltas = sums->starved_ns + groups;
    sums->totals = sums->deltas + events;
    opened->usable = (uint32_t *)(sums->totals + events);
    if (perf->bpf != NULL) {
        opened->chosen = hr_perf_bpf_generation(perf);
        hr_perf_bpf_add_target(opened);
    }
    opened->next = perf->targets;
    perf->targets = opened;
    *target = opened;
    return 0;
}

int hr_perf_target_open_system(struct hr_perf *perf, struct hr_perf_target **target)
{
    return open_target(perf, HR_PERF_SYSTEM, NULL, target);
}

int hr_perf_target_open_cgroup(struct hr_perf *perf, const struct hr_cgroup *group,
                               struct hr_perf_target **target)
{
    return open_target(perf, HR_PERF_CGROUP, group, target);
}

int hr_perf_target_extend_cpus(struct hr_perf_target *target)
{
    const size_t count = target->perf->cpus.count;

    if (count == target->cpu_count)
        return 0;
    struct hr_perf_cpu_counters **grown = reallocarray(target->cpus, count, sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    target->cpus = grown;
    while (target->cpu_count < count)
        grown[target->cpu_count++] = NULL;
    return 0;
}

/* Takes the sums of the events that can be counted, from now on. */
static void choose_events(struct hr_perf_target *target, size_t index)
{
    const struct hr_perf *perf = target->perf;
    const struct hr_perf_place place = {.cpu = perf->cpus.list[index].number};
    struct hr_perf_cpu_counters *cpu = target->cpus[index];

    for (size_t g = 0; g < perf->group_count; g++)
        if (hr_perf_is_by_bpf(perf, g))
            hr_perf_group_choose(&cpu->open_groups[g], &place, &perf->groups[g],
                                 hr_perf_bpf_usable(perf, g), &cpu->sums[perf->first_event[g]]);
}

void hr_perf_target_choose_events(struct hr_perf_target *target)
{
    for (size_t i = 0; i < target->cpu_count; i++)
        if (target->cpus[i] != NULL)
            choose_events(target, i);
    target->chosen = hr_perf_bpf_generation(target->perf);
}

struct hr_perf_cpu_counters *hr_perf_target_counters(struct hr_perf_target *target, size_t index)
{
    if (hr_perf_target_extend_cpus(target) < 0)
        return NULL;
    if (target->cpus[index] == NULL) {
        target->cpus[index] = hr_perf_cpu_counters_new(target->perf);
        if (target->cpus[index] != NULL && target->perf->bpf != NULL)
            choose_events(target, index);
    }
    return target->cpus[index];
}

/* --- Closing -------------------------------------------------------------- */

void hr_perf_target_close_cpu(struct hr_perf_target *target, struct hr_perf_cpu_counters *cpu)
{
    for (size_t g = 0; g < target->perf->group_count; g++)
        hr_perf_closing_close_group(target->perf, &cpu->open_groups[g]);
    cpu->open = false;
}

void hr_perf_target_close_cpus(struct hr_perf_target *target)
{
    for (size_t i = 0; i < target->cpu_count; i++)
        if (target->cpus[i] != NULL && target->cpus[i]->open)
            hr_perf_target_close_cpu(target, target->cpus[i]);
    hr_perf_budget_release(&target->perf->budget, target->reserved);
    target->reserved = 0;
    target->whole = false;
}

void hr_perf_target_update_wanted(struct hr_perf_target *target, size_t count)
{
    hr_perf_budget_update_wanted(&target->perf->budget, target->wanted, count);
    target->wanted = count;
}

void hr_perf_target_leave_to_bpf(struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;
    const size_t count = hr_perf_count_files(perf, target->scope);

    target->failed = 0;
    if (count == 0) {
        hr_perf_target_close_descriptors(target);
        return;
    }
    for (size_t i = 0; i < target->cpu_count; i++)
        for (size_t g = 0; g < perf->group_count && target->cpus[i] != NULL; g++)
            if (hr_perf_is_by_bpf(perf, g))
                hr_perf_closing_close_group(target->perf, &target->cpus[i]->open_groups[g]);
    if (target->reserved > count) {
        hr_perf_budget_release(&target->perf->budget, target->reserved - count);
        target->reserved = count;
    }
    if (target->wanted > 0)
        hr_perf_target_update_wanted(target, count);
}

void hr_perf_target_close_descriptors(struct hr_perf_target *target)
{
    hr_perf_opening_cancel(target);
    hr_perf_target_close_cpus(target);
    hr_perf_target_update_wanted(target, 0);
}

void hr_perf_target_close(struct hr_perf_target *target)
{
    if (target == NULL)
        return;
    struct hr_perf_target **place = &target->perf->targets;
    while (*place != target)
        place = &(*place)->next;
    *place = target->next;
    if (target->perf->bpf != NULL)
        hr_perf_bpf_remove_target(target);
    hr_perf_target_close_descriptors(target);
    for (size_t i = 0; i < target->cpu_count; i++)
        free(target->cpus[i]);
    free(target->cpus);
    free(target);
}

/* --- Reading -------------------------------------------------------------- */

static void add_times(struct hr_perf_times *sum, const struct hr_perf_times *times)
{
    sum->enabled_ns += times->enabled_ns;
    sum->running_ns += times->running_ns;
}

/* Adds the last reading of a group on one CPU to the sums. */
static void add_group(struct hr_perf_target *target, struct hr_perf_cpu_counters *cpu, size_t group)
{
    const struct hr_perf *perf = target->perf;
    const struct hr_perf_open_group *open_group = &cpu->open_groups[group];
    struct hr_perf_sums *sums = &target->sums;

    sums->nonzero = cpu->nonzero = true;
    add_times(&cpu->ever[group], &open_group->interval);
    add_times(&sums->ever[group], &open_group->interval);
    add_times(&sums->interval[group], &open_group->interval);
    for (size_t e = 0; e < perf->groups[group].count; e++) {
        cpu->totals[perf->first_event[group] + e] += open_group->deltas[e];
        sums->totals[perf->first_event[group] + e] += open_group->deltas[e];
        sums->deltas[perf->first_event[group] + e] += open_group->deltas[e];
    }
}

/* @return 0, or -EIO if some counter can no longer be read. */
static int read_cpu(struct hr_perf_target *target, struct hr_perf_cpu_counters *cpu,
                    bool is_current)
{
    const struct hr_perf *perf = target->perf;
    int status = 0;

    cpu->was_read = cpu->open && target->whole;
    cpu->grown = cpu->nonzero = false;
    for (size_t g = 0; g < perf->group_count; g++) {
        if (hr_perf_is_by_bpf(perf, g))
            hr_perf_group_take(&cpu->open_groups[g], &cpu->sums[perf->first_event[g]]);
        else if (hr_perf_group_read(&cpu->open_groups[g], perf->calls, is_current) < 0)
            status = -EIO;
        if (cpu->open_groups[g].nonzero)
            add_group(target, cpu, g);
    }
    return status;
}

static void reset_interval(struct hr_perf_target *target)
{
    struct hr_perf_sums *sums = &target->sums;

    if (!sums->nonzero)
        return;
    sums->nonzero = false;
    memset(sums->interval, 0, target->perf->group_count * sizeof(*sums->interval));
    memset(sums->deltas, 0, target->perf->event_count * sizeof(*sums->deltas));
}

static void update_starved(struct hr_perf_target *target)
{
    struct hr_perf_sums *sums = &target->sums;

    for (size_t g = 0; g < target->perf->group_count && sums->nonzero; g++)
        if (sums->interval[g].running_ns > 0)
            sums->starved_ns[g] = 0;
        else
            sums->starved_ns[g] += sums->interval[g].enabled_ns;
}

static bool is_cpu_current(const struct hr_perf_cpu_counters *cpu, const struct hr_perf_cpu *about)
{
    return about->online && cpu->epoch == about->epoch;
}

/* @param by_bpf  the groups that BPF counts from now on, or those that it doesn't. */
static void read_descriptors(struct hr_perf_target *target, size_t index, bool by_bpf)
{
    const struct hr_perf *perf = target->perf;
    struct hr_perf_cpu_counters *cpu = index < target->cpu_count ? target->cpus[index] : NULL;

    for (size_t g = 0; g < perf->group_count && cpu != NULL && cpu->open; g++) {
        struct hr_perf_open_group *open_group = &cpu->open_groups[g];
        if (hr_perf_is_by_bpf(perf, g) != by_bpf || open_group->count == 0)
            continue;
        hr_perf_group_read(open_group, perf->calls, is_cpu_current(cpu, &perf->cpus.list[index]));
        if (open_group->nonzero)
            add_group(target, cpu, g);
    }
}

void hr_perf_target_read_descriptors(struct hr_perf_target *target, size_t index)
{
    read_descriptors(target, index, true);
}

void hr_perf_target_read_ahead(struct hr_perf_target *target)
{
    if (!target->is_ahead)
        reset_interval(target);
    target->is_ahead = true;
    for (size_t i = 0; i < target->cpu_count; i++)
        read_descriptors(target, i, false);
}

void hr_perf_target_take_last(struct hr_perf_target *target, size_t group)
{
    for (size_t i = 0; i < target->cpu_count; i++) {
        struct hr_perf_cpu_counters *cpu = target->cpus[i];
        if (cpu == NULL)
            continue;
        hr_perf_group_take(&cpu->open_groups[group], &cpu->sums[target->perf->first_event[group]]);
        if (cpu->open_groups[group].nonzero)
            add_group(target, cpu, group);
    }
}

/* Where a group didn't run, as most don't run on most CPUs, reading it would change nothing. */
static bool is_cpu_unchanged(const struct hr_perf_cpu_counters *cpu)
{
    return !cpu->open && !cpu->was_read && !cpu->grown && !cpu->nonzero;
}

/* Reads open counters, and closes those that no longer count. */
static void read_all_cpus(struct hr_perf_target *target)
{
    const struct hr_perf_cpu *about = target->perf->cpus.list;

    if (!target->is_ahead)
        reset_interval(target);
    target->is_ahead = target->was_read = false;
    for (size_t i = 0; i < target->cpu_count; i++) {
        struct hr_perf_cpu_counters *cpu = target->cpus[i];
        if (cpu == NULL || is_cpu_unchanged(cpu))
            continue;
        target->was_read = target->was_read || (cpu->open && target->whole);
        /* Closed counters are read, too, as zeros, which resets the values of their last interval.
         */
        const bool current = is_cpu_current(cpu, &about[i]);
        int status = read_cpu(target, cpu, current);
        if (cpu->open && (status < 0 || !current))
            hr_perf_target_close_cpu(target, cpu);
    }
    update_starved(target);
}

static bool is_any_usable(const struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;

    for (size_t g = 0; g < perf->group_count; g++)
        if (perf->probes[target->scope].usable[g] != 0)
            return true;
    return false;
}

/* By BPF: a group that sleeps, as most do, costs no more than this. */
static bool is_unchanged(const struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;

    return !target->grown && !target->sums.nonzero && target->bpf_failed == 0 &&
           target->cpu_count == perf->cpus.count &&
           target->chosen == hr_perf_bpf_generation(perf) && hr_perf_opening_is_needless(target);
}

/* What hr_perf_read() has added. The events are open for all targets together. */
static int read_sums(struct hr_perf_target *target)
{
    int status = hr_perf_bpf_status(target->perf);

    if (status == 0 && target->group != NULL)
        status = hr_perf_bpf_select_group(target);
    target->was_selected = false;
    if (status == 0 && is_unchanged(target))
        return 0;
    if (status == 0)
        status = hr_perf_target_extend_cpus(target);
    read_all_cpus(target);
    if (target->chosen != hr_perf_bpf_generation(target->perf))
        hr_perf_target_choose_events(target);
    target->bpf_failed = status;
    target->grown = false;
    return status;
}

/* The status of descriptors is that of all, unless BPF fails. */
static int read_with_bpf(struct hr_perf_target *target)
{
    const int by_bpf = read_sums(target);
    const int by_descriptors =
        hr_perf_opening_is_needless(target) ? 0 : hr_perf_opening_update(target);
    const int status = by_bpf < 0 ? by_bpf : by_descriptors;

    if (status == 0 || status == -ENODATA)
        return is_any_usable(target) ? 0 : -ENODATA;
    return status;
}

int hr_perf_target_read(struct hr_perf_target *target)
{
    if (target->perf->bpf != NULL)
        return read_with_bpf(target);
    read_all_cpus(target);
    return hr_perf_opening_update(target);
}

void hr_perf_target_pause(struct hr_perf_target *target)
{
    target->was_selected = target->slot != 0;
    if (target->perf->bpf != NULL)
        hr_perf_bpf_deselect_group(target);
    read_all_cpus(target);
    memset(target->sums.starved_ns, 0,
           target->perf->group_count * sizeof(*target->sums.starved_ns));
    hr_perf_target_close_descriptors(target);
}
