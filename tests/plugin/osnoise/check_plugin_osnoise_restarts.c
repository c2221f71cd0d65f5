/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_plugin_osnoise_restarts.c - alarms of <Alert> that are open when collectd stops, is
 * killed, or the machine is rebooted: the state file, and what the next run makes of it.
 */
#include "plugin/osnoise/alert_harness.h"

#include <unistd.h>

#include "headroom/clock.h"
#include "headroom/state_file.h"
#include "plugin/osnoise/fake_dispatcher.h"
#include "support/suite.h"

#define STATE      "state.alarms"
#define OTHER_BOOT "6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11"

/* So long that no alarm of the previous run ends for a reason. */
#define LONG_NS (3600 * HR_NS_PER_S)

/* A new run, whose notifications are counted from 0. */
static void restart(void)
{
    osnoise_alert_close(alert);
    alert = NULL;
    fake_forget_notifications();
    fake_dispatcher = (struct fake_dispatcher){.is_held = false};
    restart_alert();
}

/* --- The state file ------------------------------------------------------- */

/* What the run leaves in the file, which it writes when it ends. */
static const char *read_file(void)
{
    static char content[4096];
    char path[PATH_MAX];

    osnoise_alert_close(alert);
    alert = NULL;
    snprintf(path, sizeof(path), "%s/" STATE, tree_path(tree));
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        return "";
    content[fread(content, 1, sizeof(content) - 1, stream)] = '\0';
    fclose(stream);
    return content;
}

static const char *own_boot(void)
{
    static char boot_id[HR_BOOT_ID_LENGTH + 1];

    ck_assert_int_eq(hr_boot_id_read(boot_id), 0);
    return boot_id;
}

/* @param alarms  lines. */
static void assert_left_open(const char *alarms)
{
    char expected[256];

    snprintf(expected, sizeof(expected), "headroom's open alarms of noise 1\nboot %s\n%send\n",
             own_boot(), alarms);
    ck_assert_str_eq(read_file(), expected);
}

/* Begins a run after another one that left these lines. */
static void begin_after(const char *boot_id, const char *alarms)
{
    osnoise_alert_close(alert);
    alert = NULL;
    tree_write(tree, STATE, "headroom's open alarms of noise 1\nboot %s\n%send\n", boot_id, alarms);
    restart();
}

/* --- A restart ------------------------------------------------------------ */

START_TEST(goes_on_with_an_alarm_of_the_run_before)
{
    take_one(3, 60);
    ck_assert_uint_eq(fake_notifications(), 1);
    restart();
    pass(59);
    take_one(3, 70);
    pass(59);
    ck_assert_uint_eq(fake_notifications(), 0);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_int_eq(last()->severity, NOTIF_OKAY);
    ck_assert_str_eq(last()->plugin_instance, "cpu3");
    ck_assert_str_eq(last()->message, "no noise above 50 us on CPU 3 for 60 s; 1 was above since "
                                      "collectd was restarted, the longest 70 us");
    pass(100);
    ck_assert_uint_eq(fake_notifications(), 1);
    assert_left_open("");
}
END_TEST

/* It ends after the first quiet time, and the next one has nothing of it. */
START_TEST(ends_an_alarm_of_the_run_before)
{
    take_one(3, 60);
    pass(59);
    restart();
    pass(59);
    ck_assert_uint_eq(fake_notifications(), 0);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_int_eq(last()->severity, NOTIF_OKAY);
    ck_assert_str_eq(last()->message, "no noise above 50 us on CPU 3 for 60 s");

    restart();
    take_one(3, 55);
    ck_assert_int_eq(last()->severity, NOTIF_FAILURE);
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_str_eq(last()->message,
                     "no noise above 50 us on CPU 3 for 60 s; 1 was above, the longest 55 us");
}
END_TEST

START_TEST(goes_on_over_short_runs)
{
    take_one(3, 60);
    take_one(8191, 60);
    for (int i = 0; i < 3; i++) {
        restart();
        pass(50);
        ck_assert_uint_eq(fake_notifications(), 0);
    }
    assert_left_open("3\topen\tcpu3\n8191\topen\tcpu8191\n");
    restart();
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 2);
}
END_TEST

/* What wasn't dispatched yet has no end either, and is notified by the next run. */
START_TEST(notifies_of_what_just_began)
{
    fake_dispatcher.is_slow = true;
    take_one(3, 60);
    assert_left_open("");
    restart();
    take_one(3, 60);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_int_eq(last()->severity, NOTIF_FAILURE);
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 2);
}
END_TEST

