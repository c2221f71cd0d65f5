/* SPDX-License-Identifier: MIT */
/*
 * room/source_cpu.c - the room by CPU time, of sums over some minutes.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "headroom/clock.h"
#include "room/cpu.h"
#include "room/grown.h"
#include "room/machine.h"
#include "room/source.h"

/* The sums are of so long to twice of it, once so much is known. */
#define SUMS_NS (150 * HR_NS_PER_S)

/* Of less time no queue can be known. */
#define SUMS_MIN_NS (20 * HR_NS_PER_S)

/* A load is over at a smaller part of the trouble line than this. */
#define LOW 0.5

/* --- Sums --------------------------------------------------------------------------- */

static int read_bound(const struct hr_room_source *source, const struct hr_room_cpu_bound *bound,
                      struct hr_room_cpu_counts *counts)
{
    counts->max = bound->max;
    int status = hr_room_directory_read_throttling(
        bound->directory, source->machine, &source->cpu.base, bound->level, &counts->throttling);
    if (status < 0)
        return status;
    if (bound->unified == NULL)
        return -ENOENT;
    return hr_room_directory_read_used(bound->unified, source->machine, &source->unified.base,
                                       bound->level, &counts->used_us);
}

static int read_used(const struct hr_room_source *source, uint64_t *used_us)
{
    if (source->unified.directory == NULL)
        return source->unified.status;
    return hr_room_directory_read_used(source->unified.directory, source->machine,
                                       &source->unified.base, 0, used_us);
}

static int take_sums(const struct hr_room_source *source, const struct hr_psi_snapshot *psi,
                     struct hr_room_sums *sums)
{
    int status = source->machine->cpus_status;

    memset(sums, 0, sizeof(*sums));
    if (status == 0)
        status = psi->status[HR_PSI_CPU];
    if (status < 0)
        return status;
    sums->time_ns = psi->sample[HR_PSI_CPU].time_ns;
    sums->stalled_us = psi->sample[HR_PSI_CPU].stall[HR_PSI_SOME].total_us;
    sums->revision = source->revision;
    sums->height_revision = source->height_revision;
    sums->busy_us = hr_room_machine_busy(source->machine, source->cpus, &sums->cpus);
    sums->used_us = sums->busy_us;
    if (source->group != NULL)
        status = read_used(source, &sums->used_us);
    for (size_t i = 0; status == 0 && i < source->cpu_bound_count; i++)
        status = read_bound(source, &source->cpu_bounds[i], &sums->bound[i]);
    return status;
}

/* Whether two sums are of the same CPUs, and limits of the same groups. */
static bool are_alike(const struct hr_room_sums *a, const struct hr_room_sums *b)
{
    return a->cpus == b->cpus && a->revision == b->revision;
}

/* When a limit is set to another height, what was before it in the last interval only counts. */
static void begin_again_with_limits(struct hr_room_source *source, const struct hr_room_sums *now)
{
    if (!are_alike(&source->newer, now) || source->newer.height_revision == now->height_revision)
        return;
    source->older = source->last;
    source->newer = *now;
}

/* Of less than minutes, as after a start, a load that is over would be a large part of what is
 * known, and leave no room for longer than it lasted: so the sums begin again when it ends. Where
 * loads come again and again they are what is usual: then the sums have to become longer. */
static void begin_again_after_load(struct hr_room_source *source, const struct hr_room_sums *now,
                                   const struct hr_room_reading *reading, double line_pct,
                                   bool is_stalled)
{
    const bool is_over = source->has_cpu_load && reading->has_stall[HR_PSI_CPU] &&
                         reading->stall_pct[HR_PSI_CPU] < LOW * line_pct;

    source->has_cpu_load = is_stalled || (source->has_cpu_load && !is_over);
    if (is_over && now->time_ns - source->older.time_ns < SUMS_NS &&
        now->time_ns - source->sums_begun_ns < 2 * SUMS_NS)
        source->older = source->newer = source->last;
}

/* Moves the beginning of the sums on; after CPUs changed, or which limits there are, to now. */
static void keep_sums(struct hr_room_source *source, const struct hr_room_sums *now)
{
    const uint64_t newer_ns = now->time_ns - source->newer.time_ns;
    const bool has_change = source->older.height_revision != now->height_revision;

    if (!are_alike(&source->newer, now)) {
        source->older = source->newer = *now;
        source->sums_begun_ns = now->time_ns;
    } else if (has_change && newer_ns >= SUMS_MIN_NS) {
        source->older = source->newer;
    } else if (newer_ns >= SUMS_NS) {
        source->older = source->newer;
        source->newer = *now;
    }
    source->last = *now;
}

