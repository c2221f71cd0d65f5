/* SPDX-License-Identifier: MIT */
#include "cgroup_perf/exceptions.h"

#include "common/log.h"

#define PLUGIN "cgroup_perf"

bool exceptions_are_there(const struct perf_events *events, const struct hr_perf *perf)
{
    for (size_t g = 0; g < events->group_count; g++)
        if (hr_perf_exception(perf, g) != NULL)
            return true;
    return false;
}

bool exceptions_log(struct exceptions *exceptions, const struct perf_events *events,
                    const struct hr_perf *perf)
{
    bool any_new = false;

    for (size_t g = 0; g < events->group_count && g < EXCEPTION_LINES; g++) {
        const struct hr_perf_event *event = hr_perf_exception(perf, g);
        if (event == NULL || exceptions->logged[g])
            continue;
        any_new = exceptions->logged[g] = true;
        INFO(PLUGIN ": the Event line with \"%s\" is counted by descriptors, and the others by "
                    "BPF, as %s: it takes %zu for the machine, and %zu for each cgroup.",
             event->text,
             event->whole_machine ? "that event counts for the whole machine"
                                  : "BPF programs can't read that event",
             hr_perf_group_file_count(perf, HR_PERF_SYSTEM, g),
             hr_perf_group_file_count(perf, HR_PERF_CGROUP, g));
    }
    return any_new;
}
