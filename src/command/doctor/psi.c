/*
 * doctor/psi.c - what of the plugin psi works: pressure, alerts by the kernel, who waits.
 */
#include "doctor/checks.h"

#include "headroom/psi.h"
#include "headroom/psi_trigger.h"
#include "headroom/taskstats.h"
#include "headroom/waiters.h"

#include <errno.h>
#include <stdlib.h>

/* What the checks share. */
struct exam {
    const struct hr_root *root;
    struct findings *findings;
    struct doctor_groups groups;
    const struct hr_cgroup *group; /* whose pressure can be read, if any can; NULL: there is none */
};

/* Adds what was found out of a cgroup, if there is one. */
static void advise_of_group(const struct exam *exam, const char *facility, int status,
                            const struct advice *advice)
{
    if (exam->group != NULL)
        findings_add_status(exam->findings, facility, status, advice);
    else
        doctor_add_missing_group(exam->findings, facility, &exam->groups);
}

/* --- Pressure ------------------------------------------------------------- */

#define NO_FORM "it is in a form that is not understood", "a newer version of headroom may know it"

#define PSI_NEEDS                                                                                  \
    "it needs Linux 4.20 or later with CONFIG_PSI=y, and psi=1 at boot where it is off by default"

static const struct advice system_advice[] = {
    {-ENOENT, "there is no /proc/pressure", PSI_NEEDS},
    {-EOPNOTSUPP, "it is switched off", "boot with psi=1"},
    {-EACCES, "no permission to read /proc/pressure", "let collectd's user read it"},
    {-EPERM, "no permission to read /proc/pressure", "let collectd's user read it"},
    {-EBADMSG, NO_FORM},
    {-ENODATA, NO_FORM},
    {-EMFILE, DOCTOR_NO_DESCRIPTORS},
    {0},
};

static const struct advice cgroup_advice[] = {
    {-ENOENT, "cgroups have no pressure files",
     "boot with psi=1 and without cgroup_disable=pressure, or write 1 to cgroup.pressure"},
    {-ENODEV, "the cgroup has just been removed", "try again"},
    {-EOPNOTSUPP, "it is switched off", "boot with psi=1, or write 1 to cgroup.pressure"},
    {-EACCES, "no permission to read it", "let collectd's user read the cgroup mount"},
    {-EPERM, "no permission to read it", "let collectd's user read the cgroup mount"},
    {-EBADMSG, NO_FORM},
    {-ENODATA, NO_FORM},
    {-EMFILE, DOCTOR_NO_DESCRIPTORS},
    {0},
};

static const struct advice irq_advice[] = {
    {-ENOENT, "the kernel doesn't measure it",
     "it needs Linux 6.1 or later with CONFIG_IRQ_TIME_ACCOUNTING=y"},
    {-EOPNOTSUPP, "the kernel accounts no irq time on this machine",
     "boot without tsc=noirqtime; it also needs a clock that is stable and fast"},
    {0},
};

static const struct hr_psi_options every_resource = {
    .resources =
        {[HR_PSI_CPU] = true, [HR_PSI_MEMORY] = true, [HR_PSI_IO] = true, [HR_PSI_IRQ] = true},
};

static void read_once(struct hr_psi *psi, int *status)
{
    struct hr_psi_snapshot snapshot;

    hr_psi_read(psi, &snapshot);
    hr_psi_close(psi);
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        status[i] = snapshot.status[i];
}

/* What the three that come together have: 0, or what is wrong with the first that is wrong. */
static int worst(const int *status)
{
    static const enum hr_psi_resource resources[] = {HR_PSI_CPU, HR_PSI_MEMORY, HR_PSI_IO};

    for (size_t i = 0; i < 3; i++)
        if (status[resources[i]] < 0)
            return status[resources[i]];
    return 0;
}

static void read_system(const struct exam *exam, int *status)
{
    struct hr_psi *psi;

    if (hr_psi_open_system(exam->root, &every_resource, &psi) == 0)
        read_once(psi, status);
}

