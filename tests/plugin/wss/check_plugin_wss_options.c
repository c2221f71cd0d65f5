/* SPDX-License-Identifier: MIT */
/*
 * plugin/wss/check_plugin_wss_options.c - the options of the plugin wss, the messages about
 * invalid ones, and which targets are refused as they would spoil each other.
 */
#include "support/plugin_harness.h"

#include "support/suite.h"

const char *const harness_plugin = "wss";

#define PROCESS(lines) "<Process \"a\">\n" lines "\n</Process>"
#define NAMED(name)    "<Process \"" name "\">\nName \"x\"\n</Process>\n"
#define WINDOWS        "in whole milliseconds"

/* Refused lines, and what the message must contain. */
static const struct {
    const char *options;
    const char *name;     /* the option */
    const char *value;    /* as printed in the message */
    const char *accepted; /* a part of what is accepted */
} refused[] = {
    {"Process", "Process", "no value", "text in quotes"},
    {"Process 7", "Process", "7", "text in quotes"},
    {"Process \"\"", "Process", "\"\"", "not empty"},
    {"Process \"a\" \"b\"", "Process", "\"a\" \"b\"", "one text"},
    {"Process \"a\"\nProcess \"a\"", "Process", "\"a\"", "no other <Process> has"},
    {"Process \"a/b\"\nProcess \"a_b\"", "Process", "\"a_b\"", "no other <Process> has"},
    {"Process \"system\"", "Process", "\"system\"", "not \"system\""},
    {"System true", "System", "true", "is a block"},
    {PROCESS("Name 5"), "<Process \"a\">: option Name", "5", "text"},
    {PROCESS("PidFile \"run/x\""), "PidFile", "\"run/x\"", "absolute path"},
    {PROCESS("Pid 0"), "Pid", "0", "whole number from 1"},
    {PROCESS("Pid \"5\""), "Pid", "\"5\"", "whole number from 1"},
    {PROCESS("Pid 5\nName \"x\""), "<Process \"a\">", "Name, PidFile and Pid", "exclude"},
    {PROCESS("Method \"magic\""), "Method", "\"magic\"", "\"referenced\", \"idle\""},
    {PROCESS("Method 5"), "Method", "5", "\"auto\""},
    {PROCESS("Aging \"yes\""), "Aging", "\"yes\"", "true or false"},
    {PROCESS("Window"), "Window", "no value", WINDOWS},
    {PROCESS("Window 0"), "Window", "0", WINDOWS},
    {PROCESS("Window -1"), "Window", "-1", WINDOWS},
    {PROCESS("Window 0.0005"), "Window", "0.0005", WINDOWS},
    {PROCESS("Window 0.0105"), "Window", "0.0105", WINDOWS},
    {PROCESS("Window 3600.001"), "Window", "3600.001", "3600"},
    {PROCESS("Window \"1\""), "Window", "\"1\"", WINDOWS},
    {PROCESS("Window 1 1"), "Window", "1 1", "above the one before"},
    {PROCESS("Window 10 1"), "Window", "10 1", "above the one before"},
    {PROCESS("Window 1 2 3 4 5 6 7 8 9"), "Window", "1 2 3", "1 to 8 numbers"},
    {"<Cgroup \"a\">\nWindow 0\n</Cgroup>", "<Cgroup \"a\">: option Window", "0", WINDOWS},
    {"<Cgroup \"a\">\nMethod \"x\"\n</Cgroup>", "<Cgroup \"a\">: option Method", "\"x\"",
     "lru_gen"},
    {"<System>\nMethod \"x\"\n</System>", "<System>: option Method", "\"x\"", "lru_gen"},
    {"MaxScanTime 0", "MaxScanTime", "0", "from 0.001 to 60"},
    {"MaxScanTime \"1\"", "MaxScanTime", "\"1\"", "number of seconds"},
    {"MaxRSS -1", "MaxRSS", "-1", "with K, M, G or T"},
    {"MaxRSS \"64Q\"", "MaxRSS", "\"64Q\"", "with K, M, G or T"},
    {"MaxRSS \"64GB\"", "MaxRSS", "\"64GB\"", "with K, M, G or T"},
    {"MaxRSS \"-64G\"", "MaxRSS", "\"-64G\"", "with K, M, G or T"},
    {"MaxRSS \"64 \"", "MaxRSS", "\"64 \"", "with K, M, G or T"},
    {"MaxRSS \"64G \"", "MaxRSS", "\"64G \"", "with K, M, G or T"},
    {"MaxRSS \" 64G\"", "MaxRSS", "\" 64G\"", "with K, M, G or T"},
    {"MaxRSS \"64 G\"", "MaxRSS", "\"64 G\"", "with K, M, G or T"},
    {"MaxRSS \"0x40\"", "MaxRSS", "\"0x40\"", "with K, M, G or T"},
    {"MaxRSS \"1e9\"", "MaxRSS", "\"1e9\"", "with K, M, G or T"},
    {"MaxRSS \"nan\"", "MaxRSS", "\"nan\"", "with K, M, G or T"},
    {"MaxRSS \"64\vG\"", "MaxRSS", "64", "with K, M, G or T"},
    {"MaxRSS \"\"", "MaxRSS", "\"\"", "with K, M, G or T"},
    {"MaxRSS 1.5", "MaxRSS", "1.5", "whole number of bytes"},
    {"MaxRSS 1.0e+300", "MaxRSS", "1e+300", "with K, M, G or T"},
    {"MaxRSS \"99999999999T\"", "MaxRSS", "T\"", "with K, M, G or T"},
    {"MaxRSS true", "MaxRSS", "true", "with K, M, G or T"},
    {"Root \"proc\"", "Root", "\"proc\"", "absolute path of a directory"},
    /* overlapping targets */
    {NAMED("a") NAMED("b"), "<Process \"a\">", "<Process \"b\">", "the same process"},
    {NAMED("a") "Process \"x\"", "<Process \"a\">", "<Process \"x\">", "the same process"},
    {"<Process \"a\">\nPid 5\n</Process>\n<Process \"b\">\nPid 5\n</Process>", "<Process \"a\">",
     "<Process \"b\">", "the same process"},
    {"<Process \"a\">\nPidFile \"/x\"\n</Process>\n<Process \"b\">\nPidFile \"/x\"\n</Process>",
     "<Process \"a\">", "<Process \"b\">", "the same process"},
    {"Process \"a\"\n<System>\nMethod \"lru_gen\"\nAging true\n</System>", "<Process \"a\">",
     "<System>", "memory of all others"},
    {"Cgroup \"a*\"\n<System>\nMethod \"damon\"\n</System>", "<System>", "<Cgroup \"a*\">",
     "memory of all others"},
    {"Cgroup \"a\" \"a/b\"", "<Cgroup \"a\">", "<Cgroup \"a/b\">", "lies within"},
    {"<Process \"a\">\nMethod \"damon\"\n</Process>\n<Process \"b\">\nMethod \"damon\"\n</Process>",
     "<Process \"a\">", "<Process \"b\">", "only one user of DAMON"},
    {"<System>\n</System>\n<System>\n</System>", "more than one", "block <System>", "wss"},
};

