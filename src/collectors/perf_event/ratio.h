/* SPDX-License-Identifier: MIT */
/*
 * perf_event/ratio.h - which events ratios can be made of.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_RATIO_H
#define HEADROOM_COLLECTORS_PERF_EVENT_RATIO_H

#include "perf_event/pmu.h"

struct hr_perf_ratio_role {
    enum hr_perf_role role;
    uint64_t cache;
};

/** The role of what perf_event_open(2) takes as a type and config. */
struct hr_perf_ratio_role hr_perf_role_of_generic(uint32_t type, uint64_t config);

/**
 * The role of a PMU's own name for a generic event.
 *
 * @param is_hybrid  there are other kinds of core, whose events this one's must not be mixed with.
 */
struct hr_perf_ratio_role hr_perf_role_of_alias(struct hr_text alias, const struct hr_perf_pmu *pmu,
                                                bool is_hybrid);

#endif
