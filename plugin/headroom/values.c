/* SPDX-License-Identifier: MIT */
#include "headroom/values.h"

#include <math.h>

static bool is_in_trouble(const struct hr_room *room)
{
    return room->status == 0 && room->is_in_trouble;
}

/* NAN: not known. */
static double time_to_trouble(const struct hr_room_reading *reading, double horizon_s)
{
    if (is_in_trouble(&reading->cpu) || is_in_trouble(&reading->memory))
        return 0;
    if (!reading->outlook.is_known)
        return NAN;
    return reading->outlook.is_trend ? fmin(reading->outlook.trouble_s, horizon_s) : horizon_s;
}

void values_submit_kills(const struct submission *submission, const struct hr_room_reading *reading)
{
    if (reading->has_oom_kills)
        submit_derive(submission, "total_operations", "oom_kill", (int64_t)reading->oom_kill_count);
}

void values_submit(const struct submission *submission, const struct hr_room_reading *reading,
                   double horizon_s)
{
    const struct hr_room *tightest = hr_room_tightest(reading);

    if (tightest != NULL)
        submit_gauge(submission, "percent", "room", tightest->room_pct);
    if (reading->cpu.status == 0) {
        submit_gauge(submission, "percent", "room-cpu", reading->cpu.room_pct);
        submit_gauge(submission, "vcpu", "room", reading->cpu.left);
    }
    if (reading->memory.status == 0) {
        submit_gauge(submission, "percent", "room-memory", reading->memory.room_pct);
        submit_gauge(submission, "memory", "room", reading->memory.left);
        submit_gauge(submission, "memory", "need", reading->memory.used);
        submit_gauge(submission, "memory", "limit", reading->memory.attainable);
    }
    submit_gauge(submission, "duration", "to_trouble", time_to_trouble(reading, horizon_s));
    values_submit_kills(submission, reading);
}
