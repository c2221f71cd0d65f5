/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_nested.c - alerts of the plugin psi on selected groups of which one
 * is below the other: the innermost speaks.
 */
#include "plugin/psi/alerts_harness.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "support/suite.h"

const char *const harness_plugin = "psi";

#define NESTED "Cgroup \"a\" \"a/b\" \"a/b/c\" \"ab\"\n"

static void add_groups(const char *resource)
{
    alerts_add_group("ab", true);
    alerts_add_group("a", true);
    alerts_add_group("a/b", true);
    alerts_add_group("a/b/c", true);
    alerts_prepare("ab", resource);
    alerts_prepare("a", resource);
    alerts_prepare("a/b", resource);
    alerts_prepare("a/b/c", resource);
}

/* As the kernel does, of which a total is never above that of a group above. */
static void stall_all(const char *resource)
{
    alerts_stall("a/b/c", resource, STALL_US);
    alerts_stall("a/b", resource, STALL_US);
    alerts_stall("a", resource, STALL_US);
}

static void await_event(const char *identifier, double number)
{
    for (int waited = 0; waited < ALERTS_PATIENCE_MS; waited += 5) {
        harness_read();
        if (harness_number(identifier) >= number)
            return;
        harness_sleep(5);
    }
    ck_abort_msg("no event %g of %s", number, identifier);
}

/* Of irq there are no causes, so its stalls are notified at once. */
static const char *const resources[] = {"memory", "irq"};

