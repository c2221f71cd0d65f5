/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_plugin_osnoise_options.c - the options of the plugin osnoise, and the errors about
 * invalid ones and invalid combinations.
 */
#include "support/plugin_harness.h"

#include "support/suite.h"

const char *const harness_plugin = "osnoise";

#define ALERT(lines) "<Alert>\n" lines "\n</Alert>"
#define CPUS         "CPUs \"2-7\"\n"
#define OF_CPUS      "as the kernel writes them"

/* What is refused: the lines, and what the message has to name. */
static const struct {
    const char *options;
    const char *name;     /* the option */
    const char *value;    /* as it stands in the message */
    const char *accepted; /* a part of what is accepted */
} refused[] = {
    {"CPUs", "CPUs", "no value", OF_CPUS},
    {"CPUs \"\"", "CPUs", "\"\"", OF_CPUS},
    {"CPUs \"7-2\"", "CPUs", "\"7-2\"", OF_CPUS},
    {"CPUs \"2,\"", "CPUs", "\"2,\"", OF_CPUS},
    {"CPUs \"2 3\"", "CPUs", "\"2 3\"", OF_CPUS},
    {"CPUs \"8192\"", "CPUs", "\"8192\"", "below 8192"},
    {"CPUs 8192", "CPUs", "8192", "below 8192"},
    {"CPUs 2.5", "CPUs", "2.5", OF_CPUS},
    {"CPUs -1", "CPUs", "-1", OF_CPUS},
    {"CPUs true", "CPUs", "true", OF_CPUS},
    {"CPUs \"2\" \"x\"", "CPUs", "\"2\" \"x\"", OF_CPUS},
    {"CPUs \"isolatd\"", "CPUs", "\"isolatd\"", "\"isolated\" may be meant"},
    {"CPUs \"!nohz_full\"", "CPUs", "\"!nohz_full\"", "\"!isolated\" or \"nohz_full\""},
    {"Mode", "Mode", "no value", "\"osnoise\""},
    {"Mode \"wakeup\"", "Mode", "\"wakeup\"", "\"osnoise\", \"hwnoise\", \"sources\""},
    {"Mode 1", "Mode", "1", "\"osnoise\""},
    {"Period 0", "Period", "0", "from 0.0001 to 3600"},
    {"Period 3601", "Period", "3601", "from 0.0001 to 3600"},
    {"Period \"1\"", "Period", "\"1\"", "number of seconds"},
    {"Period 1 2", "Period", "1 2", "number of seconds"},
    {"Runtime 0.00009", "Runtime", "9e-05", "from 0.0001 to 3600"},
    {"Runtime 0", "Runtime", "0", "from 0.0001 to 3600"},
    {"Threshold 0", "Threshold", "0", "from 0.000001 to 1"},
    {"Threshold 1.1", "Threshold", "1.1", "from 0.000001 to 1"},
    {"MaxDuty 0", "MaxDuty", "0", "percent above 0, up to 100"},
    {"MaxDuty 100.1", "MaxDuty", "100.1", "percent above 0, up to 100"},
    {"MaxDuty -5", "MaxDuty", "-5", "percent above 0, up to 100"},
    {"MaxDuty \"10\"", "MaxDuty", "\"10\"", "percent above 0, up to 100"},
    {"MaxDuty 5 5", "MaxDuty", "5 5", "percent above 0, up to 100"},
    {"Priority \"idle\" \"idle\"", "Priority", "\"idle\" \"idle\"", "\"o:NICE\""},
    {"Priority \"d:1:2\"", "Priority", "\"d:1:2\"", "\"o:NICE\" (-20 to 19)"},
    {"Priority 5", "Priority", "5", "\"idle\""},
    {"Sources -1", "Sources", "-1", "whole number from 0 to 100"},
    {"Sources 101", "Sources", "101", "whole number from 0 to 100"},
    {"Sources 1.5", "Sources", "1.5", "whole number from 0 to 100"},
    {"Sources true", "Sources", "true", "whole number from 0 to 100"},
    {"Histogram 1", "Histogram", "1", "true or false"},
    {"Histogram \"true\"", "Histogram", "\"true\"", "true or false"},
    {"StateFile \"x\"", "StateFile", "\"x\"", "absolute path of a file"},
    {"StateFile \"/tmp/\"", "StateFile", "\"/tmp/\"", "absolute path of a file"},
    {"StateFile 5", "StateFile", "5", "absolute path"},
    {"Root \"proc\"", "Root", "\"proc\"", "absolute path of a directory"},
    {"Alert true", "Alert", "true", "it is a block"},
    {ALERT(""), "<Alert>", "MaxSingle is missing", "MaxSingle 0.000050"},
    {ALERT("Severity \"FAILURE\""), "<Alert>", "MaxSingle", "missing"},
    {ALERT("MaxSingle 0"), "<Alert>: option MaxSingle", "0", "from 0.000001 to 3600"},
    {ALERT("MaxSingle \"1\""), "MaxSingle", "\"1\"", "number of seconds"},
    {ALERT("MaxSingle 1\nSeverity \"OKAY\""), "Severity", "\"OKAY\"", "\"WARNING\" or \"FAILURE\""},
    {ALERT("MaxSingle 1\nSeverity 1"), "Severity", "1", "\"WARNING\""},
    {ALERT("MaxSingle 1\nQuiet 0.5"), "Quiet", "0.5", "from 1 to 86400"},
    {ALERT("MaxSingle 1\nQuiet 86401"), "Quiet", "86401", "from 1 to 86400"},
    {ALERT("MaxSingle 1\nCauses 1"), "Causes", "1", "true or false"},
    {ALERT("MaxSingle 1\nKeepTraces 1001"), "KeepTraces", "1001", "whole number from 0 to 1000"},
    {ALERT("MaxSingle 1") "\n" ALERT("MaxSingle 1"), "more than one", "<Alert>", "osnoise"},
    /* what doesn't fit together */
    {CPUS "Runtime 0.2", "invalid combination", "20", "10"},
    {"Runtime 0.2", "invalid combination", "20", "10"}, /* without CPUs, too */
    {CPUS "MaxDuty 100\nPeriod 0.1\nRuntime 0.2", "invalid combination", "runtime", "period"},
    {CPUS "Mode \"hwnoise\"\nPeriod 10\nRuntime 0.2", "invalid combination", "0.1", "interrupts"},
    {"Mode \"sources\"\n" ALERT("MaxSingle 1"), "invalid combination", "sources mode", "alerts"},
    {"Mode \"sources\"\nHistogram true", "invalid combination", "sources mode", "histograms"},
    {CPUS "Mode \"timerlat\"\nPeriod 1.1", "invalid combination", "timerlat mode", "0.0001 to 1"},
    {CPUS "Mode \"timerlat\"\nSources 5", "invalid combination", "timerlat mode", "osnoise mode"},
    {CPUS "Mode \"timerlat\"\n" ALERT("MaxSingle 1"), "invalid combination", "timerlat mode",
     "osnoise mode"},
    {CPUS "Period 0.0009\nRuntime 0.0001\nMaxDuty 100", "invalid combination", "period", "0.001"},
    {CPUS "Threshold 0.0001\n" ALERT("MaxSingle 0.00005"), "invalid combination", "single noises",
     "below the threshold"},
};

