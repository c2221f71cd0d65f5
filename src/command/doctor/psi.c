/* SPDX-License-Identifier: MIT */
/*
 * doctor/psi.c - what of the psi plugin works: pressure, the kernel's triggers, waiting tasks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/checks.h"
#include "headroom/psi.h"
#include "headroom/psi_trigger.h"
#include "headroom/taskstats.h"
#include "headroom/waiters.h"

/* What the checks share. */
struct check_context {
    const struct hr_root *root;
    const struct usage_psi *usage;
    struct findings *findings;
    struct doctor_groups groups;
    const struct hr_cgroup *group; /* one with readable pressure, if there is; NULL: no group */
};

/* Adds that a feature works, or why not. */
static void add_result(const struct check_context *exam, const char *feature,
                       const struct hr_reason *reason)
{
    if (reason->error == 0)
        findings_add(exam->findings, FINDING_WORKS, feature, NULL, NULL);
    else
        findings_add_reason(exam->findings, FINDING_LACKS, feature, reason);
}

/* Adds the result of a cgroup, if there is one. */
static void advise_of_group(const struct check_context *exam, const char *feature, int status,
                            const struct advice *advice)
{
    if (exam->group != NULL)
        findings_add_status(exam->findings, feature, status, advice);
    else
        doctor_add_missing_group(exam->findings, feature, &exam->groups);
}

/* --- Pressure ------------------------------------------------------------- */

static const struct hr_psi_options every_resource = {
    .resources =
        {[HR_PSI_CPU] = true, [HR_PSI_MEMORY] = true, [HR_PSI_IO] = true, [HR_PSI_IRQ] = true},
};

static void read_and_close(struct hr_psi *psi, int *status)
{
    struct hr_psi_snapshot snapshot;

    hr_psi_read(psi, &snapshot);
    hr_psi_close(psi);
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        status[i] = snapshot.status[i];
}

/* The status of cpu, memory and io together: 0, or the first error. */
static int first_error(const int *status)
{
    static const enum hr_psi_resource resources[] = {HR_PSI_CPU, HR_PSI_MEMORY, HR_PSI_IO};

    for (size_t i = 0; i < 3; i++)
        if (status[resources[i]] < 0)
            return status[resources[i]];
    return 0;
}

static void read_system(const struct check_context *exam, int *status)
{
    struct hr_psi *psi;

    if (hr_psi_open_system(exam->root, &every_resource, &psi) == 0)
        read_and_close(psi, status);
}

/* A single group may be switched off or removed meanwhile, so the best of some counts. */
static void read_groups(struct check_context *exam, int *status)
{
    for (size_t i = 0; i < exam->groups.sample_count; i++) {
        struct hr_psi *psi;
        if (hr_psi_open_cgroup(exam->groups.samples[i], &every_resource, &psi) < 0)
            return;
        exam->group = exam->groups.samples[i];
        read_and_close(psi, status);
        if (first_error(status) == 0)
            return;
    }
}

/* @param is_system  else it is of a cgroup, if there is one. */
static void add_pressure(const struct check_context *exam, const char *feature, int status,
                         enum hr_psi_resource resource, bool is_system)
{
    struct hr_reason reason = {0};

    if (!is_system && exam->group == NULL) {
        doctor_add_missing_group(exam->findings, feature, &exam->groups);
        return;
    }
    if (status < 0)
        hr_psi_explain(status, resource, is_system, &reason);
    add_result(exam, feature, &reason);
}

/* Where there is no pressure at all, irq pressure has no cause of its own. */
static void add_irq_pressure(const struct check_context *exam, const char *feature,
                             const int *status, bool is_system)
{
    const int irq = status[HR_PSI_IRQ];

    add_pressure(exam, feature, irq, irq == first_error(status) ? HR_PSI_CPU : HR_PSI_IRQ,
                 is_system);
}

static bool samples_system(const struct usage_psi *usage)
{
    return usage->system || usage->system_trigger_count > 0;
}

static bool samples_groups(const struct usage_psi *usage)
{
    return usage->groups.patterns.count > 0;
}

