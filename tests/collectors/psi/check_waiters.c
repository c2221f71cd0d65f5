/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_waiters.c - waiters: sums, ranks, limits, and processes that start, end and
 * move between two samples. The kernel's replies are made up; groups and /proc are a tree of files.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "headroom/waiters.h"
#include "support/descriptor_shortage.h"
#include "support/fake_taskstats.h"
#include "support/one_group.h"
#include "support/suite.h"
#include "support/tree.h"

#define MAX   8
#define LIMIT 1000

/* The age of a task that started before the first sample, and of one that started after it. */
#define OLD_US   UINT64_C(3600000000)
#define YOUNG_US UINT64_C(1000)

/* --- Time ----------------------------------------------------------------- */

/* The time that a test has skipped; the delay of the next reply about a thread; and the sum of such
 * delays, by which threads are older. */
static uint64_t skipped_us, delay_us, delayed_us;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_hr_taskstats_read_thread(struct hr_taskstats *taskstats, pid_t id,
                                    struct hr_task_delays *delays);
int __wrap_hr_taskstats_read_thread(struct hr_taskstats *taskstats, pid_t id,
                                    struct hr_task_delays *delays);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = __real_clock_gettime(clock, now);

    now->tv_sec += (time_t)(skipped_us / HR_US_PER_S);
    return status;
}

int __wrap_hr_taskstats_read_thread(struct hr_taskstats *of, pid_t id,
                                    struct hr_task_delays *delays)
{
    int status = __real_hr_taskstats_read_thread(of, id, delays);

    delays->elapsed_us += delayed_us;
    skipped_us += delay_us;
    delayed_us += delay_us;
    delay_us = 0;
    return status;
}

/* -------------------------------------------------------------------------- */

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_cgroup *group;
static struct fake_taskstats *fake;
static struct hr_taskstats *taskstats;

static struct hr_waiter top[MAX];
static struct hr_waiters_report report;

static void set_up(void)
{
    tree = tree_new();
    tree_add_group(tree, "a", true);
    tree_write(tree, TREE_CGROUPS "/a/cgroup.procs", "%s", "");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    group = one_group_open(root, "a", &set);
    fake = fake_taskstats_new();
    const struct hr_taskstats_calls calls = fake_taskstats_calls(fake);
    ck_assert_int_eq(hr_taskstats_open(&calls, &taskstats), 0);
    fake_taskstats_set_process(fake, getpid(), NULL); /* a test may use its PID */
    skipped_us = delay_us = delayed_us = 0;
    memset(top, 0, sizeof(top));
    memset(&report, 0, sizeof(report));
}

static void tear_down(void)
{
    hr_taskstats_close(taskstats);
    fake_taskstats_free(fake);
    hr_cgroup_set_close(set);
    hr_root_close(root);
    tree_free(tree);
}

/* --- Fake processes ------------------------------------------------------- */

static void set_processes(const char *name, const char *pids)
{
    char path[128];

    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/cgroup.procs", name);
    tree_write(tree, path, "%s", pids);
}

static void set_name(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/comm", (int)pid);
    tree_write(tree, path, "%s\n", name);
}

/* Sets a process's wait for the CPU, and its first thread's age. */
static void set_waited(pid_t pid, uint64_t ns, uint64_t elapsed_us)
{
    const struct hr_task_delays delays = {.ns = {[HR_DELAY_CPU] = ns}, .elapsed_us = elapsed_us};

    fake_taskstats_set_process(fake, pid, &delays);
    fake_taskstats_set_thread(fake, pid, &delays);
}

static void end_process(pid_t pid)
{
    fake_taskstats_set_process(fake, pid, NULL);
    fake_taskstats_set_thread(fake, pid, NULL);
}

static struct hr_waiters *take_first_sample(const struct hr_cgroup *of, size_t limit)
{
    struct hr_waiters *waiters = NULL;

    ck_assert_int_eq(hr_waiters_open(root, of, taskstats, HR_PSI_CPU, limit, &waiters), 0);
    return waiters;
}

static void take_second_sample(struct hr_waiters *waiters, size_t max)
{
    ck_assert_int_eq(hr_waiters_read(waiters, top, max, &report), 0);
    hr_waiters_close(waiters);
}

