#include "psi/waiting_tasks.h"

#include <errno.h>

#include "common/complaint.h"
#include "headroom/clock.h"
#include "headroom/taskstats.h"
#include "headroom/waiters.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

/* Who waited for less isn't named. */
#define WORTH_NAMING_NS 10000

void psi_who_end(struct psi_who *who)
{
    hr_taskstats_close(who->taskstats);
    who->taskstats = NULL;
}

static void tell_connection(struct psi_who *who, int status)
{
    struct hr_reason reason;

    if (status == 0) {
        complaint_resolve(&who->connection, PLUGIN ": alerts can name waiting tasks again.");
        return;
    }
    hr_waiters_explain(status, &reason);
    complaint_log(&who->connection, LOG_WARNING, status,
                  PLUGIN ": alerts can't name waiting tasks: %s.", reason.text);
}

static void tell_accounting(struct psi_who *who, int status)
{
    struct hr_reason reason;

    hr_waiters_explain(status, &reason);
    if (status == -EOPNOTSUPP)
        complaint_log(&who->accounting, LOG_WARNING, status,
                      PLUGIN ": alerts can't name tasks that wait for memory, io or irq: %s.",
                      reason.text);
    else if (status == -ENODATA)
        complaint_log(&who->accounting, LOG_WARNING, status,
                      PLUGIN ": alerts can't name waiting tasks: %s.", reason.text);
    else if (status == 0)
        complaint_resolve(&who->accounting, PLUGIN ": delays are accounted again.");
}

/* What says nothing of the connection. */
static bool is_of_group_or_accounting(int status)
{
    return status == -ENODEV || status == -EOPNOTSUPP || status == -ENODATA;
}

static int open_connection(struct psi_who *who)
{
    if (who->taskstats != NULL)
        return 0;
    int status = hr_taskstats_open(NULL, &who->taskstats);
    /* Whether rights suffice is seen at the first question. */
    if (status < 0)
        tell_connection(who, status);
    return status;
}

/* How many tasks may be looked at now. */
static size_t allowance(const struct psi_rule *rule, struct psi_who_budget *budget)
{
    uint64_t now_ns = hr_clock_ns();

    if (now_ns - budget->second_ns >= HR_NS_PER_S)
        *budget = (struct psi_who_budget){.second_ns = now_ns};
    return budget->looked_count < rule->top_tasks_limit
               ? rule->top_tasks_limit - budget->looked_count
               : 0;
}

int psi_who_ask(struct psi_who *who, const struct psi_rule *rule, struct psi_who_budget *budget,
                const struct hr_cgroup *group, struct hr_waiters **waiters)
{
    const enum hr_psi_resource resource = rule->trigger.resource;
    size_t limit = allowance(rule, budget);

    *waiters = NULL;
    if (limit == 0)
        return -EBUSY;
    int status = hr_waiters_check(who->root, resource);
    if (status == 0)
        status = open_connection(who);
    if (status == 0) {
        status = hr_waiters_open(who->root, group, who->taskstats, resource, limit, waiters);
        if (!is_of_group_or_accounting(status))
            tell_connection(who, status);
    }
    /* cpu is always accounted, so it says nothing of the others */
    if (status != 0 || resource != HR_PSI_CPU)
        tell_accounting(who, status);
    if (status == 0)
        budget->looked_count += hr_waiters_sampled_count(*waiters);
    return status;
}

void psi_who_answer(struct hr_waiters *waiters, const struct psi_rule *rule,
                    struct psi_waiting *waiting)
{
    int status = hr_waiters_read(waiters, waiting->top, rule->top_tasks, &waiting->report);

    if (status < 0)
        psi_who_explain(status, waiting);
    size_t *count = &waiting->report.count;
    while (status == 0 && *count > 0 && waiting->top[*count - 1].waited_ns < WORTH_NAMING_NS)
        --*count;
    hr_waiters_close(waiters);
}

void psi_who_explain(int status, struct psi_waiting *waiting)
{
    struct hr_reason reason;

    if (status == -EBUSY) {
        sstrncpy(waiting->unknown, "too many tasks in this second (TopTasksLimit)",
                 sizeof(waiting->unknown));
        return;
    }
    hr_waiters_explain(status, &reason);
    char *remedy = strstr(reason.text, ": ");
    if (remedy != NULL)
        *remedy = '\0';
    sstrncpy(waiting->unknown, reason.text, sizeof(waiting->unknown));
}
