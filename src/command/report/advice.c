/* SPDX-License-Identifier: MIT */
#include "report/advice.h"

#include <math.h>
#include <stdio.h>

#include "headroom/quantity.h"
#include "report/trend.h"

/* Of what is used, so much may be files that aren't needed. */
#define UNSURE_PCT 5

static bool is_own(const struct hr_room *memory)
{
    return memory->bound != HR_ROOM_MACHINE && memory->level == 0;
}

static void set_none(struct advice *advice, const char *text)
{
    snprintf(advice->none.text, sizeof(advice->none.text), "%s", text);
}

/* By a trend; or, before that is trusted, by more than the margin within the window. */
static bool memory_grows(const struct hr_room *memory, const struct trend *trend)
{
    const double grown = trend->slope_per_s * trend->point_s * HR_FORECAST_POINTS;

    return trend->outlook.is_trend || 100 * grown > ADVICE_MARGIN_PCT * memory->used;
}

void advice_make(const struct hr_room *memory, const struct trend *trend, struct advice *advice)
{
    const double unsure = memory->used - memory->needed;

    /* Version 1 has one limit of memory, which is a hard one. */
    *advice = (struct advice){
        .bound = memory->version == 1 ? HR_ROOM_MEMORY_MAX : HR_ROOM_MEMORY_HIGH,
        .version = memory->version,
    };
    if (memory->status != 0)
        set_none(advice, "none, as its room by memory isn't known");
    else if (memory->is_in_trouble)
        set_none(advice, "none while it is in trouble by memory, as it may need more than it has");
    else if (isnan(trend->slope_per_s))
        set_none(advice, "none, as only what it needs now is known, and no trend of it");
    else if (memory_grows(memory, trend))
        set_none(advice, "none while its need grows, as that would reach any limit");
    else if (100 * unsure > UNSURE_PCT * memory->used)
        snprintf(advice->none.text, sizeof(advice->none.text),
                 "none, as its need isn't known: %s of the %s that it uses are files, of "
                 "which it may not need all (the wss plugin, with several windows, shows what it "
                 "needs)",
                 hr_quantity_bytes(unsure).text, hr_quantity_bytes(memory->used).text);
    if (advice->none.text[0] != '\0')
        return;
    advice->need = fmax(memory->used, trend->highest);
    advice->bytes = advice->need * (100 + ADVICE_MARGIN_PCT) / 100;
    advice->should_be = is_own(memory) && advice->bytes > memory->attainable;
    if (advice->should_be)
        advice->bound = memory->bound;
}
