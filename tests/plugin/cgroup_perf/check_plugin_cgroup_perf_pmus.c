/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_pmus.c - PMUs that come, go or count on other CPUs
 * while events are counted.
 */
#include "plugin/cgroup_perf/cgroup_perf_harness.h"

#include "support/frozen_clock.h"
#include "support/suite.h"

#define PMUS    "sys/bus/event_source/devices/"
#define LATE    "cgroup_perf-system/perf-late_faults"
#define BEGINS  "counts begin again (events known: "
#define MINUTE  UINT64_C(61000000000)
#define OPTIONS "Event \"task-clock\" \"late/faults/\"\nEvent \"package/energy/\"\n"

static void tear_down(void)
{
    frozen_ns = 0;
    perf_tear_down_with_groups();
}

/* As where its module is loaded. */
static void add_late_pmu(const char *name)
{
    char path[96];

    snprintf(path, sizeof(path), PMUS "%s/events/faults", name);
    tree_write(tree, path, "event=0x2\n");
    snprintf(path, sizeof(path), PMUS "%s/format/event", name);
    tree_write(tree, path, "config:0-63\n");
    snprintf(path, sizeof(path), PMUS "%s/type", name);
    tree_write(tree, path, "1\n");
}

static void wait_a_minute(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    frozen_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + MINUTE;
}

static void begin(void)
{
    perf_begin(OPTIONS);
    harness_read();
    harness_assert_count("*/perf-*", 2);
    harness_assert_logs(1, "error: cgroup_perf: event \"late/faults/\" can't be counted: this "
                           "machine has no PMU \"late\"");
}

START_TEST(counts_by_a_pmu_that_comes_later)
{
    begin();
    add_late_pmu("late");
    harness_read();
    harness_assert_count("*/perf-*", 2); /* it isn't looked for at each interval */
    harness_assert_logs(0, NULL);
    wait_a_minute();
    harness_read();
    harness_assert_logs(1, BEGINS "3, before: 2).");
    harness_assert_count("*/perf-*", 3);
    const double before = perf_of_system("perf-late_faults");
    perf_touch(100);
    harness_read();
    ck_assert_double_ge(perf_of_system("perf-late_faults") - before, 100);
    wait_a_minute();
    harness_read();
    harness_assert_count("*/perf-*", 3);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(begins_where_no_event_was_known)
{
    perf_begin("Event \"late/faults/\"\nCgroup \"*\"");
    harness_read();
    harness_assert_count("*", 0);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "no PMU \"late\""), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "there is nothing to count"), 1);
    harness_assert_logs(2, "cgroup_perf:");
    add_late_pmu("late");
    wait_a_minute();
    harness_read();
    harness_assert_count(LATE, 1);
    harness_assert_logs(1, BEGINS "1, before: 0).");
}
END_TEST

/* Groups keep their names. */
START_TEST(counts_groups_again_by_a_pmu_that_comes_later)
{
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    perf_begin(OPTIONS "Cgroup \"*\"");
    perf_read_until("cgroup_perf-a/perf-task-clock", 1);
    add_late_pmu("late");
    wait_a_minute();
    harness_read();
    ck_assert_uint_eq(fake_logs(LOG_INFO, BEGINS "3,"), 1);
    perf_read_until("cgroup_perf-a/perf-late_faults", 1);
    const double before = perf_of("a", "perf-late_faults");
    perf_work(&worker, 100, 0);
    harness_read();
    ck_assert_double_ge(perf_of("a", "perf-late_faults") - before, 100);
    perf_end(&worker);
}
END_TEST

START_TEST(goes_on_where_no_event_is_concerned)
{
    begin();
    perf_touch(1000);
    harness_read();
    const double clock = perf_of_system("perf-task-clock");
    add_late_pmu("other");
    tree_remove(tree, PMUS "msr");
    wait_a_minute();
    harness_read();
    ck_assert_double_gt(perf_of_system("perf-task-clock"), clock);
    harness_assert_logs(0, NULL);
}
END_TEST

/* The driver names another CPU where the one that counts for a package goes offline. */
START_TEST(follows_a_pmu_to_another_cpu)
{
    if (perf_cpus() < 2)
        return;
    begin();
    tree_write(tree, PMUS "package/cpumask", "1\n");
    wait_a_minute();
    harness_read();
    harness_assert_logs(1, BEGINS "2, before: 2).");
    harness_read();
    harness_assert_count("cgroup_perf-system/perf-package_energy", 1);
}
END_TEST

/* A core's PMU may get the CPU that comes. */
START_TEST(looks_at_once_where_the_number_of_cpus_changes)
{
    if (perf_cpus() < 2)
        return;
    begin();
    add_late_pmu("late");
    tree_write(tree, "sys/devices/system/cpu/online", "0\n");
    harness_read(); /* which finds out the number */
    harness_read();
    harness_assert_count(LATE, 1);
    harness_assert_logs(1, BEGINS);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("pmus");
    const char *obstacle = perf_obstacle(true);

    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, perf_set_up_with_groups, tear_down);
    tcase_add_test(tests, counts_by_a_pmu_that_comes_later);
    tcase_add_test(tests, begins_where_no_event_was_known);
    tcase_add_test(tests, counts_groups_again_by_a_pmu_that_comes_later);
    tcase_add_test(tests, goes_on_where_no_event_is_concerned);
    tcase_add_test(tests, follows_a_pmu_to_another_cpu);
    tcase_add_test(tests, looks_at_once_where_the_number_of_cpus_changes);
    return run_suite("pmus", tests);
}
