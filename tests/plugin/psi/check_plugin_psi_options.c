/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_options.c - the options of the plugin psi, and messages about invalid
 * ones.
 */
#include "support/plugin_harness.h"

#include "support/suite.h"

const char *const harness_plugin = "psi";

/* What is refused: the lines, and what the message must name. */
static const struct {
    const char *options;
    const char *name;     /* the option */
    const char *value;    /* as it stands in the message */
    const char *accepted; /* a part of what is accepted */
} refused[] = {
    {"System \"maybe\"", "System", "\"maybe\"", "true or false"},
    {"System \"true\"", "System", "\"true\"", "without quotes"},
    {"System 1", "System", "1", "true or false"},
    {"System true false", "System", "true false", "true or false"},
    {"System", "System", "no value", "true or false"},
    {"ReportAverages 1", "ReportAverages", "1", "true or false"},
    {"ReportAverages \"no\"", "ReportAverages", "\"no\"", "true or false"},
    {"Resource \"disk\"", "Resource", "\"disk\"", "\"cpu\", \"memory\", \"io\" and \"irq\""},
    {"Resource \"cpu\" \"disk\"", "Resource", "\"cpu\" \"disk\"", "\"memory\""},
    {"Resource \"\"", "Resource", "\"\"", "\"memory\""},
    {"Resource", "Resource", "no value", "\"memory\""},
    {"Resource 5", "Resource", "5", "\"memory\""},
    {"Report \"rate\"", "Report", "\"rate\"", "\"percent\" and \"total\""},
    {"Report \"percent\" \"rate\"", "Report", "\"percent\" \"rate\"", "\"total\""},
    {"Report \"total \"", "Report", "\"total \"", "\"total\""},
    {"Report \"\"", "Report", "\"\"", "\"percent\""},
    {"Report", "Report", "no value", "\"percent\""},
    {"Report true", "Report", "true", "\"percent\""},
    {"Blame \"sometimes\"", "Blame", "\"sometimes\"", "\"alert\", \"always\" or \"off\""},
    {"Blame true", "Blame", "true", "\"alert\""},
    {"Blame", "Blame", "no value", "\"alert\""},
    {"TopGroups 5", "TopGroups", "5", "a whole number from 1 to 1000000, and \"cpu-some\""},
    {"TopGroups \"cpu-some\" 5", "TopGroups", "\"cpu-some\" 5", "or \"irq-full\""},
    {"TopGroups 0 \"cpu-some\"", "TopGroups", "0 \"cpu-some\"", "a whole number"},
    {"TopGroups 1.5 \"cpu-some\"", "TopGroups", "1.5 \"cpu-some\"", "a whole number"},
    {"TopGroups 5 \"irq-some\"", "TopGroups", "5 \"irq-some\"", "\"io-some\" may be meant"},
    {"TopGroups 5 \"cpu-some\" \"io-some\"", "TopGroups", "5 \"cpu-some\"", "a whole number"},
    {"TopGroups", "TopGroups", "no value", "a whole number"},
    {"MaxCgroups 0", "MaxCgroups", "0", "whole number from 1 to"},
    {"MaxCgroups 1.5", "MaxCgroups", "1.5", "whole number from 1 to"},
    {"MaxCgroups -1", "MaxCgroups", "-1", "whole number from 1 to"},
    {"MaxCgroups \"x\"", "MaxCgroups", "\"x\"", "whole number from 1 to"},
    {"MaxCgroups \"10\"", "MaxCgroups", "\"10\"", "whole number from 1 to"},
    {"MaxCgroups 1e12", "MaxCgroups", "1e12", "whole number from 1 to"},
    {"MaxCgroups 1000000000000", "MaxCgroups", "1000000000000", "whole number from 1 to"},
    {"MaxCgroups 1.0e+300", "MaxCgroups", "1e+300", "whole number from 1 to"},
    {"MaxCgroups 10 20", "MaxCgroups", "10 20", "whole number from 1 to"},
    {"MaxCgroups true", "MaxCgroups", "true", "whole number from 1 to"},
    {"MaxCgroups", "MaxCgroups", "no value", "whole number from 1 to"},
    {"Cgroup \"\"", "Cgroup", "\"\"", "system.slice/*.service"},
    {"Cgroup \"/\"", "Cgroup", "\"/\"", "system.slice/*.service"},
    {"Cgroup \"a//b\"", "Cgroup", "\"a//b\"", "system.slice/*.service"},
    {"Cgroup \"../x\"", "Cgroup", "\"../x\"", "system.slice/*.service"},
    {"Cgroup \"a/./x\"", "Cgroup", "\"a/./x\"", "system.slice/*.service"},
    {"Cgroup \"a[\"", "Cgroup", "\"a[\"", "system.slice/*.service"},
    {"Cgroup \"a\" \"b[\"", "Cgroup", "\"b[\"", "system.slice/*.service"},
    {"Cgroup 7", "Cgroup", "7", "pattern in quotes"},
    {"Cgroup", "Cgroup", "no value", "pattern in quotes"},
    {"ExcludeCgroup \"a[\"", "ExcludeCgroup", "\"a[\"", "system.slice/*.service"},
    {"ExcludeCgroup 7", "ExcludeCgroup", "7", "pattern in quotes"},
    {"ExcludeCgroup", "ExcludeCgroup", "no value", "pattern in quotes"},
    {"MinAge", "MinAge", "no value", "a number of seconds from 0 to 86400"},
    {"MinAge -1", "MinAge", "-1", "a number of seconds from 0 to 86400"},
    {"MinAge 86400.5", "MinAge", "86400.5", "a number of seconds from 0 to 86400"},
    {"MinAge \"60\"", "MinAge", "\"60\"", "a number of seconds from 0 to 86400"},
    {"NameFrom", "NameFrom", "no value",
     "one or more of \"kubernetes\", \"docker\" and \"podman\""},
    {"NameFrom \"lxc\"", "NameFrom", "\"lxc\"", "one or more of \"kubernetes\""},
    {"NameFrom \"docker\" 7", "NameFrom", "\"docker\" 7", "one or more of \"kubernetes\""},
    {"<Cgroup \"a\" \"b\">\nInstance \"x\"\n</Cgroup>", "Cgroup", "\"a\" \"b\"", "one pattern"},
    {"<Cgroup \"a*/b*\">\nInstance \"%3\"\n</Cgroup>", "<Cgroup \"a*/b*\">: option Instance",
     "\"%3\"", "has 2"},
    {"<Cgroup \"a\">\nInstance \"%1\"\n</Cgroup>", "<Cgroup \"a\">: option Instance", "\"%1\"",
     "has 0"},
    {"<Cgroup \"a*\">\nInstance \"%x\"\n</Cgroup>", "<Cgroup \"a*\">: option Instance", "\"%x\"",
     "%0 is the path"},
    {"<Cgroup \"a*\">\nInstance \"a%\"\n</Cgroup>", "<Cgroup \"a*\">: option Instance", "\"a%\"",
     "%% a percent sign"},
    {"<Cgroup \"a*\">\nInstance \"\"\n</Cgroup>", "<Cgroup \"a*\">: option Instance", "\"\"",
     "not empty"},
    {"<Cgroup \"a*\">\nInstance 5\n</Cgroup>", "<Cgroup \"a*\">: option Instance", "5", "text"},
    {"<Cgroup \"a*\">\nInstance\n</Cgroup>", "<Cgroup \"a*\">: option Instance", "no value",
     "text"},
    {"Root \"/does/not/exist\"", "Root", "\"/does/not/exist\"", "absolute path of a directory"},
    {"Root \"proc\"", "Root", "\"proc\"", "absolute path of a directory"},
    {"Root \"/proc/self/status\"", "Root", "\"/proc/self/status\"", "absolute path of a directory"},
    {"Root \"\"", "Root", "\"\"", "absolute path of a directory"},
    {"Root 5", "Root", "5", "absolute path of a directory"},
    {"Root", "Root", "no value", "absolute path of a directory"},
};

