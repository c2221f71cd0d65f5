/* SPDX-License-Identifier: MIT */
/*
 * isolation/kernel.c - what the kernel has one setting of: the scheduler, work, the watchdog,
 * ticks, timers.
 */
#include "isolation/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/scheduler_domains.h"
#include "base/text.h"
#include "headroom/cpu_choice.h"
#include "isolation/mask.h"

static int read_text(const struct hr_root *root, const char *path, char *text, size_t size,
                     size_t *length)
{
    return hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), text, size, length);
}

/* @return 0 or a negative errno; -ENOENT: the kernel has no such setting. */
static int read_switch(const struct hr_root *root, const char *path, uint64_t *value)
{
    char text[32];
    size_t length;
    int status = read_text(root, path, text, sizeof(text), &length);

    if (status == 0 && length > 0 && text[length - 1] == '\n')
        length--;
    return status < 0 ? status : hr_text_number_parse(text, length, INT32_MAX, value);
}

/* @param format  "CPU%s %s are ...": "s" or "", and the CPUs. */
__attribute__((format(printf, 2, 0))) static void
print_cause(char cause[HR_ISOLATION_TEXT], const char *format, const struct hr_cpu_set *cpus)
{
    char list[HR_ISOLATION_LIST];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(cause, HR_ISOLATION_TEXT, format, hr_cpu_set_count(cpus) == 1 ? "" : "s",
             hr_isolation_list(cpus, list));
#pragma GCC diagnostic pop
}

/* --- Tasks ---------------------------------------------------------------- */

int hr_isolation_check_tasks(struct hr_isolation_context *context)
{
    struct hr_cpu_set isolated = {0};
    char cause[HR_ISOLATION_TEXT], list[HR_ISOLATION_LIST];

    int status = hr_cpus_without_domain_read(context->root, &isolated);
    isolated = hr_isolation_without(&context->cpus, &isolated);
    if (hr_cpu_set_count(&isolated) == 0)
        return 0;
    if (status < 0 && status != -EOPNOTSUPP)
        return status;
    print_cause(cause, "the scheduler may choose CPU%s %s for any task", &isolated);
    if (status < 0)
        strncat(cause, " (this kernel doesn't tell whether a cpuset partition prevents that)",
                sizeof(cause) - strlen(cause) - 1);
    hr_isolation_add(
        context, HR_ISOLATION_TASKS, cause,
        "boot the kernel with isolcpus=%s, or make a cpuset partition of the type \"isolated\"",
        hr_isolation_list(&context->cpus, list));
    return 0;
}

/* --- Masks ---------------------------------------------------------------- */

/* Of a file with a mask of CPUs that may do something. @param format  as print_cause() takes it. */
__attribute__((format(printf, 4, 0))) static int check_mask(struct hr_isolation_context *context,
                                                            enum hr_isolation_aspect aspect,
                                                            const char *path, const char *format)
{
    char text[4096], cause[HR_ISOLATION_TEXT], mask[128] = "MASK";
    struct hr_cpu_set set;
    size_t length;

    int status = read_text(context->root, path, text, sizeof(text), &length);
    if (status == 0)
        status = hr_cpu_mask_parse(text, length, &set);
    if (status < 0)
        return status;
    set = hr_isolation_common(&set, &context->cpus);
    if (hr_cpu_set_count(&set) == 0)
        return 0;
    print_cause(cause, format, &set);
    hr_cpu_mask_format(&context->others, mask, sizeof(mask));
    hr_isolation_add(context, aspect, cause, "echo %s >/%s", mask, path);
    return 0;
}

int hr_isolation_check_new_irqs(struct hr_isolation_context *context)
{
    return check_mask(context, HR_ISOLATION_NEW_IRQS, "proc/irq/default_smp_affinity",
                      "CPU%s %s may handle the interrupts of devices that come later");
}

/* The mask of each kind of work, such as writeback/cpumask, counts as far as it is within this. */
int hr_isolation_check_workqueues(struct hr_isolation_context *context)
{
    return check_mask(context, HR_ISOLATION_WORKQUEUES, "sys/devices/virtual/workqueue/cpumask",
                      "CPU%s %s may do unbound work of the kernel, such as writeback");
}

