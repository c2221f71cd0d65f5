/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_options.c - the options of the plugin cgroup_perf,
 * messages about invalid ones, start and shutdown.
 */
#include "plugin/cgroup_perf/cgroup_perf_harness.h"

#include <errno.h>
#include <sys/syscall.h>

#include "support/suite.h"

/* --- Options -------------------------------------------------------------- */

#define EIGHT                                                                                      \
    " \"faults\" \"faults\" \"faults\" \"faults\" \"faults\" \"faults\" \"faults\" \"faults\""
#define THIRTYTWO EIGHT EIGHT EIGHT EIGHT

/* Refused options, and what the message must name. */
static const struct {
    const char *options;
    const char *name;     /* of the option */
    const char *value;    /* as printed in the message */
    const char *accepted; /* part of the accepted values */
} refused[] = {
    {"System \"maybe\"", "System", "\"maybe\"", "true or false"},
    {"System", "System", "no value", "true or false"},
    {"RequireEvents \"maybe\"", "RequireEvents", "\"maybe\"", "true or false"},
    {"RequireEvents 1", "RequireEvents", "1", "true or false"},
    {"ReportPerCPU \"true\"", "ReportPerCPU", "\"true\"", "without quotes"},
    {"ReportRunning 0", "ReportRunning", "0", "true or false"},
    {"ReportRunning true true", "ReportRunning", "true true", "true or false"},
    {"Event", "Event", "no value", "names of events in quotes, up to 32"},
    {"Event 5", "Event", "5", "names of events in quotes, up to 32"},
    {"Event true", "Event", "true", "names of events in quotes, up to 32"},
    {"Event \"\"", "Event", "\"\"", "names of events in quotes, up to 32"},
    {"Event \"task-clock\" \"\"", "Event", "\"task-clock\" \"\"", "names of events in quotes"},
    {"Event \"task-clock\" 5", "Event", "\"task-clock\" 5", "names of events in quotes"},
    {"Event" THIRTYTWO " \"faults\"", "Event", EIGHT, "up to 32"},
    {"Counting \"fast\"", "Counting", "\"fast\"", "\"auto\", \"descriptors\""},
    {"Counting true", "Counting", "true", "\"bpf\""},
    {"CPUs \"0-\"", "CPUs", "\"0-\"", "such as \"0-3\""},
    {"CPUs \"isolatd\"", "CPUs", "\"isolatd\"", "\"isolated\" may be meant"},
    {"CPUs \"0\" \"1\"", "CPUs", "\"0\" \"1\"", "\"isolated\", \"!isolated\" or \"nohz_full\""},
    {"CPUs 8192", "CPUs", "8192", "below 8192"},
    {"CPUs", "CPUs", "no value", "below 8192"},
    {"MaxFiles 0", "MaxFiles", "0", "whole number from 1 to"},
    {"MaxFiles -1", "MaxFiles", "-1", "whole number from 1 to"},
    {"MaxFiles 1.5", "MaxFiles", "1.5", "whole number from 1 to"},
    {"MaxFiles 1e12", "MaxFiles", "1e12", "whole number from 1 to"},
    {"MaxFiles \"8192\"", "MaxFiles", "\"8192\"", "whole number from 1 to"},
    {"MaxFiles", "MaxFiles", "no value", "whole number from 1 to"},
    {"MaxCgroups 0", "MaxCgroups", "0", "whole number from 1 to"},
    {"Cgroup \"a[\"", "Cgroup", "\"a[\"", "system.slice/*.service"},
    {"Cgroup 7", "Cgroup", "7", "pattern in quotes"},
    {"ExcludeCgroup", "ExcludeCgroup", "no value", "pattern in quotes"},
    {"<Cgroup \"a*\">\nInstance \"%2\"\n</Cgroup>", "<Cgroup \"a*\">: option Instance", "\"%2\"",
     "has 1"},
    {"Root \"proc\"", "Root", "\"proc\"", "absolute path of a directory"},
    {"Root \"/does/not/exist\"", "Root", "\"/does/not/exist\"", "absolute path of a directory"},
    {"Root 5", "Root", "5", "absolute path of a directory"},
};

