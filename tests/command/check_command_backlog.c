/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_backlog.c - whether collectd is behind, and why it has no values, by the
 * age of its newest value, its start, and its configuration.
 */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configured/backlog.h"
#include "support/suite.h"
#include "support/tree.h"

#define NOW 2e9
/* Before each start, unless a test says otherwise. */
#define CONFIGURED (NOW - 1e6)

#define SEE "see \"Slow writers\" in collectd-headroom(5)"
#define LIMIT(writers)                                                                             \
    "if a writer is slow" writers ", limit what waits for it by WriteQueueLimitHigh and "          \
    "WriteQueueLimitLow; " SEE
#define MAKE_MEANWHILE                                                                             \
    "rrdtool may be making a file of each new series, which nothing waits for with "               \
    "CreateFilesAsync true in its block; " SEE

static struct tree *tree;
static struct usage usage;
static struct hr_reason reason;

static void set_up(void)
{
    tree = tree_new();
}

static void forget(void)
{
    usage_free(&usage);
    usage = (struct usage){.path = NULL};
}

static void tear_down(void)
{
    forget();
    tree_free(tree);
}

static void configure(const char *text, double changed_s)
{
    const struct timespec times[] = {{.tv_sec = (time_t)changed_s}, {.tv_sec = (time_t)changed_s}};
    struct config_fault fault;
    static char path[512];

    forget();
    tree_write(tree, "conf", "%s", text);
    snprintf(path, sizeof(path), "%s/conf", tree_path(tree));
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_assert_int_eq(usage_read(path, &usage, &fault), 0);
}

/* @param late_s, running_s  NAN: there are no values; it isn't known. */
static struct backlog_seen see(double late_s, double running_s)
{
    return (struct backlog_seen){NOW, NOW - late_s, NOW - running_s, 12, NULL};
}

static void expect_behind(const struct usage *known, double late_s, double running_s,
                          const char *text)
{
    const struct backlog_seen seen = see(late_s, running_s);

    ck_assert_int_eq(backlog_find(known, &seen, &reason),
                     text[0] != '\0' ? BACKLOG_BEHIND : BACKLOG_NONE);
    ck_assert_str_eq(reason.text, text);
}

/* --- Values that are late --------------------------------------------------- */

START_TEST(values_are_late_after_one_and_a_half_intervals_and_five_seconds)
{
    static const struct {
        const char *config;
        double after_s;
    } cases[] = {
        {"LoadPlugin psi", 20},
        {"Interval 1\nLoadPlugin psi", 6},
        {"Interval 60\nLoadPlugin headroom\n<LoadPlugin psi>\nInterval 20\n</LoadPlugin>", 35},
        {"Interval 60\nLoadPlugin cgroup_perf", 95},
        {"LoadPlugin osnoise", 20},
        /* May measure for any time. */
        {"LoadPlugin wss", 600},
        {"LoadPlugin cpu", 600},
        {"Interval 3600\nLoadPlugin psi", 5405},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        configure(cases[i].config, CONFIGURED);
        struct backlog_seen seen = see(cases[i].after_s, 1e5);
        ck_assert_int_eq(backlog_find(&usage, &seen, &reason), BACKLOG_NONE);
        ck_assert_str_eq(reason.text, "");
        seen = see(cases[i].after_s + 1, 1e5);
        ck_assert_int_eq(backlog_find(&usage, &seen, &reason), BACKLOG_BEHIND);
    }
}
END_TEST

/* One with an interval of 1 s measures the group "a" only, the other the system each 60 s. */
START_TEST(a_plugin_without_groups_to_measure_makes_nothing_late)
{
    static const double late_s[] = {6, 7, 95, 96};
    char text[512];

    tree_add_group(tree, "a", false);
    snprintf(text, sizeof(text),
             "Interval 60\nLoadPlugin psi\n<LoadPlugin headroom>\nInterval 1\n</LoadPlugin>\n"
             "<Plugin headroom>\nRoot \"%s\"\nSystem false\nCgroup \"a\"\n</Plugin>",
             tree_path(tree));
    configure(text, CONFIGURED);
    for (size_t i = 0; i < 8; i++) {
        const struct backlog_seen seen = see(late_s[i % 4], 1e5);
        tree_set_populated(tree, "a", i >= 4);
        ck_assert_int_eq(backlog_find(&usage, &seen, &reason),
                         late_s[i % 4] > (i >= 4 ? 6.5 : 95) ? BACKLOG_BEHIND : BACKLOG_NONE);
    }
}
END_TEST

