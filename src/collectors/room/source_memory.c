/* SPDX-License-Identifier: MIT */
/*
 * room/source_memory.c - the room by memory, and how long it lasts.
 */
#include <errno.h>

#include "headroom/clock.h"
#include "room/cpu.h"
#include "room/grown.h"
#include "room/machine.h"
#include "room/memory.h"
#include "room/source.h"

/* How much a level may still swap out, which the levels above have let it. */
static uint64_t swap_left(const struct hr_room_directory *directory,
                          const struct hr_memory_use *use, uint64_t above_bytes)
{
    const uint64_t limit_bytes = directory->memory.swap_bytes;
    const uint64_t left_bytes =
        limit_bytes > use->swapped_bytes ? limit_bytes - use->swapped_bytes : 0;

    return limit_bytes == UINT64_MAX || left_bytes > above_bytes ? above_bytes : left_bytes;
}

/* An outlook, and of which level it is. */
struct trend {
    struct hr_outlook outlook;
    size_t level;
};

#define LEVEL_OF_MACHINE SIZE_MAX

/* The trend of a group above with a limit counts for all in it. */
static void take_sooner(const struct trend *other, struct trend *trend)
{
    if (other->outlook.is_trend &&
        (!trend->outlook.is_trend || other->outlook.trouble_s < trend->outlook.trouble_s))
        *trend = *other;
}

/* Whether the trend is of what binds the room, or the group's own, which goes by that. */
static bool is_of_room(size_t level, const struct hr_room *room)
{
    if (level == 0)
        return true;
    return level == LEVEL_OF_MACHINE ? room->bound == HR_ROOM_MACHINE
                                     : room->bound != HR_ROOM_MACHINE && room->level == level;
}

/* What of that which a working set sees is in memory. */
static double seen_bytes(const struct hr_memory_use *use)
{
    const uint64_t files = use->active_file_bytes + use->inactive_file_bytes;
    const uint64_t mapped = use->parts.mapped_file_bytes;

    return (double)(use->parts.anon_bytes + (mapped < files ? mapped : files));
}

/* What a page costs that is read again: as was seen lately, or as disks take for a request. */
static double refault_us(struct hr_room_source *source, const struct hr_memory_use *use,
                         const struct hr_psi_snapshot *psi)
{
    const struct hr_psi_stall *some = &psi->sample[HR_PSI_MEMORY].stall[HR_PSI_SOME];
    struct hr_refault_cost *cost = &source->refault_cost;

    if (psi->status[HR_PSI_MEMORY] == 0 && some->present)
        hr_refault_cost_update(cost, hr_clock_ns(), use->parts.refault_count, some->total_us,
                               hr_working_set_misses(&source->working_set, seen_bytes(use)));
    return cost->us > 0 ? cost->us : hr_room_machine_disk_read_us(source->machine);
}

/* How much the group needs to touch. @return see hr_room_reading.working_set_status. */
static int find_touched(struct hr_room_source *source, const struct hr_memory_use *use,
                        double line_pct, struct hr_room_reading *reading, double *bytes)
{
    const struct hr_room_working_set *set = &source->working_set;
    size_t window;

    if (set->count == 0)
        return -ENOENT;
    const double cost_us = use->has_parts ? refault_us(source, use, &reading->psi) : 0;
    if (cost_us <= 0)
        return -EAGAIN;
    int status = hr_working_set_find(set, cost_us, line_pct, &window);
    if (status < 0)
        return status;
    reading->touched_s = set->window_s[window];
    *bytes = set->bytes[window];
    return 0;
}

/* From the topmost limit down; the last level is the group's own. */
static int read_group(struct hr_room_source *source, double line_pct,
                      struct hr_room_reading *reading)
{
    struct hr_room *room = &reading->memory;
    const struct hr_meminfo *meminfo = &source->machine->meminfo;
    struct hr_room_memory_limit limits[HR_ROOM_LIMITS];
    const struct trend of_machine = {source->machine->outlook, LEVEL_OF_MACHINE};
    struct trend sooner = {.level = 0}, trend = {.level = 0};
    uint64_t swap_left_bytes = meminfo->swap_free_bytes;
    struct hr_memory_use use = {.has_parts = false};
    double touched_bytes;
    size_t count = 0;

