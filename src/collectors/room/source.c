/* SPDX-License-Identifier: MIT */
/*
 * room/source.c - reading a group, or the machine; see headroom/room.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/clock.h"
#include "headroom/room.h"
#include "room/cpu.h"
#include "room/machine.h"
#include "room/source.h"
#include "room/vmstat.h"

/* How long a missing pressure file isn't looked for. */
#define RETRY_NS (60 * HR_NS_PER_S)

int hr_room_open(struct hr_room_machine *machine, const struct hr_cgroup *group, uint64_t point_ns,
                 struct hr_room_source **source)
{
    static const struct hr_psi_options options = {
        .resources = {[HR_PSI_CPU] = true, [HR_PSI_MEMORY] = true, [HR_PSI_IO] = true},
        .retry_ns = RETRY_NS,
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
    opened->point_ns = point_ns;
    opened->number = machine->source_count++;
    opened->unified.base.fd = opened->cpu.base.fd = opened->memory.base.fd = -1;
    hr_room_machine_start_forecast(machine, point_ns);
    *source = opened;
    return 0;
}

void hr_room_close(struct hr_room_source *source)
{
    if (source == NULL)
        return;
    hr_room_source_release(source);
    hr_psi_close(source->psi);
    free(source);
}

enum hr_psi_level hr_room_line_level(enum hr_psi_resource resource)
{
    return resource == HR_PSI_IO ? HR_PSI_FULL : HR_PSI_SOME;
}

static void read_stalls(struct hr_room_source *source, struct hr_room_reading *reading)
{
    for (int i = 0; i < HR_PSI_IRQ; i++) {
        source->stall_s[i] =
            (double)(reading->psi.sample[i].time_ns - source->previous.sample[i].time_ns) /
            HR_NS_PER_S;
        reading->has_stall[i] = source->has_previous && reading->psi.status[i] == 0 &&
                                source->previous.status[i] == 0 &&
                                hr_psi_delta(&source->previous.sample[i], &reading->psi.sample[i],
                                             hr_room_line_level(i), &reading->stall_pct[i]) == 0;
    }
    source->previous = reading->psi;
    source->has_previous = true;
}

/* NULL: it can't be kept. */
static struct hr_stall_hour *stall_hour(struct hr_room_source *source)
{
    if (source->group == NULL)
        return &source->machine->stall_hour;
    if (source->unified.directory == NULL)
        return NULL;
    return hr_room_directory_stall_hour(source->unified.directory, source->machine);
}

void hr_room_add_stalls(struct hr_room_source *source, enum hr_psi_resource resource,
                        const double pct[HR_STALL_PART_COUNT])
{
    struct hr_stall_hour *hour = stall_hour(source);

    if (hour != NULL)
        hr_stall_hour_add(hour, source->machine->read_ns, resource, source->stall_s[resource], pct);
}

/* At the first reading by the kernel's average over ten seconds: else a group in trouble would have
 * room for an interval after each start. By I/O none is known before the second. */
static bool is_stalled_for(const struct hr_room_reading *reading, enum hr_psi_resource resource,
                           double pct)
{
    const struct hr_psi_stall *stall =
        &reading->psi.sample[resource].stall[hr_room_line_level(resource)];

    if (reading->has_stall[resource])
        return reading->stall_pct[resource] >= pct;
    return reading->psi.status[resource] == 0 && stall->present && stall->avg10_pct >= pct;
}

static bool is_in_trouble(const struct hr_room_reading *reading, const struct hr_room_lines *lines,
                          enum hr_psi_resource resource)
{
    return is_stalled_for(reading, resource, lines->pct[resource]);
}

/* From this part of the line on a group may well wait for what was reclaimed of it. */
#define READS_AGAIN 0.2

static void read_oom_kills(const struct hr_room_source *source, struct hr_room_reading *reading)
{
    const struct hr_room_controller_directory *memory = &source->memory;
    int status;

    if (source->group == NULL)
        status = hr_vmstat_read_oom_kills(source->machine->root, &reading->oom_kill_count);
    else if (memory->status == 0)
        status = hr_room_directory_read_kills(memory->directory, &memory->base,
                                              &reading->oom_kill_count);
    else
        status = memory->status;
    reading->has_oom_kills = status == 0;
}

static int version_of(const struct hr_room_controller_directory *own)
{
    return own->directory != NULL ? own->directory->version : 0;
}

int hr_room_read(struct hr_room_source *source, const struct hr_room_lines *lines,
                 struct hr_room_reading *reading)
{
    memset(reading, 0, sizeof(*reading));
    hr_room_source_refresh(source);
    reading->limits_status = source->limits_status;
    int status = hr_psi_read(source->psi, &reading->psi);
    read_stalls(source, reading);
    hr_room_source_read_cpu(source, lines->pct[HR_PSI_CPU],
                            is_in_trouble(reading, lines, HR_PSI_CPU), reading);
    source->reads_again =
        is_stalled_for(reading, HR_PSI_MEMORY, READS_AGAIN * lines->pct[HR_PSI_MEMORY]);
    hr_room_source_read_memory(source, lines->pct[HR_PSI_MEMORY],
                               is_in_trouble(reading, lines, HR_PSI_MEMORY), reading);
    hr_room_source_read_io(
        source, is_in_trouble(reading, lines, HR_PSI_IO) ? reading->stall_pct[HR_PSI_IO] / 100 : 0,
        reading);
    read_oom_kills(source, reading);
    reading->cpu.version = version_of(&source->cpu);
    reading->memory.version = version_of(&source->memory);
    reading->io.room.version = 2;
    return status;
}

/* A trend that ends in trouble doesn't make the room smaller: it says for how long it lasts. */
const struct hr_room *hr_room_tightest(const struct hr_room_reading *reading)
{
    const struct hr_room *rooms[] = {&reading->cpu, &reading->memory, &reading->io.room};
    const struct hr_room *tightest = NULL;
    bool may_be_less = false;

    for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
        may_be_less |= rooms[i]->status == -EAGAIN || rooms[i]->status == -EBUSY;
        if (rooms[i]->status == 0 && (tightest == NULL || rooms[i]->room_pct < tightest->room_pct))
            tightest = rooms[i];
    }
    return may_be_less && tightest != NULL && tightest->room_pct > 0 ? NULL : tightest;
}

