/* SPDX-License-Identifier: MIT */
#include "perf/opening.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "perf/closing.h"

/* --- Descriptors ---------------------------------------------------------- */

static struct hr_perf_place place_on(const struct hr_perf *perf, enum hr_perf_scope scope,
                                     int cgroup, unsigned number)
{
    return (struct hr_perf_place){
        .calls = perf->calls,
        .cgroup = cgroup,
        .cpu = number,
        .with_clock = scope == HR_PERF_CGROUP && perf->needs_clocks,
    };
}

static size_t count_group_files_on(const struct hr_perf *perf, enum hr_perf_scope scope,
                                   size_t group, unsigned number)
{
    const struct hr_perf_place place = place_on(perf, scope, -1, number);

    return hr_perf_group_files(&place, &perf->groups[group], perf->probes[scope].usable[group]);
}

static size_t count_files_on(const struct hr_perf *perf, enum hr_perf_scope scope, unsigned number)
{
    size_t count = 0;

    for (size_t g = 0; g < perf->group_count; g++)
        if (!hr_perf_is_by_bpf(perf, g))
            count += count_group_files_on(perf, scope, g, number);
    return count;
}

size_t hr_perf_group_file_count(const struct hr_perf *perf, enum hr_perf_scope scope, size_t group)
{
    const struct hr_perf_cpus *cpus = &perf->cpus;
    size_t count = 0;

    for (size_t i = 0; i < cpus->count; i++)
        if (cpus->list[i].online)
            count += count_group_files_on(perf, scope, group, cpus->list[i].number);
    return count;
}

size_t hr_perf_count_files(const struct hr_perf *perf, enum hr_perf_scope scope)
{
    const struct hr_perf_cpus *cpus = &perf->cpus;
    size_t count = 0;

    for (size_t i = 0; i < cpus->count; i++)
        if (cpus->list[i].online)
            count += count_files_on(perf, scope, cpus->list[i].number);
    return count;
}

/* --- Slices --------------------------------------------------------------- */

/* So many are opened in any case: what is small is there at once, however slow the machine. */
#define FILES_AT_LEAST 256

static uint64_t longest_ns(const struct hr_perf_slice *slice)
{
    return slice->longer_ns > slice->max_ns ? slice->longer_ns : slice->max_ns;
}

static uint64_t longest_wall_ns(const struct hr_perf_slice *slice)
{
    const uint64_t wall_ns =
        slice->longer_wall_ns > slice->max_wall_ns ? slice->longer_wall_ns : slice->max_wall_ns;

    return wall_ns > longest_ns(slice) ? wall_ns : longest_ns(slice);
}

static bool is_used_up(const struct hr_perf_slice *slice)
{
    return slice->spent_ns + hr_perf_closing_excess_ns(slice) >= longest_ns(slice) &&
           slice->file_count >= FILES_AT_LEAST;
}

/* CPU time, as that is what opening costs; on a busy machine it may last as many times longer as
 * the slice may by the clock. @param start_ns, start_cpu_ns  by the clock, and the thread's. */
static void add_spent(struct hr_perf_slice *slice, uint64_t start_ns, uint64_t start_cpu_ns)
{
    const uint64_t cpu_ns = hr_clock_thread_ns() - start_cpu_ns;
    const double part = (double)longest_ns(slice) / (double)longest_wall_ns(slice);
    const uint64_t wall_ns = (uint64_t)((double)(hr_clock_ns() - start_ns) * part);

    slice->spent_ns += wall_ns > cpu_ns ? wall_ns : cpu_ns;
}

/* The machine goes before cgroups. */
static void let_wait(struct hr_perf_target *target)
{
    struct hr_perf_target **place = &target->perf->slice.waiting;

    if (target->waits)
        return;
    while (*place != NULL && (target->group != NULL || (*place)->group == NULL))
        place = &(*place)->next_waiting;
    target->next_waiting = *place;
    target->waits = true;
    *place = target;
}

void hr_perf_opening_cancel(struct hr_perf_target *target)
{
    struct hr_perf_target **place = &target->perf->slice.waiting;

    target->slice_status = 0;
    if (!target->waits)
        return;
    while (*place != target)
        place = &(*place)->next_waiting;
    *place = target->next_waiting;
    target->waits = false;
}