static int configure(const char *options)
{
    char text[2048];

    snprintf(text, sizeof(text), "<Plugin cgroup_perf>\n%s\n</Plugin>\n", options);
    return fake_configure(text);
}

START_TEST(refuses_what_does_not_fit)
{
    ck_assert_msg(configure(refused[_i].options) != 0, "accepted: %s", refused[_i].options);
    ck_assert_uint_eq(fake_logs(LOG_ERR, refused[_i].name), 1);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "error: cgroup_perf: "), 1);
    ck_assert_msg(fake_logs(LOG_ERR, refused[_i].value) == 1, "no %s in: %s", refused[_i].value,
                  fake_log(0));
    harness_assert_logs(1, refused[_i].accepted);
}
END_TEST

/* Accepted options, without a message. */
static const char *const accepted[] = {
    "",
    "System off",
    "EVENT \"task-clock\" \"page-faults\"\nevent \"cs\"",
    "Event" THIRTYTWO,
    "ReportPerCPU yes\nReportRunning no\nRequireEvents false",
    "CPUs \"0-3,8\"",
    "CPUs 0",
    "cpus \"!Isolated\"",
    "MaxFiles 1",
    "MaxFiles 100000000",
    "MaxCgroups 1\nCgroup \"a\" \"b/**\"\nExcludeCgroup \"c\"",
    "<Cgroup \"a*\">\nInstance \"%1\"\n</Cgroup>",
    "Root \"/\"\nRoot \"/tmp\"",
};

START_TEST(accepts_what_fits)
{
    ck_assert_msg(configure(accepted[_i]) == 0, "%s: %s", accepted[_i], fake_log(0));
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(warns_of_what_is_unknown_and_goes_on)
{
    perf_begin("Events \"task-clock\"\nEvent \"task-clock\"");
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "cgroup_perf: option Events "), 1);
    harness_assert_logs(1, "not known");
    harness_read();
    harness_assert_count("*", 1);
}
END_TEST

START_TEST(takes_several_blocks)
{
    char text[512];

    snprintf(text, sizeof(text),
             "<Plugin cgroup_perf>\nRoot \"/\"\nEvent \"task-clock\"\n</Plugin>\n"
             "<Plugin \"cgroup_perf\">\nRoot \"%s\"\nEvent \"msr/tsc/\"\nReportRunning false\n"
             "Counting \"descriptors\"\n</Plugin>\n",
             tree_path(tree));
    ck_assert_int_eq(fake_configure(text), 0);
    ck_assert_int_eq(fake_init(), 0);
    harness_read();
    harness_read();
    harness_assert_count("cgroup_perf-system/perf-task-clock", 1);
    harness_assert_count("cgroup_perf-system/perf-msr_tsc", 1);
    harness_assert_count("*", 2);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Each block is parsed when it comes; errors are logged once nevertheless. */
START_TEST(reports_once_an_unknown_event_though_there_are_several_blocks)
{
    char text[512];

    snprintf(text, sizeof(text),
             "<Plugin cgroup_perf>\nRoot \"%s\"\nEvent \"task-clok\" \"task-clock\"\n"
             "Event \"task-clock\"\n</Plugin>\n"
             "<Plugin cgroup_perf>\nReportRunning false\n</Plugin>\n",
             tree_path(tree));
    ck_assert_int_eq(fake_configure(text), 0);
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "task-clok"), 1);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "is configured more than once"), 1);
    harness_assert_logs(2, "event \"task-clo");
}
END_TEST

/* --- Start and shutdown --------------------------------------------------- */

START_TEST(begins_once_though_asked_twice)
{
    perf_begin("Event \"task-clock\"");
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 1);
    harness_read();
    ck_assert_int_eq(fake_init(), 0);
    harness_read();
    harness_assert_count("*", 2);
    ck_assert_uint_eq(perf_descriptors(), perf_cpus());
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(warns_once_that_no_event_is_known)
{
    perf_begin("Event \"no-such-event\"\nCgroup \"*\"");
    ck_assert_uint_eq(fake_logs(LOG_ERR, "event \"no-such-event\" can't be counted"), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "there is nothing to count"), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
    ck_assert_int_eq(fake_init(), 0);
    for (int i = 0; i < 3; i++)
        harness_read();
    harness_assert_count("*", 0);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
}
END_TEST