struct hr_room_lines hr_room_default_lines(bool is_machine)
{
    return (struct hr_room_lines){{[HR_PSI_CPU] = is_machine ? 60 : 40,
                                   [HR_PSI_MEMORY] = 10,
                                   [HR_PSI_IO] = is_machine ? 20 : 40}};
}

void hr_room_explain_limits(int status, struct hr_reason *reason)
{
    if (status == -ENXIO)
        hr_reason_set(reason, status,
                      "its cpuset has no CPU (cpuset.cpus.effective is empty): give it one that is "
                      "online, or remove the group");
    else if (status == -E2BIG)
        hr_reason_set(reason, status,
                      "more than %d groups, it and those above, have a limit: remove those that "
                      "never bind",
                      HR_ROOM_LIMITS);
    else if (status == -EOVERFLOW)
        hr_reason_set(reason, status, "io.max has more than %d devices", HR_STALL_DEVICES);
    else
        hr_reason_set(reason, status, "%s", strerror(-status));
}

void hr_room_explain_memory(int status, struct hr_reason *reason)
{
    if (status == -ENOENT)
        hr_reason_set(reason, status,
                      "the memory controller isn't enabled there: set MemoryAccounting=yes in "
                      "systemd, or write +memory to cgroup.subtree_control above");
    else if (status == -EXDEV)
        hr_reason_set(reason, status,
                      "the memory controller is version 1's, which doesn't have the same group: "
                      "make it there, too, under the same path and with the same processes, or "
                      "boot with cgroup2 alone");
    else
        hr_reason_set(reason, status, "%s", strerror(-status));
}

void hr_room_explain_io(int status, struct hr_reason *reason)
{
    if (status == -ENODATA)
        hr_reason_set(reason, status,
                      "the io controller isn't enabled there, though a group above has a limit: "
                      "set IOAccounting=yes in systemd, or write +io to cgroup.subtree_control "
                      "above");
    else
        hr_reason_set(reason, status, "%s", strerror(-status));
}

void hr_room_explain_working_set(int status, struct hr_reason *reason)
{
    if (status == -ENODATA)
        hr_reason_set(reason, status, "it touches more and more up to the longest window");
    else if (status == -EAGAIN)
        hr_reason_set(reason, status,
                      "how long it takes to read a page again isn't known, as no disk was read");
    else
        hr_reason_set(reason, status, "%s", strerror(-status));
}

const char *hr_room_bound_name(enum hr_room_bound bound, int version)
{
    switch (bound) {
    case HR_ROOM_CPU_MAX:
        return hr_stall_limit_name(HR_STALL_CPU_MAX, version);
    case HR_ROOM_MEMORY_HIGH:
        return hr_stall_limit_name(HR_STALL_MEMORY_HIGH, version);
    case HR_ROOM_MEMORY_MAX:
        return hr_stall_limit_name(HR_STALL_MEMORY_MAX, version);
    case HR_ROOM_IO_MAX:
        return hr_stall_limit_name(HR_STALL_IO_MAX, version);
    case HR_ROOM_MACHINE:
        break;
    }
    return "machine";
}
