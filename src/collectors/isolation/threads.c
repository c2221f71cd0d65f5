/* SPDX-License-Identifier: MIT */
#include "isolation/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "headroom/allowed_cpus.h"
#include "isolation/movable.h"
#include "process/stat.h"
#include "process/task_list.h"

#define KTHREADD 2

static int read_stat(const struct hr_root *root, pid_t task, struct hr_process_stat *stat)
{
    char path[32];

    snprintf(path, sizeof(path), "proc/%d/stat", (int)task);
    return hr_process_stat_read_and_close(hr_root_openat(root, path, O_RDONLY), stat);
}

/* In a PID namespace of its own, or where users don't see others' processes, the kernel's threads
 * can't be seen. */
static bool sees_kernel_threads(const struct hr_root *root)
{
    struct hr_process_stat stat;

    return read_stat(root, KTHREADD, &stat) == 0 && stat.is_kernel_thread;
}

/* Those that the kernel has bound to their CPUs belong there. One that has ended isn't there. */
static int check_thread(struct hr_isolation_context *context, pid_t task,
                        struct hr_movables *movables)
{
    struct hr_process_stat stat;
    struct hr_cpu_set allowed, there;

    if (read_stat(context->root, task, &stat) < 0 || !stat.is_kernel_thread || stat.is_bound ||
        hr_allowed_cpus_read(context->root, task, &allowed) < 0)
        return 0;
    there = hr_isolation_common(&allowed, &context->cpus);
    if (hr_cpu_set_count(&there) == 0)
        return 0;
    return hr_movables_add(movables, context, (unsigned)task, stat.name, &allowed);
}

int hr_isolation_check_threads(struct hr_isolation_context *context)
{
    static const struct hr_movable_texts texts = {
        .aspect = HR_ISOLATION_THREADS,
        .one = "the kernel's thread",
        .several = "the kernel's threads",
        .may_run = "%s may run on CPU%s %s",
        .command = "taskset -cp %s %s",
    };
    struct hr_task_list tasks = {0};
    struct hr_movables movables = {0};

    if (!sees_kernel_threads(context->root))
        return -ESRCH;
    int status = hr_task_list_read_system(context->root, &tasks);
    for (size_t i = 0; status == 0 && i < tasks.count; i++)
        status = check_thread(context, tasks.ids[i], &movables);
    if (status == 0)
        hr_movables_report(&movables, context, &texts);
    hr_task_list_free(&tasks);
    free(movables.list);
    return status;
}

/* --- Callbacks of RCU ----------------------------------------------------- */

/* "rcuop/3", or "rcuos/3": the thread that calls a CPU's callbacks for it. The first of them, which
 * serves several CPUs, is "rcuog/2". */
static bool is_of_callbacks(const struct hr_process_stat *stat, unsigned *cpu)
{
    struct hr_text rest = {stat->name, strlen(stat->name)};
    uint64_t number;

    if (!stat->is_kernel_thread ||
        !(hr_text_skip(&rest, "rcuop/") || hr_text_skip(&rest, "rcuos/")))
        return false;
    *cpu = hr_text_u64(&rest, &number) && number < HR_CPU_MAX ? (unsigned)number : HR_CPU_MAX;
    return rest.length == 0 && *cpu < HR_CPU_MAX;
}

static int find_offloaded(const struct hr_root *root, struct hr_cpu_set *cpus)
{
    struct hr_task_list tasks = {0};
    struct hr_process_stat stat;
    unsigned cpu;

    *cpus = (struct hr_cpu_set){0};
    int status = hr_task_list_read_system(root, &tasks);
    for (size_t i = 0; status == 0 && i < tasks.count; i++)
        if (read_stat(root, tasks.ids[i], &stat) == 0 && is_of_callbacks(&stat, &cpu))
            hr_cpu_set_add(cpus, cpu);
    hr_task_list_free(&tasks);
    return status;
}

int hr_isolation_check_rcu(struct hr_isolation_context *context)
{
    char list[HR_ISOLATION_LIST], wanted[HR_ISOLATION_LIST], cause[HR_ISOLATION_TEXT];
    struct hr_cpu_set left;

    if (!sees_kernel_threads(context->root))
        return -ESRCH;
    int status = find_offloaded(context->root, &left);
    if (status < 0)
        return status;
    left = hr_isolation_without(&context->cpus, &left);
    if (hr_cpu_set_count(&left) == 0)
        return 0;
    snprintf(cause, sizeof(cause), "CPU%s %s call%s the callbacks of RCU",
             hr_cpu_set_count(&left) == 1 ? "" : "s", hr_isolation_list(&left, list),
             hr_cpu_set_count(&left) == 1 ? "s" : "");
    hr_isolation_add(context, HR_ISOLATION_RCU, cause,
                     "boot the kernel with rcu_nocbs=%s, which it has by CONFIG_RCU_NOCB_CPU",
                     hr_isolation_list(&context->cpus, wanted));
    return 0;
}
