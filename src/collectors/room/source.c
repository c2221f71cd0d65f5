/* SPDX-License-Identifier: MIT */
/*
 * room/source.c - reading a group, or the machine, and what is kept of its past; see
 * headroom/room.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"
#include "headroom/room.h"
#include "room/cpu.h"
#include "room/group_limits.h"
#include "room/machine.h"
#include "room/memory.h"
#include "room/memory_events.h"
#include "room/vmstat.h"

#define LIMITS_NS (60 * HR_NS_PER_S)

/* The sums are of so long to twice of it, once so much is known. */
#define SUMS_NS (150 * HR_NS_PER_S)

/* Of less time no queue can be known. */
#define SUMS_MIN_NS (20 * HR_NS_PER_S)

/* What the sums are made of, at one time. */
struct cpu_counts {
    uint64_t time_ns;
    size_t cpus;      /* 0: not taken */
    unsigned limited; /* a bit for each level with a limit */
    uint64_t busy_us, used_us, stalled_us;
    struct hr_room_cpu_counts level[HR_STALL_LEVELS]; /* of those with a limit */
};

struct hr_room_source {
    const struct hr_room_machine *machine;
    const struct hr_cgroup *group; /* NULL: the machine */
    struct hr_psi *psi;
    bool has_previous;
    struct hr_psi_snapshot previous;
    uint64_t limits_due_ns;
    struct hr_room_limits limits;
    struct cpu_counts older, newer;
    struct hr_forecast forecast;
};

int hr_room_open(const struct hr_room_machine *machine, const struct hr_cgroup *group,
                 uint64_t point_ns, struct hr_room_source **source)
{
    static const struct hr_psi_options options = {
        .resources = {[HR_PSI_CPU] = true, [HR_PSI_MEMORY] = true, [HR_PSI_IO] = true},
        .retry_ns = LIMITS_NS,
    };
    struct hr_room_source *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    int status = group == NULL ? hr_psi_open_system(machine->root, &options, &opened->psi)
                               : hr_psi_open_cgroup(group, &options, &opened->psi);
    if (status < 0) {
        free(opened);
        return status;
    }
    opened->machine = machine;
    opened->group = group;
    hr_room_limits_init(&opened->limits);
    hr_forecast_init(&opened->forecast, point_ns);
    *source = opened;
    return 0;
}

void hr_room_close(struct hr_room_source *source)
{
    if (source == NULL)
        return;
    hr_room_limits_close(&source->limits);
    hr_psi_close(source->psi);
    free(source);
}

/* --- Pressure -------------------------------------------------------------------- */

static const enum hr_psi_level of_line[HR_PSI_RESOURCE_COUNT] = {
    [HR_PSI_CPU] = HR_PSI_SOME,
    [HR_PSI_MEMORY] = HR_PSI_SOME,
    [HR_PSI_IO] = HR_PSI_FULL,
};

static void read_stalls(struct hr_room_source *source, struct hr_room_reading *reading)
{
    for (int i = 0; i < HR_PSI_IRQ; i++)
        reading->has_stall[i] = source->has_previous && reading->psi.status[i] == 0 &&
                                source->previous.status[i] == 0 &&
                                hr_psi_delta(&source->previous.sample[i], &reading->psi.sample[i],
                                             of_line[i], &reading->stall_pct[i]) == 0;
    source->previous = reading->psi;
    source->has_previous = true;
}

static bool is_in_trouble(const struct hr_room_reading *reading, const struct hr_room_lines *lines,
                          enum hr_psi_resource resource)
{
    return reading->has_stall[resource] && reading->stall_pct[resource] >= lines->pct[resource];
}

/* --- CPU ---------------------------------------------------------------------------- */

static double grown(uint64_t before, uint64_t after)
{
    return after > before ? (double)(after - before) : 0;
}

static int count_cpu(const struct hr_room_source *source, const struct hr_psi_snapshot *psi,
                     struct cpu_counts *counts)
{
    const struct hr_room_limits *limits = &source->limits;
    int status = source->machine->cpus_status;

