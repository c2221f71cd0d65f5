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
    struct complaint *complaint = &who->connection;

    if (status == 0)
        complaint_resolve(complaint, PLUGIN ": alerts name the tasks that wait again.");
    else if (status == -EPERM)
        complaint_log(complaint, LOG_WARNING, status,
                      PLUGIN ": alerts can't name the tasks that wait, as CAP_NET_ADMIN is "
                             "missing: add it to AmbientCapabilities= of collectd's service, or "
                             "run collectd as root.");
    else if (status == -EXDEV)
        complaint_log(complaint, LOG_WARNING, status,
                      PLUGIN ": alerts can't name the tasks that wait, as collectd runs in another "
                             "pid namespace than the host: run its container with the host's "
                             "(--pid=host, or hostPID: true).");
    else if (status == -EMFILE || status == -ENFILE)
        complaint_log(complaint, LOG_WARNING, status,
                      PLUGIN
                      ": alerts can't name the tasks that wait, as file descriptors ran out: "
                      "raise LimitNOFILE= of collectd's service (ulimit -n).");
    else if (status == -ENOENT)
        complaint_log(complaint, LOG_WARNING, status,
                      PLUGIN ": alerts can't name the tasks that wait, as there is no taskstats "
                             "here: it needs a kernel with CONFIG_TASKSTATS=y and "
                             "CONFIG_TASK_DELAY_ACCT=y, and the host's network namespace.");
    else
        complaint_log(complaint, LOG_WARNING, status,
                      PLUGIN ": alerts can't name the tasks that wait: %s.", STRERROR(-status));
}

static void tell_accounting(struct psi_who *who, int status)
{
    if (status == -EOPNOTSUPP)
        complaint_log(&who->accounting, LOG_WARNING, status,
                      PLUGIN ": alerts can't name the tasks that wait for memory, io or irq, as "
                             "delay accounting is off in the kernel: set sysctl "
                             "kernel.task_delayacct=1, which costs a little at each wait.");
    else if (status == -ENODATA)
        complaint_log(&who->accounting, LOG_WARNING, status,
                      PLUGIN ": alerts can't name the tasks that wait, as this kernel accounts "
                             "no delays: it needs CONFIG_TASK_DELAY_ACCT=y.");
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

    waiting->unknown = status < 0 ? psi_who_reason(status) : NULL;
    size_t *count = &waiting->report.count;
    while (status == 0 && *count > 0 && waiting->top[*count - 1].waited_ns < WORTH_NAMING_NS)
        --*count;
    hr_waiters_close(waiters);
}

const char *psi_who_reason(int status)
{
    switch (status) {
    case -EOPNOTSUPP:
        return "delay accounting off (kernel.task_delayacct=0)";
    case -EPERM:
        return "no CAP_NET_ADMIN";
    case -ENOENT:
        return "no taskstats";
    case -ENODATA:
        return "no delay accounting in this kernel";
    case -EBUSY:
        return "too many tasks in this second (TopTasksLimit)";
    case -ENODEV:
        return "the cgroup is gone";
    case -EXDEV:
        return "another pid namespace";
    case -EMFILE:
    case -ENFILE:
        return "no file descriptor left";
    default:
        return "the kernel could not be asked";
    }
}
