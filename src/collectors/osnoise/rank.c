/* SPDX-License-Identifier: MIT */
#include "osnoise/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/text.h"
#include "headroom/root.h"
#include "process/stat.h"
#include "process/task_list.h"

static int set_rank(pid_t thread, const struct hr_priority *priority)
{
    static const int policies[] = {
        [HR_POLICY_IDLE] = SCHED_IDLE,
        [HR_POLICY_OTHER] = SCHED_OTHER,
        [HR_POLICY_ROUND_ROBIN] = SCHED_RR,
        [HR_POLICY_FIFO] = SCHED_FIFO,
    };
    const bool is_real_time = priority->policy > HR_POLICY_OTHER;
    const struct sched_param param = {.sched_priority = is_real_time ? priority->value : 0};

    if ((is_real_time || sched_getscheduler(thread) != policies[priority->policy]) &&
        sched_setscheduler(thread, policies[priority->policy], &param) < 0)
        return -errno;
    if (priority->policy != HR_POLICY_OTHER)
        return 0;
    if (getpriority(PRIO_PROCESS, (id_t)thread) != priority->value &&
        setpriority(PRIO_PROCESS, (id_t)thread, priority->value) < 0)
        return -errno;
    return 0;
}

/* "osnoise/3" or "timerlat/3" */
static bool is_worker(const struct hr_process_stat *stat, const struct hr_cpu_set *cpus)
{
    struct hr_text rest = {stat->name, strlen(stat->name)};
    uint64_t cpu;

    return stat->is_kernel_thread &&
           (hr_text_skip(&rest, "osnoise/") || hr_text_skip(&rest, "timerlat/")) &&
           hr_text_u64(&rest, &cpu) && rest.length == 0 && cpu < HR_CPU_MAX &&
           hr_cpu_set_has(cpus, (unsigned)cpu);
}

enum choice { ALL, ENDING };

/* The kernel waits for a thread that it stops, which only sees that when it runs: an idle one not
 * while others do, one of a real-time rank not beside those above it. */
static const struct hr_priority *priority_to_end(pid_t task)
{
    static const struct hr_priority ordinary = {HR_POLICY_OTHER, 0}, highest = {HR_POLICY_FIFO, 99};

    switch (sched_getscheduler(task)) {
    case SCHED_IDLE:
        return &ordinary;
    case SCHED_FIFO:
    case SCHED_RR:
        return &highest;
    default:
        return NULL; /* that it has */
    }
}

/* @return 1, 0, or a negative errno. */
static int rank_task(const struct hr_root *root, pid_t task, const struct hr_cpu_set *cpus,
                     enum choice choice, const struct hr_priority *priority)
{
    struct hr_process_stat stat;
    char path[32];

    snprintf(path, sizeof(path), "proc/%d/stat", (int)task);
    if (hr_process_stat_read_and_close(hr_root_openat(root, path, O_RDONLY), &stat) < 0)
        return 0; /* it has ended */
    if (!is_worker(&stat, cpus))
        return 0;
    if (choice == ENDING)
        priority = priority_to_end(task);
    if (priority == NULL)
        return 1;
    int status = set_rank(task, priority);
    if (status == -ESRCH)
        return 0;
    return status < 0 ? status : 1;
}

/* The newest tasks come first, as the threads were just started. */
static int rank_chosen(const struct hr_root *root, const struct hr_cpu_set *cpus,
                       enum choice choice, const struct hr_priority *priority)
{
    const int wanted = (int)hr_cpu_set_count(cpus);
    struct hr_task_list tasks = {0};
    int found = 0;

    int status = hr_task_list_read_system(root, &tasks);
    for (size_t i = tasks.count; status >= 0 && found < wanted && i-- > 0;) {
        status = rank_task(root, tasks.ids[i], cpus, choice, priority);
        found += status > 0;
    }
    hr_task_list_free(&tasks);
    return status < 0 ? status : found;
}

int hr_osnoise_rank_workload(const struct hr_root *root, const struct hr_cpu_set *cpus,
                             const struct hr_priority *priority)
{
    return rank_chosen(root, cpus, ALL, priority);
}

void hr_osnoise_let_workload_end(const struct hr_root *root, const struct hr_cpu_set *cpus)
{
    rank_chosen(root, cpus, ENDING, NULL);
}
