/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_values.c - what the plugin psi publishes and logs, of the system and
 * of a group.
 */
#include "support/plugin_harness.h"

#include "support/suite.h"

const char *const harness_plugin = "psi";

#define GROUP "system.slice/a.service"

/* The files of the system and of one group, every total another number, in µs. */
static void write_pressure(void)
{
    tree_pressure(tree, NULL, "cpu", 11000, 12000);
    tree_pressure(tree, NULL, "memory", 13000, 14000);
    tree_pressure(tree, NULL, "io", 15000, 16000);
    tree_pressure(tree, NULL, "irq", 0, 18000);
    tree_add_group(tree, "system.slice/a.service", true);
    tree_pressure(tree, GROUP, "cpu", 21000, 22000);
    tree_pressure(tree, GROUP, "memory", 23000, 24000);
    tree_pressure(tree, GROUP, "io", 25000, 26000);
    tree_pressure(tree, GROUP, "irq", 0, 28000);
}

/* All that there is of these files, and the totals in ms. */
static const struct {
    const char *instance, *type_instance;
    double total;
} published[] = {
    {"system", "cpu-some", 11},
    {"system", "memory-some", 13},
    {"system", "memory-full", 14},
    {"system", "io-some", 15},
    {"system", "io-full", 16},
    {"system", "irq-full", 18},
    {"system.slice_a.service", "cpu-some", 21},
    {"system.slice_a.service", "cpu-full", 22},
    {"system.slice_a.service", "memory-some", 23},
    {"system.slice_a.service", "memory-full", 24},
    {"system.slice_a.service", "io-some", 25},
    {"system.slice_a.service", "io-full", 26},
    {"system.slice_a.service", "irq-full", 28},
};

static const char *identify(int row, const char *type, const char *suffix)
{
    static char identifier[256];

    snprintf(identifier, sizeof(identifier), "psi-%s/%s-%s%s", published[row].instance, type,
             published[row].type_instance, suffix);
    return identifier;
}

START_TEST(publishes_totals)
{
    write_pressure();
    harness_begin("Cgroup \"system.slice/*\"");
    harness_read();
    const struct fake_value *value = fake_find(identify(_i, "total_time_in_ms", ""));
    ck_assert_ptr_nonnull(value);
    ck_assert_int_eq(value->type, DS_TYPE_DERIVE);
    ck_assert_int_eq(value->value.derive, (int64_t)published[_i].total);
}
END_TEST

START_TEST(publishes_percent_from_the_second_read_on)
{
    write_pressure();
    harness_begin("Cgroup \"system.slice/*\"");
    harness_read();
    harness_assert_count("*/percent-*", 0);
    harness_read();
    const struct fake_value *value = fake_find(identify(_i, "percent", ""));
    ck_assert_ptr_nonnull(value);
    ck_assert_int_eq(value->type, DS_TYPE_GAUGE);
    ck_assert_double_eq(value->value.gauge, 0); /* no total has moved */
}
END_TEST

START_TEST(publishes_nothing_else)
{
    write_pressure();
    harness_begin("Cgroup \"system.slice/*\"");
    harness_read();
    harness_assert_count("*", COUNT(published));
    harness_read();
    harness_assert_count("*", 2 * COUNT(published));
    harness_assert_count("*cpu-full", 2); /* the group's, as there is none of the system */
    harness_assert_logs(0, NULL);
}
END_TEST

/* Which kinds are published of a group, three resources of two levels each. */
static const struct {
    const char *options;
    size_t percent, total, averages; /* in a later read */
} reports[] = {
    {"", 6, 6, 0},
    {"Report \"percent\"", 6, 0, 0},
    {"Report \"total\"", 0, 6, 0},
    {"Report \"total\" \"percent\"", 6, 6, 0},
    {"Report \"total\"\nReport \"percent\"", 6, 6, 0},
    {"Report \"total\"\nReportAverages true", 0, 6, 18},
    {"Report \"percent\"\nReportAverages true", 6, 0, 18},
};

