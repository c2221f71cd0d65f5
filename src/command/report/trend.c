/* SPDX-License-Identifier: MIT */
#include "report/trend.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"
#include "headroom/room_history.h"
#include "headroom/state_file.h"
#include "headroom/utf8.h"

static void explain(int status, const char *path, struct hr_reason *reason)
{
    char *text = reason->text;
    const size_t size = sizeof(reason->text);

    reason->error = status;
    if (status == -ENODATA)
        snprintf(text, size, "nothing is saved of it yet, which is done every ten minutes");
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

static int read_saved(const char *path, const struct hr_room_source *source,
                      struct hr_forecast *forecast, uint64_t *time_ns)
{
    char *bytes;
    size_t length;

    int status = hr_state_file_read_all(path, &bytes, &length);
    if (status < 0)
        return status;
    status = hr_room_history_find(source, bytes, length, forecast, time_ns);
    free(bytes);
    return status;
}

/* From the time of saving to now. */
static void bring_forward(struct hr_outlook *outlook, double age_s)
{
    outlook->trouble_s = fmax(outlook->trouble_s - age_s, 0);
    outlook->early_s = fmax(outlook->early_s - age_s, 0);
    outlook->late_s = fmax(outlook->late_s - age_s, 0);
}

void trend_read(const char *path, const struct hr_room_source *source, double limit,
                struct trend *trend)
{
    struct hr_forecast forecast;
    uint64_t time_ns;

    *trend = (struct trend){.highest = NAN, .slope_per_s = NAN};
    int status = read_saved(path, source, &forecast, &time_ns);
    if (status < 0) {
        explain(status, path, &trend->unknown);
        return;
    }
    trend->age_s = (double)(hr_clock_ns() - time_ns) / HR_NS_PER_S;
    hr_forecast_update(&forecast, time_ns, NAN, limit, &trend->outlook);
    bring_forward(&trend->outlook, trend->age_s);
    trend->highest = hr_forecast_highest(&forecast);
    take_window(&forecast, choose_window(&forecast, trend->outlook.window_s), trend);
}