/* An end that was still waiting to be dispatched is known once more by the next run. */
START_TEST(ends_what_had_just_ended)
{
    take_one(3, 60);
    fake_dispatcher.is_held = true;
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 1);
    assert_left_open("3\topen\tcpu3\n");
    restart();
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_int_eq(last()->severity, NOTIF_OKAY);
    assert_left_open("");
}
END_TEST

/* Of the time of this run. */
START_TEST(repeats_after_a_restart)
{
    take_one(3, 90);
    alert_options.rule.repeat_ns = 10 * HR_NS_PER_S;
    restart();
    for (int i = 0; i < 9; i++)
        take_one(3, 60);
    ck_assert_uint_eq(fake_notifications(), 0);
    take_one(3, 70);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_ptr_nonnull(strstr(last()->message, "noise of 70 us on CPU 3, above 50 us, 10 in 10 "
                                                  "s, the longest 70 us, "));
    assert_left_open("3\topen\tcpu3\n");
}
END_TEST

/* --- A crash -------------------------------------------------------------- */

START_TEST(an_alarm_waits_until_it_is_recorded)
{
    const uint64_t saved = fake_dispatcher.saved;

    fake_dispatcher.is_slow = true;
    take_one(3, 60);
    ck_assert_uint_gt(fake_dispatcher.record, saved);
    osnoise_alert_close(alert);
    alert = NULL;
    ck_assert_uint_ge(fake_dispatcher.saved, fake_dispatcher.record);
}
END_TEST

/* It was killed when it was about to dispatch it: what lasts is notified, maybe once more. */
START_TEST(reports_an_alarm_that_may_not_have_been)
{
    begin_after(own_boot(), "3\tbegins\tcpu3\n");
    if (_i == 1) {
        take_one(3, 60);
        ck_assert_uint_eq(fake_notifications(), 1);
        ck_assert_int_eq(last()->severity, NOTIF_FAILURE);
        ck_assert_str_eq(last()->message,
                         "noise of 60 us on CPU 3, above 50 us, without any interference that the "
                         "kernel saw: hardware, firmware or the host of a virtual machine");
        take_one(3, 60);
    }
    ck_assert_uint_eq(fake_notifications(), (size_t)_i);
    assert_left_open(_i == 1 ? "3\topen\tcpu3\n" : "3\tbegins\tcpu3\n");
    restart();
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_int_eq(last()->severity, NOTIF_OKAY);
}
END_TEST

/* --- A reboot, and what is gone ------------------------------------------- */

START_TEST(goes_on_after_a_reboot_if_it_is_noisy)
{
    alert_options.claim_ns = _i == 0 ? LONG_NS : 0;
    begin_after(OTHER_BOOT, "3\topen\tcpu3\n");
    if (_i == 0)
        pass(59);
    take_one(3, 60);
    pass(59);
    ck_assert_uint_eq(fake_notifications(), 0);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_ptr_nonnull(strstr(last()->message, "; 1 was above since collectd was restarted"));
}
END_TEST

/* Alarms that can't go on, and why. */
static const struct {
    const char *boot, *line;
    uint64_t max_single_ns;
    const char *reason;
} unwatched[] = {
    {NULL, "3\topen\tcpu3\n", 0, "<Alert> is no longer configured"},
    {NULL, "3\tbegins\tcpu3\n", 0, "<Alert> is no longer configured"},
    {OTHER_BOOT, "7\topen\tcpu7\n", 0, "<Alert> is no longer configured"},
    {NULL, "7\topen\tcpu7\n", 50000, "it is no longer measured"},
    {OTHER_BOOT, "7\topen\tcpu7\n", 50000, "it is no longer measured"},
    {OTHER_BOOT, "3\topen\tcpu3\n", 50000, "the machine was rebooted"},
};

/* With a reading, or while nothing is measured. */
static void update(bool has_reading)
{
    if (has_reading)
        pass(1);
    else
        osnoise_alert_update(alert, NULL);
}

START_TEST(ends_alarms_that_can_not_go_on)
{
    const bool has_reading = _i % 2 == 1;
    const char *boot = unwatched[_i / 2].boot, *reason = unwatched[_i / 2].reason;
    char expected[128];

    alert_options.rule.max_single_ns = unwatched[_i / 2].max_single_ns;
    alert_options.claim_ns = LONG_NS;
    begin_after(boot != NULL ? boot : own_boot(), unwatched[_i / 2].line);
    update(has_reading);
    ck_assert_uint_eq(fake_notifications(), 0);

    alert_options.claim_ns = 0;
    begin_after(boot != NULL ? boot : own_boot(), unwatched[_i / 2].line);
    update(has_reading);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_int_eq(last()->severity, NOTIF_OKAY);
    ck_assert_str_eq(last()->type_instance, "max_single");
    snprintf(expected, sizeof(expected), "max_single: no longer watched: %s", reason);
    ck_assert_str_eq(last()->message, expected);
    ck_assert_str_eq(meta_text(last(), "NoLongerWatched"), reason);
    ck_assert_uint_eq(meta_count(last(), "CPU"), (uint64_t)(unwatched[_i / 2].line[0] - '0'));
    ck_assert(unwatched[_i / 2].max_single_ns > 0 ? meta_double(last(), "Limit") > 0
                                                  : meta(last(), "Limit") == NULL);
    update(has_reading);
    ck_assert_uint_eq(fake_notifications(), 1);
    assert_left_open("");
}
END_TEST