/* The innermost one, which is also the only one to end. */
START_TEST(reports_the_innermost)
{
    const char *const resource = resources[_i];
    char text[512];

    snprintf(text, sizeof(text), NESTED RULE("m", OF_GROUPS "Level \"full\"\nResource \"%s\""),
             resource);
    add_groups(resource);
    harness_begin(text);
    alerts_await_count("*/derive-trigger_m", 4);
    for (unsigned turn = 1; turn <= 3; turn++) {
        stall_all(resource);
        await_event("psi-a/derive-trigger_m", turn);
        await_event("psi-a_b/derive-trigger_m", turn);
        alerts_await("a_b_c", NOTIF_WARNING, turn);
        alerts_await("a_b_c", NOTIF_OKAY, turn);
        harness_sleep(WINDOW_MS); /* the others' alarms are over, too */
    }
    ck_assert_uint_eq(fake_notifications(), 6);

    /* and one beside them isn't below */
    alerts_stall("ab", resource, STALL_US);
    alerts_stall("a", resource, STALL_US);
    alerts_await("ab", NOTIF_OKAY, 1);
    alerts_await("a", NOTIF_OKAY, 1);
    ck_assert_uint_eq(fake_notifications(), 10);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Those of another trigger, as its limit may be another. */
START_TEST(takes_each_trigger_by_itself)
{
    add_groups("memory");
    add_groups("irq");
    harness_begin(NESTED RULE("i", LASTING "Resource \"irq\"\nLevel \"full\"") RULE("m", LASTING));
    alerts_await_count("*/derive-trigger_*", 8);
    alerts_stall("a/b", "irq", STALL_US);
    ck_assert_str_eq(alerts_await("a_b", NOTIF_WARNING, 1)->type_instance, "trigger_i");
    alerts_stall("a", "memory", STALL_US);
    ck_assert_str_eq(alerts_await("a", NOTIF_WARNING, 1)->type_instance, "trigger_m");
    ck_assert_uint_eq(fake_notifications(), 2);
}
END_TEST

/* Each has its end then. */
START_TEST(reports_one_below_that_begins_later)
{
    add_groups("memory");
    harness_begin(NESTED RULE("m", OF_GROUPS "Quiet 3"));
    alerts_await_count("*/derive-trigger_m", 4);
    alerts_stall("a", "memory", STALL_US);
    alerts_await("a", NOTIF_WARNING, 1);
    alerts_stall("a/b/c", "memory", STALL_US);
    alerts_await("a_b_c", NOTIF_WARNING, 1);
    alerts_await("a", NOTIF_OKAY, 1);
    alerts_await("a_b_c", NOTIF_OKAY, 1);
    ck_assert_uint_eq(fake_notifications(), 4);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Its alarm goes on meanwhile. */
START_TEST(reports_one_above_that_lasts_longer)
{
    add_groups("memory");
    harness_begin(NESTED RULE("m", LASTING));
    alerts_await_count("*/derive-trigger_m", 4);
    stall_all("memory");
    alerts_await("a_b_c", NOTIF_WARNING, 1);
    await_event("psi-a/derive-trigger_m", 1);
    tree_set_populated(tree, "a/b/c", false);
    alerts_await("a_b_c", NOTIF_OKAY, 1);
    ck_assert_uint_eq(fake_notifications(), 2);
    for (int waited = 0; alerts_count("a", NOTIF_WARNING) == 0 && waited < ALERTS_PATIENCE_MS;
         waited += 20) {
        alerts_stall("a", "memory", 300000);
        harness_sleep(20);
    }
    alerts_await("a", NOTIF_WARNING, 1);
    tree_set_populated(tree, "a", false);
    alerts_assert_message(alerts_await("a", NOTIF_OKAY, 1), "no process is left in it");
    ck_assert_uint_eq(fake_notifications(), 4);
    harness_assert_logs(0, NULL);
}
END_TEST

static void set_populated_until_known(const char *group, const char *identifier, bool populated)
{
    tree_set_populated(tree, group, populated);
    alerts_await_value(identifier, populated);
}

/* The stall of the one above, of which there is one more event, was while that below was in alarm.
 * A turn proves nothing if, on a busy machine, it is noticed later. */
START_TEST(takes_the_end_of_one_below_for_no_beginning)
{
    bool proven = false;

    add_groups("memory");
    harness_begin(NESTED RULE("m", LASTING));
    alerts_await_count("*/derive-trigger_m", 4);
    for (unsigned turn = 1; turn <= 20 && !proven; turn++) {
        stall_all("memory");
        alerts_await("a_b_c", NOTIF_WARNING, turn);
        await_event("psi-a/derive-trigger_m", 2 * turn - 1);
        alerts_stall("a", "memory", STALL_US);
        set_populated_until_known("a/b/c", "psi-a_b_c/derive-trigger_m", false);
        await_event("psi-a/derive-trigger_m", 2 * turn);
        harness_sleep(2 * WINDOW_MS);
        proven = alerts_count("a", NOTIF_WARNING) < turn;
        set_populated_until_known("a", "psi-a/derive-trigger_m", false);
        if (!proven)
            alerts_await("a", NOTIF_OKAY, turn);
        set_populated_until_known("a", "psi-a/derive-trigger_m", true);
        set_populated_until_known("a/b/c", "psi-a_b_c/derive-trigger_m", true);
    }
    ck_assert(proven);
}
END_TEST

/* Which tasks wait is asked of a pipe that nobody writes to, so that the report of the one above is
 * being prepared when the one below stalls, which in such a window is read seldom. */
START_TEST(looks_below_before_it_reports)
{
    char path[512];

    tree_write(tree, "proc/sys/kernel/none", "%s", "");
    snprintf(path, sizeof(path), "%s/proc/sys/kernel/task_delayacct", tree_path(tree));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    add_groups("memory");
    harness_begin(NESTED RULE("m", LASTING "Window 5\nTopTasks 3"));
    alerts_await_count("*/derive-trigger_m", 4);
    alerts_stall("a", "memory", STALL_US);
    await_event("psi-a/derive-trigger_m", 1);
    alerts_stall("a/b", "memory", STALL_US);
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    for (int waited = 0; fake_notifications() == 0 && waited < ALERTS_PATIENCE_MS; waited += 5) {
        ck_assert_int_eq(write(fd, "0\n", 2), 2);
        harness_sleep(5);
    }
    alerts_await("a_b", NOTIF_WARNING, 1);
    tree_set_populated(tree, "a", false);
    tree_set_populated(tree, "a/b", false);
    alerts_await("a_b", NOTIF_OKAY, 1);
    ck_assert_uint_eq(fake_notifications(), 2);
    close(fd);
    fake_forget_logs();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("nested");

    tcase_add_checked_fixture(tests, alerts_set_up, harness_tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, reports_the_innermost, 0, COUNT(resources));
    tcase_add_test(tests, takes_each_trigger_by_itself);
    tcase_add_test(tests, reports_one_below_that_begins_later);
    tcase_add_test(tests, reports_one_above_that_lasts_longer);
    tcase_add_test(tests, takes_the_end_of_one_below_for_no_beginning);
    tcase_add_test(tests, looks_below_before_it_reports);
    return run_suite("plugin psi nested", tests);
}