/* A single group can be switched off, or be gone by now, so it is the best of some that counts. */
static void read_groups(struct exam *exam, int *status)
{
    for (size_t i = 0; i < exam->groups.sample_count; i++) {
        struct hr_psi *psi;
        if (hr_psi_open_cgroup(exam->groups.samples[i], &every_resource, &psi) < 0)
            return;
        exam->group = exam->groups.samples[i];
        read_once(psi, status);
        if (worst(status) == 0)
            return;
    }
}

/* Where there is no pressure at all, irq pressure has no reason of its own. */
static const struct advice *advice_of_irq(const int *status, const struct advice *advice)
{
    const int irq = status[HR_PSI_IRQ];

    return irq == worst(status) || irq == -EACCES || irq == -EPERM ? advice : irq_advice;
}

static void check_pressure(struct exam *exam)
{
    int system[HR_PSI_RESOURCE_COUNT] = {-ENOMEM}, group[HR_PSI_RESOURCE_COUNT] = {-ENOMEM};

    read_system(exam, system);
    read_groups(exam, group);
    findings_add_status(exam->findings, "cpu, memory and io pressure of the system", worst(system),
                        system_advice);
    advise_of_group(exam, "cpu, memory and io pressure of cgroups", worst(group), cgroup_advice);
    findings_add_status(exam->findings, "irq pressure of the system", system[HR_PSI_IRQ],
                        advice_of_irq(system, system_advice));
    advise_of_group(exam, "irq pressure of cgroups", group[HR_PSI_IRQ],
                    advice_of_irq(group, cgroup_advice));
}

/* --- Alerts --------------------------------------------------------------- */

#define POLLED "; until then such alerts are polled"

static const struct advice window_advice[] = {
    {-EINVAL, "CAP_SYS_RESOURCE is missing", "add it to collectd's service" POLLED},
    {-EPERM, "CAP_SYS_RESOURCE is missing", "add it to collectd's service" POLLED},
    {-ENOENT, "there is no pressure to watch", PSI_NEEDS},
    {-EOPNOTSUPP, "pressure is switched off", "boot with psi=1, or write 1 to cgroup.pressure"},
    {-EACCES, "the pressure file can't be opened for writing",
     "add CAP_DAC_OVERRIDE to collectd's service, let its user write the file, or run collectd as "
     "root" POLLED},
    {-EROFS, "it is mounted read-only here", "mount it writable" POLLED},
    {-ENODEV, "the cgroup has just been removed", "try again"},
    {-EMFILE, DOCTOR_NO_DESCRIPTORS},
    {0},
};

/* A stall as long as the window: hardly ever, and it isn't waited for. */
static struct hr_psi_trigger_options trigger_of(uint64_t window_us)
{
    return (struct hr_psi_trigger_options){
        .resource = HR_PSI_MEMORY,
        .level = HR_PSI_SOME,
        .stall_us = window_us,
        .window_us = window_us,
        .mode = HR_PSI_TRIGGER_KERNEL,
    };
}

static int try_system(const struct hr_root *root, uint64_t window_us)
{
    const struct hr_psi_trigger_options options = trigger_of(window_us);
    struct hr_psi_trigger *trigger;

    int status = hr_psi_trigger_open_system(root, &options, &trigger);
    if (status == 0)
        hr_psi_trigger_close(trigger);
    return status;
}

static int try_group(const struct hr_cgroup *group)
{
    const struct hr_psi_trigger_options options = trigger_of(2000000);
    struct hr_psi_trigger *trigger;

    int status = hr_psi_trigger_open_cgroup(group, &options, &trigger);
    if (status == 0)
        hr_psi_trigger_close(trigger);
    return status;
}

static void check_triggers(const struct exam *exam)
{
    findings_add_status(exam->findings, "alerts by the kernel, in any window",
                        try_system(exam->root, 1000000), window_advice);
    findings_add_status(exam->findings, "alerts by the kernel, in windows of 2, 4, 6, 8 or 10 s",
                        try_system(exam->root, 2000000), window_advice);
    advise_of_group(exam, "alerts by the kernel, of cgroups",
                    exam->group != NULL ? try_group(exam->group) : 0, window_advice);
}

/* --- Cgroups -------------------------------------------------------------- */

static const struct advice mount_advice[] = {
    {-ENOENT, "no cgroup2 hierarchy is mounted",
     "mount -t cgroup2 none /sys/fs/cgroup/unified; in a container, see the README"},
    {-EACCES, "no permission to list the cgroup2 mount", "let collectd's user read it"},
    {-EMFILE, DOCTOR_NO_DESCRIPTORS},
    {0},
};

