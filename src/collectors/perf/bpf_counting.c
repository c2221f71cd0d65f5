/* SPDX-License-Identifier: MIT */
#include "perf/bpf_counting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/text.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"
#include "perf/bpf_refusal.h"
#include "perf/open_group.h"
#include "perf/target.h"

#define DEFAULT_TARGETS 1000

struct slot {
    bool used;
    bool ended;                    /* it is used until no CPU adds to it any more */
    struct hr_perf_target *target; /* for which it counts; NULL: none */
};

/* Of a CPU, indexed like struct hr_perf_cpus. */
struct cpu {
    bool open;
    bool was_open;     /* before the last read */
    unsigned epoch;    /* when its events were opened, or failed to open */
    int failed;        /* why they aren't open; 0 */
    uint64_t tried_ns; /* 0: never */
};

struct hr_perf_bpf {
    const struct hr_perf_bpf_calls *calls;
    void *object;
    int status;
    bool read_failed;       /* the last one */
    const char *unreadable; /* an event that BPF programs can't read; NULL: none */
    unsigned generation;    /* of the probe, when the events were opened */
    size_t event_count;
    size_t possible; /* CPUs that are possible */
    size_t *places;  /* of each CPU's number: its place among the possible ones */
    struct count_cpu *cpu_states;
    struct cpu *cpus;
    size_t cpu_count, cpu_capacity;
    struct slot *slots;
    size_t slot_max, slot_count;      /* numbers of slots that were ever used are below */
    struct count_value *now, *before; /* of each slot, possible CPU and event */
    bool *changed;                    /* of each slot, at the last read */
    struct hr_perf_target *machine;   /* the newest of those; NULL: none */
};

/* --- Opening -------------------------------------------------------------- */

static int read_possible_cpus(const struct hr_root *root, struct hr_cpu_set *possible)
{
    char text[4096];
    size_t length;
    int fd = hr_root_openat(root, "sys/devices/system/cpu/possible", O_RDONLY);

    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    return status < 0 ? status : hr_cpu_set_parse(text, length, possible);
}

/* @param limit  receives a number above those of all CPUs. */
static int place_cpus(const struct hr_perf *perf, struct hr_perf_bpf *bpf, size_t *limit)
{
    struct hr_cpu_set possible;
    int status = read_possible_cpus(perf->root, &possible);

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
    bpf->now = calloc(values, sizeof(*bpf->now));
    bpf->before = calloc(values, sizeof(*bpf->before));
    bpf->cpu_states = calloc(bpf->possible, sizeof(*bpf->cpu_states));
    bpf->changed = calloc(bpf->slot_max, sizeof(*bpf->changed));
    if (bpf->changed == NULL || bpf->slots == NULL || bpf->now == NULL || bpf->before == NULL ||
        bpf->cpu_states == NULL)
        return -ENOMEM;
    bpf->slots[COUNT_LAST].used = bpf->slots[COUNT_REST].used = true;
    bpf->slot_count = COUNT_FIRST_GROUP;
    return 0;
}

/* More slots than groups, as the slots of groups that ended are used until the next read. */
static size_t count_slots(size_t max_targets)
{
    const size_t targets = max_targets > 0 ? max_targets : DEFAULT_TARGETS;

    return COUNT_FIRST_GROUP + targets + targets / 4 + 1;
}

int hr_perf_bpf_memory(const struct hr_root *root, const struct hr_perf_options *options,
                       size_t *bytes)
{
    struct hr_cpu_set possible;
    int status = read_possible_cpus(root, &possible);
    size_t size = count_slots(options->max_targets) * sizeof(struct count_value), events = 0;

    if (status < 0)
        return status;
    for (size_t i = 0; i < options->group_count; i++)
        events += options->groups[i].count;
    *bytes = size * events * hr_cpu_set_count(&possible);
    return 0;
}

