/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_groups.c - values of cgroups that appear, are
 * removed, made again or become empty. The cgroups are the kernel's, made for each test.
 */
#include "plugin/cgroup_perf/cgroup_perf_harness.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "support/suite.h"

#define EVENTS                                                                                     \
    "Event \"task-clock\" \"page-faults\"\n"                                                       \
    "Event \"cpu/cpu-cycles/\" \"cpu/instructions/\"\n"                                            \
    "Event \"cpu/cache-references/\" \"cpu/cache-misses/\" \"cpu/LLC-loads/\" "                    \
    "\"cpu/LLC-load-misses/\"\n"

/* The number of values of a group with EVENTS: totals alone, and with shares and ratios. */
#define TOTALS 8
#define ALL    (2 * TOTALS + 3)

#define MS 1e6 /* in nanoseconds */

/* Reads until a group is published; its processes sleep. */
static void await_group(const char *group)
{
    char pattern[64];

    snprintf(pattern, sizeof(pattern), "cgroup_perf-%s/perf-task-clock", group);
    perf_read_until(pattern, 1);
}

/* --- Values --------------------------------------------------------------- */

START_TEST(counts_what_a_group_does)
{
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    perf_begin(EVENTS "Cgroup \"*\"\nReportPerCPU true");
    await_group("a");
    for (int i = 0; i < 3; i++) {
        double faults = perf_of("a", "perf-page-faults");
        double clock = perf_of("a", "perf-task-clock");
        perf_work(&worker, 20000, 40);
        harness_read();
        faults = perf_of("a", "perf-page-faults") - faults;
        clock = perf_of("a", "perf-task-clock") - clock;
        ck_assert_double_ge(faults, 20000);
        ck_assert_double_le(faults, 24000); /* some are of other memory that is used */
        ck_assert_double_ge(clock, 39 * MS);
        ck_assert_double_le(clock, perf_of_system("perf-task-clock"));
        ck_assert_double_eq_tol(perf_of("a", "ipc"), 1, 0.05);
        ck_assert_double_eq(perf_of("a", "cache_ratio-cpu_cache-misses"), 100);
        ck_assert_double_le(perf_of("a", "cache_ratio-cpu_LLC-load-misses"), 1);
        ck_assert_double_eq(perf_of("a", "percent-page-faults-running"), 100);
    }
    perf_end(&worker);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(adds_up_the_cpus)
{
    double sum = 0;
    size_t count;

    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    perf_begin("System false\nEvent \"page-faults\"\nCgroup \"*\"\nReportPerCPU true");
    perf_read_until("cgroup_perf-a/perf-page-faults*", 1 + perf_cpus());
    for (int i = 0; i < 20; i++)
        perf_work(&worker, 100, 1);
    harness_read();
    const struct fake_value *values = fake_values(&count);
    for (size_t i = 0; i < count; i++)
        if (strncmp(values[i].identifier, "cgroup_perf-a/perf-page-faults-cpu", 34) == 0)
            sum += values[i].number;
    ck_assert_double_ge(sum, 2000);
    ck_assert_double_eq(sum, perf_of("a", "perf-page-faults"));
    perf_end(&worker);
}
END_TEST

/* There is a total, but no share of an interval in which the group didn't run. */
START_TEST(publishes_no_share_of_a_group_that_sleeps)
{
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    perf_begin(EVENTS "System false\nCgroup \"*\"");
    await_group("a");
    perf_work(&worker, 10, 1);
    harness_read();
    harness_assert_count("*", ALL);
    harness_read();
    harness_assert_count("*/perf-*", TOTALS);
    harness_assert_count("*", TOTALS);
    perf_end(&worker);
}
END_TEST

START_TEST(counts_all_below_a_group)
{
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    struct perf_worker worker = perf_start("a/b");
    perf_begin("Cgroup \"**\"\nEvent \"task-clock\" \"page-faults\"");
    await_group("a_b");
    await_group("a");
    double above = perf_of("a", "perf-page-faults"), below = perf_of("a_b", "perf-page-faults");
    perf_work(&worker, 1000, 0);
    harness_read();
    ck_assert_double_ge(perf_of("a_b", "perf-page-faults") - below, 1000);
    ck_assert_double_eq(perf_of("a", "perf-page-faults") - above,
                        perf_of("a_b", "perf-page-faults") - below);
    perf_end(&worker);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(gives_all_values_of_a_read_one_time)
{
    size_t count;

    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "a");
    groups_start_sleeper(groups, "b");
    perf_begin("Cgroup \"*\"\nEvent \"task-clock\" \"page-faults\"");
    await_group("a");
    await_group("b");
    const struct fake_value *values = fake_values(&count);
    ck_assert_uint_ge(count, 6);
    for (size_t i = 0; i < count; i++)
        ck_assert(values[i].time == values[0].time);
}
END_TEST

START_TEST(counts_tracepoints)
{
    char tracing[512];

    tree_add_directory(tree, "sys/kernel/tracing");
    snprintf(tracing, sizeof(tracing), "%s/sys/kernel/tracing", tree_path(tree));
    ck_assert_int_eq(mount("tracefs", tracing, "tracefs", 0, NULL), 0);
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    perf_begin("Cgroup \"*\"\nEvent \"task-clock\" \"sched:sched_switch\"");
    await_group("a");
    double before = perf_of("a", "perf-sched:sched_switch");
    for (int i = 0; i < 20; i++)
        perf_work(&worker, 0, 0);
    harness_read();
    ck_assert_double_ge(perf_of("a", "perf-sched:sched_switch") - before, 20);
    ck_assert_double_gt(perf_of_system("perf-sched:sched_switch"), 20);
    harness_assert_count("*/percent-sched:sched_switch-running", 2);
    perf_end(&worker);
    ck_assert_int_eq(umount2(tracing, MNT_DETACH), 0);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Appearing and disappearing ------------------------------------------- */

/* Ends a group's only process, and waits until the kernel has reported the group as empty. */
static void end_last(struct perf_worker *worker, const char *group)
{
    int watch = groups_watch(groups, group);

    perf_end(worker);
    groups_await_empty(groups, group, watch);
}

/* Counts since the last read are published when the group is found to be empty, and no more later.
 */
START_TEST(publishes_what_a_group_did_last)
{
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    perf_begin(EVENTS "System false\nCgroup \"*\"");
    await_group("a");
    double faults = perf_of("a", "perf-page-faults");
    perf_work(&worker, 3000, 20);
    if (_i == 1) {
        perf_end(&worker);
        groups_remove(groups, "a");
    } else {
        end_last(&worker, "a");
    }
    harness_read();
    ck_assert_double_ge(perf_of("a", "perf-page-faults"), faults + 3000);
    ck_assert_double_ge(perf_of("a", "perf-task-clock"), 19 * MS);
    ck_assert_double_eq_tol(perf_of("a", "ipc"), 1, 0.05);
    harness_assert_count("*", ALL);
    ck_assert_uint_eq(perf_descriptors(), 0);
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("*", 0);
    }
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(goes_on_from_its_total_when_processes_come_back)
{
    double last = 0;

    groups_make(groups, "a");
    perf_begin(EVENTS "System false\nCgroup \"*\"");
    harness_read();
    harness_assert_count("*", 0);
    for (int i = 0; i < 4; i++) {
        struct perf_worker worker = perf_start("a");
        await_group("a");
        ck_assert_double_ge(perf_of("a", "perf-page-faults"), last);
        perf_work(&worker, 1000, 1);
        end_last(&worker, "a");
        harness_read();
        ck_assert_double_ge(perf_of("a", "perf-page-faults"), last + 1000);
        ck_assert(!fake_find("cgroup_perf-a/perf-page-faults")->decreased);
        last = perf_of("a", "perf-page-faults");
        harness_read();
        harness_assert_count("*", 0);
    }
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(takes_a_group_made_again_for_another)
{
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    perf_begin("System false\nCgroup \"*\"\nEvent \"task-clock\" \"page-faults\"");
    await_group("a");
    perf_work(&worker, 50000, 0);
    perf_end(&worker);
    groups_remove(groups, "a");
    groups_make(groups, "a");
    worker = perf_start("a");
    /* One of the two at a time: the last values of the first, then the second. */
    harness_read();
    harness_assert_count("cgroup_perf-a/perf-page-faults", 1);
    ck_assert_double_ge(perf_of("a", "perf-page-faults"), 50000);
    await_group("a");
    perf_work(&worker, 1000, 0);
    harness_read();
    harness_assert_count("cgroup_perf-a/perf-page-faults", 1);
    ck_assert_double_ge(perf_of("a", "perf-page-faults"), 1000);
    ck_assert_double_le(perf_of("a", "perf-page-faults"), 2000);
    perf_end(&worker);
    harness_assert_logs(0, NULL);
}
END_TEST

static void remove_group_b(const struct fake_value *value, void *context)
{
    struct perf_worker *worker = context;

    if (worker->pid == 0 || strcmp(value->instance, "a") != 0)
        return;
    perf_end(worker);
    groups_remove(groups, "b");
}

/* Immediately, or when it is counted already. */
START_TEST(gets_over_a_group_that_vanishes_before_it_is_read)
{
    groups_make(groups, "a");
    groups_make(groups, "b");
    struct perf_worker first = perf_start("a"), second = perf_start("b");
    perf_begin("System false\nCgroup \"*\"\nEvent \"task-clock\" \"page-faults\"");
    if (_i == 1)
        harness_read();
    fake_on_dispatch(remove_group_b, &second);
    harness_read();
    ck_assert_int_eq(second.pid, 0);
    harness_assert_count("cgroup_perf-a/perf-*", 2);
    harness_read();
    harness_read();
    harness_assert_count("cgroup_perf-b/*", 0);
    harness_assert_count("cgroup_perf-a/perf-*", 2);
    ck_assert_uint_eq(perf_descriptors(), 2 * perf_cpus());
    perf_end(&first);
    harness_assert_logs(0, NULL);
}
END_TEST

static void make_groups(size_t count)
{
    char name[32];

    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "g%03zu", i);
        groups_make(groups, name);
        groups_start_sleeper(groups, name);
    }
}

START_TEST(takes_no_more_groups_than_the_limit)
{
    make_groups(100);
    perf_begin("System false\nCgroup \"g*\"\nMaxCgroups 50\n"
               "Event \"task-clock\" \"page-faults\"");
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("*/perf-task-clock", 50);
    }
    ck_assert_uint_eq(perf_descriptors(), 100 * perf_cpus());
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "50 cgroups"), 1);
    harness_assert_logs(1, "MaxCgroups is 50");
}
END_TEST

