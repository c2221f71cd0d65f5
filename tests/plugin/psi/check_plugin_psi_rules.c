/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_rules.c - the blocks <Trigger> of the plugin psi, and messages about
 * invalid ones.
 */
#include "support/plugin_harness.h"

#include "support/suite.h"

const char *const harness_plugin = "psi";

/* A block that is as it should be, but for what is added. */
#define BLOCK(more)                                                                                \
    "<Trigger \"t\">\nResource \"memory\"\nStall 0.1\nMode \"poll\"\n" more "\n</Trigger>"
#define IN_BLOCK "psi: <Trigger \"t\">: option "

/* What is refused: the lines, and what the message must name. */
static const struct {
    const char *options;
    const char *name;     /* the block and the option */
    const char *value;    /* as it stands in the message */
    const char *accepted; /* a part of what is accepted */
} refused[] = {
    /* names */
    {"Trigger", "psi: option Trigger ", "no value", "<Trigger \"memory-stall\">"},
    {"<Trigger \"\">\n</Trigger>", "psi: option Trigger ", "\"\"", "letters, digits"},
    {"<Trigger \"a b\">\n</Trigger>", "psi: option Trigger ", "\"a b\"", "letters, digits"},
    {"<Trigger \"a/b\">\n</Trigger>", "psi: option Trigger ", "\"a/b\"", "letters, digits"},
    {"<Trigger \"\xc3\xa4\">\n</Trigger>", "psi: option Trigger ", "\"\xc3\xa4\"", "digits"},
    {"<Trigger \"a\" \"b\">\n</Trigger>", "psi: option Trigger ", "\"a\" \"b\"", "a name"},
    {"<Trigger 5>\n</Trigger>", "psi: option Trigger ", "5", "in quotes"},
    {"<Trigger \"12345678901234567890123456789012345678901234567890123456789012345\">\n</Trigger>",
     "psi: option Trigger ", "89012345\"", "1 to 64"},
    {BLOCK("") "\n" BLOCK("Stall 0.2"), "psi: option Trigger ", "\"t\"", "no other <Trigger>"},
    {BLOCK("") "\n<Trigger \"T\">\nResource \"io\"\nStall 1\n</Trigger>", "psi: option Trigger ",
     "\"T\"", "no other <Trigger>"},
    /* what is missing */
    {"<Trigger \"t\">\nStall 0.1\n</Trigger>", IN_BLOCK "Resource ", "missing", ""},
    {"<Trigger \"t\">\nResource \"io\"\n</Trigger>", IN_BLOCK "Stall ", "missing", ""},
    {"<Trigger \"t\">\n</Trigger>", IN_BLOCK "Resource ", "missing", ""},
    /* words */
    {BLOCK("Resource \"disk\""), IN_BLOCK "Resource ", "\"disk\"",
     "\"cpu\", \"memory\", \"io\" or \"irq\""},
    {BLOCK("Resource \"io\" \"cpu\""), IN_BLOCK "Resource ", "\"io\" \"cpu\"", "\"irq\""},
    {BLOCK("Resource"), IN_BLOCK "Resource ", "no value", "\"memory\""},
    {BLOCK("Level \"most\""), IN_BLOCK "Level ", "\"most\"", "\"some\" or \"full\""},
    {BLOCK("Level 1"), IN_BLOCK "Level ", "1", "\"some\" or \"full\""},
    {BLOCK("Scope \"cgroup\""), IN_BLOCK "Scope ", "\"cgroup\"", "\"system\" or \"cgroups\""},
    {BLOCK("Severity \"OKAY\""), IN_BLOCK "Severity ", "\"OKAY\"", "\"WARNING\" or \"FAILURE\""},
    {BLOCK("Mode \"fast\""), IN_BLOCK "Mode ", "\"fast\"", "\"auto\", \"kernel\" or \"poll\""},
    {BLOCK("Mode true"), IN_BLOCK "Mode ", "true", "\"auto\", \"kernel\" or \"poll\""},
    /* seconds */
    {BLOCK("Window 20"), IN_BLOCK "Window ", "20", "seconds from 0.1 to 10"},
    {BLOCK("Window 0.0999"), IN_BLOCK "Window ", "0.0999", "seconds from 0.1 to 10"},
    {BLOCK("Window \"1\""), IN_BLOCK "Window ", "\"1\"", "seconds from 0.1 to 10"},
    {BLOCK("Window"), IN_BLOCK "Window ", "no value", "seconds from 0.1 to 10"},
    {BLOCK("Window 1 2"), IN_BLOCK "Window ", "1 2", "seconds from 0.1 to 10"},
    {BLOCK("Window -1"), IN_BLOCK "Window ", "-1", "seconds from 0.1 to 10"},
    {BLOCK("Window 1.0e+300"), IN_BLOCK "Window ", "1e+300", "seconds from 0.1 to 10"},
    {BLOCK("Stall 0"), IN_BLOCK "Stall ", "0", "seconds from 0.000001 to 10"},
    {BLOCK("Stall 10.1"), IN_BLOCK "Stall ", "10.1", "seconds from 0.000001 to 10"},
    {BLOCK("Stall true"), IN_BLOCK "Stall ", "true", "seconds from 0.000001 to 10"},
    {BLOCK("TopTasksWindow 0.001"), IN_BLOCK "TopTasksWindow ", "0.001", "from 0.01 to 1"},
    {BLOCK("TopTasksWindow 2"), IN_BLOCK "TopTasksWindow ", "2", "from 0.01 to 1"},
    /* counts */
    {BLOCK("Quiet 0"), IN_BLOCK "Quiet ", "0", "seconds from 0.1 to 86400"},
    {BLOCK("Quiet 86401"), IN_BLOCK "Quiet ", "86401", "seconds from 0.1 to 86400"},
    {BLOCK("Repeat -1"), IN_BLOCK "Repeat ", "-1", "seconds from 0 to 86400"},
    {BLOCK("Repeat 86401"), IN_BLOCK "Repeat ", "86401", "seconds from 0 to 86400"},
    {BLOCK("TopTasks 11"), IN_BLOCK "TopTasks ", "11", "whole number from 0 to 10"},
    {BLOCK("TopTasks -1"), IN_BLOCK "TopTasks ", "-1", "whole number from 0 to 10"},
    {BLOCK("TopTasksLimit 0"), IN_BLOCK "TopTasksLimit ", "0", "from 1 to 100000"},
    {BLOCK("TopTasksLimit \"5\""), IN_BLOCK "TopTasksLimit ", "\"5\"", "from 1 to 100000"},
    {"MaxNotificationsPerSecond 0", "psi: option MaxNotificationsPerSecond ", "0",
     "from 1 to 100000"},
    {"MaxNotificationsPerSecond \"5\"", "psi: option MaxNotificationsPerSecond ", "\"5\"",
     "from 1 to 100000"},
    /* what doesn't go together */
    {BLOCK("Stall 0.50001\nWindow 0.5"), "psi: <Trigger \"t\">: ", "stall", "the whole window"},
    {BLOCK("Window 0.5\nStall 0.6"), "psi: <Trigger \"t\">: ", "stall", "the whole window"},
    {BLOCK("Stall 2"), "psi: <Trigger \"t\">: ", "stall", "the whole window"},
    {BLOCK("Resource \"irq\""), "psi: <Trigger \"t\">: ", "irq", "\"full\" pressure only"},
    {BLOCK("Resource \"irq\"\nScope \"cgroups\"\nLevel \"some\""), "psi: <Trigger \"t\">: ", "irq",
     "\"full\" pressure only"},
    {BLOCK("Resource \"cpu\"\nLevel \"full\""), "psi: <Trigger \"t\">: ", "cpu", "cgroups"},
};

