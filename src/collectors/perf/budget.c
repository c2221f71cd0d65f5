/* SPDX-License-Identifier: MIT */
#include "perf/budget.h"

#include <sys/resource.h>
#include <sys/select.h>

#include "headroom/clock.h"

/* For descriptors that are open for a moment only, and for those of others above FD_SETSIZE. */
#define MARGIN 64

void hr_perf_budget_init(struct hr_perf_budget *budget, size_t max, uint64_t retry_ns)
{
    *budget = (struct hr_perf_budget){.max = max != 0 ? max : SIZE_MAX, .retry_ns = retry_ns};
}

/* The counters may use all but a quarter of a limit. */
static size_t usable_share(rlim_t limit)
{
    return limit == RLIM_INFINITY ? SIZE_MAX : (size_t)(limit - limit / 4);
}

/* Raises the limit only as far as needed, as it applies to the whole process. The counters' numbers
 * start where those of select(2) end, and a quarter of the limit is left to others. */
static void raise_soft_limit(struct hr_perf_budget *budget, struct rlimit *limit, size_t count)
{
    const rlim_t numbers = FD_SETSIZE + (rlim_t)count;
    struct rlimit raised = *limit;

    raised.rlim_cur = numbers + numbers / 3 + MARGIN;
    if (raised.rlim_cur > limit->rlim_max)
        raised.rlim_cur = limit->rlim_max;
    if (raised.rlim_cur <= limit->rlim_cur || setrlimit(RLIMIT_NOFILE, &raised) < 0)
        return;
    *limit = raised;
    budget->files.raised_to = (size_t)raised.rlim_cur;
}

void hr_perf_budget_raise_limit(struct hr_perf_budget *budget, size_t count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        raise_soft_limit(budget, &limit, count);
}

/* Updates the limit, after raising it so that `count` descriptors fit, if possible. */
static void update_limit(struct hr_perf_budget *budget, size_t count)
{
    struct hr_perf_files *files = &budget->files;
    struct rlimit limit;

    hr_perf_budget_raise_limit(budget, count < budget->max ? count : budget->max);
    files->limit = budget->max;
    files->limited_by = HR_PERF_BY_OPTION;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && usable_share(limit.rlim_cur) < files->limit) {
        files->limit = usable_share(limit.rlim_cur);
        files->limited_by = HR_PERF_BY_RLIMIT;
    }
    if (budget->shortage_at != 0 && hr_clock_ns() - budget->shortage_ns >= budget->retry_ns)
        budget->shortage_at = 0;
    if (budget->shortage_at != 0 && budget->shortage_at < files->limit) {
        files->limit = budget->shortage_at;
        files->limited_by = HR_PERF_BY_OTHERS;
    }
}

bool hr_perf_budget_reserve(struct hr_perf_budget *budget, size_t count)
{
    struct hr_perf_files *files = &budget->files;

    /* Raise the limit once for all targets rather than step by step. */
    size_t wanted = files->wanted > files->open + count ? files->wanted : files->open + count;
    update_limit(budget, wanted);
    if (files->open + count > files->limit)
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
