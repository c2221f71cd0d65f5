/* SPDX-License-Identifier: MIT */
/*
 * perf/probe.c - which events of a struct hr_perf can be counted in a scope.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/hash.h"
#include "headroom/perf_event.h"
#include "perf/internal.h"
#include "perf/open_group.h"

int hr_perf_probe_init(struct hr_perf_probe *probe, const struct hr_perf *perf)
{
    probe->status = calloc(perf->event_count, sizeof(*probe->status));
    probe->usable = calloc(perf->group_count, sizeof(*probe->usable));
    probe->encodings = calloc(perf->event_count, sizeof(*probe->encodings));
    return probe->status != NULL && probe->usable != NULL && probe->encodings != NULL ? 0 : -ENOMEM;
}

void hr_perf_probe_forget(struct hr_perf *perf, enum hr_perf_scope scope)
{
    struct hr_perf_probe *probe = &perf->probes[scope];

    probe->done = false;
    memset(probe->usable, 0, perf->group_count * sizeof(*probe->usable));
}

void hr_perf_probe_end(struct hr_perf_probe *probe)
{
    free(probe->status);
    free(probe->usable);
    free(probe->encodings);
}

bool hr_perf_probe_is_due(const struct hr_perf *perf, enum hr_perf_scope scope)
{
    const struct hr_perf_probe *probe = &perf->probes[scope];

    /* For each target at each reading: what takes longest comes last. */
    return (!probe->done || probe->stale ||
            (!probe->all_usable && hr_clock_ns() - probe->time_ns >= perf->retry_ns)) &&
           hr_perf_cpu_count(perf) > 0; /* on which to try */
}

static bool is_shortage(int status)
{
    return hr_perf_is_out_of_files(status) || status == -ENOMEM;
}

/* The CPUs on which events are tried: for each encoding the first online CPU that it counts on, so
 * that each kind of core is represented. */
static struct hr_cpu_set pick_probe_cpus(const struct hr_perf *perf)
{
    const struct hr_cpu_set *online = &perf->cpus.online;
    struct hr_cpu_set picked = {{0}};

    for (size_t g = 0; g < perf->group_count; g++) {
        for (size_t e = 0; e < perf->groups[g].count; e++) {
            const struct hr_perf_event *event = perf->groups[g].events[e];
            for (size_t i = 0; i < event->encoding_count; i++) {
                const struct hr_perf_encoding *encoding = &event->encodings[i];
                unsigned cpu = hr_cpu_set_next(online, 0);
                while (cpu < HR_CPU_MAX && !encoding->every_cpu &&
                       !hr_cpu_set_has(&encoding->cpus, cpu))
                    cpu = hr_cpu_set_next(online, cpu + 1);
                if (cpu < HR_CPU_MAX)
                    hr_cpu_set_add(&picked, cpu);
            }
        }
    }
    return picked;
}

static int try_event_alone(const struct hr_perf_place *place,
                           const struct hr_perf_encoding *encoding)
{
    int fd = hr_perf_group_open_event(place, encoding, -1, true);

    if (fd < 0)
        return fd;
    place->calls->close(fd);
    return 0;
}

/* Whether an event was refused because the group's others use the counters that it needs. */
static bool is_group_too_large(const struct hr_perf_place *place,
                               const struct hr_perf_encoding *encoding, int status)
{
    return (status == -EINVAL || status == -ENOSPC) && try_event_alone(place, encoding) == 0;
}

/* Whether the kernel counts the event, but not in this cgroup. */
static bool is_counted_outside_cgroup(const struct hr_perf_place *place,
                                      const struct hr_perf_encoding *encoding, int status)
{
    const struct hr_perf_place machine = {.calls = place->calls, .cgroup = -1, .cpu = place->cpu};

    return place->cgroup >= 0 && (status == -ENOENT || status == -EBADF) &&
           try_event_alone(&machine, encoding) == 0;
}

/* Tries a group on one CPU. @param status  of each of its events, updated; an event that failed on
 * another CPU is skipped. @return 0; the errno of a shortage of descriptors or memory; or -EXDEV if
 * the cgroup has no controller. */