/* That a kernel has no irq pressure matters to those only who asked for it. */
static void check_pressure(struct check_context *exam)
{
    int system[HR_PSI_RESOURCE_COUNT] = {-ENOMEM}, group[HR_PSI_RESOURCE_COUNT] = {-ENOMEM};
    const struct usage_psi *usage = exam->usage;

    read_system(exam, system);
    read_groups(exam, group);
    findings_use(exam->findings, samples_system(usage));
    add_pressure(exam, "cpu, memory and io pressure of the system", first_error(system), HR_PSI_CPU,
                 true);
    findings_use(exam->findings, samples_groups(usage));
    add_pressure(exam, "cpu, memory and io pressure of cgroups", first_error(group), HR_PSI_CPU,
                 false);
    findings_use(exam->findings, usage->irq_asked && samples_system(usage));
    add_irq_pressure(exam, "irq pressure of the system", system, true);
    findings_use(exam->findings, usage->irq_asked && samples_groups(usage));
    add_irq_pressure(exam, "irq pressure of cgroups", group, false);
}

/* --- Alerts --------------------------------------------------------------- */

/* A stall as long as the window, which hardly ever happens; the event isn't awaited. */
static struct hr_psi_trigger_options make_trigger_options(void)
{
    const uint64_t window_us = 1000000;

    return (struct hr_psi_trigger_options){
        .resource = HR_PSI_MEMORY,
        .level = HR_PSI_SOME,
        .stall_us = window_us,
        .window_us = window_us,
        .mode = HR_PSI_TRIGGER_KERNEL,
    };
}

static int try_system(const struct hr_root *root)
{
    const struct hr_psi_trigger_options options = make_trigger_options();
    struct hr_psi_trigger *trigger;

    int status = hr_psi_trigger_open_system(root, &options, &trigger);
    if (status == 0)
        hr_psi_trigger_close(trigger);
    return status;
}

static int try_group(const struct hr_cgroup *group)
{
    const struct hr_psi_trigger_options options = make_trigger_options();
    struct hr_psi_trigger *trigger;

    int status = hr_psi_trigger_open_cgroup(group, &options, &trigger);
    if (status == 0)
        hr_psi_trigger_close(trigger);
    return status;
}

/* What the kernel refuses of the system the plugin polls, unless the pressure can't even be read.
 */
static bool is_polled(int status)
{
    return status == -EINVAL || status == -EPERM || status == -EACCES || status == -EROFS;
}

static void add_trigger(const struct check_context *exam, const char *feature, int status,
                        bool is_system)
{
    struct hr_reason reason = {0};

    if (status < 0)
        hr_psi_trigger_explain(status, HR_PSI_MEMORY, is_system, &reason);
    if (is_polled(status)) {
        size_t length = strlen(reason.text);
        snprintf(reason.text + length, sizeof(reason.text) - length, "%s",
                 is_system ? "; until then alerts of the system are polled"
                           : "; only Mode \"kernel\" needs them, other alerts are polled");
    }
    add_result(exam, feature, &reason);
}

static void check_triggers(const struct check_context *exam)
{
    static const char of_cgroups[] = "kernel triggers of cgroups";

    findings_use(exam->findings, exam->usage->system_triggers);
    add_trigger(exam, "kernel triggers of the system", try_system(exam->root), true);
    findings_use(exam->findings, exam->usage->group_triggers);
    if (exam->group != NULL)
        add_trigger(exam, of_cgroups, try_group(exam->group), false);
    else
        doctor_add_missing_group(exam->findings, of_cgroups, &exam->groups);
}

/* --- Cgroups -------------------------------------------------------------- */

static const struct advice watch_advice[] = {
    {-ENOSPC, "the limit of inotify watches is reached, so cgroups are read at each interval",
     "raise sysctl fs.inotify.max_user_watches"},
    {-EMFILE,
     "there are too few inotify instances or file descriptors, so cgroups are read at each "
     "interval",
     "raise sysctl fs.inotify.max_user_instances, or LimitNOFILE= of collectd's service"},
    {0},
};

