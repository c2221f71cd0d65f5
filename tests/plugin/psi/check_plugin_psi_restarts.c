/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_restarts.c - alarms of the plugin psi that are open when collectd
 * stops, is killed, or the machine is rebooted: the state file, and what the next run makes of it.
 */
#include "plugin/psi/alerts_harness.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "headroom/clock.h"
#include "headroom/state_file.h"
#include "support/suite.h"

const char *const harness_plugin = "psi";

/* How far the monotonic clock is ahead of the kernel's. */
static atomic_uint_fast64_t ahead_ns;

/* Whether it stands still, at its beginning, for the thread that dispatches notifications: what
 * waits for something then waits for it alone, however long that takes. */
static atomic_bool stands_still;

static bool is_dispatching(void)
{
    char name[16];

    return pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 &&
           strcmp(name, "psi notify") == 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int status = (int)syscall(SYS_clock_gettime, clock, time);

    if (clock == CLOCK_MONOTONIC && stands_still && is_dispatching()) {
        *time = (struct timespec){0, 0};
    } else if (clock == CLOCK_MONOTONIC) {
        const uint64_t ns = atomic_load(&ahead_ns) + (uint64_t)time->tv_nsec;
        time->tv_sec += (time_t)(ns / HR_NS_PER_S);
        time->tv_nsec = (long)(ns % HR_NS_PER_S);
    }
    return status;
}

/* Of LASTING. */
static void let_quiet_time_pass(void)
{
    atomic_fetch_add(&ahead_ns, 1000 * HR_NS_PER_S);
}

/* Takes the place of libc's, so that threads look at the clock again. */
int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout,
          __attribute__((unused)) const sigset_t *signals)
{
    return poll(files, count, timeout->tv_sec > 0 || timeout->tv_nsec > 0 ? 5 : 0);
}

/* As collectd is stopped and started: what the plugin keeps is in its state file. */
static void restart(const char *options)
{
    ck_assert_int_eq(fake_shutdown(), 0);
    fake_stop();
    fake_start(harness_plugin);
    fake_set_base_dir(tree_path(tree));
    harness_begin(options);
}

START_TEST(ends_an_alarm_of_the_run_before)
{
    alerts_add_group("a", true);
    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_stall("a", "memory", STALL_US);
    alerts_await("a", NOTIF_WARNING, 1);
    restart("Cgroup \"*\"\n" RULE("m", OF_GROUPS));
    const notification_t *end = alerts_await("a", NOTIF_OKAY, 1);
    alerts_assert_message(end, "memory some: below 200 ms in 0.5 s for 1 s in a");
    ck_assert_double_eq_tol(alerts_meta_number(end, "Quiet"), 1, 1e-9);
    ck_assert_uint_eq(fake_notifications(), 1);
    harness_assert_logs(0, NULL);

    /* and the next stall is an alarm again, which no restart ends twice */
    alerts_stall("a", "memory", STALL_US);
    alerts_await("a", NOTIF_WARNING, 1);
    alerts_await("a", NOTIF_OKAY, 2);
    restart("Cgroup \"*\"\n" RULE("m", OF_GROUPS));
    alerts_await_value("psi-a/derive-trigger_m", true);
    harness_sleep(QUIET_MS + WINDOW_MS);
    ck_assert_uint_eq(fake_notifications(), 0);
}
END_TEST