static int configure(const char *options)
{
    char text[1024];

    snprintf(text, sizeof(text), "<Plugin psi>\nRoot \"%s\"\n%s\n</Plugin>\n", tree_path(tree),
             options);
    return fake_configure(text);
}

START_TEST(refuses_what_does_not_fit)
{
    ck_assert_msg(configure(refused[_i].options) != 0, "accepted: %s", refused[_i].options);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "error: psi: "), 1);
    ck_assert_msg(fake_logs(LOG_ERR, refused[_i].name) == 1, "no %s in: %s", refused[_i].name,
                  fake_log(0));
    ck_assert_msg(fake_logs(LOG_ERR, refused[_i].value) == 1, "no %s in: %s", refused[_i].value,
                  fake_log(0));
    harness_assert_logs(1, refused[_i].accepted);
}
END_TEST

/* What is accepted, without a log line. */
static const char *const accepted[] = {
    BLOCK(""),
    BLOCK("") "\n<Trigger \"t2\">\nresource \"IO\"\nstall 1\n</Trigger>",
    "<TRIGGER \"A_b-c.9\">\nRESOURCE \"Cpu\"\nSTALL 0.000001\n</TRIGGER>",
    "<Trigger \"1234567890123456789012345678901234567890123456789012345678901234\">\n"
    "Resource \"io\"\nStall 1\n</Trigger>",
    BLOCK("Window 0.1"),
    BLOCK("Window 10\nStall 10"),
    BLOCK("Stall 0.3\nWindow 0.3"),
    BLOCK("Level \"Full\"\nScope \"Cgroups\"\nSeverity \"warning\"\nMode \"Kernel\""),
    BLOCK("Resource \"irq\"\nLevel \"full\""),
    BLOCK("Resource \"cpu\"\nLevel \"full\"\nScope \"cgroups\""),
    BLOCK("Quiet 0.1"),
    BLOCK("Quiet 86400\nRepeat 0"),
    BLOCK("Repeat 86400"),
    BLOCK("Quiet 1000\nTopTasks 0"),
    BLOCK("TopTasks 10\nTopTasksWindow 0.01\nTopTasksLimit 1"),
    BLOCK("TopTasksWindow 1\nTopTasksLimit 100000"),
    "MaxNotificationsPerSecond 1",
    "MaxNotificationsPerSecond 100000",
};