/* Opens the files of all groups at once, as the plugin does, and counts those that can't be kept
 * open. */
static unsigned count_reopened(const struct doctor_groups *groups)
{
    struct hr_psi **kept = calloc(groups->counts.populated + 1, sizeof(struct hr_psi *));
    const struct hr_cgroup *group = hr_cgroup_set_next(groups->set, NULL);
    struct hr_psi_snapshot snapshot;
    unsigned reopened = 0;
    size_t count = 0;

    while (kept != NULL && group != NULL && count < groups->counts.populated &&
           hr_psi_open_cgroup(group, &every_resource, &kept[count]) == 0) {
        hr_psi_read(kept[count++], &snapshot);
        reopened += snapshot.reopened_count;
        group = hr_cgroup_set_next(groups->set, group);
    }
    while (count > 0)
        hr_psi_close(kept[--count]);
    free(kept);
    return reopened;
}

static void check_keeping(const struct check_context *exam)
{
    static const char feature[] = "keeping the files of many cgroups open";
    const unsigned files = count_reopened(&exam->groups);
    const size_t directories = exam->groups.counts.reopened;
    char cause[128];

    if (exam->group == NULL || (files == 0 && directories == 0)) {
        advise_of_group(exam, feature, 0, NULL);
        return;
    }
    snprintf(cause, sizeof(cause),
             "there are too few file descriptors, so %u files and %zu directories are reopened at "
             "each interval",
             files, directories);
    findings_add(exam->findings, FINDING_LACKS, feature, cause,
                 "raise LimitNOFILE= of collectd's service (ulimit -n)");
}

static void check_following(const struct check_context *exam)
{
    const struct hr_cgroup_counts *counts = &exam->groups.counts;

    advise_of_group(exam, "following cgroups as they come and go",
                    counts->unwatched > 0 ? counts->watch_error : 0, watch_advice);
}

/* --- Waiting tasks -------------------------------------------------------- */

/* Samples one task. */
static int try_waiters(const struct hr_root *root, struct hr_taskstats *taskstats,
                       enum hr_psi_resource resource)
{
    struct hr_waiters *waiters;

    int status = hr_waiters_open(root, NULL, taskstats, resource, 1, &waiters);
    if (status == 0)
        hr_waiters_close(waiters);
    return status;
}

static void check_waiters(const struct check_context *exam)
{
    static const struct {
        enum hr_psi_resource resource;
        const char *feature;
    } features[] = {
        {HR_PSI_CPU, "naming tasks that wait for cpu"},
        {HR_PSI_MEMORY, "naming tasks that wait for memory"},
        {HR_PSI_IO, "naming tasks that wait for io"},
    };
    struct hr_taskstats *taskstats = NULL;
    int connected = hr_taskstats_open(NULL, &taskstats);

    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        int status =
            connected < 0 ? connected : try_waiters(exam->root, taskstats, features[i].resource);
        struct hr_reason reason = {0};
        if (status < 0)
            hr_waiters_explain(status, &reason);
        findings_use(exam->findings, exam->usage->top_tasks[features[i].resource]);
        add_result(exam, features[i].feature, &reason);
    }
    hr_taskstats_close(taskstats);
}

/* As the plugin has it: without cgroups there is no one to name. */
static bool names_takers(const struct usage_psi *usage)
{
    return samples_groups(usage) && !usage->blame_off &&
           (usage->cpu_triggers || usage->blame_always);
}

void doctor_check_psi(const struct hr_root *root, const struct usage *usage,
                      struct findings *findings)
{
    struct check_context exam = {.root = root, .usage = &usage->psi, .findings = findings};

    doctor_groups_open(root, NULL, &exam.groups);
    findings_use(findings, samples_groups(exam.usage));
    doctor_add_mount(findings, &exam.groups);
    check_pressure(&exam);
    check_triggers(&exam);
    check_waiters(&exam);
    findings_use(findings, samples_groups(exam.usage));
    check_following(&exam);
    check_keeping(&exam);
    findings_use(findings, names_takers(exam.usage));
    doctor_check_blame(findings);
    doctor_groups_close(&exam.groups);
}