static int configure(const char *options)
{
    char text[512];

    snprintf(text, sizeof(text), "<Plugin psi>\n%s\n</Plugin>\n", options);
    return fake_configure(text);
}

START_TEST(refuses_what_does_not_fit)
{
    ck_assert_msg(configure(refused[_i].options) != 0, "accepted: %s", refused[_i].options);
    ck_assert_uint_eq(fake_logs(LOG_ERR, refused[_i].name), 1);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "error: psi: "), 1);
    ck_assert_msg(fake_logs(LOG_ERR, refused[_i].value) == 1, "no %s in: %s", refused[_i].value,
                  fake_log(0));
    harness_assert_logs(1, refused[_i].accepted);
}
END_TEST

/* What is accepted, without a log line. */
static const char *const accepted[] = {
    "",
    "System true",
    "system off",
    "RESOURCE \"CPU\" \"Memory\"",
    "ReportAverages yes",
    "Report \"percent\" \"total\"",
    "REPORT \"Total\"\nReport \"Percent\"",
    "MaxCgroups 1",
    "MaxCgroups 1000000",
    "TopGroups 1 \"cpu-some\"\nTOPGROUPS 1000000 \"Memory-Full\"",
    "Cgroup \"a\" \"b/**\" \"[!a-z]?*\"",
    "Cgroup \"/system.slice/\"",
    "Cgroup \"..a/b..\" \"a.b\"",
    "Cgroup \"user-1\\\\x2d*\"",
    "<Cgroup \"a*/b*\">\nInstance \"%0-%l-%1-%2-%%\"\n</Cgroup>",
    "<Cgroup \"a\">\n</Cgroup>",
    "ExcludeCgroup \"a\" \"b\"\nExcludeCgroup \"c\"",
    "MinAge 0\nMinAge 0.5\nMinAge 86400",
    "NameFrom \"kubernetes\" \"docker\"\nNameFrom \"podman\"",
    "Root \"/\"",
    "Root \"/\"\nRoot \"/tmp\"",
};

