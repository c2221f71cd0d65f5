/* SPDX-License-Identifier: MIT */
#include "report/group.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "configured/trouble_lines.h"
#include "configured/used_features.h"
#include "headroom/allowed_cpus.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/cpu_set.h"

static const struct {
    const char *name;
    enum room_value value;
    enum hr_psi_resource pressure;
} resources[GROUP_RESOURCE_COUNT] = {
    [GROUP_MEMORY] = {"memory", ROOM_MEMORY, HR_PSI_MEMORY},
    [GROUP_CPU] = {"cpu", ROOM_CPU, HR_PSI_CPU},
    [GROUP_IO] = {"io", ROOM_IO, HR_PSI_IO},
};

const char *group_resource_name(enum group_resource resource)
{
    return resources[resource].name;
}

enum group_resource group_binding(const struct room_row *row)
{
    const enum room_value by = rooms_binding(row);
    int i = 0;

    while (i < GROUP_RESOURCE_COUNT && resources[i].value != by)
        i++;
    return (enum group_resource)i;
}

static void set_reason(struct hr_reason *reason, const char *text)
{
    snprintf(reason->text, sizeof(reason->text), "%s", text);
}

void group_free(struct group *group)
{
    free(group->path);
    for (int i = 0; i < GROUP_RESOURCE_COUNT; i++)
        free(group->limits[i].group);
    shares_free(&group->taking);
    shares_free(&group->waiting);
    *group = (struct group){.path = NULL};
}

/* --- From collectd ------------------------------------------------------------------ */

static void take_row(const struct room_row *row, struct group *group)
{
    struct group_room *memory = &group->rooms[GROUP_MEMORY], *cpu = &group->rooms[GROUP_CPU];

    for (int i = 0; i < GROUP_RESOURCE_COUNT; i++)
        group->rooms[i] = (struct group_room){
            .used = NAN,
            .attainable = NAN,
            .left = NAN,
            .room_pct = row->values[resources[i].value],
        };
    memory->used = row->values[ROOM_NEED];
    memory->attainable = row->values[ROOM_LIMIT];
    memory->left = row->values[ROOM_BYTES_LEFT];
    cpu->left = row->values[ROOM_CPUS_LEFT];
    /* By the definition of the room; without any it may have trouble within what it could have. */
    if (cpu->room_pct > 0) {
        cpu->attainable = cpu->left * 100 / cpu->room_pct;
        cpu->used = cpu->attainable - cpu->left;
    }
}

void group_begin(const struct room_row *row, struct group *group)
{
    *group = (struct group){.touched_s = NAN, .unsure_file_bytes = NAN, .swap_bytes = NAN};
    group->working_set = row->working_set;
    take_row(row, group);
}

int group_fetch(struct client *client, const struct rooms *rooms, size_t row, struct group *group)
{
    group_begin(&rooms->rows[row], group);
    if (group_binding(&rooms->rows[row]) != GROUP_CPU)
        return 0;
    struct shares **taking = calloc(rooms->count, sizeof(*taking));
    if (taking == NULL)
        return -ENOMEM;
    taking[row] = &group->taking;
    const int status = shares_fetch_cpu_takers(client, rooms, taking);
    free(taking);
    return status;
}

/* --- What binds, and why something isn't known ----------------------------------------- */

static int copy_limit(const struct group *group, const struct hr_room *room, double amount,
                      struct group_limit *limit)
{
    *limit = (struct group_limit){
        .is_known = true, .bound = room->bound, .version = room->version, .amount = amount};
    if (room->bound == HR_ROOM_MACHINE || room->level == 0 || group->path == NULL)
        return 0;
    limit->group = strndup(group->path, hr_cgroup_above_length(group->path, room->level));
    return limit->group != NULL ? 0 : -ENOMEM;
}

