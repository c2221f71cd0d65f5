/* SPDX-License-Identifier: MIT */
#include "perf/bpf_counting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"
#include "perf/bpf_refusal.h"
#include "perf/bpf_state.h"

#define DEFAULT_TARGETS 1000

/* --- Opening -------------------------------------------------------------- */

const struct hr_perf_event *hr_perf_bpf_find_whole_machine(const struct hr_perf_event_group *group)
{
    for (size_t e = 0; e < group->count; e++)
        if (group->events[e]->whole_machine)
            return group->events[e];
    return NULL;
}

static int choose_groups(struct hr_perf *perf, struct hr_perf_bpf *bpf)
{
    bpf->columns = calloc(perf->group_count, sizeof(*bpf->columns));
    bpf->unreadable = calloc(perf->group_count, sizeof(*bpf->unreadable));
    if (bpf->columns == NULL || bpf->unreadable == NULL)
        return -ENOMEM;
    for (size_t g = 0; g < perf->group_count; g++) {
        perf->exceptions[g] = hr_perf_bpf_find_whole_machine(&perf->groups[g]);
        bpf->columns[g] = bpf->event_count;
        bpf->event_count += perf->exceptions[g] == NULL ? perf->groups[g].count : 0;
    }
    return 0;
}

/* @param limit  receives a number above those of all CPUs. */
static int place_cpus(const struct hr_perf *perf, struct hr_perf_bpf *bpf, size_t *limit)
{
    struct hr_cpu_set possible;
    int status = hr_cpu_set_read(perf->root, "sys/devices/system/cpu/possible", &possible);

    if (status < 0)
        return status;
    bpf->places = calloc(HR_CPU_MAX, sizeof(*bpf->places));
    if (bpf->places == NULL)
        return -ENOMEM;
    for (unsigned cpu = hr_cpu_set_next(&possible, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(&possible, cpu + 1)) {
        bpf->places[cpu] = bpf->possible++;
        *limit = cpu + 1;
    }
    return bpf->possible > 0 ? 0 : -EBADMSG;
}

static int allocate(struct hr_perf_bpf *bpf)
{
    const size_t values = bpf->slot_max * bpf->possible * bpf->event_count;

    bpf->slots = calloc(bpf->slot_max, sizeof(*bpf->slots));
    bpf->before = calloc(values, sizeof(*bpf->before));
    bpf->cpu_states = calloc(bpf->possible, sizeof(*bpf->cpu_states));
    bpf->changed = calloc(bpf->slot_max, sizeof(*bpf->changed));
    if (bpf->changed == NULL || bpf->slots == NULL || bpf->before == NULL ||
        bpf->cpu_states == NULL)
        return -ENOMEM;
    bpf->slots[COUNT_LAST].used = bpf->slots[COUNT_REST].used = true;
    bpf->slot_count = COUNT_FIRST_GROUP;
    return 0;
}

/* More slots than groups, as the slots of groups that ended are used for some readings. */
static size_t count_slots(size_t max_targets)
{
    const size_t targets = max_targets > 0 ? max_targets : DEFAULT_TARGETS;

    return COUNT_FIRST_GROUP + targets + targets / 4 + 1;
}

int hr_perf_bpf_memory(const struct hr_root *root, const struct hr_perf_options *options,
                       size_t *bytes)
{
    struct hr_cpu_set possible;
    int status = hr_cpu_set_read(root, "sys/devices/system/cpu/possible", &possible);
    size_t size = count_slots(options->max_targets) * sizeof(struct count_value), events = 0;

    if (status < 0)
        return status;
    for (size_t i = 0; i < options->group_count; i++)
        if (hr_perf_bpf_find_whole_machine(&options->groups[i]) == NULL)
            events += options->groups[i].count;
    *bytes = size * events * hr_cpu_set_count(&possible);
    return 0;
}

static int load_programs(struct hr_perf *perf, size_t cpu_limit)
{
    struct hr_perf_bpf *bpf = perf->bpf;

    bpf->calls = perf->bpf_calls;
    bpf->slot_max = count_slots(perf->max_targets);
    int status = allocate(bpf);
    if (status < 0)
        return status;
    const struct count_settings settings = {.event_count = (__u32)bpf->event_count,
                                            .cpu_limit = (__u32)cpu_limit,
                                            .slot_count = (__u32)bpf->slot_max};
    return bpf->calls->load(&settings, bpf->slot_max, bpf->possible, &bpf->object);
}

void hr_perf_bpf_close(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;

    if (bpf == NULL)
        return;
    perf->bpf = NULL;
    memset(perf->exceptions, 0, perf->group_count * sizeof(*perf->exceptions));
    for (struct hr_perf_target *target = perf->targets; target != NULL; target = target->next) {
        target->parent = NULL;
        target->slot = 0;
    }
    if (bpf->object != NULL)
        bpf->calls->unload(bpf->object);
    free(bpf->columns);
    free(bpf->unreadable);
    free(bpf->places);
    free(bpf->cpu_states);
    free(bpf->cpus);
    free(bpf->slots);
    free(bpf->changed);
    free(bpf->before);
    free(bpf);
}

/* --- Reading -------------------------------------------------------------- */

static void add_group(struct count_value *sums, const struct count_value *now,
                      const struct count_value *before, size_t count)
{
    for (size_t e = 0; e < count; e++) {
        sums[e].count += now[e].count - before[e].count;
        sums[e].enabled_ns += now[e].enabled_ns - before[e].enabled_ns;
        sums[e].running_ns += now[e].running_ns - before[e].running_ns;
    }
}

static int add_values(struct hr_perf_target *target, size_t index, const struct count_value *now,
                      const struct count_value *before)
{
    const struct hr_perf *perf = target->perf;
    struct hr_perf_cpu_counters *cpu = hr_perf_target_counters(target, index);

    if (cpu == NULL)
        return -ENOMEM;
    target->grown = cpu->grown = true;
    for (size_t g = 0; g < perf->group_count; g++) {
        const size_t column = perf->bpf->columns[g];
        if (hr_perf_is_by_bpf(perf, g))
            add_group(&cpu->sums[perf->first_event[g]], &now[column], &before[column],
                      perf->groups[g].count);
    }
    return 0;
}

int hr_perf_bpf_read_slot(struct hr_perf *perf, size_t slot)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    struct count_value now[COUNT_EVENTS];
    const size_t size = bpf->event_count * sizeof(*now);
    int status = 0;

    for (size_t i = 0; i < perf->cpus.count; i++) {
        const unsigned cpu = perf->cpus.list[i].number;
        struct count_value *before =
            &bpf->before[(slot * bpf->possible + bpf->places[cpu]) * bpf->event_count];
        struct hr_perf_target *target = bpf->slots[slot].target;
        if (!bpf->read_failed && !bpf->calls->is_changed(bpf->object, (__u32)slot, cpu))
            continue;
        bpf->calls->read(bpf->object, (__u32)slot, cpu, now);
        if (memcmp(now, before, size) == 0)
            continue;
        for (; target != NULL && status == 0; target = target->parent)
            status = add_values(target, i, now, before);
        memcpy(before, now, size);
    }
    return status;
}

