/* SPDX-License-Identifier: MIT */
/*
 * perf/budget.h - how many descriptors the counters may take.
 *
 * They are counted before they are opened, so that a target that doesn't fit costs nothing. A
 * quarter of RLIMIT_NOFILE is left to the rest of the process.
 */
#ifndef HEADROOM_COLLECTORS_PERF_BUDGET_H
#define HEADROOM_COLLECTORS_PERF_BUDGET_H

#include <errno.h>

#include "headroom/perf.h"

/** Descriptors ran out, of the process or of the machine. */
static inline bool hr_perf_is_out_of_files(int status)
{
    return status == -EMFILE || status == -ENFILE;
}

struct hr_perf_budget {
    size_t max; /**< struct hr_perf_options.max_files */
    uint64_t retry_ns;
    struct hr_perf_files files;
    size_t shortage_at; /**< the kernel had no more when so many were open; 0: it had */
    uint64_t shortage_ns;
};

void hr_perf_budget_init(struct hr_perf_budget *budget, size_t max, uint64_t retry_ns);

/** Raises the limit of the process, if the hard limit allows, so that so many can be had. */
void hr_perf_budget_raise_limit(struct hr_perf_budget *budget, size_t count);

/** Takes so many; makes room for them. @return whether they fit. */
bool hr_perf_budget_reserve(struct hr_perf_budget *budget, size_t count);

/** Gives so many back. */
void hr_perf_budget_release(struct hr_perf_budget *budget, size_t count);

/** Notes that descriptors ran out though they should have sufficed: others took them. No more are
 * taken until retry_ns later, or until some are given back. */
void hr_perf_budget_note_shortage(struct hr_perf_budget *budget);

/** Notes that a target wants so many descriptors, and wanted `before`. */
void hr_perf_budget_update_wanted(struct hr_perf_budget *budget, size_t before, size_t count);

#endif