/* Neither what can be counted nor how is known then. */
START_TEST(warns_once_that_no_cpu_is_chosen)
{
    harness_begin(_i == 0 ? "CPUs \"isolated\"" : "CPUs 8191\nCounting \"descriptors\"");
    for (int i = 0; i < 3; i++)
        harness_read();
    harness_assert_count("*", 0);
    harness_assert_logs(1, "warning: cgroup_perf: nothing is counted, as none of the CPUs that are "
                           "online is chosen (CPUs).");
    ck_assert_uint_eq(perf_descriptors(), 0);
}
END_TEST

START_TEST(counts_on_chosen_cpus_only)
{
    tree_write(tree, "sys/devices/system/cpu/isolated", "1-8191\n");
    perf_begin("CPUs \"!isolated\"\nEvent \"task-clock\" \"page-faults\"\nReportPerCPU true");
    harness_read();
    harness_read();
    ck_assert_uint_eq(perf_descriptors(), 2);
    harness_assert_count("cgroup_perf-system/perf-*", 4);
    harness_assert_count("cgroup_perf-system/perf-task-clock-cpu*", 1);
    harness_assert_count("cgroup_perf-system/perf-task-clock-cpu0", 1);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(warns_if_there_is_nothing_to_do)
{
    perf_begin("System false");
    harness_read();
    harness_assert_count("*", 0);
    harness_assert_logs(1, "warning: cgroup_perf: there is nothing to count");
}
END_TEST

START_TEST(runs_without_any_configuration)
{
    ck_assert_int_eq(fake_init(), 0);
    harness_read();
    harness_read();
    harness_assert_count("cgroup_perf-system/perf-*", 4);
    harness_assert_count("*", 8);
    harness_assert_logs(1, "info: cgroup_perf: counting by descriptors (Counting \"auto\"): ");
}
END_TEST

START_TEST(ends_before_it_began)
{
    if (_i == 1)
        ck_assert_int_eq(configure("Cgroup \"a\" \"b\"\nEvent \"task-clock\" \"page-faults\""), 0);
}
END_TEST

START_TEST(exports_one_symbol)
{
    harness_assert_exports_one_symbol();
}
END_TEST

/* Another root than "/" needs openat2(2). */
START_TEST(reports_that_a_root_needs_a_later_kernel)
{
    char text[256];

    perf_make_fail(SYS_openat2, ENOSYS, -1, 0);
    snprintf(text, sizeof(text), "Root \"%s\"", tree_path(tree));
    ck_assert_int_ne(configure(text), 0);
    harness_assert_logs(1, "5.6");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("options");
    const char *obstacle = perf_obstacle(false);

    tcase_add_checked_fixture(tests, perf_set_up, perf_tear_down);
    tcase_add_loop_test(tests, refuses_what_does_not_fit, 0, COUNT(refused));
    tcase_add_loop_test(tests, accepts_what_fits, 0, COUNT(accepted));
    tcase_add_test(tests, reports_once_an_unknown_event_though_there_are_several_blocks);
    tcase_add_test(tests, warns_once_that_no_event_is_known);
    tcase_add_test(tests, warns_if_there_is_nothing_to_do);
    tcase_add_loop_test(tests, warns_once_that_no_cpu_is_chosen, 0, 2);
    tcase_add_loop_test(tests, ends_before_it_began, 0, 2);
    tcase_add_test(tests, exports_one_symbol);
    tcase_add_test(tests, reports_that_a_root_needs_a_later_kernel);
    if (obstacle != NULL) {
        printf("# without the tests that count: %s\n", obstacle);
    } else {
        tcase_add_test(tests, warns_of_what_is_unknown_and_goes_on);
        tcase_add_test(tests, takes_several_blocks);
        tcase_add_test(tests, counts_on_chosen_cpus_only);
        tcase_add_test(tests, begins_once_though_asked_twice);
        tcase_add_test(tests, runs_without_any_configuration);
    }
    return run_isolated_suite("plugin cgroup_perf options", tests);
}
