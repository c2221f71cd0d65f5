/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_waiters_groups.c - waiters: nested groups, the whole system, processes with
 * many threads, and what the kernel lacks or refuses.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/psi/waiters_harness.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"

/* --- Groups --------------------------------------------------------------- */

START_TEST(looks_below_a_group)
{
    tree_add_group(tree, "a/b/c/d", true);
    tree_add_group(tree, "a/e", true);
    tree_add_group(tree, "other", true);
    set_processes("a", "0\n1\n0\n"); /* 0: of another PID namespace */
    set_processes("a/b", "2\n");
    set_processes("a/b/c", "");
    set_processes("a/b/c/d", "3\n1\n"); /* 1 moves, and is listed twice */
    set_processes("a/e", "4\n");
    set_processes("other", "5\n");
    for (pid_t pid = 0; pid <= 5; pid++)
        set_waited(pid, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    for (pid_t pid = 0; pid <= 5; pid++)
        set_waited(pid, (uint64_t)pid + 10, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 4);
    ck_assert_uint_eq(report.count, 4);
    require_waiter(0, 4, 14);
    require_waiter(1, 3, 13);
    require_waiter(3, 1, 11);
}
END_TEST

/* Of many empty directories, not all are read. */
START_TEST(does_not_walk_forever)
{
    char name[32];

    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "a/g%02d", i);
        tree_add_group(tree, name, true);
        set_processes(name, i % 50 == 0 ? "1\n" : "");
    }
    tree_add_group(tree, "a/g99/below", true);
    set_processes("a/g98", "2\n");
    set_processes("a/g99/below", "3\n");
    for (pid_t pid = 1; pid <= 3; pid++)
        set_waited(pid, 0, OLD_US);
    take_second_sample(take_first_sample(group, 4), MAX);
    ck_assert_uint_eq(report.sampled_count, 1); /* the first 64 + 4 * 4 */
    take_second_sample(take_first_sample(group, 9), MAX);
    ck_assert_uint_eq(report.sampled_count, 2); /* the group and 99 below */
    take_second_sample(take_first_sample(group, 10), MAX);
    ck_assert_uint_eq(report.sampled_count, 3);
}
END_TEST

START_TEST(gets_over_groups_that_vanish)
{
    struct hr_waiters *waiters = NULL;

    tree_add_group(tree, "a/b", true);
    set_processes("a", "5\n");
    set_processes("a/b", "6\n");
    set_waited(5, 0, OLD_US);
    set_waited(6, 0, OLD_US);
    waiters = take_first_sample(group, LIMIT);
    set_waited(5, 50, OLD_US);
    set_waited(6, 60, OLD_US);
    tree_remove(tree, TREE_CGROUPS "/a/b/cgroup.procs"); /* being removed */
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 5, 50);
    tree_remove_group(tree, "a");
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.count, 0);
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_CPU, LIMIT, &waiters), -ENODEV);
}
END_TEST

