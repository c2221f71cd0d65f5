/* SPDX-License-Identifier: MIT */
/*
 * collectors/isolation/check_isolation.c - what disturbs CPUs that are to be left alone, in trees
 * of machines of four CPUs, of which 2 and 3 are isolated as well as a kernel can.
 */
#include "headroom/isolation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

#define CPU "sys/devices/system/cpu/"

static struct tree *tree;
static struct hr_root *root;
static struct hr_isolation isolation;
static struct hr_reason reason;

/* --- The machine ---------------------------------------------------------- */

#define KERNEL_THREAD 0x00200040U
#define BOUND         0x04208040U

static void add_task(unsigned pid, const char *name, unsigned flags, const char *allowed)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%u/stat", pid);
    tree_write(tree, path, "%u (%s) S 2 0 0 0 -1 %u 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n", pid, name,
               flags);
    snprintf(path, sizeof(path), "proc/%u/status", pid);
    tree_write(tree, path,
               "Name:\t%s\nCpus_allowed:\tf\nCpus_allowed_list:\t%s\nMems_allowed:\t1\n", name,
               allowed);
}

/* @param effective  NULL: there is no such file. */
static void add_irq(unsigned irq, const char *name, const char *set, const char *effective)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", irq);
    tree_write(tree, path, "%s\n", set);
    snprintf(path, sizeof(path), "proc/irq/%u/effective_affinity_list", irq);
    if (effective != NULL)
        tree_write(tree, path, "%s\n", effective);
    snprintf(path, sizeof(path), "sys/kernel/irq/%u/actions", irq);
    if (name != NULL)
        tree_write(tree, path, "%s\n", name);
}

