/* SPDX-License-Identifier: MIT */
#include "headroom/values.h"

#include <math.h>

static bool is_in_trouble(const struct hr_room *room)
{
    return room->status == 0 && room->is_in_trouble;
}

/* The time to trouble where none is in sight, whatever the horizon is: no trend is longer. */
#define NONE_S 86400.

/* Pressure isn't known yet where processes have just joined a group. */
static bool has_pressure(const struct hr_room_reading *reading)
{
    return reading->has_stall[HR_PSI_CPU] || reading->has_stall[HR_PSI_MEMORY];
}

/* NAN: not known. After trouble that is over, by the pressure, none is in sight: a value that stops
 * would leave a threshold as it was. */
static double time_to_trouble(const struct hr_room_reading *reading, double horizon_s,
                              bool was_in_trouble)
{
    if (is_in_trouble(&reading->cpu) || is_in_trouble(&reading->memory) ||
        is_in_trouble(&reading->io.room))
        return 0;
    if (reading->outlook.is_trend && reading->outlook.trouble_s < horizon_s)
        return reading->outlook.trouble_s;
    if (reading->outlook.is_known || (was_in_trouble && has_pressure(reading)))
        return NONE_S;
    return NAN;
}

void values_submit_kills(const struct submission *submission, const struct hr_room_reading *reading)
{
    if (reading->has_oom_kills)
        submit_derive(submission, "total_operations", "oom_kill", (int64_t)reading->oom_kill_count);
}

void values_submit(const struct submission *submission, const struct hr_room_reading *reading,
                   double horizon_s, bool *was_in_trouble)
{
    const struct hr_room *tightest = hr_room_tightest(reading);
    const double trouble_s = time_to_trouble(reading, horizon_s, *was_in_trouble);

    if (tightest != NULL)
        submit_gauge(submission, "percent", "room", tightest->room_pct);
    if (reading->cpu.status == 0) {
        submit_gauge(submission, "percent", "room-cpu", reading->cpu.room_pct);
        submit_gauge(submission, "vcpu", "room", reading->cpu.left);
    }
    if (reading->memory.status == 0) {
        submit_gauge(submission, "percent", "room-memory", reading->memory.room_pct);
        submit_gauge(submission, "percent", "room-memory-most", hr_room_most_pct(&reading->memory));
        submit_gauge(submission, "memory", "room", reading->memory.left);
        submit_gauge(submission, "memory", "need", reading->memory.used);
        submit_gauge(submission, "memory", "limit", reading->memory.attainable);
    }
    if (reading->io.room.status == 0)
        submit_gauge(submission, "percent", "room-io", reading->io.room.room_pct);
    submit_gauge(submission, "duration", "to_trouble", trouble_s);
    *was_in_trouble |= trouble_s <= 0;
    values_submit_kills(submission, reading);
}
