/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_longest.c - alerts of the plugin psi on the system name the group
 * that waited longest.
 */
#include "plugin/psi/alerts_harness.h"

#include "support/suite.h"

const char *const harness_plugin = "psi";

#define GROUPS        "Cgroup \"g\" \"g/**\"\n"
#define GROUP_WAIT_US 3000000

static void begin(const char *options)
{
    alerts_prepare(NULL, "memory");
    alerts_add_group("g", true);
    alerts_add_group("g/a.service", true);
    alerts_add_group("g/b.service", true);
    harness_begin(options);
    alerts_await_count("psi-g*/total_time_in_ms-memory-some", 3);
    alerts_await_value("psi-system/derive-trigger_m", true);
}

/* Totals grow by what others have grown before: b by one wait, a by two, and g by three. */
static void wait_in_groups(void)
{
    alerts_stall("g/b.service", "memory", GROUP_WAIT_US);
    alerts_stall("g/a.service", "memory", GROUP_WAIT_US);
    alerts_stall("g", "memory", GROUP_WAIT_US);
}

/* Without waiting tasks, with such as can't be known, and those that are asked for a moment later.
 */
static const struct {
    const char *options, *task_delayacct;
} tasks[] = {{"", "0\n"}, {"TopTasks 3", "0\n"}, {"TopTasks 3", "1\n"}};

START_TEST(names_the_group_that_waits_longest)
{
    char options[512];

    tree_write(tree, "proc/sys/kernel/task_delayacct", "%s", tasks[_i].task_delayacct);
    snprintf(options, sizeof(options), GROUPS RULE("m", "%s"), tasks[_i].options);
    begin(options);
    for (size_t turn = 1; turn <= 2; turn++) {
        harness_read();
        wait_in_groups();
        alerts_stall(NULL, "memory", STALL_US);
        const notification_t *notice = alerts_await("system", NOTIF_WARNING, turn);
        alerts_assert_message(notice, "in the system: longest in g/a.service, ");
        alerts_assert_message(notice, " ms of the last ");
        ck_assert_str_eq(alerts_meta_text(notice, "LongestCgroup"), "g/a.service");
        ck_assert_double_ge(alerts_meta_number(notice, "LongestWait"), 2e-6 * GROUP_WAIT_US);
        ck_assert_double_gt(alerts_meta_number(notice, "LongestWindow"), 0);
        ck_assert_double_le(alerts_meta_number(notice, "LongestInStall"),
                            alerts_meta_number(notice, "MeasuredStall"));
        ck_assert_double_ge(alerts_meta_number(notice, "LongestInStall"), 2e-6 * GROUP_WAIT_US);
        const notification_t *end = alerts_await("system", NOTIF_OKAY, turn);
        ck_assert_ptr_null(strstr(end->message, "longest"));
        ck_assert_ptr_null(alerts_meta(end, "LongestCgroup"));
    }
}
END_TEST

/* The one above, unless one within it has more than half of that. */
START_TEST(names_the_group_above_of_several)
{
    begin(GROUPS RULE("m", ""));
    alerts_stall("g/b.service", "memory", 100000);
    alerts_stall("g", "memory", STALL_US);
    alerts_stall(NULL, "memory", STALL_US);
    alerts_assert_message(alerts_await("system", NOTIF_WARNING, 1),
                          "in the system: longest in g, ");
}
END_TEST

/* For how long a group waited that is made between two reads, as of a job that begins: half of the
 * time. */
START_TEST(names_a_group_that_is_new)
{
    begin(GROUPS RULE("m", ""));
    alerts_stall("g/b.service", "memory", 100000);
    const uint64_t made_ms = alerts_now_ms();
    alerts_add_group("g/new.service", true);
    alerts_set_total("g/new.service", "memory", 0);
    harness_sleep(2500); /* as a tenth of the stall is named */
    for (size_t turn = 1; turn <= 20; turn++) {
        alerts_set_total("g/new.service", "memory", 1000 * (alerts_now_ms() - made_ms) / 2);
        alerts_stall(NULL, "memory", STALL_US);
        const notification_t *notice = alerts_await("system", NOTIF_WARNING, turn);
        if (strstr(notice->message, "longest in g/new.service, ") != NULL) {
            ck_assert_double_le(alerts_meta_number(notice, "LongestWait"),
                                alerts_meta_number(notice, "LongestWindow"));
            return;
        }
        alerts_await("system", NOTIF_OKAY, turn);
    }
    ck_abort_msg("%s", fake_notification(0)->message);
}
END_TEST

