/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/starvation.h - logs when the events of a line get no counter: once when it begins,
 * with where, and when it is over.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_STARVATION_H
#define HEADROOM_PLUGIN_CGROUP_PERF_STARVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Lines of events beyond this aren't watched. */
#define STARVATION_LINES 64

/** One line; all zeros: it isn't known to starve. */
struct starvation_line {
    bool logged;
    char where[256]; /**< the target that was logged: its path, or "the machine" */
    size_t count;    /**< targets where it starves in this interval */
};

struct starvation {
    struct starvation_line lines[STARVATION_LINES];
};

/**
 * Records how long a line has had no turn in a target.
 *
 * @param group       the cgroup's path; NULL: the machine.
 * @param starved_ns  hr_perf_target_starved_ns()
 */
void starvation_record(struct starvation *starvation, size_t line, const char *group,
                       uint64_t starved_ns);

/** Logs what began or ended in this interval for a line, and starts the next. @param event  its
 * first event. */
void starvation_log(struct starvation *starvation, size_t line, const char *event);

#endif