START_TEST(publishes_the_kinds_that_are_chosen)
{
    char options[128];

    tree_add_group(tree, "g", true);
    snprintf(options, sizeof(options), "System false\nCgroup \"g\"\n%s", reports[_i].options);
    harness_begin(options);
    harness_read();
    harness_assert_count("*", reports[_i].total + reports[_i].averages);
    harness_read();
    harness_assert_count("psi-g/percent-*-some", reports[_i].percent / 2);
    harness_assert_count("psi-g/percent-*-full", reports[_i].percent / 2);
    harness_assert_count("psi-g/total_time_in_ms-*", reports[_i].total);
    harness_assert_count("psi-g/percent-*-avg*", reports[_i].averages);
    harness_assert_count("*", reports[_i].percent + reports[_i].total + reports[_i].averages);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(gives_all_values_of_a_read_one_time)
{
    cdtime_t before = TIME_T_TO_CDTIME_T(1800000000);
    size_t count;

    write_pressure();
    harness_begin("Cgroup \"system.slice/*\"\nReportAverages true");
    harness_read();
    fake_set_time(before);
    harness_read();
    const struct fake_value *values = fake_values(&count);
    ck_assert_uint_eq(count, 5 * COUNT(published));
    ck_assert_uint_ge(values[0].time, before);
    for (size_t i = 1; i < count; i++)
        ck_assert_uint_eq(values[i].time, values[0].time);
}
END_TEST

static void write_cpus(int user, int idle)
{
    tree_write(tree, "proc/stat", "cpu  %d 0 0 %d 0 0 0 0 0 0\ncpu0 1 2 3\n", user, idle);
}

/* 30 ticks of work, 90 idle. */
START_TEST(publishes_idle_cpus_of_the_system)
{
    write_pressure();
    write_cpus(1000, 5000);
    harness_begin("Cgroup \"system.slice/*\"");
    harness_read();
    harness_assert_count("*idle*", 0);
    write_cpus(1030, 5090);
    harness_read();
    harness_assert_count("*idle*", 1);
    const struct fake_value *value = fake_find("psi-system/percent-cpu-idle");
    ck_assert_ptr_nonnull(value);
    ck_assert_double_eq_tol(value->value.gauge, 75, 1e-9);
    harness_read(); /* no tick passed */
    harness_assert_count("*idle*", 0);
    tree_remove(tree, "proc/stat");
    harness_read();
    write_cpus(2030, 5090);
    harness_read(); /* since when isn't known */
    harness_assert_count("*idle*", 0);
}
END_TEST

START_TEST(publishes_idle_cpus_only_where_chosen)
{
    static const char *const options[] = {"System false", "Resource \"memory\"",
                                          "Report \"total\""};

    write_pressure();
    write_cpus(1000, 5000);
    harness_begin(options[_i]);
    harness_read();
    write_cpus(1030, 5090);
    harness_read();
    harness_assert_count("*idle*", 0);
}
END_TEST

START_TEST(reports_averages_if_asked)
{
    bool is_full = strstr(published[_i].type_instance, "full") != NULL;

    write_pressure();
    harness_begin("Cgroup \"system.slice/*\"\nReportAverages true");
    harness_read();
    harness_assert_count("*-avg*", 3 * COUNT(published));
    ck_assert_double_eq_tol(harness_number(identify(_i, "percent", "-avg10")),
                            is_full ? TREE_FULL_AVG10 : TREE_SOME_AVG10, 1e-9);
    ck_assert_double_eq_tol(harness_number(identify(_i, "percent", "-avg60")),
                            is_full ? TREE_FULL_AVG60 : TREE_SOME_AVG60, 1e-9);
    ck_assert_double_eq_tol(harness_number(identify(_i, "percent", "-avg300")),
                            is_full ? TREE_FULL_AVG300 : TREE_SOME_AVG300, 1e-9);
}
END_TEST

static const struct {
    uint64_t us;
    int64_t ms;
} totals[] = {
    {0, 0},
    {999, 0},
    {1000, 1},
    {1234567, 1234},
    {UINT64_C(9007199254740993000), INT64_C(9007199254740993)}, /* a double can't hold it */
    {UINT64_MAX, INT64_C(18446744073709551)},
};

START_TEST(converts_totals_to_ms)
{
    tree_pressure(tree, NULL, "io", totals[_i].us, totals[_i].us);
    harness_begin("");
    harness_read();
    ck_assert_int_eq(fake_find("psi-system/total_time_in_ms-io-some")->value.derive, totals[_i].ms);
    ck_assert_int_eq(fake_find("psi-system/total_time_in_ms-io-full")->value.derive, totals[_i].ms);
}
END_TEST

/* --- The share of an interval --------------------------------------------- */

static double clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Adds to the totals between two reads. The time between these is known within bounds, from the
 * beginning of one to the end of the other, and so is each share. */
static void read_twice(const char *group, uint64_t some_us, uint64_t full_us, double *shortest,
                       double *longest)
{
    tree_pressure(tree, group, "memory", 7000000, 5000000);
    double begin_first = clock_us();
    harness_read();
    double end_first = clock_us();
    harness_sleep(50);
    tree_pressure(tree, group, "memory", 7000000 + some_us, 5000000 + full_us);
    double begin_second = clock_us();
    harness_read();
    *longest = clock_us() - begin_first;
    *shortest = begin_second - end_first;
}

static void assert_share(const char *identifier, double stalled_us, double shortest, double longest)
{
    double percent = harness_number(identifier);

    ck_assert_double_ge(percent, 100 * stalled_us / longest);
    ck_assert_double_le(percent, 100 * stalled_us / shortest);
    ck_assert_double_gt(percent, 0);
}

START_TEST(measures_the_share_of_the_interval)
{
    double shortest, longest;

    tree_add_group(tree, "g", true);
    harness_begin("Cgroup \"*\"");
    read_twice(NULL, 20000, 10000, &shortest, &longest);
    assert_share("psi-system/percent-memory-some", 20000, shortest, longest);
    assert_share("psi-system/percent-memory-full", 10000, shortest, longest);
    read_twice("g", 30000, 5000, &shortest, &longest);
    assert_share("psi-g/percent-memory-some", 30000, shortest, longest);
    assert_share("psi-g/percent-memory-full", 5000, shortest, longest);
}
END_TEST

START_TEST(takes_more_than_the_interval_for_all_of_it)
{
    double shortest, longest;

    harness_begin("");
    read_twice(NULL, 60000000, 50000000, &shortest, &longest);
    ck_assert_double_eq(harness_number("psi-system/percent-memory-some"), 100);
    ck_assert_double_eq(harness_number("psi-system/percent-memory-full"), 100);
}
END_TEST

START_TEST(reports_no_percent_of_a_total_that_went_back)
{
    tree_pressure(tree, NULL, "io", 5000000, 4000000);
    harness_begin("");
    harness_read();
    harness_read();
    harness_assert_count("psi-system/percent-io-*", 2);
    tree_pressure(tree, NULL, "io", 1000000, 4000000);
    harness_read();
    harness_assert_count("psi-system/percent-io-some", 0);
    harness_assert_count("psi-system/percent-io-full", 1);
    ck_assert(fake_find("psi-system/total_time_in_ms-io-some")->decreased);
    harness_read();
    harness_assert_count("psi-system/percent-io-*", 2);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Options -------------------------------------------------------------- */

static const struct {
    const char *options;
    size_t cpu, memory, io, irq; /* values of the first read */
} limited[] = {
    {"", 3, 4, 4, 2},
    {"Resource \"memory\"", 0, 4, 0, 0},
    {"Resource \"IO\" \"cpu\"", 3, 0, 4, 0},
    {"Resource \"irq\"\nResource \"cpu\"", 3, 0, 0, 2},
    {"System false", 2, 2, 2, 1},
    {"System false\nSystem true", 3, 4, 4, 2},
    {"System false\nResource \"memory\"", 0, 2, 0, 0},
};

START_TEST(limits_what_is_published)
{
    char options[128];

    write_pressure();
    snprintf(options, sizeof(options), "Cgroup \"system.slice/a*\"\n%s", limited[_i].options);
    harness_begin(options);
    harness_read();
    harness_assert_count("psi-*/*-cpu-*", limited[_i].cpu);
    harness_assert_count("psi-*/*-memory-*", limited[_i].memory);
    harness_assert_count("psi-*/*-io-*", limited[_i].io);
    harness_assert_count("psi-*/*-irq-*", limited[_i].irq);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Errors --------------------------------------------------------------- */

/* What a file can turn into, and what is logged then. */
static const struct {
    const char *text;
    const char *expected;
} broken[] = {
    {"", "format isn't understood"},
    {"some avg10=0.00 avg60=", "format isn't understood"},
    {"some avg10=0.00 avg60=0.00 avg300=0.00 total=-1\n", "format isn't understood"},
    {"nothing of the kind\n", "format isn't understood"},
};

START_TEST(gets_over_a_file_that_breaks)
{
    harness_begin("");
    harness_read();
    harness_read();
    harness_assert_logs(0, NULL);
    tree_write(tree, "proc/pressure/memory", "%s", broken[_i].text);
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("psi-system/*-memory-*", 0);
        harness_assert_count("psi-system/*-io-*", 4);
        harness_assert_count("psi-system/*-cpu-*", 2);
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "memory pressure of the system"), 1);
    harness_assert_logs(1, broken[_i].expected);

    tree_pressure(tree, NULL, "memory", 1, 1);
    harness_read();
    harness_assert_count("psi-system/total_time_in_ms-memory-*", 2);
    harness_assert_count("psi-system/percent-memory-*", 0);
    harness_read();
    harness_assert_count("psi-system/percent-memory-*", 2);
    harness_assert_logs(1, "info: psi: memory pressure of the system");
}
END_TEST

START_TEST(gets_over_a_broken_file_of_a_group)
{
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    harness_begin("Cgroup \"*\"");
    harness_read();
    tree_write(tree, TREE_CGROUPS "/b/io.pressure", "%s", broken[_i].text);
    harness_read();
    harness_read();
    harness_assert_count("psi-b/*-io-*", 0);
    harness_assert_count("psi-b/*-cpu-*", 4);
    harness_assert_count("psi-a/*-io-*", 4);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "io pressure of cgroup b"), 1);
    harness_assert_logs(1, broken[_i].expected);

    tree_pressure(tree, "b", "io", 1, 1);
    harness_read();
    harness_assert_count("psi-b/*-io-*", 2);
    harness_assert_logs(0, "");
}
END_TEST