START_TEST(accepts_what_fits)
{
    ck_assert_msg(configure(accepted[_i]) == 0, "%s: %s", accepted[_i], fake_log(0));
    harness_assert_logs(0, NULL);
}
END_TEST

/* Names are unique in the whole plugin, whichever of its blocks they are in. */
START_TEST(refuses_a_name_in_another_plugin_block)
{
    ck_assert_int_eq(configure(BLOCK("") "\n</Plugin>\n<Plugin psi>\nSystem true"), 0);
    ck_assert_int_ne(configure(BLOCK("")), 0);
    harness_assert_logs(1, "no other <Trigger>");
}
END_TEST

START_TEST(warns_of_what_is_unknown_and_goes_on)
{
    ck_assert_int_eq(configure(BLOCK("Treshold 1")), 0);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, IN_BLOCK "Treshold "), 1);
    harness_assert_logs(1, "not known");
    ck_assert_int_eq(fake_init(), 0);
    for (int i = 0; i < 1000 && fake_find("psi-system/derive-trigger_t") == NULL; i++) {
        harness_sleep(10);
        harness_read();
    }
    ck_assert_double_eq(harness_number("psi-system/derive-trigger_t"), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("rules");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_set_timeout(tests, 30);
    tcase_add_loop_test(tests, refuses_what_does_not_fit, 0, COUNT(refused));
    tcase_add_loop_test(tests, accepts_what_fits, 0, COUNT(accepted));
    tcase_add_test(tests, refuses_a_name_in_another_plugin_block);
    tcase_add_test(tests, warns_of_what_is_unknown_and_goes_on);
    return run_suite("plugin rules", tests);
}
