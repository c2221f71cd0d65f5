/* SPDX-License-Identifier: MIT */
#include "room/cpu.h"

#include <errno.h>
#include <math.h>

/* Who waits for a smaller share than this may as well not wait. */
#define SHORTEST_WAIT 0.005

/* CPUs that are busier than this can't get busier with more load. */
#define ALWAYS_BUSY 0.98

/* And CPUs that are less busy than this show nothing. */
#define IDLE 0.001

/* One CPU that is shared among tasks that come at random. */
#define ONE_CPU_EXPONENT 2

/* Who waits for a greater share of CPUs that are always busy could be in want of them first. */
#define LONG_WAIT 0.01

/* A group that is throttled in more of its periods is in trouble. */
#define MUCH_THROTTLED 0.25

static double clamp_value(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* --- What all rooms share ------------------------------------------------------ */

void hr_room_finish(struct hr_room *room)
{
    if (room->status != 0)
        return;
    room->attainable = fmax(room->attainable, 0);
    room->left = room->is_in_trouble ? 0 : fmax(room->attainable - room->used, 0);
    room->room_pct = room->attainable > 0 ? 100 * room->left / room->attainable : 0;
    room->room_pct = clamp_value(room->room_pct, 0, 100);
}

double hr_room_most_pct(const struct hr_room *room)
{
    if (room->is_in_trouble || room->attainable <= 0)
        return 0;
    return room->needed < room->attainable ? 100 * (1 - room->needed / room->attainable) : 0;
}

void hr_room_set_trouble(struct hr_room *room)
{
    room->status = 0;
    room->is_in_trouble = true;
    room->is_at_least = false;
    hr_room_finish(room);
}

/* --- CPU time -------------------------------------------------------------------- */

double hr_room_cpu_exponent(double stalled, double busy, bool *is_at_least)
{
    *is_at_least = stalled < SHORTEST_WAIT;
    if (busy > ALWAYS_BUSY)
        return 0;
    busy = fmax(busy, IDLE);
    if (*is_at_least)
        return fmax(log(SHORTEST_WAIT) / log(busy), ONE_CPU_EXPONENT);
    return stalled < 1 ? log(stalled) / log(busy) : 0;
}

void hr_room_cpu_by_machine(const struct hr_room_cpu_sums *sums, double line_pct,
                            struct hr_room *room)
{
    const double time_us = sums->elapsed_us * sums->cpus;
    bool is_at_least;

    *room = (struct hr_room){.status = -ENODATA, .bound = HR_ROOM_MACHINE, .limit = sums->cpus};
    if (!(time_us > 0))
        return;
    /* The two clocks differ by a tick. */
    double used = clamp_value(sums->used_us / time_us, 0, 1);
    double busy = clamp_value(sums->busy_us / time_us, used, 1);
    double stalled = clamp_value(sums->stalled_us / sums->elapsed_us, 0, 1);
    double k = hr_room_cpu_exponent(stalled, busy, &is_at_least);
    room->used = room->needed = used * sums->cpus;
    if (!(k > 0)) {
        if (stalled >= LONG_WAIT)
            room->status = -EBUSY;
        return;
    }
    double others = busy - used;
    room->status = 0;
    room->is_at_least = is_at_least;
    room->attainable = (pow(line_pct / 100, 1 / k) - others) * sums->cpus;
    hr_room_finish(room);
}

void hr_room_cpu_by_limit(const struct hr_room_cpu_limit *limit, double used_cpus,
                          struct hr_room *room)
{
    const bool is_throttled = limit->throttled_share >= MUCH_THROTTLED;
    double attainable = limit->cpus - fmax(limit->used_cpus - used_cpus, 0);

    /* Where the machine's CPUs are always busy, they may be what binds. */
    if (room->status < 0 && !is_throttled && attainable > used_cpus)
        return;
    if (room->status == 0 && !is_throttled &&
        (attainable >= room->attainable || room->is_in_trouble))
        return;
    if (room->is_in_trouble && room->bound == HR_ROOM_CPU_MAX && room->limit <= limit->cpus)
        return;
    *room = (struct hr_room){
        .used = used_cpus,
        .needed = used_cpus,
        .attainable = attainable,
        .bound = HR_ROOM_CPU_MAX,
        .level = limit->level,
        .limit = limit->cpus,
    };
    if (is_throttled)
        hr_room_set_trouble(room);
    hr_room_finish(room);
}
