/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_live.c - known loads on the running kernel, compared with the
 * kernel's own sums of the same tasks.
 *
 * A task that spins on one CPU either runs or waits. So what it waits for another task of that CPU
 * is what that one ran, whatever else the machine does.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/blame/blame_live.h"
#include "headroom/root.h"
#include "support/suite.h"

static struct groups *groups;
static struct live live;
static int cpu; /* the last one that may be used */

static void set_up(void)
{
    const struct hr_blame_options options = {.max_groups = 16};

    cpu = live_last_cpu();
    groups = groups_new();
    live_open(&live, &options, groups);
}

static void tear_down(void)
{
    live_close(&live);
    groups_free(groups);
}

static void spin(const char *group)
{
    live_add(&live, group, groups_start_busy(groups, group, cpu));
}

START_TEST(test_waits_are_split_by_who_ran)
{
    groups_make(groups, "web");
    groups_make(groups, "backup");
    groups_make(groups, "cron");
    live_watch(&live, "web", "backup", "cron", NULL);
    spin("web");
    spin("backup");
    spin("backup");
    spin("cron");
    live_measure(&live, 4000);
    live_expect_sum(&live, "web");
    live_expect_sum(&live, "backup");
    live_expect_sum(&live, "cron");
    live_expect_taken(&live, "web", "backup");
    live_expect_taken(&live, "web", "cron");
    live_expect_taken(&live, "cron", "web");
    /* Two tasks of one group wait for each other, too. */
    live_expect_ran(&live, "backup", "backup", live_cell(&live, "backup", HR_BLAME_ITSELF, NULL));
}
END_TEST

START_TEST(test_a_task_is_of_the_deepest_watched_group)
{
    groups_make(groups, "web");
    groups_make(groups, "web/inner");
    groups_make(groups, "backup");
    groups_make(groups, "backup/unwatched");
    groups_make(groups, "backup/unwatched/deep");
    groups_make(groups, "cron");
    live_watch(&live, "web", "web/inner", "backup", NULL);
    spin("web");
    spin("web/inner");
    spin("backup/unwatched/deep");
    spin("cron");
    live_measure(&live, 3000);
    live_expect_sum(&live, "web");
    live_expect_sum(&live, "web/inner");
    live_expect_taken(&live, "web", "web/inner");
    live_expect_taken(&live, "web/inner", "web");
    live_expect_ran(&live, "web", "backup/unwatched/deep",
                    live_cell(&live, "web", HR_BLAME_GROUP, "backup"));
    /* The group that isn't watched, with the rest of the machine. */
    ck_assert_double_ge(live_cell(&live, "web", HR_BLAME_OTHER, NULL),
                        live_ran(&live, "cron").least_ms * (1 - LIVE_TAKEN_PCT / 100));
}
END_TEST

START_TEST(test_real_time_takes_too)
{
    groups_make(groups, "web");
    groups_make(groups, "fast");
    live_watch(&live, "web", "fast", NULL);
    spin("web");
    pid_t fast = live_start_real_time(groups, "fast", cpu, 5, 5);
    live_add(&live, "fast", fast);
    live_measure(&live, 3000);
    kill(fast, SIGKILL);
    int status;
    waitpid(fast, &status, 0);
    ck_assert(WIFSIGNALED(status));
    live_expect_sum(&live, "web");
    live_expect_taken(&live, "web", "fast");
}
END_TEST

/* Measures while one task of real time has the CPU all the time. */
static void measure_beside(const char *group)
{
    struct hr_reason reason;
    pid_t fast = live_start_real_time(groups, group, cpu, 5000, 1);

    usleep(100 * 1000);
    ck_assert_int_eq(hr_blame_attach(live.blame, &reason), 0);
    live_read(&live, 0);
    usleep(200 * 1000);
    live_read(&live, 1);
    hr_blame_detach(live.blame);
    kill(fast, SIGKILL);
    waitpid(fast, NULL, 0);
    ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
}