static int load_programs(struct hr_perf *perf, size_t cpu_limit)
{
    struct hr_perf_bpf *bpf = perf->bpf;

    bpf->calls = perf->bpf_calls;
    bpf->event_count = perf->event_count;
    bpf->slot_max = count_slots(perf->max_targets);
    int status = allocate(bpf);
    if (status < 0)
        return status;
    const struct count_settings settings = {.event_count = (__u32)perf->event_count,
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
    for (struct hr_perf_target *target = perf->targets; target != NULL; target = target->next) {
        target->parent = NULL;
        target->slot = 0;
    }
    if (bpf->object != NULL)
        bpf->calls->unload(bpf->object);
    free(bpf->places);
    free(bpf->cpu_states);
    free(bpf->cpus);
    free(bpf->slots);
    free(bpf->now);
    free(bpf->changed);
    free(bpf->before);
    free(bpf);
}

/* --- Events --------------------------------------------------------------- */

/* The programs keep the events open. */
static int pass_events_to_program(struct hr_perf *perf, const struct hr_perf_open_group *opened,
                                  size_t group, unsigned cpu)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    size_t number = 0;

    for (size_t e = 0; e < opened->size; e++) {
        if ((opened->events >> e & 1) == 0)
            continue;
        int status = bpf->calls->set_event(bpf->object, perf->first_event[group] + e, cpu,
                                           opened->fds[number++]);
        if (status == -EOPNOTSUPP)
            bpf->unreadable = perf->groups[group].events[e]->text;
        if (status < 0)
            return status;
    }
    return 0;
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

/* A CPU whose task goes on counts what it has done so far; those that idle are left alone. */
static int flush_cpus(struct hr_perf *perf)
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
    struct cpu *cpu = &perf->bpf->cpus[index];
    int status = 0;

    for (size_t g = 0; g < perf->group_count && status == 0; g++)
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
    flush_cpus(perf); /* what the events have counted that are replaced */
    bpf->generation = machine->generation;
    for (size_t i = 0; i < bpf->cpu_count; i++)
        bpf->cpus[i] = (struct cpu){.open = false};
    return 0;
}

/* What failed would fail again, as long as it is the same CPU with the same events. */
static bool is_opening_due(const struct hr_perf *perf, size_t index)
{
    const struct cpu *cpu = &perf->bpf->cpus[index];

    return cpu->tried_ns == 0 || cpu->epoch != perf->cpus.list[index].epoch ||
           hr_clock_ns() - cpu->tried_ns >= perf->retry_ns;
}

static int open_missing_cpus(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    int status = HR_ARRAY_RESERVE(bpf->cpus, bpf->cpu_capacity, perf->cpus.count);

    while (status == 0 && bpf->cpu_count < perf->cpus.count)
        bpf->cpus[bpf->cpu_count++] = (struct cpu){.open = false};
    if (status == 0)
        status = probe_events(perf);
    if (status < 0)
        return status;
    for (size_t i = 0; i < bpf->cpu_count; i++) {
        const struct hr_perf_cpu *about = &perf->cpus.list[i];
        struct cpu *cpu = &bpf->cpus[i];
        cpu->was_open = cpu->open;
        cpu->open = cpu->open && about->online && cpu->epoch == about->epoch;
        if (!about->online || cpu->open)
            continue;
        int failed = is_opening_due(perf, i) ? open_cpu(perf, i) : cpu->failed;
        if (status == 0)
            status = failed;
    }
    return status;
}

bool hr_perf_bpf_is_open(const struct hr_perf *perf, size_t index)
{
    return index < perf->bpf->cpu_count && perf->bpf->cpus[index].open;
}

bool hr_perf_bpf_was_open(const struct hr_perf *perf, size_t index)
{
    return index < perf->bpf->cpu_count &&
           (perf->bpf->cpus[index].open || perf->bpf->cpus[index].was_open);
}

/* --- Reading -------------------------------------------------------------- */

static struct count_value *values_of(const struct hr_perf_bpf *bpf, struct count_value *values,
                                     size_t slot, size_t place)
{
    return &values[(slot * bpf->possible + place) * bpf->event_count];
}

static int add_values(struct hr_perf_target *target, size_t index, const struct count_value *now,
                      const struct count_value *before)
{
    struct hr_perf_cpu_counters *cpu = hr_perf_target_counters(target, index);

    if (cpu == NULL)
        return -ENOMEM;
    target->grown = true;
    for (size_t e = 0; e < target->perf->event_count; e++) {
        cpu->sums[e].count += now[e].count - before[e].count;
        cpu->sums[e].enabled_ns += now[e].enabled_ns - before[e].enabled_ns;
        cpu->sums[e].running_ns += now[e].running_ns - before[e].running_ns;
    }
    return 0;
}

/* Adds what a slot has counted between `before` and `now`. */
static int add_slot(struct hr_perf *perf, size_t slot)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    const size_t size = bpf->event_count * sizeof(*bpf->now);
    int status = 0;

    for (size_t i = 0; i < perf->cpus.count; i++) {
        const size_t place = bpf->places[perf->cpus.list[i].number];
        const struct count_value *now = values_of(bpf, bpf->now, slot, place);
        struct count_value *before = values_of(bpf, bpf->before, slot, place);
        struct hr_perf_target *target = bpf->slots[slot].target;
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

static int read_slots_from(struct hr_perf *perf, size_t slot, size_t end)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    int status = bpf->calls->read(bpf->object, (__u32)slot, (__u32)(end - slot),
                                  values_of(bpf, bpf->now, slot, 0));

    for (; slot < end && status == 0; slot++)
        status = add_slot(perf, slot);
    return status;
}