/* Descriptors for the machine and three of eight groups, each of which is complete. */
START_TEST(takes_no_more_files_than_the_limit)
{
    char options[256], expected[96];

    make_groups(8);
    snprintf(options, sizeof(options),
             "Cgroup \"g*\"\nEvent \"task-clock\" \"page-faults\"\nEvent \"cs\"\nMaxFiles %zu",
             4 * 3 * perf_cpus() + 1);
    perf_begin(options);
    for (int i = 0; i < 5; i++) {
        harness_read();
        harness_assert_count("cgroup_perf-system/perf-*", 3);
        harness_assert_count("cgroup_perf-g*/perf-task-clock", 3);
        harness_assert_count("cgroup_perf-g*/perf-*", 9);
        ck_assert_uint_eq(perf_descriptors(), 4 * 3 * perf_cpus());
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "5 cgroups "), 1);
    snprintf(expected, sizeof(expected), "MaxFiles is %zu, enough for the machine and 3 cgroups. ",
             4 * 3 * perf_cpus() + 1);
    ck_assert_msg(fake_logs(LOG_WARNING, expected) == 1, "no %s in: %s", expected, fake_log(0));
    snprintf(expected, sizeof(expected), " %zu ", 9 * 3 * perf_cpus());
    harness_assert_logs(1, expected);
}
END_TEST

