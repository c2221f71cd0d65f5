/* SPDX-License-Identifier: MIT */
#include "perf/count.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/text.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"
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
    unsigned epoch; /* when its events were opened */
};

struct hr_perf_count {
    const struct hr_perf_count_calls *calls;
    void *object;
    int status;
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
    struct hr_perf_target *targets;   /* the newest first */
    struct hr_perf_target *machine;   /* the newest of those; NULL: none */
};

/* --- Opening -------------------------------------------------------------- */

static int read_possible_cpus(const struct hr_perf *perf, struct hr_cpu_set *possible)
{
    char text[4096];
    size_t length;
    int fd = hr_root_openat(perf->root, "sys/devices/system/cpu/possible", O_RDONLY);

    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    return status < 0 ? status : hr_cpu_set_parse(text, length, possible);
}

/* @param limit  receives a number above those of all CPUs. */
static int place_cpus(const struct hr_perf *perf, struct hr_perf_count *count, size_t *limit)
{
    struct hr_cpu_set possible;
    int status = read_possible_cpus(perf, &possible);

    if (status < 0)
        return status;
    count->places = calloc(HR_CPU_MAX, sizeof(*count->places));
    if (count->places == NULL)
        return -ENOMEM;
    for (unsigned cpu = hr_cpu_set_next(&possible, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(&possible, cpu + 1)) {
        count->places[cpu] = count->possible++;
        *limit = cpu + 1;
    }
    return count->possible > 0 ? 0 : -EBADMSG;
}

static int allocate(struct hr_perf_count *count)
{
    const size_t values = count->slot_max * count->possible * count->event_count;

    count->slots = calloc(count->slot_max, sizeof(*count->slots));
    count->now = calloc(values, sizeof(*count->now));
    count->before = calloc(values, sizeof(*count->before));
    count->cpu_states = calloc(count->possible, sizeof(*count->cpu_states));
    if (count->slots == NULL || count->now == NULL || count->before == NULL ||
        count->cpu_states == NULL)
        return -ENOMEM;
    count->slots[COUNT_LAST].used = count->slots[COUNT_REST].used = true;
    count->slot_count = COUNT_FIRST_GROUP;
    return 0;
}

/* More slots than groups, as the slots of groups that ended are used until the next read. */
static int load(struct hr_perf *perf, const struct hr_perf_options *options, size_t cpu_limit)
{
    struct hr_perf_count *count = perf->count;
    const size_t targets = options->max_targets > 0 ? options->max_targets : DEFAULT_TARGETS;

    count->calls =
        options->count_calls != NULL ? options->count_calls : &hr_perf_kernel_count_calls;
    count->event_count = perf->event_count;
    count->slot_max = COUNT_FIRST_GROUP + targets + targets / 4 + 1;
    int status = allocate(count);
    if (status < 0)
        return status;
    const struct count_settings settings = {.event_count = (__u32)perf->event_count,
                                            .cpu_limit = (__u32)cpu_limit};
    return count->calls->load(&settings, count->slot_max, count->possible, &count->object);
}

static int explain(int status, struct hr_reason *reason)
{
    switch (status) {
    case -ENOPKG:
        return hr_reason_set(reason, status,
                             "it was built without BPF: build it with libbpf and clang");
    case -EPERM:
    case -EACCES:
        return hr_reason_set(reason, status,
                             "no permission to load BPF programs: add CAP_BPF and CAP_PERFMON to "
                             "collectd's service, or run collectd as root");
    case -ENXIO:
        return hr_reason_set(reason, status,
                             "/sys/devices/system/cpu/possible is that of another machine");
    case -E2BIG:
    case -ENOMEM:
        return hr_reason_set(reason, status,
                             "there is too little memory for so many cgroups and events");
    case -EMFILE:
    case -ENFILE:
        return hr_reason_set(reason, status,
                             "file descriptors ran out: raise LimitNOFILE= of the service "
                             "(ulimit -n)");
    case -EOPNOTSUPP:
    case -EINVAL:
    case -ENOENT:
    case -ENOSYS:
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "the kernel can't run these BPF programs: it needs Linux 5.14 or "
                             "later with CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS and CONFIG_CGROUPS");
    default:
        return hr_reason_set(reason, status,
                             "the kernel refuses the BPF programs (%s): report it, with the "
                             "kernel's version",
                             strerror(-status));
    }
}

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

int hr_perf_count_open(struct hr_perf *perf, const struct hr_perf_options *options,
                       struct hr_reason *reason)
{
    const struct hr_perf_event *whole_machine = find_whole_machine(perf);
    struct hr_perf_count *count;
    size_t cpu_limit = 0;

    if (whole_machine != NULL)
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "\"%s\" counts for the whole machine, which isn't read at each switch "
                             "between tasks: remove it",
                             whole_machine->text);
    count = calloc(1, sizeof(*count));
    if (count == NULL)
        return explain(-ENOMEM, reason);
    perf->count = count;
    int status = place_cpus(perf, count, &cpu_limit);
    if (status < 0)
        return hr_reason_set(reason, status,
                             "can't read which CPUs are possible "
                             "(/sys/devices/system/cpu/possible: %s)",
                             strerror(-status));
    status = load(perf, options, cpu_limit);
    if (status == 0)
        status = count->calls->attach(count->object);
    if (status == 0)
        hr_perf_count_read(perf);
    if (status == 0)
        status = count->status;
    if (count->unreadable != NULL)
        return hr_reason_set(reason, status, "BPF programs can't read \"%s\": remove it",
                             count->unreadable);
    return status == 0 ? 0 : explain(status, reason);
}

