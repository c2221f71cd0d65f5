/* SPDX-License-Identifier: MIT */
#include "psi/waiting_tasks.h"

#include <errno.h>
#include <unistd.h>

#include "common/complaint.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/taskstats.h"
#include "headroom/waiters.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

/* Tasks that waited for less aren't named. */
#define WORTH_NAMING_NS 10000

void psi_task_source_close(struct psi_task_source *source)
{
    hr_taskstats_close(source->taskstats);
    source->taskstats = NULL;
}

static void log_connection(struct psi_task_source *source, int status)
{
    struct hr_reason reason;

    if (status == 0) {
        complaint_resolve(&source->connection, PLUGIN ": alerts can name waiting tasks again.");
        return;
    }
    hr_waiters_explain(status, &reason);
    complaint_log(&source->connection, LOG_WARNING, status,
                  PLUGIN ": alerts can't name waiting tasks: %s.", reason.text);
}

static void log_accounting(struct psi_task_source *source, int status)
{
    struct hr_reason reason;

    hr_waiters_explain(status, &reason);
    if (status == -EOPNOTSUPP)
        complaint_log(&source->accounting, LOG_WARNING, status,
                      PLUGIN ": alerts can't name tasks that wait for memory, io or irq: %s.",
                      reason.text);
    else if (status == -ENODATA)
        complaint_log(&source->accounting, LOG_WARNING, status,
                      PLUGIN ": alerts can't name waiting tasks: %s.", reason.text);
    else if (status == 0)
        complaint_resolve(&source->accounting, PLUGIN ": delays are accounted again.");
}

/* Whether an error has nothing to do with the connection. */
static bool is_of_group_or_accounting(int status)
{
    return status == -ENODEV || status == -EOPNOTSUPP || status == -ENODATA;
}

static int open_connection(struct psi_task_source *source)
{
    if (source->taskstats != NULL)
        return 0;
    int status = hr_taskstats_open(NULL, &source->taskstats);
    /* Missing rights show only at the first request. */
    if (status < 0)
        log_connection(source, status);
    return status;
}

/* How many tasks may be sampled now. */
static size_t remaining_tasks(const struct psi_rule *rule, struct psi_task_budget *budget)
{
    uint64_t now_ns = hr_clock_ns();

    if (now_ns - budget->second_ns >= HR_NS_PER_S)
        *budget = (struct psi_task_budget){.second_ns = now_ns};
    return budget->sampled_count < rule->top_tasks_limit
               ? rule->top_tasks_limit - budget->sampled_count
               : 0;
}

static int open_waiters(struct psi_task_source *source, const struct psi_rule *rule,
                        struct psi_task_budget *budget, const struct hr_cgroup *group,
                        struct hr_waiters **waiters)
{
    const enum hr_psi_resource resource = rule->trigger.resource;
    size_t limit = remaining_tasks(rule, budget);

    *waiters = NULL;
    if (limit == 0)
        return -EBUSY;
    int status = hr_waiters_check(source->root, resource);
    if (status == 0)
        status = open_connection(source);
    if (status == 0) {
        status = hr_waiters_open(source->root, group, source->taskstats, resource, limit, waiters);
        if (!is_of_group_or_accounting(status))
            log_connection(source, status);
    }
    /* cpu delays are always accounted, so success says nothing of the others. */
    if (status != 0 || resource != HR_PSI_CPU)
        log_accounting(source, status);
    if (status == 0)
        budget->sampled_count += hr_waiters_sampled_count(*waiters);
    return status;
}

static void read_waiters(struct hr_waiters *waiters, const struct psi_rule *rule,
                         struct psi_waiting *waiting)
{
    int status = hr_waiters_read(waiters, waiting->top, rule->top_tasks, &waiting->report);

    if (status < 0)
        psi_waiting_explain(status, waiting);
    size_t *count = &waiting->report.count;
    while (status == 0 && *count > 0 && waiting->top[*count - 1].waited_ns < WORTH_NAMING_NS)
        --*count;
    hr_waiters_close(waiters);
}

void psi_waiting_explain(int status, struct psi_waiting *waiting)
{
    struct hr_reason reason;

    if (status == -EBUSY) {
        sstrncpy(waiting->unknown, "there are more in this second than TopTasksLimit",
                 sizeof(waiting->unknown));
        return;
    }
    hr_waiters_explain(status, &reason);
    char *remedy = strstr(reason.text, ": ");
    if (remedy != NULL)
        *remedy = '\0';
    sstrncpy(waiting->unknown, reason.text, sizeof(waiting->unknown));
}

/* The group itself may be gone: it is known by its directory only. */
static int run_first(struct psi_scan *scan)
{
    const struct hr_cgroup group = {.dirfd = scan->dirfd};

    if (scan->blame != NULL)
        scan->measurement = psi_blame_begin(scan->blame, scan->group_id);
    if (scan->rule->top_tasks == 0)
        return 0;
    if (!scan->of_system && scan->dirfd < 0)
        return scan->dirfd;
    int status = open_waiters(scan->source, scan->rule, scan->budget,
                              scan->of_system ? NULL : &group, &scan->waiters);
    if (!scan->of_system)
        close(scan->dirfd);
    return status;
}

static void run_second(struct psi_scan *scan)
{
    psi_blame_end(scan->blame, scan->measurement, &scan->takers);
    scan->measurement = NULL;
    if (scan->waiters != NULL)
        read_waiters(scan->waiters, scan->rule, &scan->waiting);
    else if (scan->status < 0)
        psi_waiting_explain(scan->status, &scan->waiting);
    scan->waiters = NULL;
}

void psi_scan_run(struct psi_scan *scan)
{
    if (scan->is_second)
        run_second(scan);
    else
        scan->status = run_first(scan);
}