static int configure(const char *options)
{
    char text[2048];

    snprintf(text, sizeof(text), "<Plugin osnoise>\n%s\n</Plugin>\n", options);
    return fake_configure(text);
}

START_TEST(refuses_what_does_not_fit)
{
    ck_assert_msg(configure(refused[_i].options) != 0, "accepted: %s", refused[_i].options);
    ck_assert_msg(fake_logs(LOG_ERR, refused[_i].name) == 1, "no %s in: %s", refused[_i].name,
                  fake_log(0));
    ck_assert_uint_eq(fake_logs(LOG_ERR, "error: osnoise: "), 1);
    ck_assert_msg(fake_logs(LOG_ERR, refused[_i].value) == 1, "no %s in: %s", refused[_i].value,
                  fake_log(0));
    harness_assert_logs(1, refused[_i].accepted);
}
END_TEST

/* What is taken, without a word. */
static const char *const accepted[] = {
    "",
    CPUS,
    "CPUs 3 5 \"7-9,11\"\nCPUs \"0\"",
    "cpus \"8191\"",
    "CPUs \"isolated\"",
    "CPUs \"!isolated\"",
    "CPUs \"nohz_full\" \"0-1\"\nCPUs 3",
    CPUS "Mode \"HwNoise\"\nPeriod 10\nRuntime 0.1",
    CPUS "Period 0.001\nRuntime 0.0001\nMaxDuty 10",
    CPUS "Period 3600\nRuntime 3600\nMaxDuty 100",
    CPUS "Mode \"timerlat\"",
    CPUS "Mode \"timerlat\"\nPeriod 0.0001\nPriority \"f:80\"\nHistogram true",
    CPUS "Period 1\nMode \"timerlat\"",
    CPUS "Priority \"idle\"",
    CPUS "Priority \"f:10\"",
    CPUS "Runtime 0.025\nMaxDuty 2.5\nThreshold 0.000005",
    CPUS "Sources 100\nHistogram true\n" ALERT("MaxSingle 0.000001"),
    CPUS ALERT("MaxSingle 0.00005\nSeverity \"failure\"\nQuiet 1"),
    CPUS ALERT("MaxSingle 0.00005\nCauses false\nKeepTraces 0"),
    "Mode \"sources\"",
    "Mode \"sources\"\nSources 0\nHistogram false",
    "Mode \"sources\"\nSources 20\nCPUs 0",
    "Mode \"attach\"\nHistogram true\nSources 3\n" ALERT("MaxSingle 0.0001\nQuiet 86400"),
    "Mode \"attach\"\nRuntime 0.9", /* which is the other's business */
    "StateFile \"/run/x.state\"\nStateFile \"/run/y.state\"",
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
    ck_assert_int_eq(configure("Colour \"blue\"\n" ALERT("Colour \"blue\"\nMaxSingle 1")), 0);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "osnoise: option Colour"), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "osnoise: <Alert>: option Colour"), 1);
    harness_assert_logs(2, "not known");
}
END_TEST

/* Each is checked with those before. */
START_TEST(takes_several_blocks)
{
    ck_assert_int_eq(configure("MaxDuty 30"), 0);
    ck_assert_int_eq(configure("Runtime 0.3\n" CPUS), 0);
    ck_assert_int_ne(configure("Period 0.9"), 0);
    harness_assert_logs(1, "invalid combination");
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
    tcase_add_test(tests, takes_several_blocks);
    tcase_add_test(tests, exports_one_symbol);
    return run_suite("plugin osnoise options", tests);
}