void hr_perf_count_close(struct hr_perf_count *count)
{
    if (count == NULL)
        return;
    if (count->object != NULL)
        count->calls->unload(count->object);
    free(count->places);
    free(count->cpu_states);
    free(count->cpus);
    free(count->slots);
    free(count->now);
    free(count->before);
    free(count);
}

/* --- Events --------------------------------------------------------------- */

/* The programs keep the events open. */
static int hand_over(struct hr_perf *perf, const struct hr_perf_open_group *opened, size_t group,
                     unsigned cpu)
{
    struct hr_perf_count *count = perf->count;
    size_t number = 0;

    for (size_t e = 0; e < opened->size; e++) {
        if ((opened->events >> e & 1) == 0)
            continue;
        int status = count->calls->set_event(count->object, perf->first_event[group] + e, cpu,
                                             opened->fds[number++]);
        if (status == -EOPNOTSUPP)
            count->unreadable = perf->groups[group].events[e]->text;
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
    status = hand_over(perf, &opened, group, cpu);
    hr_perf_group_close(&opened, perf->calls);
    return status;
}

static int flush_cpu(const struct hr_perf *perf, unsigned cpu)
{
    int status = perf->count->calls->flush(perf->count->object, cpu);

    return status == -ENXIO ? 0 : status; /* it went offline meanwhile */
}

/* A CPU whose task goes on counts what it has done so far; those that idle are left alone. */
static int flush(struct hr_perf *perf)
{
    struct hr_perf_count *count = perf->count;
    int status = count->calls->read_cpus(count->object, count->cpu_states);

    for (size_t i = 0; i < count->cpu_count && status == 0; i++) {
        const unsigned number = perf->cpus.list[i].number;
        if (!count->cpus[i].open || count->cpu_states[count->places[number]].is_idle)
            continue;
        status = flush_cpu(perf, number);
    }
    return status;
}

static int open_cpu(struct hr_perf *perf, size_t index)
{
    const struct hr_perf_cpu *about = &perf->cpus.list[index];
    struct cpu *cpu = &perf->count->cpus[index];
    int status = 0;

    for (size_t g = 0; g < perf->group_count && status == 0; g++)
        status = open_group_on(perf, g, about->number);
    /* Also if it idles: the program learns that the events are new while they have hardly counted.
     */
    if (status == 0)
        status = flush_cpu(perf, about->number);
    cpu->open = status == 0;
    cpu->epoch = about->epoch;
    return status == -ENODEV ? 0 : status; /* it went offline meanwhile */
}

/* What can be counted for the machine can be for a group. */
static void probe_cgroups(struct hr_perf *perf)
{
    const struct hr_perf_probe *machine = &perf->probes[HR_PERF_SYSTEM];
    struct hr_perf_probe *cgroups = &perf->probes[HR_PERF_CGROUP];

    cgroups->done = machine->done;
    cgroups->generation = machine->generation;
    for (size_t g = 0; g < perf->group_count; g++)
        cgroups->usable[g] = machine->usable[g];
    for (size_t number = 0; number < perf->event_count; number++)
        cgroups->status[number] = machine->status[number];
}

/* All events are opened again if others can be counted. */
static int probe(struct hr_perf *perf)
{
    struct hr_perf_count *count = perf->count;
    const struct hr_perf_probe *machine = &perf->probes[HR_PERF_SYSTEM];
    int status = hr_perf_probe_update(perf, HR_PERF_SYSTEM, NULL, -1);

    if (status < 0 && !machine->done)
        return status;
    if (machine->generation == count->generation)
        return 0;
    flush(perf); /* what the events have counted that are replaced */
    count->generation = machine->generation;
    probe_cgroups(perf);
    for (size_t i = 0; i < count->cpu_count; i++)
        count->cpus[i].open = false;
    return 0;
}

static int open_missing_cpus(struct hr_perf *perf)
{
    struct hr_perf_count *count = perf->count;
    int status = HR_ARRAY_RESERVE(count->cpus, count->cpu_capacity, perf->cpus.count);

    while (status == 0 && count->cpu_count < perf->cpus.count)
        count->cpus[count->cpu_count++] = (struct cpu){.open = false};
    if (status == 0)
        status = probe(perf);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count->cpu_count; i++) {
        const struct hr_perf_cpu *about = &perf->cpus.list[i];
        struct cpu *cpu = &count->cpus[i];
        cpu->open = cpu->open && about->online && cpu->epoch == about->epoch;
        int opened = !cpu->open && about->online ? open_cpu(perf, i) : 0;
        if (status == 0)
            status = opened;
    }
    return status;
}