static void attach(void)
{
    measured.mode = HR_OSNOISE_ATTACH;
    measured.cpus = (struct hr_cpu_choice){0};
}

/* Which CPUs another program measures is known once it does. */
START_TEST(waits_for_the_program_to_attach_to)
{
    attach();
    begin_after(own_boot(), "3\topen\tcpu3\n7\topen\tcpu7\n");
    for (int i = 0; i < 100; i++)
        osnoise_alert_update(alert, NULL);
    ck_assert_uint_eq(fake_notifications(), 0);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_str_eq(last()->message, "max_single: no longer watched: it is no longer measured");
    ck_assert_str_eq(last()->plugin_instance, "cpu7");
    assert_left_open("3\topen\tcpu3\n");
}
END_TEST

/* It may come again with others. */
START_TEST(ends_the_alarm_of_a_cpu_that_another_program_leaves)
{
    const struct hr_osnoise_cpu cpu = {.cpu = 4, .sample_count = 1};
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = HR_NS_PER_S, .cpus = &cpu, .cpu_count = 1};

    attach();
    restart();
    take_one(3, 60);
    osnoise_alert_update(alert, NULL);
    ck_assert_uint_eq(fake_notifications(), 1);
    osnoise_alert_update(alert, &reading);
    osnoise_alert_update(alert, &reading);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_str_eq(last()->message, "max_single: no longer watched: it is no longer measured");
}
END_TEST

/* --- The file ------------------------------------------------------------- */

/* What needs no record has none. */
START_TEST(there_is_no_file_without_alert)
{
    osnoise_alert_close(alert);
    alert = NULL;
    tree_remove(tree, STATE);
    if (_i == 0)
        alert_options.rule.max_single_ns = 0;
    else
        measured.cpus = (struct hr_cpu_choice){0};
    restart();
    ck_assert_ptr_null(alert);
    ck_assert_str_eq(read_file(), "");
}
END_TEST

static const char *const damaged[] = {
    "x\topen\tcpu3\n",
    "\topen\tcpu3\n",
    "-3\topen\tcpu3\n",
    "3 \topen\tcpu3\n",
    "3\topen\n",
    "3\topen\t\n",
    "8192\topen\tcpu8192\n",
    "3\tcpu3\topen\n",
    "3\n",
    "\n",
    "99999999999999999999\topen\tcpu1\n",
};

START_TEST(reports_that_the_file_is_damaged)
{
    begin_after(own_boot(), damaged[_i]);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "it isn't what this plugin writes. Close alarms that "
                                             "are still open at the receivers by hand"),
                      1);
    fake_forget_logs();
    take_one(3, 60);
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 2);
    restart(); /* it was replaced */
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("restarts");

    tcase_add_checked_fixture(tests, alert_set_up, alert_tear_down);
    tcase_add_test(tests, goes_on_with_an_alarm_of_the_run_before);
    tcase_add_test(tests, ends_an_alarm_of_the_run_before);
    tcase_add_test(tests, goes_on_over_short_runs);
    tcase_add_test(tests, notifies_of_what_just_began);
    tcase_add_test(tests, ends_what_had_just_ended);
    tcase_add_test(tests, repeats_after_a_restart);
    tcase_add_test(tests, an_alarm_waits_until_it_is_recorded);
    tcase_add_loop_test(tests, reports_an_alarm_that_may_not_have_been, 0, 2);
    tcase_add_loop_test(tests, goes_on_after_a_reboot_if_it_is_noisy, 0, 2);
    tcase_add_loop_test(tests, ends_alarms_that_can_not_go_on, 0, 2 * COUNT(unwatched));
    tcase_add_test(tests, waits_for_the_program_to_attach_to);
    tcase_add_test(tests, ends_the_alarm_of_a_cpu_that_another_program_leaves);
    tcase_add_loop_test(tests, there_is_no_file_without_alert, 0, 2);
    tcase_add_loop_test(tests, reports_that_the_file_is_damaged, 0, COUNT(damaged));
    return run_suite("osnoise restarts", tests);
}