/* --- The watchdog --------------------------------------------------------- */

int hr_isolation_check_watchdog(struct hr_isolation_context *context)
{
    struct hr_cpu_set set;
    char cause[HR_ISOLATION_TEXT], list[HR_ISOLATION_LIST];
    uint64_t on = 0;

    int status = read_switch(context->root, "proc/sys/kernel/watchdog", &on);
    if (status < 0 || on == 0)
        return status == -ENOENT ? 0 : status;
    status = hr_cpu_set_read(context->root, "proc/sys/kernel/watchdog_cpumask", &set);
    if (status < 0)
        return status == -ENOENT ? 0 : status;
    set = hr_isolation_common(&set, &context->cpus);
    if (hr_cpu_set_count(&set) == 0)
        return 0;
    print_cause(cause, "the watchdog of lockups interrupts CPU%s %s every few seconds", &set);
    hr_isolation_add(context, HR_ISOLATION_WATCHDOG, cause, "sysctl kernel.watchdog_cpumask=%s",
                     hr_isolation_list(&context->others, list));
    return 0;
}

/* --- Ticks and timers ----------------------------------------------------- */

static int find_without_ticks(const struct hr_isolation_context *context, struct hr_cpu_set *cpus)
{
    const struct hr_cpu_choice choice = {.words = HR_CPUS_NOHZ_FULL};
    int status = hr_cpu_choice_find(&choice, context->root, cpus);

    if (status == 0)
        *cpus = hr_isolation_common(cpus, &context->cpus);
    return status;
}

int hr_isolation_check_ticks(struct hr_isolation_context *context)
{
    struct hr_cpu_set ticking;
    char cause[HR_ISOLATION_TEXT], list[HR_ISOLATION_LIST];
    int status = find_without_ticks(context, &ticking);

    if (status < 0)
        return status;
    ticking = hr_isolation_without(&context->cpus, &ticking);
    if (hr_cpu_set_count(&ticking) == 0)
        return 0;
    print_cause(cause, "the timer interrupts CPU%s %s at each tick, even while one task runs there",
                &ticking);
    hr_isolation_add(context, HR_ISOLATION_TICKS, cause,
                     "boot the kernel with nohz_full=%s, which it has by CONFIG_NO_HZ_FULL",
                     hr_isolation_list(&context->cpus, list));
    return 0;
}

/*
 * With timer_migration, a timer that is armed on an idle CPU, or on one of nohz_full=, goes to
 * another that is busy and in the same domain of the scheduler, but not to one of nohz_full=
 * (get_nohz_timer_target() in kernel/sched/core.c). So it takes timers off CPUs without ticks, and
 * may bring them to others, unless these are in no domain.
 */
int hr_isolation_check_timers(struct hr_isolation_context *context)
{
    struct hr_cpu_set without_ticks, isolated = {0}, receiving;
    char cause[HR_ISOLATION_TEXT];
    uint64_t migrates = 0;

    int status = read_switch(context->root, "proc/sys/kernel/timer_migration", &migrates);
    if (status < 0)
        return status == -ENOENT ? 0 : status;
    status = find_without_ticks(context, &without_ticks);
    if (status < 0)
        return status;
    if (hr_cpu_set_count(&without_ticks) > 0 && migrates == 0) {
        print_cause(cause,
                    "timers that are armed on CPU%s %s expire there, though others could "
                    "have them",
                    &without_ticks);
        hr_isolation_add(context, HR_ISOLATION_TIMERS, cause, "sysctl kernel.timer_migration=1");
    }
    if (hr_cpu_set_count(&without_ticks) > 0 || migrates == 0)
        return 0;
    status = hr_cpus_without_domain_read(context->root, &isolated);
    if (status < 0 && status != -EOPNOTSUPP)
        return status;
    receiving = hr_isolation_without(&context->cpus, &isolated);
    if (hr_cpu_set_count(&receiving) == 0)
        return 0;
    print_cause(cause, "CPU%s %s may get timers of CPUs that are idle", &receiving);
    hr_isolation_add(context, HR_ISOLATION_TIMERS, cause, "sysctl kernel.timer_migration=0");
    return 0;
}
