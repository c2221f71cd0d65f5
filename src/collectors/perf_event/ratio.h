/* SPDX-License-Identifier: MIT */
/*
 * perf_event/ratio.h - the roles of events in ratios.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_RATIO_H
#define HEADROOM_COLLECTORS_PERF_EVENT_RATIO_H

#include "perf_event/pmu.h"

struct hr_perf_ratio_role {
    enum hr_perf_role role;
    uint64_t cache;
};

/** The role of an event by its type and config in perf_event_open(2). */
struct hr_perf_ratio_role hr_perf_role_of_generic(uint32_t type, uint64_t config);

/**
 * The role of a PMU's alias of a generic event.
 *
 * @param is_hybrid  there are several kinds of core, whose events must not be mixed in one ratio.
 */
struct hr_perf_ratio_role hr_perf_role_of_alias(struct hr_text alias, const struct hr_perf_pmu *pmu,
                                                bool is_hybrid);

#endif