/* Where descriptors are short files are reopened each time, so that one can vanish in a tree of
 * files, too. */
START_TEST(gets_over_a_file_that_vanishes)
{
    harness_run_short_of_descriptors();
    harness_begin("");
    harness_read();
    harness_assert_logs(0, NULL);
    tree_remove_pressure(tree, NULL, "memory");
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("psi-system/*-memory-*", 0);
        harness_assert_count("psi-system/*-io-*", 4);
    }
    harness_assert_logs(1, "warning: psi: memory pressure of the system can't be read");
    tree_pressure(tree, NULL, "memory", 5000, 5000);
    harness_read();
    harness_assert_count("psi-system/*-memory-*", 2);
    harness_read();
    harness_assert_count("psi-system/*-memory-*", 4);
    harness_assert_logs(1, "info: psi: memory pressure of the system");
}
END_TEST

static void remove_every_pressure(const char *group)
{
    tree_remove_pressure(tree, group, "cpu");
    tree_remove_pressure(tree, group, "memory");
    tree_remove_pressure(tree, group, "io");
}

START_TEST(reports_once_that_the_kernel_has_no_pressure)
{
    tree_remove(tree, "proc/pressure");
    tree_add_group(tree, "a", true);
    remove_every_pressure("a");
    harness_begin("Cgroup \"*\"");
    harness_read();
    harness_read();
    harness_assert_count("*", 0);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "cpu, memory, io pressure of the system"), 1);
    harness_assert_logs(1, "CONFIG_PSI=y");

    tree_pressure(tree, NULL, "cpu", 0, 0);
    tree_pressure(tree, NULL, "memory", 0, 0);
    tree_pressure(tree, NULL, "io", 0, 0);
    harness_read();
    harness_assert_count("psi-system/*", 5);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "cpu, memory, io pressure of the system"), 1);
}
END_TEST