/* It is there from the start, and empty; it stalls, or not, before its values were read once. What
 * it waited for before it was emptied is of before. */
static const uint64_t excess_us[] = {1000000, 0};

START_TEST(names_a_group_that_was_empty)
{
    alerts_add_group("g/job.service", false);
    alerts_set_total("g/job.service", "memory", 3000000);
    begin(GROUPS RULE("m", ""));
    harness_sleep(1200);
    tree_set_populated(tree, "g/job.service", true);
    harness_sleep(2500); /* as a tenth of the stall is named */
    alerts_set_total("g/job.service", "memory", 3000000 + excess_us[_i]);
    alerts_stall(NULL, "memory", STALL_US);
    const notification_t *notice = alerts_await("system", NOTIF_WARNING, 1);
    if (excess_us[_i] == 0) {
        ck_assert_ptr_null(strstr(notice->message, "longest"));
        return;
    }
    alerts_assert_message(notice, "in the system: longest in g/job.service, 1000 ms of the last ");
    ck_assert_double_gt(alerts_meta_number(notice, "LongestInStall"), 0);
}
END_TEST

/* What it waits for all the time isn't why the system stalls now, unless it stalls for a while. */
START_TEST(names_none_that_waits_as_usual)
{
    begin(GROUPS RULE("m", "Quiet 1000\nRepeat 1"));
    alerts_stall_always("g/a.service", "memory", 0);
    for (int i = 0; i < 2; i++)
        harness_read();
    harness_sleep(1200);
    alerts_stall_always("g/a.service", "memory", 1000000);
    alerts_stall(NULL, "memory", STALL_US);
    const notification_t *notice = alerts_await("system", NOTIF_WARNING, 1);
    ck_assert_msg(strstr(notice->message, "longest") == NULL, "%s", notice->message);
    alerts_stall_always("g/a.service", "memory", 2 * STALL_US);
    harness_sleep(1200);
    alerts_stall(NULL, "memory", STALL_US);
    alerts_assert_message(alerts_await("system", NOTIF_WARNING, 2), ": longest in g/a.service, ");
}
END_TEST

/* What it waited for minutes ago isn't what it waits for as usual; nor is what it waited for less
 * than a minute ago. */
static const double avg60_pct[] = {0, 90};

START_TEST(names_one_that_waits_again)
{
    begin(GROUPS RULE("m", "Quiet 1000"));
    alerts_stall_until_lately("g/a.service", "memory", 0, avg60_pct[_i]);
    for (int i = 0; i < 2; i++)
        harness_read();
    harness_sleep(1200);
    alerts_stall_until_lately("g/a.service", "memory", 1000000, avg60_pct[_i]);
    alerts_stall(NULL, "memory", STALL_US);
    alerts_assert_message(alerts_await("system", NOTIF_WARNING, 1), ": longest in g/a.service, ");
}
END_TEST

/* A rule whose limit is more than it takes to have waited before. */
#define HIGH_RULE                                                                                  \
    "<Trigger \"m\">\nResource \"memory\"\nStall 0.45\nWindow 0.5\nMode \"poll\"\nQuiet 1\n"       \
    "</Trigger>\n"

/* The system and the group have waited for a while, 0.2 s at a time; then the system stalls, and
 * the group waits for so much of that. */
static const uint64_t waited_in_stall_us[] = {0, 2000000};

START_TEST(measures_what_it_waited_of_the_stall)
{
    uint64_t waited_us = 0;

    begin(GROUPS HIGH_RULE);
    harness_read();
    for (int i = 0; i < 5; i++) {
        waited_us += 200000;
        alerts_set_growth("g/a.service", "memory", waited_us);
        alerts_set_growth(NULL, "memory", waited_us);
        harness_sleep(i < 4 ? 900 : 2000); /* the last is out of all windows */
    }
    const uint64_t system_us = waited_us + STALL_US;
    waited_us += waited_in_stall_us[_i];
    alerts_set_growth("g/a.service", "memory", waited_us);
    alerts_set_growth(NULL, "memory", system_us);
    const notification_t *notice = alerts_await("system", NOTIF_WARNING, 1);
    const double stall = alerts_meta_number(notice, "MeasuredStall");
    ck_assert_double_eq_tol(alerts_meta_number(notice, "LongestWait"), 1e-6 * (double)waited_us,
                            1e-9);
    const double in_stall = 1e-6 * (double)waited_us - (1e-6 * (double)system_us - stall);
    if (in_stall > 1e-9)
        ck_assert_double_eq_tol(alerts_meta_number(notice, "LongestInStall"), in_stall, 1e-9);
    else
        ck_assert_ptr_null(alerts_meta(notice, "LongestInStall"));
}
END_TEST

