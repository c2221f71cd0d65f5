/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_option.c - names of options, and what one that isn't known may be meant to
 * be.
 */
#include <check.h>
#include <limits.h>

#include "headroom/option.h"
#include "support/suite.h"

static const struct {
    const char *plugin, *block, *option;
    bool is_known;
} names[] = {
    {"psi", "Plugin", "Resource", true},
    {"PSI", "plugin", "rESOURCE", true},
    {"psi", "Plugin", "Resorce", false},
    {"psi", "Plugin", "Stall", false},
    {"psi", "Trigger", "Stall", true},
    {"psi", "Cgroup", "Trouble", false},
    {"headroom", "Cgroup", "Trouble", true},
    {"wss", "Include", "ExcludeCgroup", true},
    {"wss", "Include", "System", false},
    {"cgroup_perf", "Plugin", "MinAge", true},
    {"headroom", "Include", "MinAge", true},
    {"osnoise", "Plugin", "MinAge", false},
    {"osnoise", "Plugin", "Cgroup", false},
    {"threshold", "Plugin", "Plugin", true},
    {"threshold", "Plugin", "Instance", false},
    {"threshold", HR_OPTION_PLUGIN_WITHIN, "Instance", true},
    {"threshold", HR_OPTION_PLUGIN_WITHIN, "Plugin", false},
    {"threshold", "Type", "warningmax", true},
    {"threshold", "Type", "WarningMaxx", false},
    {"csv", "Plugin", "DataDir", true},
    {"csv", "Plugin", "DataDirr", false},
    {"osnoise", "None", "What", true}, /* of no block that is known */
};

START_TEST(knows_names)
{
    ck_assert_int_eq(hr_option_is_known(names[_i].plugin, names[_i].block, names[_i].option),
                     names[_i].is_known);
}
END_TEST

START_TEST(knows_required_options)
{
    ck_assert_str_eq(hr_option_required("Psi", "trigger", 0), "Resource");
    ck_assert_str_eq(hr_option_required("psi", "Trigger", 1), "Stall");
    ck_assert_ptr_null(hr_option_required("psi", "Trigger", 2));
    ck_assert_str_eq(hr_option_required("osnoise", "Alert", 0), "MaxSingle");
    ck_assert_ptr_null(hr_option_required("headroom", "Alert", 0));
}
END_TEST

static const struct {
    const char *plugin, *block, *option, *suggestion;
} meant[] = {
    {"psi", "Plugin", "Resorce", "Resource"},      /* left out */
    {"psi", "Plugin", "Resourrce", "Resource"},    /* added */
    {"psi", "Plugin", "rezource", "Resource"},     /* replaced */
    {"psi", "Trigger", "Levle", "Level"},          /* swapped */
    {"wss", "Process", "Pdi", "Pid"},              /* a third */
    {"psi", "Trigger", "Sstalll", "Stall"},        /* two of seven */
    {"psi", "Trigger", "Stolll", "Stall"},         /* two of six */
    {"psi", "Trigger", "Stoll", "Stall"},          /* one of five */
    {"psi", "Trigger", "Stoln", ""},               /* two of five are too many */
    {"psi", "Plugin", "CgroupPatern", "Cgroup"},   /* it begins so */
    {"psi", "Plugin", "Exclude", "ExcludeCgroup"}, /* or the other way round */
    {"psi", "Plugin", "Cgroups", "Cgroup"},        /* what is nearest */
    {"psi", "Trigger", "TopTask", "TopTasks"},     /* not TopTasksLimit */
    {"psi", "Include", "MinAges", "MinAge"},
    {"psi", "Plugin", "Rep", ""}, /* too short for that */
    {"psi", "Plugin", "Severity", "Severity of <Trigger>"},
    {"wss", "Plugin", "Window", "Window of <Process>"},
    {"psi", "Trigger", "Systen", "System of <Plugin psi>"},
    {"psi", "Plugin", "Interval", "Interval of <LoadPlugin psi>"},
    {"osnoise", "Plugin", "Intervall", "Interval of <LoadPlugin osnoise>"},
    {"headroom", "Include", "CgroupPatern", "Cgroup"},
    {"threshold", "Type", "WarningMaxx", "WarningMax"},
    {"threshold", "Plugin", "Hosts", "Host"},
    {"threshold", "Host", "Instanc", "Instance of <Type>"},
    {"osnoise", "Plugin", "Cgroup", ""}, /* which other plugins have */
    {"psi", "Plugin", "Wonderful", ""},
    {"psi", "Plugin", "", ""},
    {"psi", "Plugin", "ResourceResourceResourceResourceResource", ""},
};

START_TEST(suggests_what_was_meant)
{
    char text[HR_OPTION_SUGGESTION_SIZE];

    hr_option_suggest(meant[_i].plugin, meant[_i].block, meant[_i].option, text);
    ck_assert_str_eq(text, meant[_i].suggestion);
}
END_TEST

START_TEST(compares_names_of_any_length)
{
    const char *longer = "abcdefghijklmnopqrstuvwxyzabcdefghijkl";

    ck_assert_uint_lt(hr_option_compare("psii", "psi"), hr_option_compare("psii", "psiixy"));
    ck_assert_uint_eq(hr_option_compare("psii", longer), UINT_MAX);
    ck_assert_uint_eq(hr_option_compare(longer, longer), UINT_MAX);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("option");

    tcase_add_loop_test(tests, knows_names, 0, sizeof(names) / sizeof(names[0]));
    tcase_add_test(tests, knows_required_options);
    tcase_add_loop_test(tests, suggests_what_was_meant, 0, sizeof(meant) / sizeof(meant[0]));
    tcase_add_test(tests, compares_names_of_any_length);
    return run_suite("option", tests);
}