START_TEST(goes_on_with_an_alarm_of_the_run_before)
{
    alerts_add_group("a", true);
    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_stall("a", "memory", STALL_US);
    alerts_await("a", NOTIF_WARNING, 1);
    restart("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_stall_for("a", "a", 2, 0);
    ck_assert_uint_eq(fake_notifications(), 0);
    tree_set_populated(tree, "a", false);
    alerts_assert_message(alerts_await("a", NOTIF_OKAY, 1), "no process is left in it");
    ck_assert_uint_eq(fake_notifications(), 1);
    harness_assert_logs(0, NULL);
}
END_TEST

#define STATE "headroom-psi.state"

/* Whether a state file has a text. */
static bool has_text(const char *name, const char *part)
{
    char path[512], content[4096];

    snprintf(path, sizeof(path), "%s/%s", tree_path(tree), name);
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        return false;
    content[fread(content, 1, sizeof(content) - 1, stream)] = '\0';
    fclose(stream);
    return strstr(content, part) != NULL;
}

static bool is_saved(const char *part)
{
    return has_text(STATE, part);
}

static void await_saved(const char *part, bool is)
{
    for (int waited = 0; is_saved(part) != is; waited += 5) {
        ck_assert_int_lt(waited, ALERTS_PATIENCE_MS);
        harness_sleep(5);
    }
}

static void count_recorded(const notification_t *notice, void *context)
{
    static const char line[] = "\tbegins\ta\ta\n";

    /* replaced meanwhile, in the latter case */
    if (notice->severity == NOTIF_WARNING &&
        (has_text(STATE ".new", line) || has_text(STATE, line)))
        ++*(_Atomic unsigned *)context;
}

/* Whenever collectd is killed, the alarm is in the file, or in what replaces it: also if there is
 * no cause to be found out, as of irq, so that it is dispatched at once. */
static const char *const recorded_resources[] = {"memory", "irq"};

START_TEST(records_an_alarm_before_it_is_dispatched)
{
    const char *const resource = recorded_resources[_i];
    _Atomic unsigned recorded = 0;
    char text[512];

    fake_on_notification(count_recorded, &recorded);
    alerts_add_group("a", true);
    alerts_prepare("a", resource);
    snprintf(text, sizeof(text),
             "Cgroup \"*\"\n" RULE("m", OF_GROUPS "Level \"full\"\nResource \"%s\""), resource);
    harness_begin(text);
    alerts_await_value("psi-a/derive-trigger_m", true);
    for (unsigned i = 1; i <= 3; i++) {
        stands_still = true;
        alerts_stall("a", resource, STALL_US);
        alerts_await("a", NOTIF_WARNING, i);
        ck_assert_uint_eq(recorded, i);
        stands_still = false;
        alerts_await("a", NOTIF_OKAY, i);
        await_saved("\ta\n", false);
    }
}
END_TEST

START_TEST(records_that_it_was_dispatched)
{
    alerts_add_group("a", true);
    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_stall("a", "memory", STALL_US);
    await_saved("m\tmemory\tsome\topen\ta\ta\n", true);
    ck_assert_uint_eq(alerts_count("a", NOTIF_WARNING), 1);
}
END_TEST

/* --- One that may not have been notified ---------------------------------- */

#define OTHER_BOOT "6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11"

/* @param alarms  lines. */
static void leave_open(const char *boot_id, const char *alarms)
{
    tree_write(tree, STATE, "headroom's open pressure alarms 1\nboot %s\n%send\n", boot_id, alarms);
}

/* collectd was killed when it was about to dispatch it: if the stall lasts it is reported, maybe
 * once more; and it ends. */
START_TEST(reports_an_alarm_that_may_not_have_been)
{
    alerts_add_group("a", true);
    leave_open(OTHER_BOOT, "m\tmemory\tsome\tbegins\ta\ta\n");
    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);
    if (_i == 1) {
        alerts_stall("a", "memory", STALL_US);
        alerts_await("a", NOTIF_WARNING, 1);
    }
    let_quiet_time_pass();
    alerts_await("a", NOTIF_OKAY, 1);
    ck_assert_uint_eq(fake_notifications(), (size_t)_i + 1);
    await_saved("\ta\n", false);
    harness_assert_logs(0, NULL);
}
END_TEST