    source->memory.directory->needs_parts = source->working_set.count > 0;
    for (size_t i = source->memory_level_count; i-- > 0;) {
        struct hr_room_directory *directory = source->memory_levels[i].directory;
        const size_t level = source->memory_levels[i].level;
        int status = hr_room_directory_read_memory(directory, source->machine, &source->memory.base,
                                                   level, &use);
        if (status < 0)
            return status;
        swap_left_bytes = swap_left(directory, &use, swap_left_bytes);
        if (directory->memory.bytes != UINT64_MAX)
            limits[count++] = (struct hr_room_memory_limit){
                .limit_bytes = directory->memory.bytes,
                .resident_bytes = hr_memory_resident(&use),
                .swap_left_bytes = swap_left_bytes,
                .bound = directory->memory.bound,
                .level = level,
            };
        struct hr_memory_use counted = use;
        if (level == 0 && source->reads_again)
            hr_memory_count_all_files(&counted);
        hr_room_memory(&counted, limits, count, meminfo, room, &reading->memory_level);
        hr_room_directory_update_forecast(directory, source->machine, reading->memory_level,
                                          room->attainable);
        trend = (struct trend){directory->outlook, level};
        if (level > 0)
            take_sooner(&trend, &sooner);
    }
    reading->memory_level_most = room->attainable;
    reading->memory_bytes = (double)use.current_bytes;
    reading->swapped_bytes = (double)use.swapped_bytes;
    reading->working_set_status = find_touched(source, &use, line_pct, reading, &touched_bytes);
    if (reading->working_set_status == 0)
        hr_room_memory_touched(&use, limits, count, meminfo, swap_left_bytes, touched_bytes, room);
    /* Memory of the machine is everybody's; only who grows takes part in its trend. */
    if (trend.outlook.is_trend)
        take_sooner(&of_machine, &trend);
    take_sooner(&sooner, &trend);
    reading->outlook = trend.outlook;
    reading->is_own_trend = trend.level == 0;
    reading->is_trend_of_room = is_of_room(trend.level, room);
    return 0;
}

static int read_any(struct hr_room_source *source, double line_pct, struct hr_room_reading *reading)
{
    const struct hr_room_machine *machine = source->machine;

    if (machine->memory_status < 0)
        return machine->memory_status;
    if (source->group == NULL) {
        reading->memory = machine->memory;
        reading->memory_level = machine->memory.used;
        reading->memory_level_most = machine->memory.attainable;
        reading->outlook = machine->outlook;
        reading->is_own_trend = reading->is_trend_of_room = true;
        return 0;
    }
    if (source->memory.status < 0)
        return source->memory.status;
    reading->memory_limits_status =
        source->expired_status < 0 ? source->expired_status : source->memory_levels_status;
    if (reading->memory_limits_status < 0)
        return reading->memory_limits_status;
    return read_group(source, line_pct, reading);
}

void hr_room_set_working_set(struct hr_room_source *source, const struct hr_room_working_set *set)
{
    source->working_set = *set;
}

/* How many times more pages must have been reclaimed for limits than for the machine: a page may be
 * in use again at once, or never. */
#define MOSTLY 4

/* Tasks that wait as a group has reached its limit are part of the system's pressure, but the
 * machine lacks nothing then: no task had to reclaim memory for it. At the first reading it isn't
 * known. */
static bool waits_for_limits(struct hr_room_source *source)
{
    const struct hr_vmstat before = source->vmstat;
    const bool has_before = source->has_vmstat;
    struct hr_vmstat *now = &source->vmstat;

    source->has_vmstat = hr_vmstat_read(source->machine->root, now) == 0;
    if (!has_before || !source->has_vmstat ||
        now->direct_reclaim_count != before.direct_reclaim_count)
        return false;
    const uint64_t for_limits = hr_grown(before.limit_page_count, now->limit_page_count);
    return for_limits >= HR_RECLAIM_PAGES &&
           for_limits >= MOSTLY * hr_grown(before.machine_page_count, now->machine_page_count);
}

void hr_room_source_read_memory(struct hr_room_source *source, double line_pct, bool is_stalled,
                                struct hr_room_reading *reading)
{
    reading->working_set_status = -ENOENT;
    const bool is_for_limits = source->group == NULL && waits_for_limits(source);

    reading->memory.status = read_any(source, line_pct, reading);
    if (reading->memory.status == 0 && is_stalled && !is_for_limits)
        hr_room_set_trouble(&reading->memory);
}