START_TEST(misses_irq_pressure_only_if_asked_for_it)
{
    harness_begin(_i == 0 ? "" : "Resource \"irq\" \"cpu\"");
    harness_read();
    harness_read();
    harness_assert_count("*/*irq*", 0);
    harness_assert_count("*/*cpu-some", 2);
    if (_i == 1)
        ck_assert_uint_eq(fake_logs(LOG_WARNING, "CONFIG_IRQ_TIME_ACCOUNTING"), 1);
    harness_assert_logs(_i == 0 ? 0 : 1, "irq pressure of the system");
}
END_TEST

static void switch_off(const char *group)
{
    char path[64];

    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/cgroup.pressure", group);
    tree_write(tree, path, "0\n");
    remove_every_pressure(group);
}

START_TEST(reports_which_groups_are_switched_off)
{
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    tree_add_group(tree, "c", true);
    switch_off("b");
    switch_off("c");
    harness_begin("Cgroup \"*\"");
    harness_read();
    harness_read();
    harness_assert_count("psi-a/*", 12);
    harness_assert_count("psi-b/*", 0);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "2 cgroups (such as b)"), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "write 1 to cgroup.pressure"), 1);
    harness_assert_logs(1, "cpu, memory, io pressure");
}
END_TEST

START_TEST(reports_groups_without_files)
{
    tree_add_group(tree, "a", true);
    remove_every_pressure("a");
    harness_begin("Cgroup \"*\"");
    harness_read();
    harness_read();
    harness_assert_count("psi-a/*", 0);
    harness_assert_count("psi-system/*", 10);
    harness_assert_logs(1, "cgroup_disable=pressure");
}
END_TEST