START_TEST(what_is_late_names_its_writers)
{
    configure("LoadPlugin psi\nLoadPlugin csv\nLoadPlugin logfile\nLoadPlugin \"write_graphite\"\n"
              "LoadPlugin threshold\nLoadPlugin CSV\nLoadPlugin network",
              CONFIGURED);
    expect_behind(&usage, 95, 200,
                  "collectd is 95 s behind: " LIMIT(" (csv, "
                                                    "write_graphite, network)"));
    expect_behind(&usage, 3600, 4000,
                  "collectd is 60 min behind: " LIMIT(" (csv, "
                                                      "write_graphite, network)"));
    expect_behind(NULL, 601, NAN, "collectd is 10 min behind: " LIMIT(""));
    expect_behind(NULL, 600, NAN, "");
    /* Of another machine, whose clock is ahead. */
    expect_behind(&usage, -50, 200, "");
}
END_TEST

/* A machine whose CPUs are busy is seen; nothing else is claimed then. */
START_TEST(what_is_late_has_a_busy_machine)
{
    struct backlog_seen seen = see(95, 200);

    configure("LoadPlugin psi\nLoadPlugin rrdtool\nLoadPlugin csv", CONFIGURED);
    seen.cpu_wait = 50;
    ck_assert_int_eq(backlog_find(&usage, &seen, &reason), BACKLOG_BEHIND);
    ck_assert_str_eq(reason.text, "collectd is 95 s behind, on a machine whose tasks wait for a "
                                  "CPU 50 % of the time: headroom top has who takes it; if it "
                                  "lasts without, a writer may be slow (rrdtool, csv); " SEE);
    /* `headroom top` doesn't name itself. */
    seen.takers = "the column cpus";
    ck_assert_int_eq(backlog_find(&usage, &seen, &reason), BACKLOG_BEHIND);
    ck_assert_str_eq(reason.text,
                     "collectd is 95 s behind, on a machine whose tasks wait for a CPU 50 % of the "
                     "time: the column cpus has who takes it; if it lasts without, a writer may "
                     "be slow (rrdtool, csv); " SEE);
    seen.cpu_wait = NAN;
    backlog_find(&usage, &seen, &reason);
    ck_assert_str_eq(reason.text, "collectd is 95 s behind: " MAKE_MEANWHILE);
}
END_TEST

START_TEST(rrdtool_makes_files_while_others_wait_by_default)
{
    static const char *const configs[] = {
        "LoadPlugin psi\nLoadPlugin rrdtool",
        "LoadPlugin psi\nLoadPlugin rrdtool\n<Plugin rrdtool>\nCacheTimeout 120\n</Plugin>",
        "LoadPlugin psi\nLoadPlugin rrdtool\n<Plugin rrdtool>\nCreateFilesAsync false\n</Plugin>",
    };

    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        configure(configs[i], CONFIGURED);
        expect_behind(&usage, 95, 200, "collectd is 95 s behind: " MAKE_MEANWHILE);
    }
    configure("LoadPlugin psi\nLoadPlugin rrdtool\n<Plugin rrdtool>\nCreateFilesAsync true\n"
              "</Plugin>\n<Plugin rrdtool>\nCacheTimeout 120\n</Plugin>",
              CONFIGURED);
    expect_behind(&usage, 95, 200, "collectd is 95 s behind: " LIMIT(" (rrdtool)"));
}
END_TEST