/* No switch shows who that is, and what was measured before doesn't, either. */
START_TEST(test_who_never_leaves_the_cpu_takes_it)
{
    static const char *const takers[] = {"one", "two", "one"};
    const struct hr_blame_options options = {.max_groups = 16, .lasting = true};

    live_close(&live);
    groups_make(groups, "web");
    groups_make(groups, "one");
    groups_make(groups, "two");
    live_open(&live, &options, groups);
    hr_blame_detach(live.blame);
    live_watch(&live, "web", "one", "two", NULL);
    groups_start_busy(groups, "web", cpu);
    for (int i = 0; i < 3; i++) {
        measure_beside(takers[i]);
        const double total = live_total(&live, "web");
        ck_assert_double_ge(total, 100);
        double taken = live_cell(&live, "web", HR_BLAME_GROUP, takers[i]);
        printf("# web waited: %.1f ms, for %s: %.1f\n", total, takers[i], taken);
        ck_assert_double_ge(taken, total / 2);
        ck_assert_double_eq(live_cell(&live, "web", HR_BLAME_GROUP, i == 1 ? "one" : "two"), 0);
        ck_assert_double_eq(live_cell(&live, "web", HR_BLAME_ITSELF, NULL), 0);
    }
}
END_TEST

static bool is_kworker(uint32_t tid)
{
    char path[32], name[16] = "";

    snprintf(path, sizeof(path), "/proc/%u/comm", tid);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        ck_assert_ptr_nonnull(fgets(name, sizeof(name), file));
        fclose(file);
    }
    return strncmp(name, "kworker/", 8) == 0;
}

/* Reads while one task waits for a kworker of each CPU. @return how often. */
static int read_while_kworkers_wait(void)
{
    int reads = 0;
    pid_t asker = fork();

    if (asker == 0) {
        char byte;
        int fd = open("/proc/sys/vm/stat_refresh", O_RDONLY);
        _exit(fd < 0 || read(fd, &byte, 1) < 0);
    }
    for (int status; waitpid(asker, &status, WNOHANG) == 0; reads++) {
        live_read(&live, 1);
        usleep(5000);
    }
    return reads;
}

/* They take CPUs, but are of no group that waits, not even the root cgroup. */
START_TEST(test_waits_of_kernel_threads_count_nowhere)
{
    const struct hr_blame_options options = {.max_groups = 16, .by_task = true, .lasting = true};
    struct hr_root *root;
    uint64_t top;

    ck_assert_int_eq(hr_root_open("/", &root), 0);
    ck_assert_int_eq(hr_blame_find_top(root, NULL, &top), 0);
    hr_root_close(root);
    live_close(&live);
    live_open(&live, &options, groups);
    groups_make(groups, "fast");
    ck_assert_int_eq(hr_blame_watch(live.blame, &top, 1), 0);
    pid_t fast = live_start_real_time(groups, "fast", cpu, 5000, 1);
    int reads = 0;
    for (int i = 0; i < 100 && reads < 5; i++)
        reads = read_while_kworkers_wait();
    kill(fast, SIGKILL);
    waitpid(fast, NULL, 0);
    ck_assert_int_ge(reads, 5);
    for (size_t i = 0; i < live.after.count; i++)
        ck_assert(!is_kworker(live.after.cells[i].waiter_tid));
}
END_TEST

/* Each wait is split on the CPU where it was. */
START_TEST(test_waits_on_several_cpus)
{
    cpu_set_t both, one;

    groups_make(groups, "web");
    groups_make(groups, "backup");
    live_watch(&live, "web", "backup", NULL);
    for (int i = 0; i < 3; i++) {
        spin("web");
        spin("backup");
    }
    pid_t mover = fork();
    if (mover == 0) {
        for (unsigned round = 0;;
             round++) { /* two of them to another CPU, while they wait or run */
            CPU_ZERO(&one);
            CPU_SET(round % 2 == 0 ? 0 : cpu, &one);
            sched_setaffinity(live.tasks[round / 2 % 2].pid, sizeof(one), &one);
            usleep(7000);
        }
    }
    CPU_ZERO(&both);
    CPU_SET(0, &both);
    CPU_SET(cpu, &both);
    for (size_t i = 2; i < live.task_count; i++)
        ck_assert_int_eq(sched_setaffinity(live.tasks[i].pid, sizeof(both), &both), 0);
    live_measure(&live, 4000);
    kill(mover, SIGKILL);
    waitpid(mover, NULL, 0);
    live_expect("waits of web", live_total(&live, "web"), live_waited(&live, "web"), LIVE_SUM_PCT,
                0);
    live_expect("waits of backup", live_total(&live, "backup"), live_waited(&live, "backup"),
                LIVE_SUM_PCT, 0);
    double unknown = live_cell(&live, "web", HR_BLAME_UNKNOWN, NULL);
    printf("# unattributed: %.1f ms of %.1f\n", unknown, live_total(&live, "web"));
    ck_assert_double_le(unknown, live_total(&live, "web") / 20);
}
END_TEST