static void require_waiter(size_t i, pid_t pid, uint64_t waited_ns)
{
    ck_assert_uint_lt(i, report.count);
    ck_assert_int_eq(top[i].pid, pid);
    ck_assert_uint_eq(top[i].waited_ns, waited_ns);
}

/* --- Ranking -------------------------------------------------------------- */

START_TEST(ranks_processes)
{
    set_processes("a", "5\n12\n7\n9\n");
    set_waited(5, 1000, OLD_US);
    set_waited(7, 90000, OLD_US);
    set_waited(9, 0, OLD_US);
    set_waited(12, 50, OLD_US);
    set_name(5, "five");
    set_name(12, "twelve");
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_waited(5, 1300, OLD_US);
    set_waited(12, 5050, OLD_US);
    set_waited(9, 300, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 4);
    ck_assert_uint_eq(report.skipped_count, 0);
    ck_assert_uint_eq(report.count, 3); /* 7 didn't wait */
    require_waiter(0, 12, 5000);
    require_waiter(1, 5, 300); /* the lower PID first */
    require_waiter(2, 9, 300);
    ck_assert_str_eq(top[0].name, "twelve");
    ck_assert_str_eq(top[1].name, "five");
    ck_assert_str_eq(top[2].name, "?"); /* ended meanwhile */
}
END_TEST

START_TEST(reports_the_first_few)
{
    set_processes("a", "1\n2\n3\n");
    for (pid_t pid = 1; pid <= 3; pid++)
        set_waited(pid, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    for (pid_t pid = 1; pid <= 3; pid++)
        set_waited(pid, (uint64_t)pid, OLD_US);
    ck_assert_int_eq(hr_waiters_read(waiters, top, 0, &report), 0);
    ck_assert_uint_eq(report.count, 0);
    ck_assert_int_eq(hr_waiters_read(waiters, top, 2, &report), 0);
    ck_assert_uint_eq(report.count, 2);
    require_waiter(0, 3, 3);
    require_waiter(1, 2, 2);
    ck_assert_int_eq(top[2].pid, 0);
    hr_waiters_close(waiters);
}
END_TEST

/* Different values, so that none can be mistaken for another. */
static const struct {
    enum hr_psi_resource resource;
    uint64_t waited_ns;
} sums[] = {
    {HR_PSI_CPU, 1},
    {HR_PSI_IO, 10},
    {HR_PSI_MEMORY, 100 + 1000 + 10000 + 100000 + 1000000},
    {HR_PSI_IRQ, 10000000},
};

START_TEST(sums_what_counts_for_a_resource)
{
    static const struct hr_task_delays before = {.ns = {7, 7, 7, 7, 7, 7, 7, 7}};
    const struct hr_task_delays after = {.ns = {[HR_DELAY_CPU] = 8,
                                                [HR_DELAY_BLKIO] = 17,
                                                [HR_DELAY_SWAPIN] = 107,
                                                [HR_DELAY_FREEPAGES] = 1007,
                                                [HR_DELAY_THRASHING] = 10007,
                                                [HR_DELAY_COMPACT] = 100007,
                                                [HR_DELAY_WPCOPY] = 1000007,
                                                [HR_DELAY_IRQ] = 10000007}};
    struct hr_waiters *waiters;

    set_processes("a", "5\n");
    fake_taskstats_set_process(fake, 5, &before);
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, sums[_i].resource, LIMIT, &waiters),
                     0);
    fake_taskstats_set_process(fake, 5, &after);
    take_second_sample(waiters, MAX);
    require_waiter(0, 5, sums[_i].waited_ns);
}
END_TEST

/* --- Names ---------------------------------------------------------------- */

static const struct {
    const char *comm, *name;
} names[] = {
    {"two words", "two words"},
    {"fifteen bytes..", "fifteen bytes.."},
    {"kworker/u8:1-events_unbound", "kworker/u8:1-ev"},
    {"new\nline\t\x7f\x1b[0m", "new?line???[0m"},
    {"caf\xc3\xa9", "caf\xc3\xa9"},
    {"fourteen bytes\xc3\xa9", "fourteen bytes?"}, /* the kernel cuts at any byte */
    {"\x9b[31m \xc2\x9b \xff", "?[31m ?? ?"},
    {"", "?"},
};