START_TEST(outlives_its_group)
{
    set_processes("a", "5\n");
    set_waited(5, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    hr_cgroup_set_close(set);
    set = NULL;
    set_waited(5, 50, OLD_US);
    take_second_sample(waiters, MAX);
    require_waiter(0, 5, 50);
}
END_TEST

START_TEST(looks_at_the_system)
{
    static const char *const others[] = {"sel", "5x", "x5", "sys", "0", "99999999999"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char path[64];
        snprintf(path, sizeof(path), "proc/%s/comm", others[i]);
        tree_write(tree, path, "no process\n");
    }
    set_name(1, "init");
    set_name(4711, "a process");
    for (pid_t pid = 0; pid < 10; pid++)
        set_waited(pid, 0, OLD_US);
    set_waited(4711, 0, OLD_US);
    set_waited((pid_t)(99999999999 & UINT32_MAX), 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(NULL, LIMIT);
    set_waited(1, 5, OLD_US);
    set_waited(4711, 6, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_uint_eq(report.count, 2);
    require_waiter(0, 4711, 6);
    ck_assert_str_eq(top[0].name, "a process");
    ck_assert_str_eq(top[1].name, "init");
}
END_TEST

/* There, the same PIDs are other tasks. */
START_TEST(refuses_another_pid_namespace)
{
    char path[512], own[16];
    struct hr_waiters *waiters = NULL;

    set_processes("a", "5\n");
    set_waited(5, 0, OLD_US);
    snprintf(path, sizeof(path), "%s/proc/self", tree_path(tree));
    snprintf(own, sizeof(own), "%d", (int)getpid());
    tree_add_directory(tree, "proc");
    ck_assert_int_eq(symlink(own, path), 0);
    waiters = take_first_sample(group, LIMIT);
    hr_waiters_close(waiters);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("1", path), 0);
    waiters = NULL;
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_CPU, LIMIT, &waiters), -EXDEV);
    ck_assert_ptr_null(waiters);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* --- Kernel threads ------------------------------------------------------- */

#define PF_KTHREAD 0x00200000

/* Starts processes 1, 2 and 3, all of which wait. @return how many are sampled. */
static size_t count_sampled_of_system(unsigned flags)
{
    for (int pid = 1; pid <= 3; pid++) {
        tree_add_process(
            tree, &(struct tree_process){.pid = pid, .name = "x", .flags = pid == 1 ? 0 : flags});
        set_waited(pid, 0, OLD_US);
    }
    take_second_sample(take_first_sample(NULL, LIMIT), MAX);
    ck_assert_uint_eq(report.skipped_count, 0);
    return report.sampled_count;
}

START_TEST(leaves_out_kernel_threads)
{
    struct hr_waiters *waiters = NULL;

    ck_assert_uint_eq(count_sampled_of_system(PF_KTHREAD), 2); /* without CONFIG_PROC_CHILDREN */
    tree_write(tree, "proc/2/task/2/children", "3 44 555 ");
    ck_assert_uint_eq(count_sampled_of_system(PF_KTHREAD), 1);
    ck_assert_uint_eq(count_sampled_of_system(0), 3); /* a process, in a PID namespace */
    tree_add_process(tree, &(struct tree_process){.pid = 2, .name = "x", .flags = PF_KTHREAD});
    tree_write(tree, "proc/2/task/2/children", "3 4\n");
    ck_assert_int_eq(hr_waiters_open(root, NULL, taskstats, HR_PSI_CPU, LIMIT, &waiters), -EBADMSG);
}
END_TEST

/* --- Threads -------------------------------------------------------------- */

/* Starts threads of a process: its first, and others from a PID on. */
static void set_threads(pid_t process, pid_t from, int others)
{
    for (int i = 0; i <= others; i++) {
        pid_t thread = i == 0 ? process : from + i - 1;
        char path[64];

        snprintf(path, sizeof(path), "proc/%d/task/%d", (int)process, (int)thread);
        tree_add_directory(tree, path);
        fake_taskstats_set_thread(fake, thread, &(struct hr_task_delays){0});
    }
}

START_TEST(counts_threads)
{
    set_processes("a", "5\n6\n");
    set_waited(5, 0, OLD_US);
    set_waited(6, 0, OLD_US);
    set_threads(5, 1000, 2);
    fake->requests = 0;
    struct hr_waiters *waiters = take_first_sample(group, 4);
    ck_assert_uint_eq(hr_waiters_sampled_count(waiters), 4);
    ck_assert_uint_eq(fake->requests, 2);
    set_waited(5, 7, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 4);
    ck_assert_uint_eq(report.skipped_count, 0);
    require_waiter(0, 5, 7);
}
END_TEST

/* There is no reply about the whole process. */
START_TEST(reads_a_big_process_by_threads)
{
    set_processes("a", "5\n6\n");
    set_waited(6, 0, OLD_US);
    set_threads(5, 1000, 199);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    ck_assert_uint_eq(hr_waiters_sampled_count(waiters), 201);
    fake_taskstats_set_thread(fake, 5, &(struct hr_task_delays){.ns = {[HR_DELAY_CPU] = 1}});
    fake_taskstats_set_thread(fake, 1198, &(struct hr_task_delays){.ns = {[HR_DELAY_CPU] = 20}});
    set_waited(6, 3, OLD_US);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    ck_assert_uint_eq(report.count, 2);
    require_waiter(0, 5, 21);
    require_waiter(1, 6, 3);
    ck_assert_uint_eq(report.skipped_count, 0);
    set_processes("a", "6\n"); /* its threads have moved away with it */
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.count, 1);

    set_processes("a", "5\n6\n");
    fake->requests = 0;
    waiters = take_first_sample(group, 150);
    ck_assert_uint_eq(fake->requests, 150);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 150); /* the other process, and 149 threads */
    ck_assert_uint_eq(report.skipped_count, 51);
}
END_TEST

