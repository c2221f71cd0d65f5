/* SPDX-License-Identifier: MIT */
/*
 * plugin/headroom/check_plugin_headroom_restarts.c - alarms of <Alert> that are open when collectd
 * stops, is killed, or the machine is rebooted: the state file, and what the next run makes of it.
 */
#include "plugin/headroom/headroom_harness.h"

#include <stdatomic.h>
#include <unistd.h>

#include "headroom/state_file.h"
#include "support/suite.h"

#define STATE      "headroom-history.state.alarms"
#define OTHER_BOOT "6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11"
#define ALERT      "<Alert>\nRoomBelow 20\n</Alert>"
#define OF_A       "Cgroup \"a\"\nSystem false\n" ALERT

enum { LITTLE = 170, MUCH = 100, PATIENCE_MS = 50000 }; /* of 200 MiB that "a" may have */

static void set_up(void)
{
    headroom_set_up();
    room_tree_write(tree, "a", "memory.max", "209715200\n");
}

static void stop(void)
{
    ck_assert_int_eq(fake_shutdown(), 0);
    fake_stop();
}

static void start(const char *options)
{
    fake_start(harness_plugin);
    fake_set_base_dir(tree_path(tree));
    harness_begin(options);
}

/* An interval in which nothing is expected: what another thread might dispatch has time to come. */
static void assert_silent(size_t before)
{
    frozen_ns += 2 * HR_NS_PER_S;
    harness_sleep(100);
    ck_assert_uint_eq(fake_notifications(), before);
}

/* --- The state file --------------------------------------------------------- */

/* Whether a file has a text. */
static bool has_text(const char *name, const char *part)
{
    char path[PATH_MAX], content[4096];

    snprintf(path, sizeof(path), "%s/%s", tree_path(tree), name);
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        return false;
    content[fread(content, 1, sizeof(content) - 1, stream)] = '\0';
    fclose(stream);
    return strstr(content, part) != NULL;
}

/* A thread writes it; what was dispatched is seen at the next reading. */
static void await_saved(const char *part, bool is)
{
    for (int waited = 0; has_text(STATE, part) != is; waited += 10) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        harness_sleep(10);
        harness_read();
    }
}

/* @param alarms  lines. */
static void leave_open(const char *boot_id, const char *alarms)
{
    tree_write(tree, STATE, "headroom's open alarms of room 1\nboot %s\n%send\n", boot_id, alarms);
}

static const char *own_boot(void)
{
    static char boot_id[HR_BOOT_ID_LENGTH + 1];

    ck_assert_int_eq(hr_boot_id_read(boot_id), 0);
    return boot_id;
}

/* --- A restart ---------------------------------------------------------------- */

/* Has the previous run notify of little room, and stop. */
static void run_before(void)
{
    harness_begin(OF_A);
    headroom_use_memory(LITTLE, 8);
    headroom_await_notice(NOTIF_WARNING, 1);
    stop();
}