    memset(counts, 0, sizeof(*counts));
    if (status == 0)
        status = psi->status[HR_PSI_CPU];
    if (status < 0)
        return status;
    counts->time_ns = psi->sample[HR_PSI_CPU].time_ns;
    counts->stalled_us = psi->sample[HR_PSI_CPU].stall[HR_PSI_SOME].total_us;
    counts->busy_us = hr_room_machine_busy(source->machine, limits->cpus, &counts->cpus);
    counts->used_us = counts->busy_us;
    if (source->group != NULL)
        status = hr_room_read_cpu_usage(source->group, 0, &counts->used_us);
    for (size_t i = 0; status == 0 && i < limits->count; i++) {
        if (isinf(limits->level[i].cpus))
            continue;
        status = hr_room_read_cpu_counts(limits, source->group, i, &counts->level[i]);
        counts->limited |= 1U << i;
    }
    return status;
}

/* Whether two counts are of the same CPUs and limits. */
static bool are_alike(const struct cpu_counts *a, const struct cpu_counts *b)
{
    return a->cpus == b->cpus && a->limited == b->limited;
}

/* Moves the beginning of the sums on; after CPUs or limits came or went, to now. */
static void keep_counts(struct hr_room_source *source, const struct cpu_counts *now)
{
    if (!are_alike(&source->newer, now)) {
        source->older = source->newer = *now;
    } else if (now->time_ns - source->newer.time_ns >= SUMS_NS) {
        source->older = source->newer;
        source->newer = *now;
    }
}

static double throttled_us(const struct hr_room_limits *limits, const struct cpu_counts *before,
                           const struct cpu_counts *now)
{
    double us = 0;

    for (size_t i = 0; i < limits->count; i++)
        us += grown(before->level[i].throttled_us, now->level[i].throttled_us);
    return us;
}

static void lower_by_limits(const struct hr_room_limits *limits, const struct cpu_counts *before,
                            const struct cpu_counts *now, struct hr_room *room)
{
    const double elapsed_us = (double)(now->time_ns - before->time_ns) / HR_NS_PER_US;
    double used_cpus = grown(before->used_us, now->used_us) / elapsed_us;

    for (size_t i = 0; i < limits->count; i++) {
        const struct hr_room_cpu_counts *a = &before->level[i], *b = &now->level[i];
        if (isinf(limits->level[i].cpus))
            continue;
        const double periods = grown(a->period_count, b->period_count);
        const struct hr_room_cpu_limit limit = {
            .cpus = limits->level[i].cpus,
            .used_cpus = grown(a->used_us, b->used_us) / elapsed_us,
            .throttled_share =
                periods > 0 ? grown(a->throttled_count, b->throttled_count) / periods : 0,
            .level = i,
        };
        hr_room_cpu_by_limit(&limit, used_cpus, room);
    }
}

static void estimate_cpu(struct hr_room_source *source, const struct cpu_counts *now,
                         double line_pct, bool is_stalled, struct hr_room *room)
{
    const struct cpu_counts *before = &source->older;
    const double elapsed_us = (double)(now->time_ns - before->time_ns) / HR_NS_PER_US;
    const struct hr_room_cpu_sums sums = {
        .elapsed_us = elapsed_us,
        .cpus = (double)now->cpus,
        .busy_us = grown(before->busy_us, now->busy_us),
        .used_us = grown(before->used_us, now->used_us),
        .stalled_us = fmax(grown(before->stalled_us, now->stalled_us) -
                               throttled_us(&source->limits, before, now),
                           0),
    };

    if (now->time_ns == before->time_ns)
        return;
    hr_room_cpu_by_machine(&sums, line_pct, room);
    if (now->time_ns - before->time_ns < SUMS_MIN_NS)
        room->status = -ENODATA;
    if (is_stalled)
        hr_room_set_trouble(room);
    lower_by_limits(&source->limits, before, now, room);
    if (now->time_ns - before->time_ns < SUMS_MIN_NS && !room->is_in_trouble)
        room->status = -ENODATA;
}

static void read_cpu(struct hr_room_source *source, const struct hr_room_lines *lines,
                     struct hr_room_reading *reading)
{
    struct cpu_counts now;