/* Without the system's values it isn't known. */
START_TEST(measures_nothing_of_the_stall_without_values)
{
    begin("System false\n" GROUPS RULE("m", ""));
    alerts_stall("g/a.service", "memory", GROUP_WAIT_US);
    alerts_stall(NULL, "memory", STALL_US);
    const notification_t *notice = alerts_await("system", NOTIF_WARNING, 1);
    ck_assert_str_eq(alerts_meta_text(notice, "LongestCgroup"), "g/a.service");
    ck_assert_ptr_null(alerts_meta(notice, "LongestInStall"));
}
END_TEST

static const struct {
    const char *options;
    uint64_t waited_us;
} nameless[] = {
    {GROUPS RULE("m", ""), 0},
    /* less than a tenth of the stall */
    {GROUPS RULE("m", ""), 10000},
    {RULE("m", ""), GROUP_WAIT_US},
    /* of its own alarm, the group is named anyway */
    {GROUPS RULE("m", OF_GROUPS), STALL_US},
    {GROUPS "Resource \"cpu\"\n" RULE("m", ""), GROUP_WAIT_US},
};

START_TEST(names_none_that_did_not_wait)
{
    alerts_prepare(NULL, "memory");
    alerts_add_group("g", true);
    harness_begin(nameless[_i].options);
    alerts_await_count("*/derive-trigger_m", 1);
    harness_read();
    if (nameless[_i].waited_us > 0)
        alerts_stall("g", "memory", nameless[_i].waited_us);
    alerts_stall(NULL, "memory", STALL_US);
    const notification_t *notice = alerts_await(NULL, NOTIF_WARNING, 1);
    ck_assert_ptr_null(strstr(notice->message, "longest"));
    ck_assert_ptr_null(alerts_meta(notice, "LongestCgroup"));
}
END_TEST

/* A path that doesn't fit is cut to its last part, and that the tasks are unknown stays there. */
START_TEST(fits_the_message)
{
    static const char leaf[] = "a-service-with-a-name-of-some-length.service";
    static const char ending[] = "; waiting tasks unknown: delay accounting is off in the kernel";
    char group[128];

    snprintf(group, sizeof(group), "%s/%s/%s", "a-slice-whose-name-is-rather-long.slice",
             "a-slice-within-it.slice", leaf);
    tree_write(tree, "proc/sys/kernel/task_delayacct", "0\n");
    alerts_prepare(NULL, "memory");
    alerts_add_group(group, true);
    harness_begin("Cgroup \"**\"\n" RULE("m", "TopTasks 3"));
    alerts_await_count("psi-*"
                       "/total_time_in_ms-memory-some",
                       2);
    harness_read();
    alerts_stall(group, "memory", STALL_US);
    alerts_stall(NULL, "memory", STALL_US);
    const notification_t *notice = alerts_await("system", NOTIF_WARNING, 1);
    ck_assert_uint_le(strlen(notice->message), 255);
    alerts_assert_message(notice, ": longest in a-service-with-a-name-of-some-length.service, ");
    alerts_assert_message(notice, ending);
    ck_assert_str_eq(alerts_meta_text(notice, "LongestCgroup"), group);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("longest");

    tcase_add_checked_fixture(tests, alerts_set_up, harness_tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, names_the_group_that_waits_longest, 0, COUNT(tasks));
    tcase_add_test(tests, names_the_group_above_of_several);
    tcase_add_test(tests, names_a_group_that_is_new);
    tcase_add_loop_test(tests, names_a_group_that_was_empty, 0, COUNT(excess_us));
    tcase_add_test(tests, names_none_that_waits_as_usual);
    tcase_add_loop_test(tests, names_one_that_waits_again, 0, COUNT(avg60_pct));
    tcase_add_loop_test(tests, measures_what_it_waited_of_the_stall, 0, COUNT(waited_in_stall_us));
    tcase_add_test(tests, measures_nothing_of_the_stall_without_values);
    tcase_add_loop_test(tests, names_none_that_did_not_wait, 0, COUNT(nameless));
    tcase_add_test(tests, fits_the_message);
    return run_suite("plugin psi longest", tests);
}
