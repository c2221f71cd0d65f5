/* SPDX-License-Identifier: MIT */
/*
 * perf/budget.h - limits the descriptors of the counters.
 *
 * Descriptors are reserved before they are opened, so that a target that doesn't fit costs nothing.
 */
#ifndef HEADROOM_COLLECTORS_PERF_BUDGET_H
#define HEADROOM_COLLECTORS_PERF_BUDGET_H

#include <errno.h>

#include "headroom/perf.h"

/** Whether a call failed because the process or the machine ran out of descriptors. */
static inline bool hr_perf_is_out_of_files(int status)
{
    return status == -EMFILE || status == -ENFILE;
}

struct hr_perf_budget {
    size_t max; /**< struct hr_perf_options.max_files */
    uint64_t retry_ns;
    struct hr_perf_files files;
    size_t shortage_at; /**< `files.open` when descriptors ran out; 0: they didn't */
    uint64_t shortage_ns;
};

void hr_perf_budget_init(struct hr_perf_budget *budget, size_t max, uint64_t retry_ns);

/** Finds out what limits the descriptors now. @return the limit */
size_t hr_perf_budget_update_limit(struct hr_perf_budget *budget);

/** Reserves descriptors. @return whether they fit. */
bool hr_perf_budget_reserve(struct hr_perf_budget *budget, size_t count);

/** Releases reserved descriptors. */
void hr_perf_budget_release(struct hr_perf_budget *budget, size_t count);

/** Records that descriptors ran out below the limit, as others use them. No more are then reserved
 * until retry_ns later, or until some are released. */
void hr_perf_budget_note_shortage(struct hr_perf_budget *budget);

/** Updates the sum of `wanted`: a target needs `count` descriptors, and needed `before`. */
void hr_perf_budget_update_wanted(struct hr_perf_budget *budget, size_t before, size_t count);

#endif
