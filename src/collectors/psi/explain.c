/* SPDX-License-Identifier: MIT */
/*
 * psi/explain.c - what the errors of pressure files, of triggers and of waiters mean to a user, and
 * what helps.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/psi.h"
#include "headroom/psi_trigger.h"
#include "headroom/waiters.h"

#define BOOT_WITH_PSI "add psi=1 to the kernel's command line"
#define LIMIT_NOFILE  "raise LimitNOFILE= of collectd's service (ulimit -n)"

struct explanation {
    int status; /* 0 after the last */
    const char *cause;
    const char *remedy;
};

/* What means the same everywhere. */
static const struct explanation of_all[] = {
    {-ENODEV, "the cgroup has just been removed", "try again"},
    {-EMFILE, "file descriptors ran out", LIMIT_NOFILE},
    {-ENFILE, "the machine's file descriptors ran out", "raise sysctl fs.file-max"},
    {0},
};

/* --- Pressure files ------------------------------------------------------- */

static const struct explanation of_system[] = {
    {-ENOENT, "there is no such file in /proc/pressure",
     BOOT_WITH_PSI "; it needs Linux 4.20 or later with CONFIG_PSI=y"},
    {-EOPNOTSUPP, "it is switched off", BOOT_WITH_PSI},
    {-EACCES, "no permission", "let collectd's user read /proc/pressure, or run collectd as root"},
    {-EPERM, "no permission", "let collectd's user read /proc/pressure, or run collectd as root"},
    {0},
};

/* With psi=0 older kernels have the files of cgroups, but they can't be read. */
static const struct explanation of_cgroup[] = {
    {-ENOENT, "cgroups have no such file", BOOT_WITH_PSI ", without cgroup_disable=pressure"},
    {-EOPNOTSUPP, "it is switched off", "write 1 to cgroup.pressure, or " BOOT_WITH_PSI},
    {-EACCES, "no permission",
     "let collectd's user read the cgroup mount, or run collectd as root"},
    {-EPERM, "no permission", "let collectd's user read the cgroup mount, or run collectd as root"},
    {0},
};

static const struct explanation of_irq[] = {
    {-ENOENT, "this kernel doesn't measure it",
     "it needs Linux 6.1 or later with CONFIG_IRQ_TIME_ACCOUNTING=y; where no pressure is measured "
     "at all, " BOOT_WITH_PSI},
    {-EOPNOTSUPP, "the kernel accounts no irq time on this machine",
     "boot without tsc=noirqtime; it also needs a clock that is stable and fast"},
    {0},
};

static const struct explanation of_text[] = {
    {-EBADMSG, "its format isn't understood", "a newer version of headroom may support it"},
    {-ENODATA, "its format isn't understood", "a newer version of headroom may support it"},
    {0},
};

/* --- Triggers ------------------------------------------------------------- */

#define NO_TRIGGERS "this kernel has no triggers", "they need Linux 5.2 or later"

static const struct explanation of_trigger[] = {
    {-EINVAL, "before Linux 6.5 the kernel takes no windows below 0.5 s", "choose a longer Window"},
    {-EPERM, "the kernel accepts such triggers only with CAP_SYS_RESOURCE",
     "add CAP_SYS_RESOURCE to collectd's service, see PRIVILEGES in collectd-psi(5)"},
    {-EACCES, "the pressure file can't be opened for writing",
     "add CAP_DAC_OVERRIDE to collectd's service, let its user write the file, or run collectd as "
     "root"},
    {-ENOSPC, "epoll watches ran out", "raise sysctl fs.epoll.max_user_watches"},
    {-EBUSY, NO_TRIGGERS},
    {-EIO, NO_TRIGGERS},
    {-ENOSYS, NO_TRIGGERS},
    {0},
};

static const struct explanation of_system_trigger[] = {
    {-EROFS, "/proc is read-only here", "mount it writable"},
    {0},
};

/* The file may be there without the line: before Linux 5.13 "full" of cpu. */
static const struct explanation of_cgroup_cpu_trigger[] = {
    {-ENOENT, "cgroups have no such file, or no such line in it",
     "use Level \"some\" (\"full\" pressure of cpu needs Linux 5.13 or later), or " BOOT_WITH_PSI
     ", without cgroup_disable=pressure"},
    {0},
};

static const struct explanation of_cgroup_trigger[] = {
    {-EROFS, "the cgroup mount is read-only here", "mount it writable"},
    {0},
};

/* --- Waiters -------------------------------------------------------------- */

static const struct explanation of_waiters[] = {
    {-EPERM, "CAP_NET_ADMIN is missing",
     "add it to AmbientCapabilities= of collectd's service, or run collectd as root"},
    {-EXDEV, "this isn't the host's PID namespace",
     "run the container with the host's, by --pid=host or hostPID: true"},
    {-ENOENT, "there is no taskstats here",
     "it needs a kernel with CONFIG_TASKSTATS=y and CONFIG_TASK_DELAY_ACCT=y, and the host's "
     "network namespace"},
    {-ENODATA, "this kernel accounts no delays", "it needs CONFIG_TASK_DELAY_ACCT=y"},
    {-EOPNOTSUPP, "delay accounting is off in the kernel",
     "sysctl kernel.task_delayacct=1 turns it on, which costs a little at each wait; restart the "
     "services that are to be named"},
    {0},
};

/* --- Explaining ----------------------------------------------------------- */

/* Looks an error up in some lists; the first that has it counts. @return NULL if none has. */
static const struct explanation *find_explanation(int status,
                                                  const struct explanation *const *lists)
{
    for (; *lists != NULL; lists++)
        for (const struct explanation *entry = *lists; entry->status != 0; entry++)
            if (entry->status == status)
                return entry;
    return NULL;
}

/* What no list has is explained by the system's own text. */
static void explain_status(int status, const struct explanation *const *lists,
                           struct hr_reason *reason)
{
    const struct explanation *found = find_explanation(status, lists);

    if (found != NULL)
        hr_reason_set(reason, status, "%s: %s", found->cause, found->remedy);
    else
        hr_reason_set(reason, status, "%s", strerror(-status));
}

void hr_psi_explain(int status, enum hr_psi_resource resource, bool is_system,
                    struct hr_reason *reason)
{
    const struct explanation *place = is_system ? of_system : of_cgroup;
    const struct explanation *const lists[] = {resource == HR_PSI_IRQ ? of_irq : place, place,
                                               of_text, of_all, NULL};

    explain_status(status, lists, reason);
}

void hr_psi_trigger_explain(int status, enum hr_psi_resource resource, bool is_system,
                            struct hr_reason *reason)
{
    const struct explanation *place = is_system ? of_system_trigger : of_cgroup_trigger;
    const struct explanation *const lists[] = {
        of_trigger, !is_system && resource == HR_PSI_CPU ? of_cgroup_cpu_trigger : place, place,
        NULL};

    if (find_explanation(status, lists) != NULL)
        explain_status(status, lists, reason);
    else
        hr_psi_explain(status, resource, is_system, reason);
}

void hr_waiters_explain(int status, struct hr_reason *reason)
{
    const struct explanation *const lists[] = {of_waiters, of_all, NULL};

    explain_status(status, lists, reason);
}
