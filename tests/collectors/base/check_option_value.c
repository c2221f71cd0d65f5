/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_option_value.c - which values options accept.
 */
#include <check.h>

#include "headroom/option_value.h"
#include "support/suite.h"

/* Within braces. */
#define TEXT(value)   HR_OPTION_TEXT, .text = (value)
#define NUMBER(value) HR_OPTION_NUMBER, .number = (value)
#define BOOLEAN       .type = HR_OPTION_BOOLEAN

static const struct {
    const char *plugin, *block, *name;
    struct hr_option_value values[3];
    size_t count;
    const char *accepted; /* NULL: it accepts them */
} given[] = {
    {"psi", "Plugin", "system", {{BOOLEAN}}, 1, NULL},
    {"psi", "Plugin", "System", {{TEXT("true")}}, 1, "true or false, without quotes"},
    {"psi", "Plugin", "System", {{BOOLEAN}, {BOOLEAN}}, 2, "true or false, without quotes"},
    {"psi", "Plugin", "Resource", {{TEXT("cpu")}, {TEXT("IO")}}, 2, NULL},
    {"psi",
     "Plugin",
     "Resource",
     {{TEXT("cpu")}, {TEXT("memry")}},
     2,
     "one or more of \"cpu\", \"memory\", \"io\" and \"irq\"; \"memory\" may be meant"},
    {"psi",
     "Trigger",
     "Resource",
     {{TEXT("cpuu")}},
     1,
     "\"cpu\", \"memory\", \"io\" or \"irq\"; \"cpu\" may be meant"},
    {"psi", "Trigger", "Resource", {{TEXT("net")}}, 1, "\"cpu\", \"memory\", \"io\" or \"irq\""},
    {"psi", "Trigger", "Level", {{NUMBER(1)}}, 1, "\"some\" or \"full\""},
    {"psi", "Trigger", "Stall", {{NUMBER(0.000001)}}, 1, NULL},
    {"psi", "Trigger", "Stall", {{NUMBER(0)}}, 1, "a number of seconds from 0.000001 to 10"},
    {"psi", "Trigger", "Window", {{NUMBER(0.1)}}, 1, NULL},
    {"psi", "Trigger", "Window", {{NUMBER(10.1)}}, 1, "a number of seconds from 0.1 to 10"},
    {"psi", "Trigger", "TopTasks", {{NUMBER(10)}}, 1, NULL},
    {"psi", "Trigger", "TopTasks", {{NUMBER(11)}}, 1, "a whole number from 0 to 10"},
    {"psi", "Trigger", "TopTasks", {{NUMBER(1.5)}}, 1, "a whole number from 0 to 10"},
    {"psi", "Plugin", "Trigger", {{TEXT("memory-stall")}}, 1, NULL},
    {"psi",
     "Plugin",
     "Trigger",
     {{TEXT("")}},
     0,
     "a name of 1 to 64 letters, digits, \"_\", \"-\" and \".\" in quotes, as in <Trigger "
     "\"memory-stall\">"},
    {"psi",
     "Plugin",
     "Root",
     {{TEXT("host")}},
     1,
     "the absolute path of a directory where the host's / is mounted"},
    {"cgroup_perf",
     "Plugin",
     "Event",
     {{TEXT("cycles")}, {TEXT("")}},
     2,
     "names of events in quotes, up to 32, which are counted together"},
    {"wss", "Plugin", "MinAge", {{NUMBER(0)}}, 1, NULL},
    {"wss", "Include", "MinAge", {{NUMBER(0.5)}}, 1, NULL},
    {"psi", "Include", "MinAge", {{NUMBER(86400)}}, 1, NULL},
    {"psi", "Plugin", "MinAge", {{NUMBER(86401)}}, 1, "a number of seconds from 0 to 86400"},
    {"headroom", "Include", "MinAge", {{NUMBER(-1)}}, 1, "a number of seconds from 0 to 86400"},
    {"headroom", "Plugin", "MinAge", {{TEXT("60")}}, 1, "a number of seconds from 0 to 86400"},
    {"wss", "Plugin", "MaxRSS", {{TEXT("64G")}}, 1, NULL},
    {"wss",
     "Plugin",
     "MaxRSS",
     {{TEXT("64X")}},
     1,
     "a whole number of bytes, or with K, M, G or T, as \"64G\""},
    {"wss", "System", "Window", {{NUMBER(1)}, {NUMBER(10)}}, 2, NULL},
    {"wss",
     "System",
     "Window",
     {{NUMBER(10)}, {NUMBER(1)}},
     2,
     "1 to 8 numbers of seconds from 0.001 to 3600, in whole milliseconds, each above the one "
     "before"},
    {"wss", "Process", "PidFile", {{TEXT("here")}}, 1, "an absolute path"},
    {"osnoise", "Plugin", "CPUs", {{NUMBER(3)}, {TEXT("4-6")}}, 2, NULL},
    {"osnoise",
     "Plugin",
     "CPUs",
     {{TEXT("6-4")}},
     1,
     "CPUs as the kernel writes them, such as \"2-7\" or \"0,4-6\", below 8192; \"isolated\", "
     "\"!isolated\" or \"nohz_full\""},
    {"osnoise", "Plugin", "CPUs", {{TEXT("isolated")}, {NUMBER(3)}}, 2, NULL},
    {"cgroup_perf", "Plugin", "CPUs", {{TEXT("nohz_full")}}, 1, NULL},
    {"osnoise", "Plugin", "MaxDuty", {{NUMBER(0)}}, 1, "a number of percent above 0, up to 100"},
    {"headroom", "Cgroup", "Trouble", {{TEXT("io")}, {NUMBER(100)}}, 2, NULL},
    {"headroom",
     "Plugin",
     "Trouble",
     {{TEXT("io")}},
     1,
     "\"cpu\", \"memory\" or \"io\", and a percentage above 0, up to 100"},
    {"headroom", "Plugin", "Alert", {{TEXT("a")}}, 1, "no value, as it is a block: <Alert>"},
    {"headroom", "Plugin", "StateFile", {{TEXT("/a/")}}, 1, "the absolute path of a file"},
    {"wss", "Plugin", "Root", {{TEXT("/proc")}}, 1, NULL},
    {"wss",
     "Plugin",
     "Root",
     {{TEXT("/does/not/exist")}},
     1,
     "the absolute path of a directory where the host's / is mounted (No such file or directory)"},
    {"wss",
     "Plugin",
     "Root",
     {{TEXT("proc")}},
     1,
     "the absolute path of a directory where the host's / is mounted"},
    {"psi", "Plugin", "Trigger", {{TEXT("cpu-some_1.5")}}, 1, NULL},
    {"psi",
     "Plugin",
     "Trigger",
     {{TEXT("cpu some")}},
     1,
     "a name of 1 to 64 letters, digits, \"_\", \"-\" and \".\" in quotes, as in <Trigger "
     "\"memory-stall\">"},
    {"headroom", "Plugin", "Wonderful", {{TEXT("a")}}, 1, NULL},
};