static int take_memory(const struct hr_room *memory, struct group *group)
{
    if (memory->status != 0)
        return 0;
    group->unsure_file_bytes = memory->used - memory->needed;
    if (memory->level == 0 && memory->attainable > memory->limit &&
        (memory->bound != HR_ROOM_MACHINE || group->path == NULL))
        group->swap_bytes = memory->attainable - memory->limit;
    return copy_limit(group, memory, memory->limit, &group->limits[GROUP_MEMORY]);
}

static void take_working_set(const struct hr_room_reading *reading, struct group *group)
{
    if (reading->memory.status != 0 || group->working_set.count == 0)
        return;
    if (reading->working_set_status == 0)
        group->touched_s = reading->touched_s;
    else
        hr_room_explain_working_set(reading->working_set_status, &group->need_unknown);
}

/* What is read in some tenths of a second. */
#define THREADS_MOST 10000

/* As taskset(1) or cpusets below set it; the plugin reads it for alarms only, as it has to of each
 * task. */
static void take_affinity(const struct hr_root *root, const struct hr_room_source *source,
                          const struct hr_cgroup *found, struct group *group)
{
    struct hr_cpu_set most, cpus;
    size_t threads = THREADS_MOST;
    const int status = hr_room_find_cpus(source, &most);

    if (group->cpus == 0 || (status < 0 && status != -ENODATA) ||
        hr_allowed_cpus_read_group(root, found->dirfd, status == 0 ? &most : NULL, group->cpus,
                                   &threads, &cpus) < 0)
        return;
    const size_t count = hr_cpu_set_count(&cpus);
    if (count >= group->cpus)
        return;
    group->task_cpus = count;
    group->first_task_cpu = hr_cpu_set_next(&cpus, 0);
}

static int take_cpu(const struct hr_room_source *source, const struct hr_room *cpu,
                    struct group *group)
{
    struct hr_room lowest = {.bound = HR_ROOM_CPU_MAX, .version = cpu->version};
    double cpus;

    group->limits[GROUP_CPU].version = cpu->version;
    group->cpus = hr_room_count_cpus(source);
    const int status = hr_room_find_cpu_limit(source, &cpus, &lowest.level);
    group->lacks_cpu_limit = status == -ENODATA;
    if (status != 0)
        return 0;
    return copy_limit(group, &lowest, cpus, &group->limits[GROUP_CPU]);
}

static int take_io(const struct hr_room_io *io, struct group *group)
{
    struct group_room *room = &group->rooms[GROUP_IO];

    if (io->room.status != 0)
        return 0;
    room->used = io->room.used;
    room->attainable = io->room.attainable;
    room->left = io->room.left;
    group->io_kind = io->kind;
    group->io_major = io->device_major;
    group->io_minor = io->device_minor;
    return copy_limit(group, &io->room, io->room.limit, &group->limits[GROUP_IO]);
}

static void explain_limits(int status, struct hr_reason *reason)
{
    struct hr_reason cause;

    hr_room_explain_limits(status, &cause);
    snprintf(reason->text, sizeof(reason->text), "not all of its limits are known, as %.400s",
             cause.text);
}

static void explain_cpu(const struct hr_room_reading *reading, bool is_machine,
                        struct hr_reason *reason)
{
    const int pressure = reading->psi.status[HR_PSI_CPU];

    if (pressure < 0)
        hr_psi_explain(pressure, HR_PSI_CPU, is_machine, reason);
    else if (reading->cpu_limits_status < 0)
        explain_limits(reading->cpu_limits_status, reason);
    else if (reading->cpu.status < 0 && reading->cpu.status != -EAGAIN &&
             reading->cpu.status != -ENODATA && reading->cpu.status != -EBUSY)
        set_reason(reason, strerror(-reading->cpu.status));
    else
        set_reason(reason,
                   "it is known 20 s after a start or a change of limits, and only while the CPUs "
                   "are busy for at most 98 % of the time");
}

static void explain_memory(const struct hr_room_reading *reading, struct hr_reason *reason)
{
    if (reading->memory_limits_status < 0)
        explain_limits(reading->memory_limits_status, reason);
    else if (reading->memory.status < 0)
        hr_room_explain_memory(reading->memory.status, reason);
    else
        set_reason(reason, "collectd has no value of it yet");
}