/* All, where the last reading failed. */
static void find_changed(struct hr_perf_bpf *bpf)
{
    if (bpf->read_failed)
        memset(bpf->changed, true, bpf->slot_count);
    else
        bpf->calls->find_changed(bpf->object, (__u32)bpf->slot_count, bpf->changed);
}

/* Those that may have changed. */
static int read_slots(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    int status = 0;

    find_changed(bpf);
    for (size_t slot = COUNT_REST; slot < bpf->slot_count && status == 0; slot++)
        if (bpf->changed[slot])
            status = hr_perf_bpf_read_slot(perf, slot);
    for (size_t slot = COUNT_REST; slot < bpf->slot_count && status == 0; slot++)
        if (bpf->slots[slot].last_readings > 0 && --bpf->slots[slot].last_readings == 0)
            bpf->slots[slot] = (struct hr_perf_bpf_slot){.used = false};
    return status;
}

static bool has_new_exceptions(const struct hr_perf *perf)
{
    for (size_t g = 0; g < perf->group_count; g++)
        if (hr_perf_is_by_bpf(perf, g) && perf->bpf->unreadable[g] != NULL)
            return true;
    return false;
}

/* The targets open their descriptors when they are read. */
static void leave_to_descriptors(struct hr_perf *perf)
{
    if (!has_new_exceptions(perf))
        return;
    for (struct hr_perf_target *target = perf->targets; target != NULL; target = target->next)
        for (size_t g = 0; g < perf->group_count; g++)
            if (hr_perf_is_by_bpf(perf, g) && perf->bpf->unreadable[g] != NULL)
                hr_perf_target_take_last(target, g);
    hr_perf_bpf_except_unreadable(perf);
    for (int scope = 0; scope < HR_PERF_SCOPE_COUNT; scope++)
        perf->probes[scope].generation++;
    perf->bpf->generation = perf->probes[HR_PERF_SYSTEM].generation;
    perf->probes[HR_PERF_CGROUP].done = false; /* it was that of the machine */
}