START_TEST(test_detached_it_measures_nothing)
{
    const struct hr_blame_options options = {.max_groups = 16};
    groups_make(groups, "web");
    groups_make(groups, "backup");
    pid_t web = groups_start_busy(groups, "web", cpu);
    groups_start_busy(groups, "backup", cpu);
    /* These have the descriptors of what was attached before, which keep it attached. */
    live_close(&live);
    live_open(&live, &options, groups);
    live_add(&live, "web", web);
    live_watch(&live, "web", NULL);
    do
        live_measure(&live, 300); /* beside others one wait may take longer */
    while (live_total(&live, "web") == 0);
    hr_blame_detach(live.blame);
    live_measure(&live, 300);
    ck_assert_double_eq(live_total(&live, "web"), 0);
    /* What was before attaching again is no slice. */
    struct hr_reason reason;
    ck_assert_int_eq(hr_blame_attach(live.blame, &reason), 0);
    live_measure(&live, 1000);
    live_expect_sum(&live, "web");
}
END_TEST

START_TEST(test_a_removed_group_makes_room)
{
    groups_make(groups, "web");
    groups_make(groups, "brief");
    live_watch(&live, "web", "brief", NULL);
    spin("web");
    pid_t brief = groups_start_busy(groups, "brief", cpu);
    do
        live_measure(&live, 300);
    while (live_cell(&live, "web", HR_BLAME_GROUP, "brief") == 0);
    uint64_t id = live_id(&live, "brief");
    groups_end(groups, brief);
    live_watch(&live, "web", NULL);
    size_t cells = 0;
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(hr_blame_read(live.blame, &live.after), 0);
        cells = 0;
        for (size_t at = 0; at < live.after.count; at++)
            cells += live.after.cells[at].group == id || live.after.cells[at].waiter == id;
        usleep(200 * 1000);
    }
    ck_assert_uint_eq(cells, 0);
}
END_TEST

/* Where others switch so often that a wait is longer than the slices that are kept, what is older
 * is unknown, which takes no room: then it is measured again. */
static void measure_without_room(void)
{
    int tries = 0;

    do
        live_measure(&live, 1000);
    while (++tries < 10 && (double)live.delta.unsplit_ns / 1e6 <
                               live_waited(&live, "web").least_ms * (1 - LIVE_SUM_PCT / 100));
}

static const char *const contenders[] = {"web", "backup", "cron"};

/* Groups that take the CPU are distinguished anyway. Theirs are most of the waits, but the only
 * cell that there is room for is of the one that is measured, so nothing but its parts has none. */
START_TEST(test_waits_that_are_not_measured_count_nowhere)
{
    const struct hr_blame_options options = {.max_groups = 16, .max_cells = 1};

    for (size_t i = 0; i < 3; i++)
        groups_make(groups, contenders[i]);
    live_watch_first(&live, 1, "web", "backup", "cron", NULL);
    for (size_t i = 0; i < 3; i++)
        spin(contenders[i]);
    live_measure(&live, 2000);
    live_expect_sum(&live, "web");
    live_expect_taken(&live, "web", "backup");
    live_expect_taken(&live, "web", "cron");
    for (size_t i = 0; i < live.after.count; i++)
        ck_assert_uint_eq(live.after.cells[i].waiter, live_id(&live, "web"));
    const pid_t web = live.tasks[0].pid;
    live_close(&live);
    live_open(&live, &options, groups);
    live_add(&live, "web", web);
    live_watch_first(&live, 1, "web", "backup", "cron", NULL);
    measure_without_room();
    live_expect("what has no room", (double)live.delta.unsplit_ns / 1e6, live_waited(&live, "web"),
                LIVE_SUM_PCT, LIVE_EDGE_MS);
}
END_TEST