/* --- Limits ---------------------------------------------------------------------------- */

/* Where a limit changed in between, the lower one counts: it may have been in force for most of the
 * time. */
static const struct hr_cpu_max *lower_of(const struct hr_room_cpu_counts *a,
                                         const struct hr_room_cpu_counts *b)
{
    return (double)a->max.quota_us * (double)b->max.period_us <
                   (double)b->max.quota_us * (double)a->max.period_us
               ? &a->max
               : &b->max;
}

/* --- Rates ------------------------------------------------------------------------------ */

/* What grew between two sums, each in a microsecond: times in CPUs, or shares. */
struct rates {
    double busy, used;
    double pressure, stalled; /* the latter without the time for which limits throttled it */
    struct {
        double used, periods, throttled;
    } bound[HR_ROOM_LIMITS];
};

/* The longest throttling of all levels, as they may be throttled at the same time. */
static uint64_t throttled_us(const struct hr_room_source *source, const struct hr_room_sums *before,
                             const struct hr_room_sums *now)
{
    uint64_t longest_us = 0;

    for (size_t i = 0; i < source->cpu_bound_count; i++) {
        const struct hr_cpu_stat *a = &before->bound[i].throttling;
        const struct hr_cpu_stat *b = &now->bound[i].throttling;
        uint64_t us = hr_cpu_throttled(hr_grown(a->throttled_count, b->throttled_count),
                                       hr_grown(a->throttled_us, b->throttled_us),
                                       lower_of(&before->bound[i], &now->bound[i])->period_us);
        longest_us = us > longest_us ? us : longest_us;
    }
    return longest_us;
}

static double elapsed_us(const struct hr_room_sums *before, const struct hr_room_sums *now)
{
    return (double)(now->time_ns - before->time_ns) / HR_NS_PER_US;
}

/* Adds a part of the rates since a sum. */
static void add_rates(const struct hr_room_source *source, const struct hr_room_sums *before,
                      const struct hr_room_sums *now, double part, struct rates *rates)
{
    const double per_us = part / elapsed_us(before, now);
    const uint64_t stalled_us = hr_grown(before->stalled_us, now->stalled_us);

    rates->busy += per_us * (double)hr_grown(before->busy_us, now->busy_us);
    rates->used += per_us * (double)hr_grown(before->used_us, now->used_us);
    rates->pressure += per_us * (double)stalled_us;
    rates->stalled += per_us * (double)hr_grown(throttled_us(source, before, now), stalled_us);
    for (size_t i = 0; i < source->cpu_bound_count; i++) {
        const struct hr_room_cpu_counts *a = &before->bound[i], *b = &now->bound[i];
        rates->bound[i].used += per_us * (double)hr_grown(a->used_us, b->used_us);
        rates->bound[i].periods +=
            per_us * (double)hr_grown(a->throttling.period_count, b->throttling.period_count);
        rates->bound[i].throttled +=
            per_us * (double)hr_grown(a->throttling.throttled_count, b->throttling.throttled_count);
    }
}

/* The sums are of less time all at once when their beginning moves on, by which a load that is over
 * would count for more again. So those since the next beginning have a part that grows until they
 * are all: without a load its share only falls. */
static void find_rates(const struct hr_room_source *source, const struct hr_room_sums *now,
                       struct rates *rates)
{
    const uint64_t newer_ns = now->time_ns - source->newer.time_ns;
    const double part = fmin((double)newer_ns / SUMS_NS, 1);

    memset(rates, 0, sizeof(*rates));
    add_rates(source, &source->older, now, 1 - part, rates);
    if (newer_ns > 0)
        add_rates(source, &source->newer, now, part, rates);
}

/* The share of periods may grow after a load, as both of its sums fall, not by the same: trouble
 * begins while a limit throttles only. */
static double throttled_share(const struct hr_room_source *source, const struct hr_room_sums *now,
                              const struct rates *rates, size_t i)
{
    const double periods = rates->bound[i].periods;
    const bool throttles =
        now->bound[i].throttling.throttled_count > source->last.bound[i].throttling.throttled_count;

    if (!(periods > 0) || !(throttles || source->is_in_cpu_trouble))
        return 0;
    return rates->bound[i].throttled / periods;
}

