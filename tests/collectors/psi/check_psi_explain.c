/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_psi_explain.c - cause and remedy of each error: of pressure files, triggers
 * and waiting tasks.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "headroom/psi.h"
#include "headroom/psi_trigger.h"
#include "headroom/waiters.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PSI_1 "add psi=1 to the kernel's command line"
#define NO_IRQ                                                                                     \
    "this kernel doesn't measure it: it needs Linux 6.1 or later with "                            \
    "CONFIG_IRQ_TIME_ACCOUNTING=y; where no pressure is measured at all, " PSI_1
#define LIMIT_NOFILE                                                                               \
    "file descriptors ran out: raise LimitNOFILE= of collectd's service (ulimit -n)"
#define NOT_UNDERSTOOD "its format isn't understood: a newer version of headroom may support it"
#define PRIVILEGED                                                                                 \
    "the kernel accepts such triggers only with CAP_SYS_RESOURCE: add CAP_SYS_RESOURCE to "        \
    "collectd's service, see PRIVILEGES in collectd-psi(5)"

/* --- Pressure files ------------------------------------------------------- */

static const struct {
    int status;
    enum hr_psi_resource resource;
    bool is_system;
    const char *text;
} files[] = {
    {-ENOENT, HR_PSI_CPU, true,
     "there is no such file in /proc/pressure: " PSI_1
     "; it needs Linux 4.20 or later with CONFIG_PSI=y"},
    {-ENOENT, HR_PSI_MEMORY, false,
     "cgroups have no such file: " PSI_1 ", without cgroup_disable=pressure"},
    {-ENOENT, HR_PSI_IRQ, true, NO_IRQ},
    {-EOPNOTSUPP, HR_PSI_IO, true, "it is switched off: " PSI_1},
    {-EOPNOTSUPP, HR_PSI_IO, false, "it is switched off: write 1 to cgroup.pressure, or " PSI_1},
    {-EOPNOTSUPP, HR_PSI_IRQ, false,
     "the kernel accounts no irq time on this machine: boot without tsc=noirqtime; it also needs a "
     "clock that is stable and fast"},
    {-EACCES, HR_PSI_CPU, true,
     "no permission: let collectd's user read /proc/pressure, or run collectd as root"},
    {-EPERM, HR_PSI_IRQ, false,
     "no permission: let collectd's user read the cgroup mount, or run collectd as root"},
    {-EBADMSG, HR_PSI_CPU, true, NOT_UNDERSTOOD},
    {-ENODATA, HR_PSI_IRQ, false, NOT_UNDERSTOOD},
    {-ENODEV, HR_PSI_CPU, false, "the cgroup has just been removed: try again"},
    {-EMFILE, HR_PSI_CPU, true, LIMIT_NOFILE},
    {-ENFILE, HR_PSI_IRQ, false,
     "the machine's file descriptors ran out: raise sysctl fs.file-max"},
    {-EIO, HR_PSI_CPU, true, "Input/output error"},
};

START_TEST(explains_why_a_file_cannot_be_read)
{
    struct hr_reason reason;

    hr_psi_explain(files[_i].status, files[_i].resource, files[_i].is_system, &reason);
    ck_assert_str_eq(reason.text, files[_i].text);
    ck_assert_int_eq(reason.error, files[_i].status);
}
END_TEST

/* --- Triggers ------------------------------------------------------------- */

static const struct {
    int status;
    enum hr_psi_resource resource;
    bool is_system;
    const char *text;
} triggers[] = {
    {-EINVAL, HR_PSI_MEMORY, true,
     "before Linux 6.5 the kernel takes no windows below 0.5 s: choose a longer Window"},
    {-EPERM, HR_PSI_IRQ, false, PRIVILEGED},
    {-EACCES, HR_PSI_IO, true,
     "the pressure file can't be opened for writing: add CAP_DAC_OVERRIDE to collectd's service, "
     "let its user write the file, or run collectd as root"},
    {-EROFS, HR_PSI_CPU, true, "/proc is read-only here: mount it writable"},
    {-EROFS, HR_PSI_CPU, false, "the cgroup mount is read-only here: mount it writable"},
    {-ENOSPC, HR_PSI_CPU, true, "epoll watches ran out: raise sysctl fs.epoll.max_user_watches"},
    {-EBUSY, HR_PSI_CPU, true, "this kernel has no triggers: they need Linux 5.2 or later"},
    {-EIO, HR_PSI_CPU, true, "this kernel has no triggers: they need Linux 5.2 or later"},
    {-ENOSYS, HR_PSI_CPU, false, "this kernel has no triggers: they need Linux 5.2 or later"},
    {-ENOENT, HR_PSI_CPU, false,
     "cgroups have no such file, or no such line in it: use Level \"some\" (\"full\" pressure of "
     "cpu "
     "needs Linux 5.13 or later), or " PSI_1 ", without cgroup_disable=pressure"},
    /* The rest is as of the files. */
    {-ENOENT, HR_PSI_MEMORY, false,
     "cgroups have no such file: " PSI_1 ", without cgroup_disable=pressure"},
    {-EOPNOTSUPP, HR_PSI_CPU, true, "it is switched off: " PSI_1},
    {-ENOENT, HR_PSI_IRQ, false, NO_IRQ},
    {-EMFILE, HR_PSI_CPU, false, LIMIT_NOFILE},
    {-ENOMEM, HR_PSI_CPU, false, "Cannot allocate memory"},
};

START_TEST(explains_why_a_trigger_cannot_be_armed)
{
    struct hr_reason reason;

    hr_psi_trigger_explain(triggers[_i].status, triggers[_i].resource, triggers[_i].is_system,
                           &reason);
    ck_assert_str_eq(reason.text, triggers[_i].text);
    ck_assert_int_eq(reason.error, triggers[_i].status);
}
END_TEST

/* --- Waiting tasks -------------------------------------------------------- */

static const struct {
    int status;
    const char *text;
} waiters[] = {
    {-EPERM,
     "CAP_NET_ADMIN is missing: add it to AmbientCapabilities= of collectd's service, or run "
     "collectd as root"},
    {-EXDEV, "this isn't the host's PID namespace: run the container with the host's, "
             "by --pid=host or hostPID: true"},
    {-ENOENT, "there is no taskstats here: it needs a kernel with CONFIG_TASKSTATS=y and "
              "CONFIG_TASK_DELAY_ACCT=y, and the host's network namespace"},
    {-ENODATA, "this kernel accounts no delays: it needs CONFIG_TASK_DELAY_ACCT=y"},
    {-EOPNOTSUPP, "delay accounting is off in the kernel: sysctl kernel.task_delayacct=1 turns it "
                  "on, which costs a little at each wait; restart the services that are to be "
                  "named"},
    {-ENODEV, "the cgroup has just been removed: try again"},
    {-EMFILE, LIMIT_NOFILE},
    {-ENOMEM, "Cannot allocate memory"},
};

START_TEST(explains_why_waiting_tasks_cannot_be_named)
{
    struct hr_reason reason;

    hr_waiters_explain(waiters[_i].status, &reason);
    ck_assert_str_eq(reason.text, waiters[_i].text);
    ck_assert_int_eq(reason.error, waiters[_i].status);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("explain");

    tcase_add_loop_test(tests, explains_why_a_file_cannot_be_read, 0, COUNT(files));
    tcase_add_loop_test(tests, explains_why_a_trigger_cannot_be_armed, 0, COUNT(triggers));
    tcase_add_loop_test(tests, explains_why_waiting_tasks_cannot_be_named, 0, COUNT(waiters));
    return run_suite("psi_explain", tests);
}