START_TEST(what_is_configured_is_compared_once_collectd_has_settled)
{
    static const struct {
        double running_s;
        double changed_s; /* before now */
        bool can;
    } cases[] = {{30, 1e6, false},
                 {31, 1e6, true},
                 {1000, 999, false},
                 {1000, 1001, true},
                 {NAN, 1e6, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        configure("Interval 1\nLoadPlugin psi", NOW - cases[i].changed_s);
        const struct backlog_seen seen = see(0, cases[i].running_s);
        ck_assert_int_eq(backlog_can_compare(&usage, &seen), cases[i].can);
    }
}
END_TEST

START_TEST(no_value_at_all_is_behind_if_collectd_runs_for_long)
{
    configure("LoadPlugin psi\nLoadPlugin csv", CONFIGURED);
    expect_behind(&usage, NAN, 60, "");
    expect_behind(&usage, NAN, 61,
                  "collectd has no values at all, 61 s after its start, as either what it reads "
                  "waits for its writers (csv), or nothing is read: see its log, and \"Slow "
                  "writers\" in collectd-headroom(5)");
    expect_behind(&usage, NAN, NAN, "");
    expect_behind(NULL, NAN, 1e5, "");
    configure("LoadPlugin cpu\nLoadPlugin csv", CONFIGURED);
    expect_behind(&usage, NAN, 1e5, "");
}
END_TEST

START_TEST(no_value_is_no_wonder_without_groups_to_measure)
{
    const struct backlog_seen seen = see(NAN, 1e5);
    char text[512];

    tree_add_group(tree, "a", false);
    snprintf(text, sizeof(text),
             "LoadPlugin psi\n<Plugin psi>\nRoot \"%s\"\nSystem false\nCgroup \"a\"\n</Plugin>",
             tree_path(tree));
    configure(text, CONFIGURED);
    ck_assert_int_eq(backlog_find(&usage, &seen, &reason), BACKLOG_NONE);
    ck_assert_int_eq(backlog_explain_absence(&usage, &seen, "headroom's plugins", &reason),
                     BACKLOG_UNEXPLAINED);
    tree_set_populated(tree, "a", true);
    ck_assert_int_eq(backlog_find(&usage, &seen, &reason), BACKLOG_BEHIND);
}
END_TEST

START_TEST(the_reason_has_a_remedy_of_its_own)
{
    size_t length;

    configure("LoadPlugin psi\nLoadPlugin rrdtool", CONFIGURED);
    const struct backlog_seen seen = see(95, 200);
    ck_assert_int_eq(backlog_find(&usage, &seen, &reason), BACKLOG_BEHIND);
    ck_assert_str_eq(hr_reason_remedy(&reason, &length), MAKE_MEANWHILE);
    /* They fit into a finding of headroom doctor. */
    ck_assert_uint_lt(length, 256);
    ck_assert_uint_lt(strlen(MAKE_MEANWHILE), 256);
    ck_assert_uint_lt(strlen(LIMIT("")), 256);
}
END_TEST

START_TEST(many_writers_fit)
{
    configure("LoadPlugin psi\nLoadPlugin write_stackdriver\nLoadPlugin write_influxdb_udp\n"
              "LoadPlugin write_prometheus\nLoadPlugin write_graphite\nLoadPlugin write_mongodb\n"
              "LoadPlugin write_riemann\nLoadPlugin write_\033sensu\nLoadPlugin amqp",
              CONFIGURED);
    expect_behind(&usage, 95, 200,
                  "collectd is 95 s behind: " LIMIT(
                      " (write_stackdriver, write_influxdb_udp, write_prometheus, write_graphite, "
                      "write_mongodb, ...)"));
}
END_TEST

/* --- No values ---------------------------------------------------------------- */

static void expect_absence(double late_s, double running_s, enum backlog_state state,
                           const char *text)
{
    const struct backlog_seen seen = see(late_s, running_s);
    char expected[1024];

    snprintf(expected, sizeof(expected), text, tree_path(tree));
    ck_assert_int_eq(backlog_explain_absence(&usage, &seen, "headroom's plugins", &reason), state);
    ck_assert_str_eq(reason.text, expected);
}

START_TEST(no_values_of_a_plugin_that_is_loaded)
{
    configure("LoadPlugin psi", CONFIGURED);
    expect_absence(NAN, 4, BACKLOG_STARTED,
                   "collectd has no values of headroom's plugins yet, as it was started 4 s ago: "
                   "the first values take an interval or two");
    /* Other plugins have some. */
    expect_absence(5, 60, BACKLOG_STARTED,
                   "collectd has no values of headroom's plugins yet, as it was started 60 s ago: "
                   "the first values take an interval or two");
    expect_absence(
        5, 61, BACKLOG_UNEXPLAINED,
        "collectd has no values of headroom's plugins yet, though configured in %s/conf: "
        "see its log, and headroom doctor");
    expect_absence(
        5, NAN, BACKLOG_UNEXPLAINED,
        "collectd has no values of headroom's plugins yet, though configured in %s/conf: "
        "see its log, and headroom doctor");
    expect_absence(95, 200, BACKLOG_BEHIND, "collectd is 95 s behind: " LIMIT(""));
}
END_TEST

START_TEST(a_configuration_that_was_changed_later_says_nothing)
{
    static const char text[] =
        "collectd has no values of headroom's plugins yet, as its configuration was changed after "
        "it was started: restart it";

    configure("LoadPlugin cpu\nLoadPlugin psi", NOW - 10);
    expect_absence(5, 10, BACKLOG_STARTED,
                   "collectd has no values of headroom's plugins yet, as it was started 10 s ago: "
                   "the first values take an interval or two");
    expect_absence(5, 11, BACKLOG_OUTDATED, text);
    expect_absence(5, 1e5, BACKLOG_OUTDATED, text);
    expect_absence(NAN, 1e5, BACKLOG_OUTDATED, text);
    /* It has some, which are late. */
    expect_absence(95, 1e5, BACKLOG_BEHIND, "collectd is 95 s behind: " LIMIT(""));
}
END_TEST

START_TEST(an_included_file_that_was_changed_later_counts)
{
    char config[600];

    configure("LoadPlugin psi", NOW - 10);
    tree_write(tree, "top", "Include \"%s/conf\"\n", tree_path(tree));
    snprintf(config, sizeof(config), "%s/top", tree_path(tree));
    const struct timespec times[] = {{.tv_sec = (time_t)CONFIGURED},
                                     {.tv_sec = (time_t)CONFIGURED}};
    ck_assert_int_eq(utimensat(AT_FDCWD, config, times, 0), 0);
    struct config_fault fault;
    forget();
    ck_assert_int_eq(usage_read(config, &usage, &fault), 0);
    expect_absence(5, 1e5, BACKLOG_OUTDATED,
                   "collectd has no values of headroom's plugins yet, as its configuration was "
                   "changed after it was started: restart it");
    forget(); /* its path is gone */
}
END_TEST

START_TEST(it_was_started_when_its_socket_was_made)
{
    const struct timespec times[] = {{.tv_sec = 1234567}, {.tv_sec = 1234567}};
    char path[512];

    tree_write(tree, "socket", "%s", "");
    snprintf(path, sizeof(path), "%s/socket", tree_path(tree));
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    struct backlog_seen seen = backlog_look(path, 5);
    ck_assert_double_eq(seen.started_s, 1234567);
    ck_assert_double_eq(seen.newest_s, 5);
    ck_assert_double_gt(seen.now_s, 1.7e9);
    tree_remove(tree, "socket");
    seen = backlog_look(path, NAN);
    ck_assert(isnan(seen.started_s));
    ck_assert(isnan(seen.newest_s));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("backlog");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, values_are_late_after_one_and_a_half_intervals_and_five_seconds);
    tcase_add_test(tests, a_plugin_without_groups_to_measure_makes_nothing_late);
    tcase_add_test(tests, what_is_late_names_its_writers);
    tcase_add_test(tests, what_is_late_has_a_busy_machine);
    tcase_add_test(tests, rrdtool_makes_files_while_others_wait_by_default);
    tcase_add_test(tests, what_is_configured_is_compared_once_collectd_has_settled);
    tcase_add_test(tests, no_value_at_all_is_behind_if_collectd_runs_for_long);
    tcase_add_test(tests, no_value_is_no_wonder_without_groups_to_measure);
    tcase_add_test(tests, the_reason_has_a_remedy_of_its_own);
    tcase_add_test(tests, many_writers_fit);
    tcase_add_test(tests, no_values_of_a_plugin_that_is_loaded);
    tcase_add_test(tests, a_configuration_that_was_changed_later_says_nothing);
    tcase_add_test(tests, an_included_file_that_was_changed_later_counts);
    tcase_add_test(tests, it_was_started_when_its_socket_was_made);
    return run_suite("backlog", tests);
}
