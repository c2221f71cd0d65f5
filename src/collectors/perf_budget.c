#include "perf_budget.h"

#include <sys/resource.h>

#include "clock.h"

void hr_perf_budget_init(struct hr_perf_budget *budget, size_t max, uint64_t retry_ns)
{
    *budget = (struct hr_perf_budget){.max = max != 0 ? max : SIZE_MAX, .retry_ns = retry_ns};
}

/* What the counters may have of a limit: all but a quarter. */
static size_t share(rlim_t limit)
{
    return limit == RLIM_INFINITY ? SIZE_MAX : (size_t)(limit - limit / 4);
}

/* Only as far as it takes: each of the process's other parts sees this limit, too. */
static void raise_limit(struct hr_perf_budget *budget, struct rlimit *limit, size_t count)
{
    struct rlimit raised = *limit;

    raised.rlim_cur = (rlim_t)count + count / 3 + 1;
    if (raised.rlim_cur > limit->rlim_max)
        raised.rlim_cur = limit->rlim_max;
    if (raised.rlim_cur <= limit->rlim_cur || setrlimit(RLIMIT_NOFILE, &raised) < 0)
        return;
    *limit = raised;
    budget->files.raised_to = (size_t)raised.rlim_cur;
}

/* Brings the limit up to date, so that `count` fit if that can be. */
static void update_limit(struct hr_perf_budget *budget, size_t count)
{
    struct hr_perf_files *files = &budget->files;
    struct rlimit limit;

    files->limit = budget->max;
    files->limited_by_option = true;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    size_t needed = count < budget->max ? count : budget->max;
    if (share(limit.rlim_cur) < needed)
        raise_limit(budget, &limit, needed);
    if (share(limit.rlim_cur) < files->limit) {
        files->limit = share(limit.rlim_cur);
        files->limited_by_option = false;
    }
    if (budget->ran_out_at != 0 && hr_clock_ns() - budget->ran_out_ns >= budget->retry_ns)
        budget->ran_out_at = 0;
    if (budget->ran_out_at != 0 && budget->ran_out_at < files->limit) {
        files->limit = budget->ran_out_at;
        files->limited_by_option = false;
    }
}

bool hr_perf_budget_take(struct hr_perf_budget *budget, size_t count)
{
    struct hr_perf_files *files = &budget->files;

    /* What others want, too, is raised for at once, rather than step by step. */
    size_t wanted = files->wanted > files->open + count ? files->wanted : files->open + count;
    update_limit(budget, wanted);
    if (files->open + count > files->limit)
        return false;
    files->open += count;
    return true;
}

void hr_perf_budget_return(struct hr_perf_budget *budget, size_t count)
{
    budget->files.open -= count;
}

void hr_perf_budget_ran_out(struct hr_perf_budget *budget)
{
    /* At least one, as 0 says that there was no shortage. */
    budget->ran_out_at = budget->files.open > 0 ? budget->files.open : 1;
    budget->ran_out_ns = hr_clock_ns();
}

void hr_perf_budget_want(struct hr_perf_budget *budget, size_t before, size_t count)
{
    budget->files.wanted += count - before;
}
