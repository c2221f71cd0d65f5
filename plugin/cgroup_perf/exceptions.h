/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/exceptions.h - logs the lines of events that are counted by descriptors though others
 * are counted by BPF: each once.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_EXCEPTIONS_H
#define HEADROOM_PLUGIN_CGROUP_PERF_EXCEPTIONS_H

#include "cgroup_perf/events.h"

/** Lines of events beyond this aren't logged. */
#define EXCEPTION_LINES 256

/** All zeros: none is known. */
struct exceptions {
    bool logged[EXCEPTION_LINES];
};

/** Whether there are any. */
bool exceptions_are_there(const struct perf_events *events, const struct hr_perf *perf);

/** Logs those that are new. @return whether there are any. */
bool exceptions_log(struct exceptions *exceptions, const struct perf_events *events,
                    const struct hr_perf *perf);

#endif