/* Groups of short jobs: an error that each of them has is logged once. */
START_TEST(reports_once_a_group_that_comes_and_goes)
{
    tree_add_group(tree, "job", false);
    switch_off("job");
    harness_begin("Cgroup \"*\"");
    for (int i = 0; i < 8; i++) {
        tree_set_populated(tree, "job", i % 2 == 0);
        harness_read();
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING, NULL), 1);
}
END_TEST

/* Two groups, two causes: each is logged of its own group. */
START_TEST(counts_groups_by_what_is_wrong_with_them)
{
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    tree_write(tree, TREE_CGROUPS "/a/io.pressure", "nothing of the kind\n");
    tree_remove_pressure(tree, "b", "io");
    harness_begin("Cgroup \"*\"");
    harness_read();
    harness_read();
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "2 cgroups"), 0);
    ck_assert_uint_ge(fake_logs(LOG_WARNING, "io pressure"), 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("values");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_add_loop_test(tests, publishes_totals, 0, COUNT(published));
    tcase_add_loop_test(tests, publishes_percent_from_the_second_read_on, 0, COUNT(published));
    tcase_add_test(tests, publishes_nothing_else);
    tcase_add_loop_test(tests, publishes_the_kinds_that_are_chosen, 0, COUNT(reports));
    tcase_add_test(tests, gives_all_values_of_a_read_one_time);
    tcase_add_test(tests, publishes_idle_cpus_of_the_system);
    tcase_add_loop_test(tests, publishes_idle_cpus_only_where_chosen, 0, 3);
    tcase_add_loop_test(tests, reports_averages_if_asked, 0, COUNT(published));
    tcase_add_loop_test(tests, converts_totals_to_ms, 0, COUNT(totals));
    tcase_add_test(tests, measures_the_share_of_the_interval);
    tcase_add_test(tests, takes_more_than_the_interval_for_all_of_it);
    tcase_add_test(tests, reports_no_percent_of_a_total_that_went_back);
    tcase_add_loop_test(tests, limits_what_is_published, 0, COUNT(limited));
    tcase_add_loop_test(tests, gets_over_a_file_that_breaks, 0, COUNT(broken));
    tcase_add_loop_test(tests, gets_over_a_broken_file_of_a_group, 0, COUNT(broken));
    tcase_add_test(tests, gets_over_a_file_that_vanishes);
    tcase_add_test(tests, reports_once_that_the_kernel_has_no_pressure);
    tcase_add_loop_test(tests, misses_irq_pressure_only_if_asked_for_it, 0, 2);
    tcase_add_test(tests, reports_which_groups_are_switched_off);
    tcase_add_test(tests, reports_groups_without_files);
    tcase_add_test(tests, reports_once_a_group_that_comes_and_goes);
    tcase_add_test(tests, counts_groups_by_what_is_wrong_with_them);
    return run_suite("plugin psi", tests);
}