static void explain_io(const struct hr_room_reading *reading, struct hr_reason *reason)
{
    const int status = reading->io.room.status;

    if (reading->io_limits_status < 0)
        explain_limits(reading->io_limits_status, reason);
    else if (status == -ENOENT)
        set_reason(reason, "no io.max limits it, and what a disk could do isn't known");
    else if (status < 0 && status != -EAGAIN)
        hr_room_explain_io(status, reason);
    else
        set_reason(reason, "collectd has no value of it yet");
}

static void explain_unknown_rooms(const struct hr_room_reading *reading, bool is_machine,
                                  struct group *group)
{
    struct group_room *rooms = group->rooms;

    if (isnan(rooms[GROUP_MEMORY].room_pct))
        explain_memory(reading, &rooms[GROUP_MEMORY].unknown);
    if (isnan(rooms[GROUP_CPU].room_pct))
        explain_cpu(reading, is_machine, &rooms[GROUP_CPU].unknown);
    if (isnan(rooms[GROUP_IO].room_pct))
        explain_io(reading, &rooms[GROUP_IO].unknown);
    group->lacks_io_limit = reading->io_limits_status == 0 && reading->io.room.status == -ENOENT;
}

/* --- Reading ---------------------------------------------------------------------------- */

/* Of I/O what is done in a second counts. */
static void read_room(struct hr_room_machine *machine, struct hr_room_source *source,
                      const struct hr_room_lines *lines, struct hr_room_reading *reading)
{
    static const struct timespec second = {.tv_sec = 1};

    hr_room_machine_read(machine);
    hr_room_read(source, lines, reading);
    if (reading->io.room.status != -EAGAIN)
        return;
    nanosleep(&second, NULL);
    hr_room_machine_read(machine);
    hr_room_read(source, lines, reading);
}

/* @param past  NULL: it isn't asked for. */
static void take_trend(const struct saved_trends *saved, const struct hr_room_source *source,
                       const struct hr_room_reading *reading, struct trend *trend,
                       struct past *past)
{
    const double limit = reading->memory.status == 0 ? reading->memory_level_most : INFINITY;

    trend_find(saved, source, limit, trend, past);
}

static int read_trend(const struct usage *usage, const struct hr_room_source *source,
                      const struct hr_room_reading *reading, struct group *group)
{
    struct saved_trends saved;
    int status = saved_trends_read(usage, &saved);

    if (status == 0)
        take_trend(&saved, source, reading, &group->trend, &group->past);
    saved_trends_free(&saved);
    return status;
}

static int open_source(struct hr_room_machine *machine, const struct hr_cgroup *found,
                       const struct group *group, struct hr_room_source **source)
{
    int status = hr_room_open(machine, found, HR_NS_PER_S, source);

    if (status == 0)
        hr_room_set_working_set(*source, &group->working_set);
    return status;
}

/* Whether tasks wait, by the kernel's averages over ten seconds: collectd has the causes of a stall
 * from its second interval on. */
static bool is_stalled(const struct hr_psi_snapshot *psi)
{
    for (int i = 0; i < HR_PSI_IRQ; i++) {
        const struct hr_psi_stall *stall = &psi->sample[i].stall[hr_room_line_level(i)];
        if (psi->status[i] == 0 && stall->present && stall->avg10_pct >= WORTH_NAMING_PCT)
            return true;
    }
    return false;
}

/* What is read in brief, too. */
static int take_memory_and_cpu(const struct hr_root *root, const struct hr_room_source *source,
                               const struct hr_cgroup *found, const struct hr_room_reading *reading,
                               struct group *group)
{
    int status = take_memory(&reading->memory, group);

    if (status == 0)
        status = take_cpu(source, &reading->cpu, group);
    if (status == 0 && found != NULL)
        take_affinity(root, source, found, group);
    return status;
}

