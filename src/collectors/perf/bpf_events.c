/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "headroom/array.h"
#include "headroom/clock.h"
#include "headroom/perf_event.h"
#include "perf/bpf_state.h"
#include "perf/open_group.h"

/* The programs keep the events open. */
static int pass_events_to_program(struct hr_perf *perf, const struct hr_perf_open_group *opened,
                                  size_t group, unsigned cpu)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    size_t number = 0;

    for (size_t e = 0; e < opened->size; e++) {
        if ((opened->events >> e & 1) == 0) { /* it may have been, before an update of events */
            bpf->calls->unset_event(bpf->object, bpf->columns[group] + e, cpu);
            continue;
        }
        int status =
            bpf->calls->set_event(bpf->object, bpf->columns[group] + e, cpu, opened->fds[number++]);
        if (status == -EOPNOTSUPP)
            bpf->unreadable[group] = perf->groups[group].events[e];
        if (status < 0)
            return status == -EOPNOTSUPP ? 0 : status;
    }
    return 0;
}

static bool is_open_here(const struct hr_perf *perf, size_t group)
{
    return hr_perf_is_by_bpf(perf, group) && perf->bpf->unreadable[group] == NULL;
}

static int open_group_on(struct hr_perf *perf, size_t group, unsigned cpu)
{
    int fds[HR_PERF_OPEN_MAX];
    uint64_t base_counts[HR_PERF_OPEN_MAX];
    const struct hr_perf_place place = {.calls = perf->calls, .cgroup = -1, .cpu = cpu};
    struct hr_perf_open_group opened = {
        .size = perf->groups[group].count, .fds = fds, .base_counts = base_counts};
    int status = hr_perf_group_open(&opened, &place, &perf->groups[group],
                                    perf->probes[HR_PERF_SYSTEM].usable[group]);

    if (status < 0)
        return status;
    status = pass_events_to_program(perf, &opened, group, cpu);
    hr_perf_group_close(&opened, perf->calls);
    return status;
}

static int flush_cpu(const struct hr_perf *perf, unsigned cpu)
{
    int status = perf->bpf->calls->flush(perf->bpf->object, cpu);

    return status == -ENXIO ? 0 : status; /* it went offline meanwhile */
}

int hr_perf_bpf_flush_cpus(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    int status = bpf->calls->read_cpus(bpf->object, bpf->cpu_states);

    for (size_t i = 0; i < bpf->cpu_count && status == 0; i++) {
        const unsigned number = perf->cpus.list[i].number;
        if (!bpf->cpus[i].open || bpf->cpu_states[bpf->places[number]].is_idle)
            continue;
        status = flush_cpu(perf, number);
    }
    return status;
}

static int open_cpu(struct hr_perf *perf, size_t index)
{
    const struct hr_perf_cpu *about = &perf->cpus.list[index];
    struct hr_perf_bpf_cpu *cpu = &perf->bpf->cpus[index];
    int status = 0;

    for (size_t g = 0; g < perf->group_count && status == 0; g++)
        if (is_open_here(perf, g))
            status = open_group_on(perf, g, about->number);
    /* Also if it idles: the program learns that the events are new while they have hardly counted.
     */
    if (status == 0)
        status = flush_cpu(perf, about->number);
    for (struct hr_perf_target *target = perf->targets; target != NULL && status == 0;
         target = target->next)
        hr_perf_target_read_descriptors(target, index);
    cpu->open = status == 0;
    cpu->epoch = about->epoch;
    cpu->failed = status == -ENODEV ? 0 : status; /* it went offline meanwhile */
    cpu->tried_ns = hr_clock_ns();
    return cpu->failed;
}