START_TEST(counts_another_group_when_files_are_free)
{
    char options[256];

    groups_make(groups, "a");
    groups_make(groups, "b");
    struct perf_worker first = perf_start("a"), second = perf_start("b");
    snprintf(options, sizeof(options), "System false\nCgroup \"*\"\nEvent \"cs\"\nMaxFiles %zu",
             perf_cpus());
    perf_begin(options);
    harness_read();
    harness_assert_count("*/perf-cs", 1);
    const bool is_first = fake_count("cgroup_perf-a/perf-cs") == 1;
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "1 cgroup "), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, ", enough for 1 cgroup. "), 1);
    harness_assert_logs(1, "MaxFiles is");
    perf_end(is_first ? &first : &second);
    perf_read_until(is_first ? "cgroup_perf-b/perf-cs" : "cgroup_perf-a/perf-cs", 1);
    perf_end(is_first ? &second : &first);
    harness_assert_logs(1,
                        "info: cgroup_perf: 1 cgroup is counted now, as file descriptors suffice "
                        "for all.");
}
END_TEST

/* What comes later and doesn't fit is left out where BPF can't count it, which is said once. */
START_TEST(goes_on_by_descriptors_where_bpf_is_not_permitted)
{
    char options[64], expected[192];

    groups_make(groups, "a");
    groups_make(groups, "b");
    struct perf_worker first = perf_start("a");
    perf_make_fail(SYS_bpf, EPERM, -1, 0);
    snprintf(options, sizeof(options), "Cgroup \"*\"\nEvent \"cs\"\nMaxFiles %zu", 2 * perf_cpus());
    harness_begin(options);
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
    harness_read();
    snprintf(expected, sizeof(expected),
             "info: cgroup_perf: counting by descriptors (Counting \"auto\"): %zu are enough, and "
             "no events of a PMU would have to take turns.",
             2 * perf_cpus());
    harness_assert_logs(1, expected);
    harness_assert_count("*/perf-cs", 2);
    ck_assert_uint_eq(perf_descriptors(), 2 * perf_cpus());
    struct perf_worker second = perf_start("b");
    for (int i = 0; i < 2000 && fake_logs(LOG_WARNING, "1 cgroup is not counted") == 0; i++) {
        harness_sleep(10);
        harness_read();
    }
    for (int i = 0; i < 3; i++)
        harness_read();
    harness_assert_count("*/perf-cs", 2);
    ck_assert_uint_eq(perf_descriptors(), 2 * perf_cpus());
    snprintf(expected, sizeof(expected),
             "counting by descriptors (Counting \"auto\"), though descriptors would be %zu, but no "
             "more than %zu are allowed, as BPF can't be used: ",
             3 * perf_cpus(), 2 * perf_cpus());
    ck_assert_uint_eq(fake_logs(LOG_WARNING, expected), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "or count by BPF (Counting), which needs none."), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
    perf_end(&first);
    perf_end(&second);
}
END_TEST