START_TEST(cleans_names)
{
    set_processes("a", "5\n");
    set_waited(5, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_waited(5, 1, OLD_US);
    set_name(5, names[_i].comm);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_str_eq(top[0].name, names[_i].name);
}
END_TEST

/* --- Coming, going, moving ------------------------------------------------ */

START_TEST(distinguishes_new_from_moved)
{
    set_processes("a", "5\n");
    set_waited(5, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_processes("a", "5\n6\n7\n");
    set_waited(6, 4000, YOUNG_US); /* started meanwhile */
    set_waited(7, 900000, OLD_US); /* waited elsewhere */
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 1);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 6, 4000);
}
END_TEST

/* The age, 10 s, is compared with the time between the samples, which is shorter or longer. */
START_TEST(measures_the_time_between_samples)
{
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);

    set_processes("a", "6\n");
    set_waited(6, 4000, 10 * HR_US_PER_S);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    ck_assert_uint_eq(report.count, 0);
    skipped_us = 10 * HR_US_PER_S;
    take_second_sample(waiters, MAX);
    require_waiter(0, 6, 4000);
}
END_TEST

/* A task of 10 s that moved isn't new because the reply with its age takes 20 s. */
START_TEST(asks_again_for_an_age_that_comes_late)
{
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);

    set_processes("a", "6\n");
    set_waited(6, 4000, 10 * HR_US_PER_S);
    delay_us = 20 * HR_US_PER_S;
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(delay_us, 0);
    ck_assert_uint_eq(report.count, 0);
}
END_TEST

START_TEST(detects_a_number_used_again)
{
    set_processes("a", "5\n6\n");
    set_waited(5, 70000, OLD_US);
    set_waited(6, 70000, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_waited(5, 4000, YOUNG_US);
    set_waited(6, 4000, OLD_US); /* another task that moved here, after 6 had ended */
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 5, 4000);
}
END_TEST

START_TEST(passes_over_those_that_ended)
{
    set_processes("a", "5\n6\n7\n");
    set_waited(5, 10, OLD_US);
    set_waited(7, 10, OLD_US); /* 6 has already ended */
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    end_process(5); /* still listed, as a zombie */
    set_waited(7, 30, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 7, 20);
}
END_TEST

START_TEST(passes_over_those_that_moved_away)
{
    set_processes("a", "5\n6\n");
    set_waited(5, 0, OLD_US);
    set_waited(6, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_processes("a", "6\n");
    set_waited(5, 500, OLD_US);
    set_waited(6, 20, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 6, 20);
}
END_TEST

START_TEST(passes_over_lost_replies)
{
    set_processes("a", "5\n");
    set_waited(5, 10, OLD_US);
    fake->trouble = FAKE_LOST;
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    fake->trouble = FAKE_NONE;
    set_waited(5, 30, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 0);
    ck_assert_uint_eq(report.count, 0); /* the start of its wait is unknown */

    waiters = take_first_sample(group, LIMIT);
    fake->trouble = FAKE_SILENT;
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 1);
    ck_assert_uint_eq(report.count, 0);
}
END_TEST

/* --- Limits --------------------------------------------------------------- */

START_TEST(samples_no_more_than_the_limit)
{
    set_processes("a", "5\n6\n7\n8\n9\n");
    for (pid_t pid = 5; pid <= 9; pid++)
        set_waited(pid, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, 2);
    set_processes("a", "1\n2\n3\n5\n6\n7\n8\n9\n");
    for (pid_t pid = 1; pid <= 9; pid++)
        set_waited(pid, (uint64_t)pid, pid < 5 ? YOUNG_US : OLD_US);
    fake->requests = 0;
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_uint_eq(report.skipped_count, 3);
    ck_assert_uint_eq(report.count, 4);
    for (size_t i = 0; i < 4; i++) /* two sampled ones, and two new ones */
        ck_assert_int_eq(top[i].pid >= 5, i < 2);
    ck_assert_uint_eq(fake->requests, 2 + 2 * 2);
}
END_TEST

/* Starts processes with PIDs from 100 on, of which nothing but the PID is known. */
static void set_many(int count)
{
    static char text[400000];
    size_t length = 0;

    for (int i = 0; i < count; i++) {
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%d\n", 100 + i);
        fake_taskstats_set_process(fake, 100 + i, &(struct hr_task_delays){0});
    }
    set_processes("a", text);
}

/* The highest PIDs are no more likely to be sampled than the lowest: each process is in 200 of 250
 * reports, by chance 162 to 238 (six standard deviations), and of 25 neighbours 15 or more are. */
