/* SPDX-License-Identifier: MIT */
#include "perf/budget.h"

#include "headroom/clock.h"
#include "headroom/descriptor.h"

void hr_perf_budget_init(struct hr_perf_budget *budget, size_t max, uint64_t retry_ns)
{
    *budget = (struct hr_perf_budget){.max = max != 0 ? max : SIZE_MAX, .retry_ns = retry_ns};
}

size_t hr_perf_budget_update_limit(struct hr_perf_budget *budget)
{
    struct hr_perf_files *files = &budget->files;
    const size_t share = hr_descriptor_share(HR_KEEP_FILE);

    files->limit = budget->max;
    files->limited_by = HR_PERF_BY_OPTION;
    if (share < files->limit) {
        files->limit = share;
        files->limited_by = HR_PERF_BY_RLIMIT;
    }
    if (budget->shortage_at != 0 && hr_clock_ns() - budget->shortage_ns >= budget->retry_ns)
        budget->shortage_at = 0;
    if (budget->shortage_at != 0 && budget->shortage_at < files->limit) {
        files->limit = budget->shortage_at;
        files->limited_by = HR_PERF_BY_OTHERS;
    }
    return files->limit;
}

bool hr_perf_budget_reserve(struct hr_perf_budget *budget, size_t count)
{
    struct hr_perf_files *files = &budget->files;

    if (files->open + count > hr_perf_budget_update_limit(budget))
        return false;
    files->open += count;
    return true;
}

void hr_perf_budget_release(struct hr_perf_budget *budget, size_t count)
{
    budget->files.open -= count;
}

void hr_perf_budget_note_shortage(struct hr_perf_budget *budget)
{
    /* At least 1, as 0 means that there was no shortage. */
    budget->shortage_at = budget->files.open > 0 ? budget->files.open : 1;
    budget->shortage_ns = hr_clock_ns();
}

void hr_perf_budget_update_wanted(struct hr_perf_budget *budget, size_t before, size_t count)
{
    budget->files.wanted += count - before;
}