static int read_source(const struct hr_root *root, const struct usage *usage,
                       struct hr_room_machine *machine, const struct hr_cgroup *found,
                       const struct hr_room_lines *lines, struct group *group)
{
    struct hr_room_reading reading;
    struct hr_room_source *source;

    int status = open_source(machine, found, group, &source);
    if (status < 0)
        return status;
    read_room(machine, source, lines, &reading);
    explain_unknown_rooms(&reading, found == NULL, group);
    group->is_stalled = is_stalled(&reading.psi);
    if (found != NULL)
        take_working_set(&reading, group);
    status = take_memory_and_cpu(root, source, found, &reading, group);
    if (status == 0)
        status = take_io(&reading.io, group);
    if (status == 0)
        status = read_trend(usage, source, &reading, group);
    if (found != NULL)
        advice_make(&reading.memory, &group->trend, &group->advice);
    else
        set_reason(&group->advice.none, "none for the whole system");
    hr_room_close(source);
    return status;
}

static int read_cgroup(const struct hr_root *root, const struct usage *usage,
                       const struct hr_cgroup *found, struct group *group)
{
    const struct hr_room_lines lines = trouble_lines_of(&usage->headroom, found);
    struct hr_room_machine *machine;

    for (int i = 0; i < GROUP_RESOURCE_COUNT; i++)
        group->rooms[i].line_pct = lines.pct[resources[i].pressure];
    group->are_lines_defaults = usage->path == NULL;
    int status = hr_room_machine_open(root, &machine);
    if (status < 0)
        return status;
    status = read_source(root, usage, machine, found, &lines, group);
    hr_room_machine_close(machine);
    return status;
}

/* Within the group whose limit binds; by CPU who waits for it needn't be below that. */
static const char *path_above(const struct group *group, enum group_resource by)
{
    const struct group_limit *limit = &group->limits[by];

    if (by == GROUP_CPU || limit->bound == HR_ROOM_MACHINE)
        return "";
    return limit->group != NULL ? limit->group : group->path;
}

static int read_takers(const struct rooms *rooms, const struct places *places, size_t row,
                       struct group *group)
{
    const enum group_resource by = group_binding(&rooms->rows[row]);

    if (by != GROUP_MEMORY)
        return 0;
    return shares_rank_memory(rooms, places, path_above(group, by), &group->taking);
}

static int read_others(const struct rooms *rooms, const struct places *places, size_t row,
                       struct group *group)
{
    const enum group_resource by = group_binding(&rooms->rows[row]);
    int status = read_takers(rooms, places, row, group);

    if (by == GROUP_RESOURCE_COUNT || status != 0)
        return status;
    return shares_rank_waiting(rooms, places, path_above(group, by), resources[by].name, row,
                               &group->waiting);
}

static int read_here(const struct hr_root *root, const struct usage *usage,
                     const struct rooms *rooms, const struct places *places, size_t row,
                     struct group *group)
{
    const struct hr_cgroup *found = places->rows[row].group;

    if (places->set == NULL) {
        set_reason(&group->missing,
                   "cgroups can't be listed here: is cgroup2, or version 1, mounted "
                   "(--root)?");
        return 0;
    }
    if (found == NULL && !room_is_system(rooms->rows[row].group)) {
        set_reason(
            &group->missing,
            "no cgroup here has this name: is it gone, without a process, or named by Instance "
            "in another configuration (--config)?");
        return 0;
    }
    if (found != NULL && (group->path = strdup(found->path)) == NULL)
        return -ENOMEM;
    const int status = read_cgroup(root, usage, found, group);
    return status != 0 ? status : read_others(rooms, places, row, group);
}

int group_read(const struct hr_root *root, const struct usage *usage, const struct rooms *rooms,
               const struct places *places, size_t row, struct group *group)
{
    for (int i = 0; i < GROUP_RESOURCE_COUNT; i++)
        group->rooms[i].line_pct = NAN;
    if (places->rows[row].is_here)
        return read_here(root, usage, rooms, places, row, group);
    set_reason(&group->missing, "it is on another host: run headroom report there");
    return 0;
}