/* All events are opened again if others can be counted. */
static int probe_events(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    const struct hr_perf_probe *machine = &perf->probes[HR_PERF_SYSTEM];
    int status = hr_perf_probe_update(perf, HR_PERF_SYSTEM, NULL, -1);

    if (status < 0 && !machine->done)
        return status;
    if (machine->generation == bpf->generation)
        return 0;
    for (size_t g = 0; g < perf->group_count; g++)
        if (is_open_here(perf, g)) /* what wasn't known when BPF began may be one */
            bpf->unreadable[g] = hr_perf_bpf_find_whole_machine(&perf->groups[g]);
    hr_perf_bpf_flush_cpus(perf); /* what the events have counted that are replaced */
    bpf->generation = machine->generation;
    for (size_t i = 0; i < bpf->cpu_count; i++)
        bpf->cpus[i] = (struct hr_perf_bpf_cpu){.open = false};
    return 0;
}

/* What failed would fail again, as long as it is the same CPU with the same events. */
static bool is_opening_due(const struct hr_perf *perf, size_t index)
{
    const struct hr_perf_bpf_cpu *cpu = &perf->bpf->cpus[index];

    return cpu->tried_ns == 0 || cpu->epoch != perf->cpus.list[index].epoch ||
           hr_clock_ns() - cpu->tried_ns >= perf->retry_ns;
}

/* A PMU's driver may let an event count for another CPU than that on which it was opened. */
static void find_unreadable(struct hr_perf *perf, __u64 events)
{
    struct hr_perf_bpf *bpf = perf->bpf;

    for (size_t g = 0; g < perf->group_count; g++)
        for (size_t e = 0; is_open_here(perf, g) && e < perf->groups[g].count; e++)
            if ((events >> (bpf->columns[g] + e) & 1) != 0)
                bpf->unreadable[g] = perf->groups[g].events[e];
}

static int find_all_unreadable(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    int status = bpf->calls->read_cpus(bpf->object, bpf->cpu_states);

    for (size_t i = 0; i < bpf->cpu_count && status == 0; i++)
        if (bpf->cpus[i].open)
            find_unreadable(perf,
                            bpf->cpu_states[bpf->places[perf->cpus.list[i].number]].unreadable);
    return status;
}

static void unset_group(const struct hr_perf *perf, size_t group)
{
    const struct hr_perf_bpf *bpf = perf->bpf;

    for (size_t i = 0; i < perf->cpus.count; i++)
        for (size_t e = 0; e < perf->groups[group].count; e++)
            bpf->calls->unset_event(bpf->object, bpf->columns[group] + e,
                                    perf->cpus.list[i].number);
}

void hr_perf_bpf_except_unreadable(struct hr_perf *perf)
{
    for (size_t g = 0; g < perf->group_count; g++) {
        if (perf->exceptions[g] != NULL || perf->bpf->unreadable[g] == NULL)
            continue;
        unset_group(perf, g);
        perf->exceptions[g] = perf->bpf->unreadable[g];
    }
}

int hr_perf_bpf_open_missing_cpus(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    bool opened = false;
    int status = HR_ARRAY_RESERVE(bpf->cpus, bpf->cpu_capacity, perf->cpus.count);

    while (status == 0 && bpf->cpu_count < perf->cpus.count)
        bpf->cpus[bpf->cpu_count++] = (struct hr_perf_bpf_cpu){.open = false};
    if (status == 0)
        status = probe_events(perf);
    if (status < 0)
        return status;
    for (size_t i = 0; i < bpf->cpu_count; i++) {
        const struct hr_perf_cpu *about = &perf->cpus.list[i];
        struct hr_perf_bpf_cpu *cpu = &bpf->cpus[i];
        cpu->was_open = cpu->open;
        cpu->open = cpu->open && about->online && cpu->epoch == about->epoch;
        if (!about->online || cpu->open)
            continue;
        int failed = is_opening_due(perf, i) ? open_cpu(perf, i) : cpu->failed;
        opened = opened || cpu->open;
        if (status == 0)
            status = failed;
    }
    return status == 0 && opened ? find_all_unreadable(perf) : status;
}

bool hr_perf_bpf_was_open(const struct hr_perf *perf, size_t index)
{
    return index < perf->bpf->cpu_count &&
           (perf->bpf->cpus[index].open || perf->bpf->cpus[index].was_open);
}