    reading->cpu.status = count_cpu(source, &reading->psi, &now);
    if (reading->cpu.status < 0)
        return;
    reading->cpu.status = -ENODATA;
    if (are_alike(&source->newer, &now))
        estimate_cpu(source, &now, lines->pct[HR_PSI_CPU],
                     is_in_trouble(reading, lines, HR_PSI_CPU), &reading->cpu);
    keep_counts(source, &now);
}

/* --- Memory --------------------------------------------------------------------------- */

static int read_group_memory(const struct hr_room_source *source, struct hr_room *room,
                             double *level)
{
    const struct hr_meminfo *meminfo = &source->machine->meminfo;
    struct hr_room_memory_limit bounds[HR_STALL_LEVELS];
    struct hr_memory_use use;
    size_t count;

    int status =
        hr_room_read_memory(&source->limits, meminfo->swap_free_bytes, &use, bounds, &count);
    if (status == 0)
        hr_room_memory(&use, bounds, count, meminfo, room, level);
    return status;
}

static int read_any_memory(const struct hr_room_source *source, struct hr_room *room, double *level)
{
    if (source->machine->memory_status < 0)
        return source->machine->memory_status;
    if (source->group != NULL)
        return read_group_memory(source, room, level);
    hr_room_machine_memory(&source->machine->meminfo, room);
    *level = room->used;
    return 0;
}

static void read_memory(struct hr_room_source *source, const struct hr_room_lines *lines,
                        struct hr_room_reading *reading)
{
    double level;

    reading->memory.status = read_any_memory(source, &reading->memory, &level);
    if (reading->memory.status < 0)
        return;
    hr_forecast_update(&source->forecast, hr_clock_ns(), level, reading->memory.attainable,
                       &reading->outlook);
    if (is_in_trouble(reading, lines, HR_PSI_MEMORY))
        hr_room_set_trouble(&reading->memory);
}

static void read_oom_kills(const struct hr_room_source *source, struct hr_room_reading *reading)
{
    const struct hr_room_directory *memory = &source->limits.memory;
    int status;

    if (source->group == NULL)
        status = hr_vmstat_read_oom_kills(source->machine->root, &reading->oom_kill_count);
    else if (memory->status == 0)
        status = hr_oom_kills_read(memory->fd, memory->version, &reading->oom_kill_count);
    else
        status = memory->status;
    reading->has_oom_kills = status == 0;
}

/* --- All of it -------------------------------------------------------------------------- */

static void refresh_limits(struct hr_room_source *source)
{
    const uint64_t now_ns = hr_clock_ns();

    if (source->group == NULL || now_ns < source->limits_due_ns)
        return;
    hr_room_limits_read(&source->limits, source->machine->root, source->group);
    source->limits_due_ns = now_ns + LIMITS_NS;
}

int hr_room_read(struct hr_room_source *source, const struct hr_room_lines *lines,
                 struct hr_room_reading *reading)
{
    memset(reading, 0, sizeof(*reading));
    refresh_limits(source);
    int status = hr_psi_read(source->psi, &reading->psi);
    read_stalls(source, reading);
    read_cpu(source, lines, reading);
    read_memory(source, lines, reading);
    read_oom_kills(source, reading);
    return status;
}

/* A trend that ends in trouble doesn't make the room smaller: it says for how long it lasts. */
const struct hr_room *hr_room_tightest(const struct hr_room_reading *reading)
{
    const struct hr_room *cpu = &reading->cpu, *memory = &reading->memory;

    if (cpu->status < 0)
        return memory->status < 0 ? NULL : memory;
    return memory->status == 0 && memory->room_pct < cpu->room_pct ? memory : cpu;
}

const char *hr_room_bound_name(enum hr_room_bound bound)
{
    static const char *const names[] = {
        [HR_ROOM_MACHINE] = "machine",
        [HR_ROOM_CPU_MAX] = "cpu.max",
        [HR_ROOM_MEMORY_HIGH] = "memory.high",
        [HR_ROOM_MEMORY_MAX] = "memory.max",
    };

    return names[bound];
}