START_TEST(goes_on_with_an_alarm_of_the_run_before)
{
    run_before();
    start(OF_A);
    headroom_use_memory(LITTLE, 20);
    assert_silent(0);
    headroom_use_memory(MUCH, 7);
    const notification_t *notice = headroom_await_notice(NOTIF_OKAY, 1);
    ck_assert_str_eq(notice->message, "memory: 50 % of room again in a");
    ck_assert_str_eq(notice->plugin_instance, "a");
    ck_assert_str_eq(notice->type_instance, "room-memory");
    await_saved("memory", false);

    /* and the next one begins, and ends once, over another restart */
    headroom_use_memory(LITTLE, 8);
    headroom_await_notice(NOTIF_WARNING, 1);
    headroom_use_memory(MUCH, 8);
    headroom_assert_says(headroom_await_notice(NOTIF_OKAY, 2), "50 % of room again in a, after ");
    stop();
    start(OF_A);
    headroom_use_memory(MUCH, 20);
    assert_silent(0);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(ends_an_alarm_that_ended_meanwhile)
{
    run_before();
    start(OF_A);
    headroom_use_memory(MUCH, 5);
    assert_silent(0);
    headroom_use_memory(MUCH, 1);
    headroom_await_notice(NOTIF_OKAY, 1);
    headroom_use_memory(MUCH, 20);
    assert_silent(1);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* An alarm goes on over as many restarts as there are. */
START_TEST(goes_on_over_short_runs)
{
    run_before();
    for (int i = 0; i < 3; i++) {
        start(OF_A);
        headroom_use_memory(LITTLE, i);
        stop();
    }
    start(OF_A);
    headroom_use_memory(MUCH, 8);
    headroom_await_notice(NOTIF_OKAY, 1);
    assert_silent(1);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(ends_the_alarm_of_a_group_that_ends)
{
    run_before();
    start(OF_A);
    headroom_use_memory(LITTLE, 2);
    tree_set_populated(tree, "a", false);
    headroom_pass(10);
    ck_assert_str_eq(headroom_await_notice(NOTIF_OKAY, 1)->message,
                     "memory: no longer watched in a: it has no process any more");
    assert_silent(1);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* What was still waiting to be dispatched is notified by the next run: once, in any case. */
START_TEST(notifies_once_of_what_just_began)
{
    harness_begin(OF_A);
    headroom_use_memory(LITTLE, 6);
    ck_assert_int_eq(fake_shutdown(), 0);
    const size_t before = fake_notifications();
    fake_stop();
    start(OF_A);
    headroom_use_memory(LITTLE, 8);
    if (before == 0)
        headroom_await_notice(NOTIF_WARNING, 1);
    assert_silent(1 - before);
    headroom_use_memory(MUCH, 8);
    headroom_await_notice(NOTIF_OKAY, 1);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(goes_on_with_an_alarm_of_the_system)
{
    leave_open(own_boot(), "memory\topen\tsystem\n");
    harness_begin(ALERT);
    for (int i = 0; i < 20; i++)
        headroom_pass(10);
    headroom_assert_says(headroom_await_notice(NOTIF_OKAY, 1), " of room again in the system");
    assert_silent(1);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Room by CPU time takes 20 seconds to be known, so that it isn't for 20 intervals. */
START_TEST(what_is_not_known_yet_is_no_end)
{
    room_tree_write(tree, "a", "cpu.max", "50000 100000\n");
    leave_open(own_boot(), "cpu\topen\ta\ta\n");
    fake_set_interval(TIME_T_TO_CDTIME_T(1));
    harness_begin("Cgroup \"a\"\nSystem false\n<Alert>\n</Alert>");
    for (unsigned i = 1; i <= 15; i++)
        headroom_pass(1);
    ck_assert_uint_eq(fake_count("headroom-a/percent-room-cpu"), 0);
    assert_silent(0);
    for (unsigned i = 1; i <= 40; i++)
        headroom_pass(1);
    headroom_await_notice(NOTIF_OKAY, 1);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* --- A crash -------------------------------------------------------------------- */

static void count_recorded(const notification_t *notice, void *context)
{
    static const char line[] = "memory\tbegins\ta\ta\n";

    /* replaced meanwhile, in the latter case */
    if (notice->severity == NOTIF_WARNING &&
        (has_text(STATE ".new", line) || has_text(STATE, line)))
        ++*(_Atomic unsigned *)context;
}

/* The clock stands still, so that it doesn't wait for the disk for too long. */
START_TEST(records_an_alarm_before_it_is_dispatched)
{
    _Atomic unsigned recorded = 0;

    fake_on_notification(count_recorded, &recorded);
    harness_begin(OF_A);
    headroom_use_memory(LITTLE, 6);
    for (int waited = 0; fake_notifications() == 0; waited += 10) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        harness_sleep(10);
    }
    ck_assert_uint_eq(recorded, 1);
    await_saved("memory\topen\ta\ta\n", true);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* It is killed when it is about to dispatch it: what lasts is notified, maybe once more. */
START_TEST(reports_an_alarm_that_may_not_have_been)
{
    leave_open(own_boot(), "memory\tbegins\ta\ta\n");
    harness_begin(OF_A);
    if (_i == 1) {
        headroom_use_memory(LITTLE, 1);
        headroom_await_notice(NOTIF_WARNING, 1);
        headroom_use_memory(LITTLE, 10);
        await_saved("memory\topen\ta\ta\n", true);
    }
    headroom_use_memory(MUCH, 8);
    headroom_await_notice(NOTIF_OKAY, 1);
    assert_silent((size_t)_i + 1);
    await_saved("memory", false);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* --- A reboot, and what is gone --------------------------------------------------- */

/* Services may be started a little later. */
START_TEST(goes_on_after_a_reboot)
{
    leave_open(OTHER_BOOT, "memory\topen\ta\ta\n");
    tree_set_populated(tree, "a", false);
    harness_begin(OF_A);
    headroom_use_memory(LITTLE, 3);
    tree_set_populated(tree, "a", true);
    headroom_use_memory(LITTLE, 20);
    assert_silent(0);
    headroom_use_memory(MUCH, 8);
    headroom_assert_says(headroom_await_notice(NOTIF_OKAY, 1), " of room again in a");
    assert_silent(1);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Those that can't go on after six intervals, and why. */
static const struct {
    const char *options, *line, *expected;
} unclaimed[] = {
    {OF_A, "io\topen\tgone\tgone\n", "io: no longer watched in gone: its cgroup is gone since %s"},
    {"Cgroup \"a\"", "cpu\topen\tgone\tgone\n",
     "cpu: no longer watched in gone: its cgroup is gone since %s"},
    {"Cgroup \"a\"", "memory\topen\ta\ta\n",
     "memory: no longer watched in a: <Alert> is no longer configured"},
    {"Cgroup \"a\"", "memory\tbegins\tsystem\n",
     "memory: no longer watched in the system: <Alert> is no longer configured"},
    {OF_A, "memory\topen\tsystem\n", "memory: no longer watched in the system: System is false"},
    {OF_A, "memory\topen\tb\tb\n",
     "memory: no longer watched in b: its cgroup has no process, or is no longer sampled"},
};

START_TEST(ends_alarms_of_what_is_gone)
{
    const bool has_rebooted = _i % 2 == 1;
    char expected[128];

    room_tree_add_group(tree, "b");
    leave_open(has_rebooted ? OTHER_BOOT : own_boot(), unclaimed[_i / 2].line);
    harness_begin(unclaimed[_i / 2].options);
    headroom_use_memory(LITTLE, 5);
    harness_sleep(100);
    ck_assert_uint_eq(headroom_count_notices(NOTIF_OKAY), 0);
    headroom_use_memory(MUCH, 2);
    snprintf(expected, sizeof(expected), unclaimed[_i / 2].expected,
             has_rebooted ? "the machine was rebooted" : "collectd was restarted");
    ck_assert_str_eq(headroom_await_notice(NOTIF_OKAY, 1)->message, expected);
    await_saved("\n"
                "end",
                true);
    await_saved("\topen\t", false);
    await_saved("\tbegins\t", false);
    assert_silent(1);
    harness_assert_logs(0, NULL);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* --- The file ------------------------------------------------------------------- */

START_TEST(says_that_the_file_is_damaged)
{
    tree_write(tree, STATE, "nonsense\n");
    harness_begin(OF_A);
    harness_assert_logs(1, "it isn't what this plugin writes. Close alarms that are still open at "
                           "the receivers by hand");
    headroom_use_memory(LITTLE, 8);
    headroom_await_notice(NOTIF_WARNING, 1);
    headroom_use_memory(MUCH, 8);
    headroom_await_notice(NOTIF_OKAY, 1);
    assert_silent(2);
    stop();
    start(OF_A);
    ck_assert_uint_eq(fake_logs(0, "open alarms"), 0); /* it was replaced */
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(the_file_is_beside_that_of_the_history)
{
    char options[PATH_MAX + 64];

    snprintf(options, sizeof(options), "StateFile \"%s/mine\"\n" OF_A, tree_path(tree));
    harness_begin(options);
    headroom_use_memory(LITTLE, 8);
    headroom_await_notice(NOTIF_WARNING, 1);
    stop();
    ck_assert(has_text("mine.alarms", "memory\topen\ta\ta\n"));
    ck_assert(!has_text(STATE, ""));
    start(options);
    headroom_use_memory(LITTLE, 8);
    assert_silent(0);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Alerts work all the same. */
START_TEST(says_once_that_it_cant_be_saved)
{
    harness_begin("StateFile \"/nowhere/at/all\"\n" OF_A);
    headroom_use_memory(LITTLE, 8);
    headroom_await_notice(NOTIF_WARNING, 1);
    headroom_use_memory(MUCH, 8);
    headroom_await_notice(NOTIF_OKAY, 1);
    headroom_use_memory(LITTLE, 8);
    headroom_await_notice(NOTIF_WARNING, 2);
    ck_assert_int_eq(fake_shutdown(), 0); /* then all was written */
    ck_assert_uint_eq(fake_logs(0, "the open alarms can't be saved to /nowhere/at/all.alarms"), 1);
    fake_stop();
    fake_start(harness_plugin);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* What needs no record has none. */
START_TEST(there_is_no_file_without_alert)
{
    harness_begin("Cgroup \"a\"");
    headroom_use_memory(LITTLE, 8);
    stop();
    ck_assert(!has_text(STATE, ""));
    start("Cgroup \"a\"");
    frozen_ns = BEGUN_NS;
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("headroom_restarts");

    tcase_add_checked_fixture(tests, set_up, headroom_tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, goes_on_with_an_alarm_of_the_run_before);
    tcase_add_test(tests, ends_an_alarm_that_ended_meanwhile);
    tcase_add_test(tests, goes_on_over_short_runs);
    tcase_add_test(tests, ends_the_alarm_of_a_group_that_ends);
    tcase_add_test(tests, notifies_once_of_what_just_began);
    tcase_add_test(tests, goes_on_with_an_alarm_of_the_system);
    tcase_add_test(tests, what_is_not_known_yet_is_no_end);
    tcase_add_test(tests, records_an_alarm_before_it_is_dispatched);
    tcase_add_loop_test(tests, reports_an_alarm_that_may_not_have_been, 0, 2);
    tcase_add_test(tests, goes_on_after_a_reboot);
    tcase_add_loop_test(tests, ends_alarms_of_what_is_gone, 0, 2 * COUNT(unclaimed));
    tcase_add_test(tests, says_that_the_file_is_damaged);
    tcase_add_test(tests, the_file_is_beside_that_of_the_history);
    tcase_add_test(tests, says_once_that_it_cant_be_saved);
    tcase_add_test(tests, there_is_no_file_without_alert);
    return run_suite("headroom_restarts", tests);
}