START_TEST(accepts_what_fits)
{
    ck_assert_msg(configure(accepted[_i]) == 0, "%s: %s", accepted[_i], fake_log(0));
    harness_assert_logs(0, NULL);
}
END_TEST

/* What is ignored. */
static const struct {
    const char *options, *named;
} unknown[] = {
    {"Sytem true", "psi: option Sytem "},
    {"Instance \"x\"", "psi: option Instance "},
    {"<Cgroups \"a\">\nInstance \"x\"\n</Cgroups>", "psi: option Cgroups "},
    {"<Cgroup \"g\">\nInstances \"x\"\n</Cgroup>", "<Cgroup \"g\">: option Instances "},
};

START_TEST(warns_of_what_is_unknown_and_goes_on)
{
    char options[256];

    snprintf(options, sizeof(options), "%s\nCgroup \"h\"", unknown[_i].options);
    tree_add_group(tree, "h", true);
    harness_begin(options);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "not known"), 1);
    harness_assert_logs(1, unknown[_i].named);
    harness_read();
    harness_assert_count("psi-h/*", 6);
}
END_TEST

START_TEST(takes_several_blocks)
{
    char text[512];

    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    snprintf(text, sizeof(text),
             "<Plugin psi>\nRoot \"/\"\nCgroup \"a\"\nResource \"io\"\n</Plugin>\n"
             "<Plugin \"psi\">\nRoot \"%s\"\nCgroup \"b\"\nResource \"cpu\"\n</Plugin>\n",
             tree_path(tree));
    ck_assert_int_eq(fake_configure(text), 0);
    ck_assert_int_eq(fake_init(), 0);
    harness_read();
    harness_assert_count("psi-a/*", 4);
    harness_assert_count("psi-b/*", 4);
    harness_assert_count("psi-*/*-memory-*", 0);
    harness_assert_logs(0, NULL);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("options");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_add_loop_test(tests, refuses_what_does_not_fit, 0, COUNT(refused));
    tcase_add_loop_test(tests, accepts_what_fits, 0, COUNT(accepted));
    tcase_add_loop_test(tests, warns_of_what_is_unknown_and_goes_on, 0, COUNT(unknown));
    tcase_add_test(tests, takes_several_blocks);
    return run_suite("plugin options", tests);
}