static const struct advice watch_advice[] = {
    {-ENOSPC, "inotify watches are short, so cgroups are looked at each interval",
     "raise sysctl fs.inotify.max_user_watches"},
    {-EMFILE,
     "inotify instances or file descriptors are short, so cgroups are looked at each "
     "interval",
     "raise sysctl fs.inotify.max_user_instances, or LimitNOFILE= of collectd's service"},
    {0},
};

/* Opens the files of all groups at once, as the plugin does, and counts those that it couldn't keep
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

static void check_keeping(const struct exam *exam)
{
    static const char facility[] = "keeping the files of many cgroups open";
    const unsigned files = count_reopened(&exam->groups);
    const size_t folders = exam->groups.counts.reopened;
    char cause[128];

    if (exam->group == NULL || (files == 0 && folders == 0)) {
        advise_of_group(exam, facility, 0, NULL);
        return;
    }
    snprintf(cause, sizeof(cause),
             "file descriptors are short, so %u files and %zu folders are opened anew at each "
             "interval",
             files, folders);
    findings_add(exam->findings, FINDING_LACKS, facility, cause,
                 "raise LimitNOFILE= of collectd's service (ulimit -n)");
}

static void check_following(const struct exam *exam)
{
    const struct hr_cgroup_counts *counts = &exam->groups.counts;

    advise_of_group(exam, "following cgroups as they come and go",
                    counts->unwatched > 0 ? counts->watch_error : 0, watch_advice);
}

/* --- Who waits ------------------------------------------------------------ */

static const struct advice waiters_advice[] = {
    {-EPERM, "CAP_NET_ADMIN is missing", "add it to collectd's service, or run collectd as root"},
    {-EXDEV, "this is another pid namespace than the host's",
     "run the container with the host's (--pid=host, or hostPID: true)"},
    {-ENOENT, "there is no taskstats here",
     "it needs a kernel with CONFIG_TASKSTATS=y and CONFIG_TASK_DELAY_ACCT=y, and the host's "
     "network namespace"},
    {-ENODATA, "this kernel doesn't account it", "it needs CONFIG_TASK_DELAY_ACCT=y"},
    {-EOPNOTSUPP, "delay accounting is off",
     "sysctl kernel.task_delayacct=1, and restart the services that are to be named"},
    {-EMFILE, DOCTOR_NO_DESCRIPTORS},
    {0},
};

/* Asks for one task. */
static int try_waiters(const struct hr_root *root, struct hr_taskstats *taskstats,
                       enum hr_psi_resource resource)
{
    struct hr_waiters *waiters;

    int status = hr_waiters_open(root, NULL, taskstats, resource, 1, &waiters);
    if (status == 0)
        hr_waiters_close(waiters);
    return status;
}

static void check_waiters(const struct exam *exam)
{
    static const struct {
        enum hr_psi_resource resource;
        const char *facility;
    } facilities[] = {
        {HR_PSI_CPU, "naming who waits for cpu"},
        {HR_PSI_MEMORY, "naming who waits for memory"},
        {HR_PSI_IO, "naming who waits for io"},
    };
    struct hr_taskstats *taskstats = NULL;
    int connected = hr_taskstats_open(NULL, &taskstats);

    for (size_t i = 0; i < sizeof(facilities) / sizeof(facilities[0]); i++) {
        int status =
            connected < 0 ? connected : try_waiters(exam->root, taskstats, facilities[i].resource);
        findings_add_status(exam->findings, facilities[i].facility, status, waiters_advice);
    }
    hr_taskstats_close(taskstats);
}

void doctor_check_psi(const struct hr_root *root, struct findings *findings)
{
    struct exam exam = {.root = root, .findings = findings};

    doctor_groups_open(root, NULL, &exam.groups);
    findings_add_status(findings, "cgroups of version 2", exam.groups.status, mount_advice);
    check_pressure(&exam);
    check_triggers(&exam);
    check_waiters(&exam);
    check_following(&exam);
    check_keeping(&exam);
    doctor_groups_close(&exam.groups);
}