/* What was counted since the target was read would be missed, where that isn't just now. */
static void close_cpus(struct hr_perf_target *target)
{
    if (target->perf->slice.continues)
        hr_perf_target_read_ahead(target);
    hr_perf_target_close_cpus(target);
}

/* --- One CPU -------------------------------------------------------------- */

static int open_all_groups(struct hr_perf_target *target, struct hr_perf_cpu_counters *cpu,
                           int cgroup, const struct hr_perf_cpu *about)
{
    struct hr_perf *perf = target->perf;
    const struct hr_perf_place place = place_on(perf, target->scope, cgroup, about->number);
    const uint64_t start_ns = hr_clock_ns(), start_cpu_ns = hr_clock_thread_ns();
    int status = 0;

    for (size_t g = 0; g < perf->group_count && status == 0; g++)
        if (!hr_perf_is_by_bpf(perf, g))
            status = hr_perf_group_open(&cpu->open_groups[g], &place, &perf->groups[g],
                                        perf->probes[target->scope].usable[g]);
    for (size_t g = 0; g < perf->group_count; g++)
        perf->slice.file_count += cpu->open_groups[g].count;
    add_spent(&perf->slice, start_ns, start_cpu_ns);
    return status;
}

/* @return 0, also if the CPU went offline meanwhile. */
static int open_cpu(struct hr_perf_target *target, size_t index, int cgroup)
{
    struct hr_perf *perf = target->perf;
    const struct hr_perf_cpu *about = &perf->cpus.list[index];

    struct hr_perf_cpu_counters *cpu = hr_perf_target_counters(target, index);
    if (cpu == NULL)
        return -ENOMEM;
    int status = open_all_groups(target, cpu, cgroup, about);
    cpu->open = status == 0;
    cpu->epoch = about->epoch;
    if (status < 0)
        hr_perf_target_close_cpu(target, cpu);
    return status == -ENODEV ? 0 : status;
}

static bool is_cpu_missing(const struct hr_perf_target *target, size_t index)
{
    const struct hr_perf_cpu *about = &target->perf->cpus.list[index];

    return about->online && (target->cpus[index] == NULL || !target->cpus[index]->open) &&
           count_files_on(target->perf, target->scope, about->number) > 0;
}

static bool is_any_cpu_missing(const struct hr_perf_target *target)
{
    for (size_t i = 0; i < target->cpu_count; i++)
        if (is_cpu_missing(target, i))
            return true;
    return false;
}

/* --- All CPUs ------------------------------------------------------------- */

/* Adjusts the reservation to the descriptors that will be open. @return whether they fit. */
static bool reserve_files(struct hr_perf_target *target)
{
    struct hr_perf_budget *budget = &target->perf->budget;
    const size_t needed = hr_perf_count_files(target->perf, target->scope);

    hr_perf_target_update_wanted(target, needed);
    if (needed > target->reserved && !hr_perf_budget_reserve(budget, needed - target->reserved))
        return false;
    if (needed < target->reserved)
        hr_perf_budget_release(budget, target->reserved - needed);
    target->reserved = needed;
    return true;
}

/* Each CPU has its counters. Until then the values are those of the counters before. */
static int finish(struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;

    memcpy(target->usable, perf->probes[target->scope].usable,
           perf->group_count * sizeof(*target->usable));
    target->whole = target->reserved > 0;
    return target->whole ? 0 : -ENODATA;
}

/* As far as the slice allows. @param cgroup  the directory, or -1.
 * @return as hr_perf_target_read(). */
static int open_missing_cpus(struct hr_perf_target *target, int cgroup)
{
    int status = 0;

    if (!reserve_files(target)) {
        if (target->perf->closing.count > 0) /* what is open counts on until there is room */
            return -EINPROGRESS;
        close_cpus(target);
        return -EMFILE;
    }
    for (size_t i = 0; i < target->cpu_count && status == 0; i++)
        if (is_cpu_missing(target, i))
            status = is_used_up(&target->perf->slice) ? -EINPROGRESS : open_cpu(target, i, cgroup);
    if (status == -EINPROGRESS)
        return status;
    if (status == 0)
        return finish(target);
    close_cpus(target);
    if (hr_perf_is_out_of_files(status))
        hr_perf_budget_note_shortage(&target->perf->budget);
    return status;
}