/* Those that may have changed; adjacent ones in one call. */
static int read_slots(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    int status = 0;

    find_changed(bpf);
    for (size_t slot = COUNT_REST, end = slot; slot < bpf->slot_count && status == 0;
         slot = end + 1) {
        for (end = slot; end < bpf->slot_count && bpf->changed[end]; end++)
            continue;
        if (end > slot)
            status = read_slots_from(perf, slot, end);
    }
    for (size_t slot = COUNT_REST; slot < bpf->slot_count && status == 0; slot++)
        if (bpf->slots[slot].ended)
            bpf->slots[slot] = (struct slot){.used = false};
    return status;
}

void hr_perf_bpf_read(struct hr_perf *perf)
{
    int status = open_missing_cpus(perf);
    int flushed = perf->bpf->calls->begin_reading(perf->bpf->object);

    if (flushed == 0)
        flushed = flush_cpus(perf);
    hr_perf_probe_cgroups_by_machine(perf);

    if (flushed == 0)
        flushed = read_slots(perf);
    perf->bpf->read_failed = flushed < 0;
    perf->bpf->status = status < 0 ? status : flushed;
}

int hr_perf_bpf_status(const struct hr_perf *perf)
{
    return perf->bpf->status;
}

/* --- Targets -------------------------------------------------------------- */

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
    struct slot *rest = &bpf->slots[COUNT_REST];

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
    if (slot == bpf->slot_max) { /* many ended since the last read */
        hr_perf_bpf_read(target->perf);
        slot = find_free_slot(bpf);
    }
    if (slot == bpf->slot_max)
        return -ENOSPC;
    int status = bpf->calls->select(bpf->object, target->group->id, (__u32)slot);
    if (status < 0)
        return status;
    bpf->slots[slot] = (struct slot){.used = true, .target = target};
    if (slot >= bpf->slot_count)
        bpf->slot_count = slot + 1;
    target->slot = (__u32)slot;
    return 0;
}

void hr_perf_bpf_deselect_group(struct hr_perf_target *target)
{
    struct hr_perf_bpf *bpf = target->perf->bpf;
    const __u32 number = target->slot;
    struct slot *slot = &bpf->slots[number];

    if (number == 0)
        return;
    /* If it fails, the slot is never used again. */
    slot->ended = bpf->calls->deselect(bpf->object, target->group->id) == 0;
    if (bpf->calls->read(bpf->object, number, 1, values_of(bpf, bpf->now, number, 0)) == 0)
        add_slot(target->perf, number);
    slot->target = target->parent; /* for what is added in this moment */
    target->slot = 0;
}

/* --- Beginning ------------------------------------------------------------ */

/* A counter of the whole machine may be a device's, whose driver may wake up tasks: that must not
 * be done where the scheduler holds the run queue, as at each switch. @return NULL: there is none.
 */
static const struct hr_perf_event *find_whole_machine(const struct hr_perf *perf)
{
    for (size_t g = 0; g < perf->group_count; g++)
        for (size_t e = 0; e < perf->groups[g].count; e++)
            if (perf->groups[g].events[e]->whole_machine)
                return perf->groups[g].events[e];
    return NULL;
}

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

/* Whether the maps can be read. */
static int try_reading(const struct hr_perf_bpf *bpf)
{
    return bpf->calls->read(bpf->object, COUNT_REST, 1, values_of(bpf, bpf->now, COUNT_REST, 0));
}

static int begin(struct hr_perf *perf)
{
    struct hr_perf_bpf *bpf = perf->bpf;
    int status = add_targets(perf);

    if (status == 0)
        status = bpf->calls->attach(bpf->object);
    if (status == 0)
        status = open_missing_cpus(perf);
    return status == 0 ? try_reading(bpf) : status;
}

int hr_perf_bpf_open(struct hr_perf *perf, struct hr_reason *reason)
{
    const struct hr_perf_event *whole_machine = find_whole_machine(perf);
    struct hr_perf_bpf *bpf;
    size_t cpu_limit = 0;

    if (whole_machine != NULL)
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "\"%s\" counts for the whole machine, which isn't read at each switch "
                             "between tasks, and all lines are counted in the same way: remove it",
                             whole_machine->text);
    bpf = calloc(1, sizeof(*bpf));
    if (bpf == NULL)
        return hr_perf_bpf_explain(perf->root, -ENOMEM, reason);
    perf->bpf = bpf;
    int status = place_cpus(perf, bpf, &cpu_limit);
    if (status < 0)
        return hr_reason_set(reason, status,
                             "can't read which CPUs are possible "
                             "(/sys/devices/system/cpu/possible: %s)",
                             strerror(-status));
    status = load_programs(perf, cpu_limit);
    if (status == 0)
        status = begin(perf);
    if (bpf->unreadable != NULL)
        return hr_reason_set(
            reason, status,
            "BPF programs can't read \"%s\", and all lines are counted in the same way: remove it",
            bpf->unreadable);
    return status == 0 ? 0 : hr_perf_bpf_explain(perf->root, status, reason);
}