static void mount_cgroups(void)
{
    tree_write(tree, "proc/1/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
    tree_write(tree, "sys/fs/cgroup/cgroup.procs", "%s", "");
    tree_write(tree, "sys/fs/cgroup/cpuset.cpus.isolated", "\n");
}

static void set_up(void)
{
    tree = tree_new();
    mount_cgroups();
    tree_write(tree, CPU "online", "0-3\n");
    tree_write(tree, CPU "possible", "0-7\n");
    tree_write(tree, CPU "isolated", "2-3\n");
    tree_write(tree, CPU "nohz_full", "2-3\n");
    tree_write(tree, "proc/irq/default_smp_affinity", "3\n");
    add_irq(4, "ttyS0", "0-1", "0");
    add_irq(24, "virtio0-config", "0-1", "1");
    tree_write(tree, "sys/devices/virtual/workqueue/cpumask", "03\n");
    tree_write(tree, "sys/devices/virtual/workqueue/writeback/cpumask", "ff\n");
    tree_write(tree, "proc/sys/kernel/watchdog", "1\n");
    tree_write(tree, "proc/sys/kernel/watchdog_cpumask", "0-1\n");
    tree_write(tree, "proc/sys/kernel/timer_migration", "1\n");
    add_task(1, "systemd", 0x00400100, "0-3"); /* no thread of the kernel's */
    add_task(2, "kthreadd", KERNEL_THREAD, "0-1");
    add_task(20, "ksoftirqd/2", BOUND, "2");
    add_task(21, "kworker/3:1", BOUND, "3");
    add_task(30, "rcuop/2", KERNEL_THREAD, "0-1");
    add_task(31, "rcuop/3", KERNEL_THREAD, "0-1");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    isolation = (struct hr_isolation){.faults = NULL};
}

static void tear_down(void)
{
    hr_isolation_free(&isolation);
    hr_root_close(root);
    tree_free(tree);
}

static int check(const char *list)
{
    struct hr_cpu_set cpus;

    hr_isolation_free(&isolation);
    ck_assert_int_eq(hr_cpu_set_parse(list, strlen(list), &cpus), 0);
    return hr_isolation_check(root, &cpus, &isolation, &reason);
}

static void assert_fault(size_t i, enum hr_isolation_aspect aspect, const char *cause,
                         const char *remedy)
{
    ck_assert_uint_gt(isolation.fault_count, i);
    ck_assert_int_eq(isolation.faults[i].aspect, aspect);
    ck_assert_str_eq(isolation.faults[i].cause, cause);
    ck_assert_str_eq(isolation.faults[i].remedy, remedy);
}

/* That this, and nothing else, is wrong with CPUs 2-3. */
static void assert_only_fault(enum hr_isolation_aspect aspect, const char *cause,
                              const char *remedy)
{
    ck_assert_int_eq(check("2-3"), 0);
    assert_fault(0, aspect, cause, remedy);
    ck_assert_uint_eq(isolation.fault_count, 1);
    for (int i = 0; i < HR_ISOLATION_ASPECT_COUNT; i++)
        ck_assert_int_eq(isolation.status[i], 0);
}

/* --- What is right -------------------------------------------------------- */

START_TEST(finds_nothing_where_all_is_well)
{
    ck_assert_int_eq(check(_i == 0 ? "2-3" : "3"), 0);
    ck_assert_uint_eq(isolation.fault_count, 0);
    for (int i = 0; i < HR_ISOLATION_ASPECT_COUNT; i++)
        ck_assert_int_eq(isolation.status[i], 0);
}
END_TEST

/* A kernel that lacks a disturbance has no setting of it. */
START_TEST(what_the_kernel_lacks_disturbs_nothing)
{
    tree_remove(tree, "proc/sys/kernel/watchdog");
    tree_remove(tree, "proc/sys/kernel/watchdog_cpumask");
    tree_remove(tree, "proc/sys/kernel/timer_migration");
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_uint_eq(isolation.fault_count, 0);
}
END_TEST

/* --- Interrupts ----------------------------------------------------------- */

START_TEST(names_an_interrupt)
{
    add_irq(24, "virtio0-config", "2", "2");
    assert_only_fault(HR_ISOLATION_IRQS, "interrupt 24 (virtio0-config) may be handled by CPU 2",
                      "echo 0-1 >/proc/irq/24/smp_affinity_list");
}
END_TEST

static const struct {
    const char *set, *effective, *target; /* NULL: it's no fault */
} affinities[] = {
    {"0-3", "0", NULL},                      /* it could be elsewhere, but isn't */
    {"0-3", "2", "0-1"},  {"1-2", "2", "1"}, /* as close to what was set as can be */
    {"2", "0", "0-1"},                       /* it moves there with the next interrupt */
    {"0-1", "2", NULL},                      /* and here away */
    {"0-3", "", NULL},                       /* not in use, or of each CPU */
    {"0-3", NULL, "0-1"},                    /* a kernel that doesn't tell */
    {"0-1", NULL, NULL},  {"3", NULL, "0-1"},
};

START_TEST(judges_where_an_interrupt_is_handled)
{
    char remedy[64];

    tree_remove(tree, "proc/irq/24/effective_affinity_list");
    add_irq(24, NULL, affinities[_i].set, affinities[_i].effective);
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_uint_eq(isolation.fault_count, affinities[_i].target != NULL);
    if (affinities[_i].target == NULL)
        return;
    snprintf(remedy, sizeof(remedy), "echo %s >/proc/irq/24/smp_affinity_list",
             affinities[_i].target);
    ck_assert_str_eq(isolation.faults[0].remedy, remedy);
}
END_TEST

START_TEST(names_interrupts_that_go_together_at_once)
{
    add_irq(24, "virtio0-config", "2", "2");
    add_irq(25, NULL, "2", "2");
    add_irq(26, "a\033b", "3", "3");
    add_irq(100, "eth0", "0,2", "2");
    add_irq(9, "acpi", "2", "2");
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_uint_eq(isolation.fault_count, 2);
    assert_fault(
        0, HR_ISOLATION_IRQS,
        "interrupts 9 (acpi), 24 (virtio0-config), 25, 26 (a?b) may be handled by CPUs 2-3",
        "for n in 9 24 25 26; do echo 0-1 >/proc/irq/$n/smp_affinity_list; done");
    assert_fault(1, HR_ISOLATION_IRQS, "interrupt 100 (eth0) may be handled by CPU 2",
                 "echo 0 >/proc/irq/100/smp_affinity_list");
}
END_TEST

/* No command is cut, and no interrupt is left out. */
START_TEST(splits_what_is_too_long_for_one_command)
{
    size_t numbers = 0;

    for (unsigned irq = 1000; irq < 1100; irq++)
        add_irq(irq, "nvme0q1", "2", "2");
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_uint_gt(isolation.fault_count, 1);
    for (size_t i = 0; i < isolation.fault_count; i++) {
        const char *remedy = isolation.faults[i].remedy;
        ck_assert_int_eq(strncmp(remedy, "for n in 1", 10), 0);
        ck_assert_ptr_nonnull(
            strstr(remedy, "; do echo 0-1 >/proc/irq/$n/smp_affinity_list; done"));
        for (const char *at = remedy; (at = strstr(at, " 1")) != NULL; at++)
            numbers++;
        ck_assert_ptr_nonnull(strstr(isolation.faults[i].cause, " more may be handled by CPU 2"));
    }
    ck_assert_uint_eq(numbers, 100);
}
END_TEST

START_TEST(names_where_new_interrupts_go)
{
    tree_write(tree, "proc/irq/default_smp_affinity", "00000000,0000000f\n");
    assert_only_fault(HR_ISOLATION_NEW_IRQS,
                      "CPUs 2-3 may handle the interrupts of devices that come later",
                      "echo 3 >/proc/irq/default_smp_affinity");
}
END_TEST

/* --- Threads -------------------------------------------------------------- */

START_TEST(names_threads_of_the_kernel)
{
    add_task(40, "kswapd0", KERNEL_THREAD, "1-3");
    assert_only_fault(HR_ISOLATION_THREADS, "the kernel's thread 40 (kswapd0) may run on CPUs 2-3",
                      "taskset -cp 1 40");
    add_task(41, "khugepaged", KERNEL_THREAD, "1-3");
    assert_only_fault(HR_ISOLATION_THREADS,
                      "the kernel's threads 40 (kswapd0), 41 (khugepaged) may run on CPUs 2-3",
                      "for n in 40 41; do taskset -cp 1 $n; done");
}
END_TEST

START_TEST(says_that_it_sees_no_threads_of_the_kernel)
{
    tree_remove(tree, "proc/2/stat");
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_uint_eq(isolation.fault_count, 0);
    ck_assert_int_eq(isolation.status[HR_ISOLATION_THREADS], -ESRCH);
    ck_assert_int_eq(isolation.status[HR_ISOLATION_RCU], -ESRCH);
    ck_assert_int_eq(isolation.status[HR_ISOLATION_IRQS], 0);
}
END_TEST

START_TEST(names_callbacks_of_rcu)
{
    add_task(31, "rcuop/3x", KERNEL_THREAD, "0-1");
    assert_only_fault(HR_ISOLATION_RCU, "CPU 3 calls the callbacks of RCU",
                      "boot the kernel with rcu_nocbs=2-3, which it has by CONFIG_RCU_NOCB_CPU");
}
END_TEST

/* --- Single settings ------------------------------------------------------ */

static const struct {
    const char *path, *text;
    enum hr_isolation_aspect aspect;
    const char *cause, *remedy;
} settings[] = {
    {CPU "isolated", "3\n", HR_ISOLATION_TASKS, "the scheduler may choose CPU 2 for any task",
     "boot the kernel with isolcpus=2-3, or make a cpuset partition of the type \"isolated\""},
    {"sys/devices/virtual/workqueue/cpumask", "00000000,0000000b\n", HR_ISOLATION_WORKQUEUES,
     "CPU 3 may do unbound work of the kernel, such as writeback",
     "echo 3 >/sys/devices/virtual/workqueue/cpumask"},
    {"proc/sys/kernel/watchdog_cpumask", "0-3\n", HR_ISOLATION_WATCHDOG,
     "the watchdog of lockups interrupts CPUs 2-3 every few seconds",
     "sysctl kernel.watchdog_cpumask=0-1"},
    {CPU "nohz_full", "2\n", HR_ISOLATION_TICKS,
     "the timer interrupts CPU 3 at each tick, even while one task runs there",
     "boot the kernel with nohz_full=2-3, which it has by CONFIG_NO_HZ_FULL"},
    {CPU "nohz_full", "(null)\n", HR_ISOLATION_TICKS,
     "the timer interrupts CPUs 2-3 at each tick, even while one task runs there",
     "boot the kernel with nohz_full=2-3, which it has by CONFIG_NO_HZ_FULL"},
    {"proc/sys/kernel/timer_migration", "0\n", HR_ISOLATION_TIMERS,
     "timers that are armed on CPUs 2-3 expire there, though others could have them",
     "sysctl kernel.timer_migration=1"},
};

START_TEST(names_a_setting)
{
    tree_write(tree, settings[_i].path, "%s", settings[_i].text);
    assert_only_fault(settings[_i].aspect, settings[_i].cause, settings[_i].remedy);
}
END_TEST

START_TEST(a_watchdog_that_is_off_disturbs_nothing)
{
    tree_write(tree, "proc/sys/kernel/watchdog_cpumask", "0-3\n");
    tree_write(tree, "proc/sys/kernel/watchdog", "0\n");
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_uint_eq(isolation.fault_count, 0);
}
END_TEST

/* Whether timers come to a CPU by migration, or go, depends on what else it is. */
START_TEST(judges_migration_of_timers_by_the_cpus)
{
    static const struct {
        const char *isolated, *nohz_full, *migrates, *remedy;
    } rows[] = {
        {"2-3\n", "2-3\n", "1\n", NULL}, {"\n", "2-3\n", "1\n", NULL},
        {"2-3\n", "\n", "1\n", NULL}, /* in no domain of the scheduler */
        {"2-3\n", "\n", "0\n", NULL},    {"\n", "\n", "1\n", "sysctl kernel.timer_migration=0"},
        {"\n", "\n", "0\n", NULL},
    };
    const char *remedy = NULL;

    tree_write(tree, CPU "isolated", "%s", rows[_i].isolated);
    tree_write(tree, CPU "nohz_full", "%s", rows[_i].nohz_full);
    tree_write(tree, "proc/sys/kernel/timer_migration", "%s", rows[_i].migrates);
    ck_assert_int_eq(check("2-3"), 0);
    for (size_t i = 0; i < isolation.fault_count; i++)
        if (isolation.faults[i].aspect == HR_ISOLATION_TIMERS)
            remedy = isolation.faults[i].remedy;
    ck_assert_int_eq(remedy != NULL, rows[_i].remedy != NULL);
    if (remedy != NULL)
        ck_assert_str_eq(remedy, rows[_i].remedy);
}
END_TEST

/* Partitions are as good as isolcpus=, where the kernel lists them. */
START_TEST(knows_cpuset_partitions)
{
    tree_write(tree, CPU "isolated", "2\n");
    tree_write(tree, "sys/fs/cgroup/cpuset.cpus.isolated", "%s", _i == 0 ? "3\n" : "\n");
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_uint_eq(isolation.fault_count, (size_t)_i);
    if (_i == 1)
        ck_assert_str_eq(isolation.faults[0].cause, "the scheduler may choose CPU 3 for any task");
}
END_TEST

START_TEST(says_where_partitions_cant_be_known)
{
    tree_write(tree, CPU "isolated", "2\n");
    tree_remove(tree, "sys/fs/cgroup/cpuset.cpus.isolated");
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_uint_eq(isolation.fault_count, 1);
    ck_assert_str_eq(
        isolation.faults[0].cause,
        "the scheduler may choose CPU 3 for any task (this kernel doesn't tell whether a "
        "cpuset partition prevents that)");
}
END_TEST

/* --- Which CPUs ----------------------------------------------------------- */

START_TEST(refuses_what_leaves_no_other)
{
    static const struct {
        const char *list, *reason;
    } rows[] = {
        {"0-3", "no other CPU is online that could do what these shouldn't: leave one out"},
        {"8-9", "this machine has none of the CPUs: see /sys/devices/system/cpu/possible"},
    };

    ck_assert_int_eq(check(rows[_i].list), -ENXIO);
    ck_assert_str_eq(reason.text, rows[_i].reason);
    ck_assert_int_eq(reason.error, -ENXIO);
}
END_TEST

/* By what is set for it, it will be disturbed when it comes. */
START_TEST(examines_cpus_that_are_offline)
{
    tree_write(tree, CPU "online", "0-2\n");
    tree_write(tree, "proc/sys/kernel/watchdog_cpumask", "0-1,3\n");
    ck_assert_int_eq(check("2-3"), 0);
    assert_fault(0, HR_ISOLATION_WATCHDOG,
                 "the watchdog of lockups interrupts CPU 3 every few seconds",
                 "sysctl kernel.watchdog_cpumask=0-1");
}
END_TEST

START_TEST(says_what_cant_be_read)
{
    tree_remove(tree, "sys/devices/virtual/workqueue/cpumask");
    tree_write(tree, "proc/irq/default_smp_affinity", "what\n");
    ck_assert_int_eq(check("2-3"), 0);
    ck_assert_int_eq(isolation.status[HR_ISOLATION_WORKQUEUES], -ENOENT);
    ck_assert_int_eq(isolation.status[HR_ISOLATION_NEW_IRQS], -EBADMSG);
    ck_assert_uint_eq(isolation.fault_count, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("isolation");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, finds_nothing_where_all_is_well, 0, 2);
    tcase_add_test(tests, what_the_kernel_lacks_disturbs_nothing);
    tcase_add_test(tests, names_an_interrupt);
    tcase_add_loop_test(tests, judges_where_an_interrupt_is_handled, 0,
                        sizeof(affinities) / sizeof(affinities[0]));
    tcase_add_test(tests, names_interrupts_that_go_together_at_once);
    tcase_add_test(tests, splits_what_is_too_long_for_one_command);
    tcase_add_test(tests, names_where_new_interrupts_go);
    tcase_add_test(tests, names_threads_of_the_kernel);
    tcase_add_test(tests, says_that_it_sees_no_threads_of_the_kernel);
    tcase_add_test(tests, names_callbacks_of_rcu);
    tcase_add_loop_test(tests, names_a_setting, 0, sizeof(settings) / sizeof(settings[0]));
    tcase_add_test(tests, a_watchdog_that_is_off_disturbs_nothing);
    tcase_add_loop_test(tests, judges_migration_of_timers_by_the_cpus, 0, 6);
    tcase_add_loop_test(tests, knows_cpuset_partitions, 0, 2);
    tcase_add_test(tests, says_where_partitions_cant_be_known);
    tcase_add_loop_test(tests, refuses_what_leaves_no_other, 0, 2);
    tcase_add_test(tests, examines_cpus_that_are_offline);
    tcase_add_test(tests, says_what_cant_be_read);
    return run_suite("isolation", tests);
}