static int try_group(const struct hr_perf_place *place, const struct hr_perf_event_group *group,
                     int *status)
{
    int fds[HR_PERF_GROUP_MAX];
    size_t count = 0;
    bool too_much = false;
    int obstacle = 0;

    for (size_t e = 0; e < group->count && obstacle == 0 && !too_much; e++) {
        const struct hr_perf_encoding *encoding =
            hr_perf_find_encoding(group->events[e], place->cpu);
        if (encoding == NULL || status[e] < 0)
            continue;
        int fd = hr_perf_group_open_event(place, encoding, count > 0 ? fds[0] : -1, true);
        if (fd >= 0)
            fds[count++] = fd;
        else if (is_shortage(fd))
            obstacle = fd;
        else if (is_counted_outside_cgroup(place, encoding, fd))
            obstacle = -EXDEV;
        else if (count > 0 && is_group_too_large(place, encoding, fd))
            too_much = true;
        else
            status[e] = fd == -E2BIG ? -EINVAL : fd; /* -E2BIG is reserved, see below */
    }
    while (count > 0)
        place->calls->close(fds[--count]);
    for (size_t e = 0; e < group->count && too_much; e++)
        if (status[e] == 0)
            status[e] = -E2BIG;
    return obstacle;
}

static bool is_known_on_any(const struct hr_perf_event *event, const struct hr_cpu_set *cpus)
{
    unsigned cpu = hr_cpu_set_next(cpus, 0);

    while (cpu < HR_CPU_MAX && hr_perf_find_encoding(event, cpu) == NULL)
        cpu = hr_cpu_set_next(cpus, cpu + 1);
    return cpu < HR_CPU_MAX;
}

/* Sets the status of events that none of these CPUs has an encoding for. */
static void mark_missing_events(const struct hr_perf *perf, const struct hr_cpu_set *cpus,
                                int *status)
{
    for (size_t g = 0; g < perf->group_count; g++) {
        for (size_t e = 0; e < perf->groups[g].count; e++) {
            const struct hr_perf_event *event = perf->groups[g].events[e];
            int *of_event = &status[perf->first_event[g] + e];
            *of_event = is_known_on_any(event, &perf->cpus.left_out) ? -EADDRNOTAVAIL : -ENODEV;
            if (is_known_on_any(event, cpus))
                *of_event = 0;
        }
    }
}

/* By BPF, events are open for the machine alone. */
static bool is_tried(const struct hr_perf *perf, enum hr_perf_scope scope, size_t group)
{
    return scope == HR_PERF_SYSTEM || !hr_perf_is_by_bpf(perf, group);
}

static int try_all_groups(const struct hr_perf *perf, enum hr_perf_scope scope, int cgroup,
                          int *status)
{
    const struct hr_cpu_set cpus = pick_probe_cpus(perf);
    struct hr_perf_place place = {.calls = perf->calls, .cgroup = cgroup};
    int obstacle = 0;

    mark_missing_events(perf, &cpus, status);
    place.cpu = hr_cpu_set_next(&cpus, 0);
    for (; place.cpu < HR_CPU_MAX && obstacle == 0;
         place.cpu = hr_cpu_set_next(&cpus, place.cpu + 1))
        for (size_t g = 0; g < perf->group_count && obstacle == 0; g++)
            if (is_tried(perf, scope, g))
                obstacle = try_group(&place, &perf->groups[g], &status[perf->first_event[g]]);
    return obstacle;
}

static void keep_untried(const struct hr_perf *perf, enum hr_perf_scope scope, int *status)
{
    for (size_t g = 0; g < perf->group_count; g++) {
        const size_t first = perf->first_event[g];
        if (!is_tried(perf, scope, g))
            memcpy(&status[first], &perf->probes[scope].status[first],
                   perf->groups[g].count * sizeof(*status));
    }
}

static uint32_t hash_bytes(uint32_t sum, const void *bytes, size_t size)
{
    for (const unsigned char *byte = bytes; size > 0; byte++, size--)
        sum = hr_hash_number(sum, *byte);
    return sum;
}

/* @return not 0 */
static uint32_t hash_encodings(const struct hr_perf_event *event)
{
    uint32_t sum = HR_HASH_EMPTY;

    for (size_t i = 0; i < event->encoding_count; i++) {
        const struct hr_perf_encoding *encoding = &event->encodings[i];
        sum = hash_bytes(sum, &encoding->attr, sizeof(encoding->attr));
        if (!encoding->every_cpu)
            sum = hash_bytes(sum, &encoding->cpus, sizeof(encoding->cpus));
    }
    return sum | 1;
}

