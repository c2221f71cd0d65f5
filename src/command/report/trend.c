/* SPDX-License-Identifier: MIT */
#include "report/trend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configured/used_features.h"
#include "headroom/clock.h"
#include "headroom/room_history.h"
#include "headroom/state_file.h"
#include "headroom/utf8.h"
#include "report/rooms.h"

static void explain_unknown_trend(int status, const char *path, struct hr_reason *reason)
{
    char *text = reason->text;
    const size_t size = sizeof(reason->text);

    reason->error = status;
    if (status == -ENODATA)
        snprintf(text, size,
                 "nothing has been saved of it yet: the headroom plugin saves every ten minutes");
    else if (status == -ENOENT)
        snprintf(
            text, size,
            "%s isn't there: the headroom plugin writes it every ten minutes, and when collectd "
            "stops (options StateFile and BaseDir; --config)",
            path);
    else if (status == -EACCES)
        snprintf(text, size, "no permission to read %s: run this as collectd's user", path);
    else if (status == -EPERM)
        snprintf(
            text, size,
            "%s is another user's, may be written by others, or isn't a regular file: run this as "
            "collectd's user",
            path);
    else if (status == -ESTALE)
        snprintf(text, size, "%s is of another boot, or of another version", path);
    else if (status == -EBADMSG)
        snprintf(text, size, "%s is damaged", path);
    else
        snprintf(text, size, "%s can't be read: %s", path, strerror(-status));
    hr_utf8_make_safe(text);
}

/* @param window_s  of the trusted trend; 0: there is none. */
static size_t choose_window(const struct hr_forecast *forecast, double window_s)
{
    double point_s = (double)forecast->point_ns / HR_NS_PER_S;
    size_t chosen = 0;

    for (size_t i = 0; i < HR_FORECAST_WINDOWS; i++, point_s *= HR_FORECAST_LONGER) {
        if (window_s > 0 && point_s * HR_FORECAST_POINTS > window_s * 0.99)
            return i;
        if (forecast->windows[i].is_fit)
            chosen = i;
    }
    return chosen;
}

static void take_window(const struct hr_forecast *forecast, size_t chosen, struct trend *trend)
{
    const struct hr_forecast_window *window = &forecast->windows[chosen];

    trend->point_s = (double)forecast->point_ns / HR_NS_PER_S;
    for (size_t i = 0; i < chosen; i++)
        trend->point_s *= HR_FORECAST_LONGER;
    hr_forecast_copy_points(window, trend->points);
    trend->slope_per_s = window->is_fit ? (double)window->slope / trend->point_s : NAN;
}

static double seconds_since(uint64_t time_ns)
{
    return (double)(hr_clock_ns() - time_ns) / HR_NS_PER_S;
}

/* --- The trend -------------------------------------------------------------------------- */

/* From the time of saving to now. */
static void bring_forward(struct hr_outlook *outlook, double age_s)
{
    outlook->trouble_s = fmax(outlook->trouble_s - age_s, 0);
    outlook->early_s = fmax(outlook->early_s - age_s, 0);
    outlook->late_s = fmax(outlook->late_s - age_s, 0);
}

static void take_trend(const struct hr_forecast *saved, uint64_t time_ns, double limit,
                       struct trend *trend)
{
    struct hr_forecast forecast = *saved;

    trend->age_s = seconds_since(time_ns);
    hr_forecast_update(&forecast, time_ns, NAN, limit, &trend->outlook);
    bring_forward(&trend->outlook, trend->age_s);
    trend->highest = hr_forecast_highest(&forecast);
    take_window(&forecast, choose_window(&forecast, trend->outlook.window_s), trend);
}

/* --- The stalls ---------------------------------------------------------------------------- */

static void add_stall(struct past *past, const struct past_stall *stall)
{
    size_t at = past->count;

    if (stall->pct < WORTH_NAMING_PCT)
        return;
    for (; at > 0 && past->stalls[at - 1].pct < stall->pct; at--)
        past->stalls[at] = past->stalls[at - 1];
    past->stalls[at] = *stall;
    past->count++;
}

static void take_past(const struct hr_stall_hour *hour, uint64_t time_ns, struct past *past)
{
    past->age_s = seconds_since(time_ns);
    for (int i = 0; i < HR_PSI_IRQ; i++) {
        double pct[HR_STALL_PART_COUNT];
        past->known_s = fmax(past->known_s, hr_stall_hour_sum(hour, time_ns, i, pct));
        for (int j = 0; j < HR_STALL_PART_COUNT; j++)
            add_stall(past, &(struct past_stall){i, j, pct[j]});
    }
}

/* --- Both ------------------------------------------------------------------------------------ */

int saved_trends_read(const struct usage *usage, struct saved_trends *saved)
{
    *saved = (struct saved_trends){.path = usage_history_path(usage)};
    if (saved->path == NULL)
        return -ENOMEM;
    saved->status = hr_state_file_read_all(saved->path, &saved->bytes, &saved->length);
    return 0;
}

void saved_trends_free(struct saved_trends *saved)
{
    free(saved->path);
    free(saved->bytes);
}

void trend_find(const struct saved_trends *saved, const struct hr_room_source *source, double limit,
                struct trend *trend, struct past *past)
{
    struct hr_forecast forecast;
    struct hr_stall_hour hour;
    uint64_t time_ns;
    int status = saved->status;

    *trend = (struct trend){.highest = NAN, .slope_per_s = NAN};
    if (past != NULL)
        *past = (struct past){.count = 0};
    if (status == 0 && past != NULL &&
        hr_room_history_find_stalls(source, saved->bytes, saved->length, &hour, &time_ns) == 0)
        take_past(&hour, time_ns, past);
    if (status == 0)
        status = hr_room_history_find(source, saved->bytes, saved->length, &forecast, &time_ns);
    if (status == 0)
        take_trend(&forecast, time_ns, limit, trend);
    else
        explain_unknown_trend(status, saved->path, &trend->unknown);
}