void hr_perf_bpf_read(struct hr_perf *perf)
{
    int status = hr_perf_bpf_open_missing_cpus(perf);
    int flushed = perf->bpf->calls->begin_reading(perf->bpf->object);

    if (flushed == 0)
        flushed = hr_perf_bpf_flush_cpus(perf);
    hr_perf_probe_cgroups_by_machine(perf);

    if (flushed == 0)
        flushed = read_slots(perf);
    leave_to_descriptors(perf);
    perf->bpf->read_failed = flushed < 0;
    perf->bpf->status = status < 0 ? status : flushed;
}

int hr_perf_bpf_status(const struct hr_perf *perf)
{
    return perf->bpf->status;
}

unsigned hr_perf_bpf_generation(const struct hr_perf *perf)
{
    return perf->bpf->generation;
}

/* What cgroups have of the machine is taken over when these are open; none of them counts for the
 * whole machine. */
uint32_t hr_perf_bpf_usable(const struct hr_perf *perf, size_t group)
{
    return perf->probes[HR_PERF_CGROUP].usable[group];
}

/* --- Beginning ------------------------------------------------------------ */

/* Groups are selected before the events are open: then nothing is missed of them. */
static int add_targets(struct hr_perf *perf)
{
    int status = 0;

    for (struct hr_perf_target *target = perf->targets; target != NULL && status == 0;
         target = target->next) {
        hr_perf_bpf_add_target(target);
        if (target->group != NULL && target->wanted > 0) /* it isn't paused */
            status = hr_perf_bpf_select_group(target);
    }
    return status;
}

static int begin(struct hr_perf *perf)
{
    int status = add_targets(perf);

    if (status == 0)
        status = perf->bpf->calls->attach(perf->bpf->object);
    if (status == 0)
        status = hr_perf_bpf_open_missing_cpus(perf);
    hr_perf_bpf_except_unreadable(perf);
    return status;
}

/* @return whether some group is left. */
static bool is_any_by_bpf(const struct hr_perf *perf)
{
    for (size_t g = 0; g < perf->group_count; g++)
        if (hr_perf_is_by_bpf(perf, g))
            return true;
    return false;
}

static int explain_exceptions(const struct hr_perf *perf, struct hr_reason *reason)
{
    return hr_reason_set(reason, -EOPNOTSUPP,
                         "each line has an event that BPF programs can't read, such as \"%s\"%s",
                         perf->exceptions[0]->text,
                         perf->exceptions[0]->whole_machine ? ", which counts for the whole machine"
                                                            : "");
}

int hr_perf_bpf_open(struct hr_perf *perf, struct hr_reason *reason)
{
    struct hr_perf_bpf *bpf = calloc(1, sizeof(*bpf));
    size_t cpu_limit = 0;

    perf->bpf = bpf;
    int status = bpf != NULL ? choose_groups(perf, bpf) : -ENOMEM;
    if (status < 0)
        return hr_perf_bpf_explain(perf->root, status, reason);
    if (!is_any_by_bpf(perf))
        return explain_exceptions(perf, reason);
    if (bpf->event_count > COUNT_EVENTS)
        return hr_reason_set(reason, -E2BIG, "there are more than %d events: remove some",
                             COUNT_EVENTS);
    status = place_cpus(perf, bpf, &cpu_limit);
    if (status < 0)
        return hr_reason_set(reason, status,
                             "can't read which CPUs are possible "
                             "(/sys/devices/system/cpu/possible: %s)",
                             strerror(-status));
    status = load_programs(perf, cpu_limit);
    if (status == 0)
        status = begin(perf);
    if (status < 0)
        return hr_perf_bpf_explain(perf->root, status, reason);
    return is_any_by_bpf(perf) ? 0 : explain_exceptions(perf, reason);
}