static void lower_by_bounds(const struct hr_room_source *source, const struct hr_room_sums *now,
                            const struct rates *rates, struct hr_room *room)
{
    for (size_t i = 0; i < source->cpu_bound_count; i++) {
        const struct hr_cpu_max *max = lower_of(&source->older.bound[i], &now->bound[i]);
        const struct hr_room_cpu_limit limit = {
            .cpus = (double)max->quota_us / (double)max->period_us,
            .used_cpus = rates->bound[i].used,
            .throttled_share = throttled_share(source, now, rates, i),
            .level = source->cpu_bounds[i].level,
        };
        hr_room_cpu_by_limit(&limit, rates->used, room);
    }
}

int hr_room_find_cpu_limit(const struct hr_room_source *source, double *cpus, size_t *level)
{
    double lowest = INFINITY;
    size_t of = 0;

    if (source->cpu_bounds_status < 0)
        return source->cpu_bounds_status;
    for (size_t i = 0; i < source->cpu_bound_count; i++) {
        const struct hr_room_cpu_bound *bound = &source->cpu_bounds[i];
        const double limit = (double)bound->max.quota_us / (double)bound->max.period_us;
        if (limit < lowest) {
            lowest = limit;
            of = bound->level;
        }
    }
    if (isinf(lowest))
        return -ENODATA;
    *cpus = lowest;
    *level = of;
    return 0;
}

size_t hr_room_count_cpus(const struct hr_room_source *source)
{
    size_t count;

    if (source->cpus_status < 0 || source->machine->cpus_status < 0)
        return 0;
    hr_room_machine_busy(source->machine, source->cpus, &count);
    return count;
}

int hr_room_find_cpus(const struct hr_room_source *source, struct hr_cpu_set *cpus)
{
    if (source->cpus_status < 0)
        return source->cpus_status;
    if (source->cpus == NULL)
        return -ENODATA;
    *cpus = *source->cpus;
    return 0;
}

/* --- The room ---------------------------------------------------------------------------- */

/* The room is that of the sums, so trouble isn't over for one interval without, while their
 * pressure is above the line; nor before they are long enough. */
static bool is_still_in_trouble(const struct hr_room_source *source, bool is_short, double pressure,
                                double line_pct)
{
    return is_short ? source->is_in_cpu_trouble : 100 * pressure >= line_pct;
}

static void estimate(const struct hr_room_source *source, const struct hr_room_sums *now,
                     double line_pct, bool is_stalled, struct hr_room *room)
{
    const bool is_short = now->time_ns - source->older.time_ns < SUMS_MIN_NS;
    struct rates rates;

    find_rates(source, now, &rates);
    const struct hr_room_cpu_sums sums = {
        .elapsed_us = 1,
        .cpus = (double)now->cpus,
        .busy_us = rates.busy,
        .used_us = rates.used,
        .stalled_us = rates.stalled,
    };
    hr_room_cpu_by_machine(&sums, line_pct, room);
    if (is_short)
        room->status = -EAGAIN;
    if (is_stalled || is_still_in_trouble(source, is_short, rates.pressure, line_pct))
        hr_room_set_trouble(room);
    lower_by_bounds(source, now, &rates, room);
    if (is_short && !room->is_in_trouble)
        room->status = -EAGAIN;
}

/* What can't be read of limits may be the tightest; but what is measured is. */
static void check_bounds(int limits_status, struct hr_room *room)
{
    if (limits_status < 0 && !room->is_in_trouble)
        room->status = limits_status;
}

void hr_room_source_read_cpu(struct hr_room_source *source, double line_pct, bool is_stalled,
                             struct hr_room_reading *reading)
{
    struct hr_room *room = &reading->cpu;
    struct hr_room_sums now;

    room->status = take_sums(source, &reading->psi, &now);
    reading->cpu_limits_status =
        source->expired_status < 0 ? source->expired_status : source->cpu_bounds_status;
    if (room->status < 0)
        return;
    room->status = -EAGAIN;
    begin_again_with_limits(source, &now);
    begin_again_after_load(source, &now, reading, line_pct, is_stalled);
    if (are_alike(&source->newer, &now) && now.time_ns > source->older.time_ns)
        estimate(source, &now, line_pct, is_stalled, room);
    else if (is_stalled || source->is_in_cpu_trouble)
        hr_room_set_trouble(room);
    check_bounds(reading->cpu_limits_status, room);
    source->is_in_cpu_trouble = room->status == 0 && room->is_in_trouble;
    keep_sums(source, &now);
}