/* It takes a half of the limit at most. */
START_TEST(leaves_room_beside_a_big_process)
{
    static struct hr_waiter all[300];

    set_many(300);
    set_threads(200, 1000, 499);
    for (int round = 1; round <= 20; round++) {
        struct hr_waiters *waiters = take_first_sample(group, 100);
        ck_assert_uint_eq(hr_waiters_sampled_count(waiters), 100);
        for (pid_t pid = 100; pid < 400; pid++)
            if (pid != 200)
                set_waited(pid, (uint64_t)round, OLD_US);
        ck_assert_int_eq(hr_waiters_read(waiters, all, 300, &report), 0);
        hr_waiters_close(waiters);
        ck_assert_uint_ge(report.count, 50);
    }
}
END_TEST

/* --- Missing requirements ------------------------------------------------- */

START_TEST(detects_delay_accounting_switched_off)
{
    struct hr_waiters *waiters = NULL;

    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        ck_assert_int_eq(hr_waiters_check(root, i), 0); /* before Linux 5.14 */
    tree_write(tree, "proc/sys/kernel/task_delayacct", "0\n");
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++) {
        int expected = i == HR_PSI_CPU ? 0 : -EOPNOTSUPP;
        ck_assert_int_eq(hr_waiters_check(root, i), expected);
        ck_assert_int_eq(hr_waiters_open(root, group, taskstats, i, LIMIT, &waiters), expected);
        if (expected == 0)
            hr_waiters_close(waiters);
    }
    tree_write(tree, "proc/sys/kernel/task_delayacct", "1\n");
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        ck_assert_int_eq(hr_waiters_check(root, i), 0);
}
END_TEST

START_TEST(reports_what_the_kernel_lacks)
{
    struct hr_waiters *waiters = NULL;

    set_processes("a", "5\n");
    set_waited(5, 0, OLD_US);
    fake->version = 13;
    fake->size = 416;
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_IRQ, LIMIT, &waiters),
                     -ENODATA);
    fake->version = 8; /* some of memory's delays */
    fake->size = 328;
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_MEMORY, LIMIT, &waiters), 0);
    hr_waiters_close(waiters);
}
END_TEST

START_TEST(reports_a_missing_privilege)
{
    struct hr_waiters *waiters = NULL;

    set_processes("a", "5\n");
    set_waited(5, 0, OLD_US);
    fake->error = -EPERM;
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_CPU, LIMIT, &waiters), -EPERM);
    ck_assert_ptr_null(waiters);
    fake->error = 0;
    waiters = take_first_sample(group, LIMIT);
    fake->error = -EPERM;
    report.count = 77;
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), -EPERM);
    ck_assert_uint_eq(report.count, 77);
    hr_waiters_close(waiters);
}
END_TEST

START_TEST(gets_by_with_descriptor_shortage)
{
    struct hr_waiters *waiters = NULL;
    struct rlimit limit;

    tree_add_group(tree, "a/b/c/d/e/f/g/h", true);
    set_processes("a", "");
    set_processes("a/b/c/d/e/f/g/h", "5\n");
    set_waited(5, 0, OLD_US);
    int before = count_descriptors();
    leave_descriptors(3); /* the group, one below, and its list */
    int followed = count_descriptors();
    waiters = take_first_sample(group, LIMIT);
    set_waited(5, 50, OLD_US);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    require_waiter(0, 5, 50);
    ck_assert_int_eq(count_descriptors(), followed + 1);
    hr_waiters_close(waiters);
    ck_assert_int_eq(count_descriptors(), followed);
    ck_assert_int_le(before, followed);
    leave_descriptors(0);
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_CPU, LIMIT, &waiters), -EMFILE);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur += 64;
    setrlimit(RLIMIT_NOFILE, &limit);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    add_waiters_fixture(tests);
    tcase_add_test(tests, looks_below_a_group);
    tcase_add_test(tests, does_not_walk_forever);
    tcase_add_test(tests, gets_over_groups_that_vanish);
    tcase_add_test(tests, outlives_its_group);
    tcase_add_test(tests, looks_at_the_system);
    tcase_add_test(tests, leaves_out_kernel_threads);
    tcase_add_test(tests, counts_threads);
    tcase_add_test(tests, reads_a_big_process_by_threads);
    tcase_add_test(tests, leaves_room_beside_a_big_process);
    tcase_add_test(tests, refuses_another_pid_namespace);
    tcase_add_test(tests, detects_delay_accounting_switched_off);
    tcase_add_test(tests, reports_what_the_kernel_lacks);
    tcase_add_test(tests, reports_a_missing_privilege);
    tcase_add_test(tests, gets_by_with_descriptor_shortage);
    return run_suite("waiters of groups", tests);
}