/* Closes all counters if the set of countable events has changed, so that they are reopened. */
static int update_probe(struct hr_perf_target *target, int cgroup)
{
    const struct hr_perf_probe *found = &target->perf->probes[target->scope];
    int status = hr_perf_probe_update(target->perf, target->scope, target->group, cgroup);

    if (status < 0 && !found->done)
        return status;
    if (target->generation != found->generation)
        close_cpus(target);
    target->generation = found->generation;
    return 0;
}

static int open_counters(struct hr_perf_target *target, int cgroup)
{
    int status = hr_perf_target_extend_cpus(target);

    if (status == 0)
        status = update_probe(target, cgroup);
    if (status == 0)
        status = open_missing_cpus(target, cgroup);
    return status;
}

static int open_counters_in_cgroup(struct hr_perf_target *target)
{
    int fd = hr_cgroup_openat(target->group, ".", O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fd;
    int status = open_counters(target, fd);
    close(fd);
    /* The events can be counted, but not in this cgroup. */
    if (status != -ENOENT && status != -EBADF)
        return status;
    return hr_perf_is_cgroup_removed(target->group) ? -ENODEV : -EXDEV;
}

static bool is_opening_due(const struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;

    if (target->cpus_seen != perf->cpus.generation)
        return true;
    if (target->failed != 0 && hr_clock_ns() - target->failed_ns < perf->retry_ns)
        return false;
    return hr_perf_probe_is_due(perf, target->scope) ||
           target->generation != perf->probes[target->scope].generation ||
           is_any_cpu_missing(target);
}

static int try_to_open(struct hr_perf_target *target)
{
    target->cpus_seen = target->perf->cpus.generation;
    int status =
        target->group != NULL ? open_counters_in_cgroup(target) : open_counters(target, -1);
    if (status == -EINPROGRESS)
        return status;
    /* Only probing for more countable events failed: that can wait. */
    if (hr_perf_is_out_of_files(status) && target->reserved > 0 && !is_any_cpu_missing(target))
        return 0;
    if (status < 0)
        close_cpus(target);
    /* Descriptors may become free at any time, and a removed cgroup is dropped by the caller; any
     * other failure would recur, so it is retried later. */
    target->failed = !hr_perf_is_out_of_files(status) && status != -ENODEV ? status : 0;
    target->failed_ns = hr_clock_ns();
    return status;
}

static bool takes_files(const struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;

    for (size_t g = 0; g < perf->group_count; g++)
        if (!hr_perf_is_by_bpf(perf, g) && perf->probes[target->scope].usable[g] != 0)
            return true;
    return false;
}

bool hr_perf_opening_is_needless(const struct hr_perf_target *target)
{
    const struct hr_perf *perf = target->perf;
    const struct hr_perf_probe *probe = &perf->probes[target->scope];

    if (!hr_perf_has_exceptions(perf))
        return true;
    return probe->done && !takes_files(target) && target->reserved == 0 && !target->waits &&
           target->slice_status == 0 && (target->failed == 0 || target->failed == -ENODATA) &&
           target->generation == probe->generation && !hr_perf_probe_is_due(perf, target->scope);
}

int hr_perf_opening_update(struct hr_perf_target *target)
{
    int status = target->slice_status;

    target->slice_status = 0;
    if (status < 0) /* just now */
        return status;
    if (!is_opening_due(target))
        return target->failed;
    status = -EINPROGRESS;
    if (!is_used_up(&target->perf->slice))
        status = try_to_open(target);
    if (status != -EINPROGRESS)
        return status;
    let_wait(target);
    return target->whole ? 0 : status;
}

void hr_perf_opening_continue(struct hr_perf *perf)
{
    struct hr_perf_slice *slice = &perf->slice;

    slice->continues = true;
    while (slice->waiting != NULL && !is_used_up(slice)) {
        struct hr_perf_target *first = slice->waiting;
        const int status = is_opening_due(first) ? try_to_open(first) : 0;
        if (status == -EINPROGRESS)
            break;
        hr_perf_opening_cancel(first);
        first->slice_status = status;
    }
    slice->continues = false;
}