/* --- Weights -------------------------------------------------------------- */

static void open_v1(void)
{
    const struct hr_blame_options options = {.controller = "cpu", .max_groups = 16};

    tear_down();
    groups = groups_new_v1("cpu");
    live_open(&live, &options, groups);
}

/* Who weighs four times as much runs four times as long, whatever else there is, and each waits for
 * what the other runs. */
static void expect_weights(void)
{
    double by_heavy, by_light, heavy_edge_ms = LIVE_EDGE_MS, light_edge_ms = LIVE_EDGE_MS;

    live_measure(&live, 5000);
    live_expect_sum(&live, "light");
    live_expect_sum(&live, "heavy");
    live_expect_taken(&live, "light", "heavy");
    live_expect_taken(&live, "heavy", "light");
    by_heavy = live_cell(&live, "light", HR_BLAME_GROUP, "heavy");
    by_light = live_cell(&live, "heavy", HR_BLAME_GROUP, "light");
    printf("# 4 to 1: %.1f to %.1f ms\n", by_heavy, by_light);
    for (int i = 0; i < 2; i++) {
        heavy_edge_ms += live_under_way(&live, "light", i);
        light_edge_ms += live_under_way(&live, "heavy", i);
    }
    ck_assert_double_ge(by_heavy + heavy_edge_ms, 4 * 0.9 * (by_light - light_edge_ms));
    ck_assert_double_le(by_heavy - heavy_edge_ms, 4 * 1.1 * (by_light + light_edge_ms));
}

START_TEST(test_weights_show_in_what_is_taken_v1)
{
    open_v1();
    groups_make(groups, "light");
    groups_make(groups, "heavy");
    groups_write(groups, "heavy", "cpu.shares", "4096");
    live_watch(&live, "light", "heavy", NULL);
    spin("light");
    spin("heavy");
    expect_weights();
}
END_TEST

START_TEST(test_weights_show_in_what_is_taken)
{
    groups_write(groups, ".", "cgroup.subtree_control", "+cpu");
    groups_make(groups, "light");
    groups_make(groups, "heavy");
    groups_write(groups, "heavy", "cpu.weight", "400");
    live_watch(&live, "light", "heavy", NULL);
    spin("light");
    spin("heavy");
    expect_weights();
}
END_TEST

static bool has_v1(void)
{
    struct groups *some = groups_new_v1("cpu");

    if (some != NULL)
        groups_free(some);
    return some != NULL;
}

/* Whether version 2 has the cpu controller where groups are made. */
static bool has_weights(void)
{
    struct groups *some = groups_new();
    bool found = faccessat(groups_dirfd(some), "cpu.weight", W_OK, 0) == 0;

    groups_free(some);
    return found;
}

int main(void)
{
    TCase *tests = tcase_create("blame_live");
    tcase_set_timeout(tests, 600); /* only there to end what hangs */

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!live_can_measure())
        return 0;
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_waits_are_split_by_who_ran);
    tcase_add_test(tests, test_a_task_is_of_the_deepest_watched_group);
    tcase_add_test(tests, test_real_time_takes_too);
    tcase_add_test(tests, test_who_never_leaves_the_cpu_takes_it);
    tcase_add_test(tests, test_waits_of_kernel_threads_count_nowhere);
    tcase_add_test(tests, test_waits_on_several_cpus);
    tcase_add_test(tests, test_detached_it_measures_nothing);
    tcase_add_test(tests, test_a_removed_group_makes_room);
    tcase_add_test(tests, test_waits_that_are_not_measured_count_nowhere);
    if (has_weights())
        tcase_add_test(tests, test_weights_show_in_what_is_taken);
    if (has_v1())
        tcase_add_test(tests, test_weights_show_in_what_is_taken_v1);
    return run_suite("blame_live", tests);
}