/* Counters of events that can't be counted in the scope, such as a package's in cgroups, needn't be
 * opened again, wherever they are counted now. @return whether others must be. */
static bool store_encodings(const struct hr_perf *perf, enum hr_perf_scope scope, const int *status)
{
    uint32_t *known = perf->probes[scope].encodings;
    bool changed = false;

    for (size_t g = 0; g < perf->group_count; g++)
        for (size_t e = 0; e < perf->groups[g].count && is_tried(perf, scope, g); e++) {
            const size_t number = perf->first_event[g] + e;
            const uint32_t now =
                status[number] == 0 ? hash_encodings(perf->groups[g].events[e]) : 0;
            changed = changed || now != known[number];
            known[number] = now;
        }
    return changed;
}

static void store_results(struct hr_perf *perf, enum hr_perf_scope scope, const int *status)
{
    struct hr_perf_probe *probe = &perf->probes[scope];
    const bool changed = store_encodings(perf, scope, status);

    probe->generation += changed || !probe->done;
    memcpy(probe->status, status, perf->event_count * sizeof(*status));
    probe->done = probe->all_usable = true;
    probe->stale = false;
    probe->time_ns = hr_clock_ns();
    for (size_t g = 0; g < perf->group_count; g++) {
        probe->usable[g] = 0;
        for (size_t e = 0; e < perf->groups[g].count; e++)
            if (status[perf->first_event[g] + e] == 0)
                probe->usable[g] |= UINT32_C(1) << e;
            else
                probe->all_usable = false;
    }
}

bool hr_perf_is_cgroup_removed(const struct hr_cgroup *group)
{
    int fd = hr_cgroup_openat(group, ".", O_RDONLY | O_DIRECTORY);

    if (fd >= 0)
        close(fd);
    return fd == -ENODEV;
}

int hr_perf_probe_update(struct hr_perf *perf, enum hr_perf_scope scope,
                         const struct hr_cgroup *group, int cgroup)
{
    if (!hr_perf_probe_is_due(perf, scope))
        return 0;
    int *status = calloc(perf->event_count, sizeof(*status));
    if (status == NULL)
        return -ENOMEM;
    int result = try_all_groups(perf, scope, cgroup, status);
    keep_untried(perf, scope, status);
    /* Nothing can be counted in a removed cgroup, which doesn't apply to others. */
    if ((result == 0 || result == -EXDEV) && group != NULL && hr_perf_is_cgroup_removed(group))
        result = -ENODEV;
    if (result == 0)
        store_results(perf, scope, status);
    free(status);
    return result;
}

/* As the kernel says of a cgroup. */
static int status_in_cgroups(const struct hr_perf_event *event, int of_machine)
{
    return event->whole_machine && of_machine == 0 ? -EINVAL : of_machine;
}

static void take_from_machine(struct hr_perf *perf, size_t group)
{
    const struct hr_perf_probe *machine = &perf->probes[HR_PERF_SYSTEM];
    struct hr_perf_probe *cgroups = &perf->probes[HR_PERF_CGROUP];

    cgroups->usable[group] = machine->usable[group];
    for (size_t e = 0; e < perf->groups[group].count; e++) {
        const struct hr_perf_event *event = perf->groups[group].events[e];
        const size_t number = perf->first_event[group] + e;
        cgroups->status[number] = status_in_cgroups(event, machine->status[number]);
        if (event->whole_machine)
            cgroups->usable[group] &= ~(UINT32_C(1) << e);
    }
}

void hr_perf_probe_cgroups_by_machine(struct hr_perf *perf)
{
    const struct hr_perf_probe *machine = &perf->probes[HR_PERF_SYSTEM];
    struct hr_perf_probe *cgroups = &perf->probes[HR_PERF_CGROUP];

    for (size_t g = 0; g < perf->group_count; g++)
        if (!cgroups->done || hr_perf_is_by_bpf(perf, g))
            take_from_machine(perf, g);
    if (!hr_perf_has_exceptions(perf))
        cgroups->done = machine->done;
}