bool hr_perf_count_is_open(const struct hr_perf *perf, size_t index)
{
    return index < perf->count->cpu_count && perf->count->cpus[index].open;
}

/* --- Reading -------------------------------------------------------------- */

static struct count_value *values_of(const struct hr_perf_count *count, struct count_value *values,
                                     size_t slot, size_t place)
{
    return &values[(slot * count->possible + place) * count->event_count];
}

static int add_values(struct hr_perf_target *target, size_t index, const struct count_value *now,
                      const struct count_value *before)
{
    struct hr_perf_cpu_counters *cpu = hr_perf_target_counters(target, index);

    if (cpu == NULL)
        return -ENOMEM;
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
    struct hr_perf_count *count = perf->count;
    const size_t size = count->event_count * sizeof(*count->now);
    int status = 0;

    for (size_t i = 0; i < perf->cpus.count; i++) {
        const size_t place = count->places[perf->cpus.list[i].number];
        const struct count_value *now = values_of(count, count->now, slot, place);
        struct count_value *before = values_of(count, count->before, slot, place);
        struct hr_perf_target *target = count->slots[slot].target;
        if (memcmp(now, before, size) == 0)
            continue;
        for (; target != NULL && status == 0; target = target->parent)
            status = add_values(target, i, now, before);
        memcpy(before, now, size);
    }
    return status;
}

static int read_slots(struct hr_perf *perf)
{
    struct hr_perf_count *count = perf->count;
    int status =
        count->calls->read(count->object, COUNT_REST, (__u32)(count->slot_count - COUNT_REST),
                           values_of(count, count->now, COUNT_REST, 0));

    for (size_t slot = COUNT_REST; slot < count->slot_count && status == 0; slot++)
        status = add_slot(perf, slot);
    for (size_t slot = COUNT_REST; slot < count->slot_count && status == 0; slot++)
        if (count->slots[slot].ended)
            count->slots[slot] = (struct slot){.used = false};
    return status;
}

void hr_perf_count_read(struct hr_perf *perf)
{
    int status = open_missing_cpus(perf);
    int flushed = flush(perf);

    if (flushed == 0)
        flushed = read_slots(perf);
    perf->count->status = status < 0 ? status : flushed;
}

int hr_perf_count_status(const struct hr_perf *perf)
{
    return perf->count->status;
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
void hr_perf_count_add(struct hr_perf_target *target)
{
    struct hr_perf_count *count = target->perf->count;
    struct slot *rest = &count->slots[COUNT_REST];

    target->parent = count->machine;
    for (struct hr_perf_target *other = count->targets; other != NULL; other = other->next) {
        if (is_above(other, target) && (target->parent == NULL || is_above(target->parent, other)))
            target->parent = other;
    }
    for (struct hr_perf_target *other = count->targets; other != NULL; other = other->next)
        if (other->parent == target->parent && is_above(target, other))
            other->parent = target;
    if (target->group == NULL)
        count->machine = rest->target = target;
    target->next = count->targets;
    count->targets = target;
}

void hr_perf_count_remove(struct hr_perf_target *target)
{
    struct hr_perf_count *count = target->perf->count;
    struct hr_perf_target **place = &count->targets;

    hr_perf_count_deselect(target);
    while (*place != target)
        place = &(*place)->next;
    *place = target->next;
    for (struct hr_perf_target *other = count->targets; other != NULL; other = other->next)
        if (other->parent == target)
            other->parent = target->parent;
    for (size_t slot = 0; slot < count->slot_count; slot++)
        if (count->slots[slot].target == target)
            count->slots[slot].target = target->parent;
    if (count->machine == target)
        count->machine = target->parent;
}

static size_t find_free_slot(const struct hr_perf_count *count)
{
    size_t slot = COUNT_FIRST_GROUP;

    while (slot < count->slot_max && count->slots[slot].used)
        slot++;
    return slot;
}

int hr_perf_count_select(struct hr_perf_target *target)
{
    struct hr_perf_count *count = target->perf->count;

    if (target->slot != 0)
        return 0;
    size_t slot = find_free_slot(count);
    if (slot == count->slot_max) { /* many ended since the last read */
        hr_perf_count_read(target->perf);
        slot = find_free_slot(count);
    }
    if (slot == count->slot_max)
        return -ENOSPC;
    int status = count->calls->select(count->object, target->group->id, (__u32)slot);
    if (status < 0)
        return status;
    count->slots[slot] = (struct slot){.used = true, .target = target};
    if (slot >= count->slot_count)
        count->slot_count = slot + 1;
    target->slot = (__u32)slot;
    return 0;
}

void hr_perf_count_deselect(struct hr_perf_target *target)
{
    struct hr_perf_count *count = target->perf->count;
    const __u32 number = target->slot;
    struct slot *slot = &count->slots[number];

    if (number == 0)
        return;
    /* If it fails, the slot is never used again. */
    slot->ended = count->calls->deselect(count->object, target->group->id) == 0;
    if (count->calls->read(count->object, number, 1, values_of(count, count->now, number, 0)) == 0)
        add_slot(target->perf, number);
    slot->target = target->parent; /* for what is added in this moment */
    target->slot = 0;
}