static int configure(const char *options)
{
    char text[2048];

    snprintf(text, sizeof(text), "<Plugin wss>\n%s\n</Plugin>\n", options);
    return fake_configure(text);
}

START_TEST(refuses_what_does_not_fit)
{
    ck_assert_msg(configure(refused[_i].options) != 0, "accepted: %s", refused[_i].options);
    ck_assert_msg(fake_logs(LOG_ERR, refused[_i].name) == 1, "no %s in: %s", refused[_i].name,
                  fake_log(0));
    ck_assert_uint_eq(fake_logs(LOG_ERR, "error: wss: "), 1);
    ck_assert_msg(fake_logs(LOG_ERR, refused[_i].value) == 1, "no %s in: %s", refused[_i].value,
                  fake_log(0));
    harness_assert_logs(1, refused[_i].accepted);
}
END_TEST

/* Accepted without a message. */
static const char *const accepted[] = {
    "",
    "process \"mysqld\"",
    PROCESS("PidFile \"/run/a.pid\"\nMETHOD \"auto\"\nWindow 0.01 0.5 1.25 3600"),
    PROCESS("Pid 4194304\nWindow 1 2 3 4 5 6 7 8"),
    "Process \"a\" \nProcess \"b\"",
    "<System>\nMethod \"lru_gen\"\n</System>\nProcess \"a\"\nCgroup \"b/**\"",
    "<System>\n</System>\nProcess \"a\"",
    "<System>\nAging true\nMethod \"lru_gen\"\n</System>",
    "Cgroup \"a\" \"ab\" \"c/*\" \"c/**\"",
    "<Cgroup \"a\">\nMethod \"lru_gen\"\n</Cgroup>\n<Cgroup \"a/b\">\nMethod "
    "\"lru_gen\"\n</Cgroup>",
    "<Cgroup \"a*\">\nInstance \"%1\"\nWindow 1\nAging false\n</Cgroup>\nExcludeCgroup \"ab\"\n"
    "MaxCgroups 5",
    "MaxScanTime 0.001\nMaxRSS 0",
    "MaxScanTime 60\nMaxRSS \"1T\"",
    "MaxRSS \"512m\"\nMaxRSS \"5\"\nMaxRSS 1000000",
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
    ck_assert_int_eq(configure("Colour \"blue\"\n" PROCESS(
                         "Colour \"blue\"") "\n"
                                            "<Cgroup \"b\">\nColour \"blue\"\n</Cgroup>"),
                     0);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "wss: option Colour"), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "wss: <Process \"a\">: option Colour"), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "wss: <Cgroup \"b\">: option Colour"), 1);
    harness_assert_logs(3, "not known");
}
END_TEST

START_TEST(warns_of_a_window_that_is_too_short)
{
    ck_assert_int_eq(configure(PROCESS("Window 0.009 1")), 0);
    harness_assert_logs(1, "<Process \"a\">: option Window: a window below 10 ms reads low");
}
END_TEST

/* Targets are compared with those of earlier blocks. */
START_TEST(takes_several_blocks)
{
    ck_assert_int_eq(configure("Process \"a\""), 0);
    ck_assert_int_eq(configure("Process \"b\"\nCgroup \"c\""), 0);
    ck_assert_int_ne(configure(NAMED("c") NAMED("d")), 0);
    harness_assert_logs(1, "<Process \"c\"> and <Process \"d\">");
}
END_TEST

START_TEST(exports_one_symbol)
{
    harness_assert_exports_one_symbol();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("options");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_add_loop_test(tests, refuses_what_does_not_fit, 0, COUNT(refused));
    tcase_add_loop_test(tests, accepts_what_fits, 0, COUNT(accepted));
    tcase_add_test(tests, warns_of_what_is_unknown_and_goes_on);
    tcase_add_test(tests, warns_of_a_window_that_is_too_short);
    tcase_add_test(tests, takes_several_blocks);
    tcase_add_test(tests, exports_one_symbol);
    return run_suite("plugin wss options", tests);
}