START_TEST(chooses_when_there_is_something_to_count)
{
    groups_make(groups, "a");
    harness_begin("System false\nCgroup \"a\"\nEvent \"task-clock\"");
    for (int i = 0; i < 3; i++)
        harness_read();
    harness_assert_logs(0, NULL);
    struct perf_worker worker = perf_start("a");
    await_group("a");
    perf_end(&worker);
    harness_assert_logs(1, "info: cgroup_perf: counting by descriptors (Counting \"auto\"): ");
}
END_TEST

START_TEST(neither_grows_nor_leaks_while_groups_come_and_go)
{
    groups_make(groups, "keep");
    struct perf_worker keep = perf_start("keep");
    perf_begin("Cgroup \"*\"\nEvent \"task-clock\" \"page-faults\"");
    await_group("keep");
    const size_t open = perf_descriptors();
    perf_let_groups_come_and_go();
    ck_assert_uint_eq(perf_descriptors(), open);
    perf_end(&keep);
    harness_assert_logs(0, NULL);
}
END_TEST

int main(void)
{
    const char *obstacle = perf_obstacle(true);
    TCase *tests = tcase_create("groups");

    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, perf_set_up_with_groups, perf_tear_down_with_groups);
    tcase_add_test(tests, counts_what_a_group_does);
    tcase_add_test(tests, adds_up_the_cpus);
    tcase_add_test(tests, publishes_no_share_of_a_group_that_sleeps);
    tcase_add_test(tests, counts_all_below_a_group);
    tcase_add_test(tests, gives_all_values_of_a_read_one_time);
    tcase_add_test(tests, counts_tracepoints);
    tcase_add_loop_test(tests, publishes_what_a_group_did_last, 0, 2);
    tcase_add_test(tests, goes_on_from_its_total_when_processes_come_back);
    tcase_add_test(tests, takes_a_group_made_again_for_another);
    tcase_add_loop_test(tests, gets_over_a_group_that_vanishes_before_it_is_read, 0, 2);
    tcase_add_test(tests, takes_no_more_groups_than_the_limit);
    tcase_add_test(tests, takes_no_more_files_than_the_limit);
    tcase_add_test(tests, counts_another_group_when_files_are_free);
    tcase_add_test(tests, goes_on_by_descriptors_where_bpf_is_not_permitted);
    tcase_add_test(tests, chooses_when_there_is_something_to_count);
    tcase_add_test(tests, neither_grows_nor_leaks_while_groups_come_and_go);
    return run_suite("plugin cgroup_perf groups", tests);
}
