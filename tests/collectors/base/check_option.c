/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_option.c - names of options, and what one that isn't known may be meant to
 * be.
 */
#include <check.h>

#include "headroom/option.h"
#include "support/suite.h"

static const struct {
    const char *plugin, *block, *option;
    bool is_known;
} names[] = {
    {"psi", "Plugin", "Resource", true},     {"PSI", "plugin", "rESOURCE", true},
    {"psi", "Plugin", "Resorce", false},     {"psi", "Plugin", "Stall", false},
    {"psi", "Trigger", "Stall", true},       {"psi", "Cgroup", "Trouble", false},
    {"headroom", "Cgroup", "Trouble", true}, {"wss", "Include", "ExcludeCgroup", true},
    {"wss", "Include", "System", false},     {"osnoise", "Plugin", "Cgroup", false},
    {"osnoise", "None", "What", true}, /* of no block that is known */
};

START_TEST(knows_names)
{
    ck_assert_int_eq(hr_option_is_known(names[_i].plugin, names[_i].block, names[_i].option),
                     names[_i].is_known);
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
    {"psi", "Plugin", "Rep", ""},                  /* too short for that */
    {"psi", "Plugin", "Severity", "Severity of <Trigger>"},
    {"wss", "Plugin", "Window", "Window of <Process>"},
    {"psi", "Trigger", "Systen", "System of <Plugin psi>"},
    {"psi", "Plugin", "Interval", "Interval of <LoadPlugin psi>"},
    {"osnoise", "Plugin", "Intervall", "Interval of <LoadPlugin osnoise>"},
    {"headroom", "Include", "CgroupPatern", "Cgroup"},
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

int main(void)
{
    TCase *tests = tcase_create("option");

    tcase_add_loop_test(tests, knows_names, 0, sizeof(names) / sizeof(names[0]));
    tcase_add_loop_test(tests, suggests_what_was_meant, 0, sizeof(meant) / sizeof(meant[0]));
    return run_suite("option", tests);
}