static struct hr_option option_of(int index)
{
    return (struct hr_option){given[index].plugin, given[index].block, given[index].name,
                              given[index].values, given[index].count};
}

START_TEST(says_what_is_accepted)
{
    const struct hr_option option = option_of(_i);
    char accepted[HR_OPTION_ACCEPTED_SIZE] = "";

    ck_assert_int_eq(hr_option_accepts(&option, accepted), given[_i].accepted == NULL);
    ck_assert_str_eq(accepted, given[_i].accepted != NULL ? given[_i].accepted : "");
}
END_TEST

START_TEST(finds_words)
{
    const struct hr_option_value values[] = {{TEXT("Always")}, {TEXT("never")}, {NUMBER(1)}};
    const struct hr_option option = {"psi", "Plugin", "Blame", values, 3};

    ck_assert_int_eq(hr_option_find_word(&option, 0), 1);
    ck_assert_int_eq(hr_option_find_word(&option, 1), -1);
    ck_assert_int_eq(hr_option_find_word(&option, 2), -1);
    ck_assert_int_eq(hr_option_find_word(&option, 3), -1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("option_value");

    tcase_add_loop_test(tests, says_what_is_accepted, 0, sizeof(given) / sizeof(given[0]));
    tcase_add_test(tests, finds_words);
    return run_suite("option_value", tests);
}