START_TEST(samples_evenly)
{
    static struct hr_waiter all[250];
    int seen[250] = {0};

    set_many(250);
    for (uint64_t round = 1; round <= 250; round++) {
        int neighbours[10] = {0};
        struct hr_waiters *waiters = take_first_sample(group, 200);
        for (pid_t pid = 100; pid < 350; pid++)
            fake_taskstats_set_process(fake, pid,
                                       &(struct hr_task_delays){.ns = {[HR_DELAY_CPU] = round}});
        ck_assert_int_eq(hr_waiters_read(waiters, all, 250, &report), 0);
        hr_waiters_close(waiters);
        ck_assert_uint_eq(report.count, 200);
        ck_assert_uint_eq(report.sampled_count, 200);
        ck_assert_uint_eq(report.skipped_count, 50);
        for (int i = 0; i < 200; i++) {
            seen[all[i].pid - 100]++;
            neighbours[(all[i].pid - 100) / 25]++;
        }
        for (int i = 0; i < 10; i++)
            ck_assert_int_ge(neighbours[i], 15);
    }
    for (int i = 0; i < 250; i++) {
        ck_assert_int_ge(seen[i], 162);
        ck_assert_int_le(seen[i], 238);
    }
}
END_TEST

/* Each report has it with a chance of 2000 in 2500. */
START_TEST(finds_the_lowest_pid_of_many)
{
    int reports = 0;

    set_many(2500);
    do {
        struct hr_waiters *waiters = take_first_sample(group, 2000);
        set_waited(100, (uint64_t)++reports, OLD_US);
        take_second_sample(waiters, MAX);
    } while (report.count == 0 && reports < 30);
    require_waiter(0, 100, 1);
    ck_assert_uint_eq(report.skipped_count, 500);
}
END_TEST

/* PIDs of different lengths, so that the ends of reads cut them in every way. */
START_TEST(reads_long_lists)
{
    static char text[400000];
    size_t length = 0;

    for (pid_t pid = 900; pid < 50000; pid += 1)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%d\n", (int)pid);
    set_processes("a", text);
    for (pid_t pid = 900; pid < 50000; pid += 100)
        set_waited(pid, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, 100000);
    for (pid_t pid = 900; pid < 50000; pid += 100)
        set_waited(pid, (uint64_t)pid, OLD_US);
    take_second_sample(waiters, 1);
    ck_assert_uint_eq(report.sampled_count, 491); /* and no other PID */
    ck_assert_uint_eq(report.skipped_count, 0);
    require_waiter(0, 49900, 49900);

    waiters = take_first_sample(group, 10);
    take_second_sample(waiters, 1);
    ck_assert_uint_eq(report.skipped_count, 49090);
}
END_TEST

static const char *const bad_lists[] = {
    "x\n", "5", "5\n6", "\n", "5\n\n", "-5\n", "2147483648\n", "99999999999999999999\n", "5 6\n"};

START_TEST(refuses_odd_lists)
{
    struct hr_waiters *waiters = NULL;

    set_processes("a", bad_lists[_i]);
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_CPU, LIMIT, &waiters),
                     -EBADMSG);
    ck_assert_ptr_null(waiters);
}
END_TEST

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
    TCase *tests = tcase_create("waiters");

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, ranks_processes);
    tcase_add_test(tests, reports_the_first_few);
    tcase_add_loop_test(tests, sums_what_counts_for_a_resource, 0, COUNT(sums));
    tcase_add_loop_test(tests, cleans_names, 0, COUNT(names));
    tcase_add_test(tests, distinguishes_new_from_moved);
    tcase_add_test(tests, measures_the_time_between_samples);
    tcase_add_test(tests, asks_again_for_an_age_that_comes_late);
    tcase_add_test(tests, detects_a_number_used_again);
    tcase_add_test(tests, passes_over_those_that_ended);
    tcase_add_test(tests, passes_over_those_that_moved_away);
    tcase_add_test(tests, passes_over_lost_replies);
    tcase_add_test(tests, samples_no_more_than_the_limit);
    tcase_add_test(tests, samples_evenly);
    tcase_add_test(tests, finds_the_lowest_pid_of_many);
    tcase_add_test(tests, reads_long_lists);
    tcase_add_loop_test(tests, refuses_odd_lists, 0, COUNT(bad_lists));
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
    return run_suite("waiters", tests);
}