/* --- In brief ----------------------------------------------------------------------------- */

static int read_bounds(const struct hr_root *root, struct hr_room_machine *machine,
                       const struct usage *usage, const struct saved_trends *saved,
                       const struct hr_cgroup *found, struct group *group)
{
    const struct hr_room_lines lines = trouble_lines_of(&usage->headroom, found);
    struct hr_room_reading reading;
    struct hr_room_source *source;

    int status = open_source(machine, found, group, &source);
    if (status < 0)
        return status;
    hr_room_read(source, &lines, &reading);
    status = take_memory_and_cpu(root, source, found, &reading, group);
    if (saved != NULL)
        take_trend(saved, source, &reading, &group->trend, NULL);
    hr_room_close(source);
    return status;
}

int group_read_brief(const struct hr_root *root, struct hr_room_machine *machine,
                     const struct usage *usage, const struct saved_trends *saved,
                     const struct rooms *rooms, const struct places *places, size_t row,
                     struct group *group)
{
    const struct hr_cgroup *found = places->rows[row].group;
    const bool is_system = found == NULL && room_is_system(rooms->rows[row].group);

    if (!places->rows[row].is_here || places->set == NULL || (found == NULL && !is_system))
        return 0;
    if (found != NULL && (group->path = strdup(found->path)) == NULL)
        return -ENOMEM;
    const bool is_to_come = room_has_trouble_to_come(&rooms->rows[row]);
    const int status = read_bounds(root, machine, usage, is_to_come ? saved : NULL, found, group);
    if (status != 0 || !group->limits[GROUP_MEMORY].is_known)
        return status;
    return read_takers(rooms, places, row, group);
}

/* The trend is as old as it was saved, and may be another than that of the row: a group above may
 * come into trouble sooner. */
bool group_has_interval(const struct room_row *row, const struct group *group)
{
    const struct hr_outlook *outlook = &group->trend.outlook;
    const double trouble_s = row->values[ROOM_TROUBLE];

    return outlook->is_trend && outlook->has_interval && isfinite(outlook->late_s) &&
           outlook->early_s <= trouble_s && trouble_s <= outlook->late_s;
}

/* Whether tasks wait by a limit of CPU time. */
static bool waits_by_limit(const struct room_row *row)
{
    for (size_t i = 0; i < row->cause_count; i++)
        if (strcmp(row->causes[i].resource, "cpu") == 0 &&
            strcmp(row->causes[i].name, "limit") == 0)
            return row->causes[i].pct >= WORTH_NAMING_PCT;
    return false;
}

/* What could be had of the limit of a group above is known only where tasks wait by it. */
static enum group_bound find_cpu_bound(const struct room_row *row, const struct group *group)
{
    const struct group_limit *limit = &group->limits[GROUP_CPU];
    const double attainable = group->rooms[GROUP_CPU].attainable;

    if (limit->is_known && waits_by_limit(row))
        return GROUP_BOUND_LIMIT;
    if (limit->is_known && group->task_cpus > 0 && (double)group->task_cpus < limit->amount)
        return GROUP_BOUND_CPUS;
    if (limit->is_known && limit->group == NULL && attainable >= 0.99 * limit->amount)
        return GROUP_BOUND_LIMIT;
    if (group->cpus == 0 || (limit->is_known && limit->group != NULL))
        return GROUP_BOUND_UNKNOWN;
    return limit->is_known || group->lacks_cpu_limit ? GROUP_BOUND_CPUS : GROUP_BOUND_UNKNOWN;
}

enum group_bound group_find_bound(const struct room_row *row, const struct group *group)
{
    const enum group_resource by = group_binding(row);

    if (by == GROUP_CPU)
        return find_cpu_bound(row, group);
    return by != GROUP_RESOURCE_COUNT && group->limits[by].is_known ? GROUP_BOUND_LIMIT
                                                                    : GROUP_BOUND_UNKNOWN;
}