/* From then on it is one that was. */
START_TEST(records_that_such_an_alarm_was_dispatched)
{
    alerts_add_group("a", true);
    leave_open(OTHER_BOOT, "m\tmemory\tsome\tbegins\ta\ta\n");
    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_stall("a", "memory", STALL_US);
    alerts_await("a", NOTIF_WARNING, 1);
    await_saved("m\tmemory\tsome\topen\ta\ta\n", true);
    alerts_stall_for("a", "a", 3, 0);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

/* A handler that has a notification of "b", and with it all others', until it is released. */
static atomic_bool is_held, is_released;

static void hold_b(const notification_t *notice, __attribute__((unused)) void *context)
{
    if (strcmp(notice->plugin_instance, "b") != 0)
        return;
    is_held = true;
    while (!is_released)
        harness_sleep(5);
}

/* It ends, and begins again before its end could be dispatched: it goes on. On a busy machine it
 * may not have ended in time, which proves nothing. */
START_TEST(reports_such_an_alarm_once)
{
    alerts_add_group("a", true);
    alerts_add_group("b", true);
    leave_open(OTHER_BOOT, "m\tmemory\tsome\tbegins\ta\ta\n");
    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_count("psi-[ab]/derive-trigger_m", 2);
    fake_on_notification(hold_b, NULL);
    alerts_stall("b", "memory", STALL_US);
    while (!is_held)
        harness_sleep(5);
    alerts_stall_for("a", "a", 1, 0);
    if (_i == 0)
        let_quiet_time_pass();
    else
        tree_set_populated(tree, "a", false);
    harness_sleep(3 * WINDOW_MS);
    tree_set_populated(tree, "a", true);
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_stall_for("a", "a", 2, 0);
    is_released = true;
    await_saved("m\tmemory\tsome\topen\ta\ta\n", true);
    let_quiet_time_pass();
    alerts_await("a", NOTIF_OKAY, 1);
    alerts_await("b", NOTIF_OKAY, 1);
    ck_assert_uint_eq(alerts_count("a", NOTIF_WARNING), 1);
    ck_assert_uint_eq(fake_notifications(), 4);
    await_saved("\tmemory\t", false);
}
END_TEST

/* --- A reboot, and groups that are gone ----------------------------------- */

/* As after a restart: the kernel's totals are others, but an event is one. */
START_TEST(goes_on_after_a_reboot)
{
    alerts_add_group("a", true);
    alerts_add_group("b", true);
    leave_open(OTHER_BOOT, "m\tmemory\tsome\topen\ta\ta\nm\tmemory\tsome\topen\tb\tb\n");
    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_count("psi-[ab]/derive-trigger_m", 2);
    alerts_stall_for("b", "b", 4, 0);
    ck_assert_uint_eq(fake_notifications(), 0);
    let_quiet_time_pass();
    alerts_assert_message(alerts_await("a", NOTIF_OKAY, 1),
                          "memory some: below 200 ms in 0.5 s for 1000 s in a");
    alerts_assert_message(alerts_await("b", NOTIF_OKAY, 1), "memory some: below ");
    ck_assert_uint_eq(fake_notifications(), 2);
    await_saved("\tmemory\t", false);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Those that can't go on after half a minute, and why. */
static const struct {
    const char *line, *instance, *expected;
} unclaimed[] = {
    {"m\tmemory\tsome\topen\tgone\tgone\n", "gone",
     "memory some: no longer watched in gone: its cgroup is gone since %s"},
    {"other\tcpu\tsome\topen\tgone\tgone\n", "gone",
     "cpu some: no longer watched in gone: its cgroup is gone since %s"},
    {"other\tcpu\tsome\topen\tb\tb\n", "b",
     "cpu some: no longer watched in b: the trigger \"other\" is no longer configured"},
    {"m\tmemory\tfull\topen\tb\tb\n", "b",
     "memory full: no longer watched in b: the trigger \"m\" is no longer configured"},
    {"m\tmemory\tsome\topen\tsystem\n", "system",
     "memory some: no longer watched in the system: the trigger \"m\" is no longer configured"},
    {"m\tmemory\tsome\topen\tc\tc\n", "c",
     "memory some: no longer watched in c: its cgroup is no longer selected"},
};

START_TEST(ends_alarms_of_what_is_gone)
{
    const bool has_rebooted = _i % 2 == 1;
    char boot_id[HR_BOOT_ID_LENGTH + 1], expected[128];

    ck_assert_int_eq(hr_boot_id_read(boot_id), 0);
    alerts_add_group("a", true);
    alerts_add_group("b", true);
    alerts_add_group("c", true);
    leave_open(has_rebooted ? OTHER_BOOT : boot_id, unclaimed[_i / 2].line);
    harness_begin("Cgroup \"[ab]\"\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);
    ck_assert_uint_eq(fake_notifications(), 0);
    let_quiet_time_pass();
    snprintf(expected, sizeof(expected), unclaimed[_i / 2].expected,
             has_rebooted ? "the machine was rebooted" : "collectd was restarted");
    ck_assert_str_eq(alerts_await(unclaimed[_i / 2].instance, NOTIF_OKAY, 1)->message, expected);
    ck_assert_uint_eq(fake_notifications(), 1);
    await_saved("some", false);
    await_saved("full", false);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Another group has the only place now. */
START_TEST(ends_an_alarm_beyond_the_limit_of_groups)
{
    alerts_add_group("a", true);
    alerts_add_group("b", true);
    leave_open(OTHER_BOOT, "m\tmemory\tsome\topen\tb\tb\n");
    harness_begin("Cgroup \"*\"\nMaxCgroups 1\n" RULE("m", OF_GROUPS));
    ck_assert_str_eq(alerts_await("b", NOTIF_OKAY, 1)->message,
                     "memory some: no longer watched in b: it is beyond MaxCgroups");
    ck_assert_uint_eq(fake_notifications(), 1);
    harness_assert_logs(1, "MaxCgroups is 1");
}
END_TEST

START_TEST(logs_a_state_file_that_is_not_one)
{
    alerts_prepare(NULL, "memory");
    tree_write(tree, STATE, "nonsense\n");
    harness_begin(RULE("m", ""));
    harness_assert_logs(1, "it isn't what this plugin writes");
    alerts_await_value("psi-system/derive-trigger_m", true);
    alerts_stall(NULL, "memory", STALL_US);
    alerts_await("system", NOTIF_WARNING, 1);
    alerts_await("system", NOTIF_OKAY, 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("restarts");

    tcase_add_checked_fixture(tests, alerts_set_up, harness_tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, ends_an_alarm_of_the_run_before);
    tcase_add_test(tests, goes_on_with_an_alarm_of_the_run_before);
    tcase_add_loop_test(tests, records_an_alarm_before_it_is_dispatched, 0,
                        COUNT(recorded_resources));
    tcase_add_test(tests, records_that_it_was_dispatched);
    tcase_add_loop_test(tests, reports_an_alarm_that_may_not_have_been, 0, 2);
    tcase_add_test(tests, records_that_such_an_alarm_was_dispatched);
    tcase_add_loop_test(tests, reports_such_an_alarm_once, 0, 2);
    tcase_add_test(tests, goes_on_after_a_reboot);
    tcase_add_loop_test(tests, ends_alarms_of_what_is_gone, 0, 2 * COUNT(unclaimed));
    tcase_add_test(tests, ends_an_alarm_beyond_the_limit_of_groups);
    tcase_add_test(tests, logs_a_state_file_that_is_not_one);
    return run_isolated_suite("plugin psi restarts", tests);
}
