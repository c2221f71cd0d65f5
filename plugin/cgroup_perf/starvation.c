/* SPDX-License-Identifier: MIT */
#include "cgroup_perf/starvation.h"

#include "common/log.h"
#include "headroom/clock.h"

#define PLUGIN "cgroup_perf"

/* A group of events that had no turn for this long is logged. Groups take turns every few ms. */
#define STARVED_NS (5 * HR_NS_PER_S)

void starvation_record(struct starvation *starvation, size_t line, const char *group,
                       uint64_t starved_ns)
{
    if (line >= STARVATION_LINES || starved_ns < STARVED_NS)
        return;
    struct starvation_line *of = &starvation->lines[line];
    if (of->count++ == 0 && !of->logged)
        snprintf(of->where, sizeof(of->where), "%s", group != NULL ? group : "the machine");
}

void starvation_log(struct starvation *starvation, size_t line, const char *event)
{
    if (line >= STARVATION_LINES)
        return;
    struct starvation_line *of = &starvation->lines[line];
    if (of->count > 0 && !of->logged)
        WARNING(PLUGIN
                ": the Event line with \"%s\" got no hardware counter during %g s of CPU time "
                "of %s, so its events aren't published there: it has more events than there "
                "are free counters. Split it, or free a counter (sysctl "
                "kernel.nmi_watchdog=0).",
                event, (double)STARVED_NS / 1e9, of->where);
    if (of->count == 0 && of->logged)
        INFO(PLUGIN ": the Event line with \"%s\", which got no hardware counter in %s, gets one "
                    "wherever it is counted.",
             event, of->where);
    of->logged = of->count > 0;
    of->count = 0;
}
