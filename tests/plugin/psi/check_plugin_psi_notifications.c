/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_notifications.c - notifications of the plugin psi: their limit,
 * waiting tasks, slow handlers, and what the shutdown does with them.
 */
#include "plugin/psi/alerts_harness.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <semaphore.h>

#include "headroom/clock.h"
#include "support/frozen_clock.h"
#include "support/suite.h"

const char *const harness_plugin = "psi";

/* --- Limits --------------------------------------------------------------- */

#define MANY  40
#define LIMIT 10

static void await_all(int severity)
{
    char group[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(group, sizeof(group), "g%d", i);
        alerts_await(group, severity, 1);
    }
}

/* Those beyond the limit wait, beginnings before ends; none is lost or comes twice. */
START_TEST(limits_notifications)
{
    char group[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(group, sizeof(group), "g%d", i);
        alerts_add_group(group, true);
    }
    harness_begin("Cgroup \"g*\"\nMaxNotificationsPerSecond 10\n" RULE("m", OF_GROUPS));
    alerts_await_count("*/derive-trigger_m", MANY);
    const uint64_t begun_ms = alerts_now_ms();
    for (int i = 0; i < MANY; i++) {
        snprintf(group, sizeof(group), "g%d", i);
        alerts_stall(group, "memory", STALL_US);
    }
    await_all(NOTIF_WARNING);
    ck_assert_uint_ge(alerts_now_ms() - begun_ms, 1000 * (MANY / LIMIT - 1));
    await_all(NOTIF_OKAY);
    ck_assert_uint_ge(alerts_now_ms() - begun_ms, 1000 * (2 * MANY / LIMIT - 1));
    ck_assert_uint_eq(fake_notifications(), 2 * MANY);
    harness_assert_logs(0, NULL);
}
END_TEST

/* A notification handler that blocks until the test releases it. */
static sem_t entered, released;

static void await_handler(void)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += ALERTS_PATIENCE_MS / 1000;
    ck_assert_msg(sem_timedwait(&entered, &end) == 0, "no notification");
}

static void block(__attribute__((unused)) const notification_t *notice,
                  __attribute__((unused)) void *context)
{
    sem_post(&entered);
    sem_wait(&released);
}

START_TEST(publishes_values_while_a_notification_is_handled)
{
    sem_init(&entered, 0, 0);
    sem_init(&released, 0, 0);
    alerts_add_group("a", true);
    harness_begin("Cgroup \"*\"\n" RULE("m", OF_GROUPS));
    alerts_await_value("psi-a/derive-trigger_m", true);
    fake_on_notification(block, NULL);
    alerts_stall("a", "memory", STALL_US);
    await_handler();
    harness_read();
    ck_assert_double_eq(harness_number("psi-a/derive-trigger_m"), 1);
    harness_assert_count("psi-a/*", 13);
    fake_on_notification(NULL, NULL);
    sem_post(&released);
    alerts_await("a", NOTIF_OKAY, 1);
}
END_TEST

/* While a handler has the beginning for longer than the quiet time, the stall goes on. */
START_TEST(a_slow_handler_ends_no_alarm)
{
    sem_init(&entered, 0, 0);
    sem_init(&released, 0, 0);
    alerts_add_group("a", true);
    alerts_add_group("b", true);
    harness_begin("Cgroup \"*\"\n" RULE("m", OF_GROUPS));
    alerts_await_count("*/derive-trigger_m", 2);
    fake_on_notification(block, NULL);
    alerts_stall("a", "memory", STALL_US);
    await_handler();
    for (const uint64_t begun_ms = alerts_now_ms(); alerts_now_ms() - begun_ms < 3 * QUIET_MS;) {
        alerts_stall("a", "memory", 300000);
        harness_sleep(20);
    }
    alerts_stall("b", "memory", STALL_US); /* no handler delays that it is noticed */
    do
        harness_read();
    while (harness_number("psi-b/derive-trigger_m") == 0);
    alerts_stall("a", "memory", STALL_US);
    fake_on_notification(NULL, NULL);
    sem_post(&released);
    alerts_await("b", NOTIF_WARNING, 1);
    ck_assert_uint_eq(alerts_count("a", NOTIF_WARNING), 1);
    for (size_t i = 0; fake_notification(i) != NULL && i < 2; i++)
        ck_assert_int_eq(fake_notification(i)->severity, NOTIF_WARNING);
    alerts_await("a", NOTIF_OKAY, 1);
}
END_TEST

/* --- Waiting tasks -------------------------------------------------------- */

START_TEST(reports_why_no_task_can_be_named)
{
    static const char ending[] = "; waiting tasks unknown: delay accounting is off in the kernel";

    tree_write(tree, "proc/sys/kernel/task_delayacct", "0\n");
    alerts_prepare(NULL, "memory");
    harness_begin(RULE("m", "TopTasks 3"));
    alerts_await_value("psi-system/derive-trigger_m", true);
    for (size_t i = 1; i <= 2; i++) {
        alerts_stall(NULL, "memory", STALL_US);
        const notification_t *notice = alerts_await("system", NOTIF_WARNING, i);
        alerts_assert_message(notice, "in the system; waiting");
        ck_assert_str_eq(alerts_meta_text(notice, "TasksUnknown"),
                         ending + strlen("; waiting tasks unknown: "));
        ck_assert_str_eq(notice->message + strlen(notice->message) - strlen(ending), ending);
        ck_assert_ptr_null(alerts_meta(notice, "Task1"));
        alerts_await("system", NOTIF_OKAY, i);
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING, NULL), 1);
    harness_assert_logs(1, "kernel.task_delayacct=1");
}
END_TEST

/* Taskstats are of the tree's process 1, if we may read them. */
START_TEST(says_something_of_waiting_tasks)
{
    alerts_prepare(NULL, "cpu");
    harness_begin(RULE("c", "Resource \"cpu\"\nTopTasks 1\nTopTasksWindow 0.01"));
    alerts_await_value("psi-system/derive-trigger_c", true);
    alerts_stall(NULL, "cpu", STALL_US);
    alerts_assert_message(alerts_await("system", NOTIF_WARNING, 1), "in the system; ");
    alerts_await("system", NOTIF_OKAY, 1);
}
END_TEST

/* However soon the tasks could be named. */
START_TEST(samples_tasks_for_the_time_that_the_rule_says)
{
    alerts_prepare(NULL, "cpu");
    harness_begin(RULE("who", "Resource \"cpu\"\nTopTasks 1\nTopTasksWindow 0.7"));
    alerts_await_value("psi-system/derive-trigger_who", true);
    const uint64_t stalled_ms = alerts_now_ms();
    alerts_stall(NULL, "cpu", STALL_US);
    const notification_t *notice = alerts_await("system", NOTIF_WARNING, 1);
    if (strstr(notice->message, "unknown") == NULL)
        ck_assert_uint_ge(alerts_now_ms() - stalled_ms + 1, 700);
}
END_TEST

/* Sampling tasks takes as long as opening a pipe that nobody writes to: values are sampled all the
 * same, groups are followed, and the alarm ends. */
START_TEST(samples_values_while_tasks_are_sampled)
{
    char path[512];

    tree_write(tree, "proc/sys/kernel/none", "%s", "");
    snprintf(path, sizeof(path), "%s/proc/sys/kernel/task_delayacct", tree_path(tree));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    alerts_add_group("a", true);
    harness_begin("Cgroup \"*\"\n" RULE("m", OF_GROUPS "Quiet 1000\nTopTasks 3"));
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_stall("a", "memory", STALL_US);
    while (harness_number("psi-a/derive-trigger_m") < 1)
        harness_read();
    alerts_add_group("b", true);
    alerts_await_value("psi-b/derive-trigger_m", true);
    tree_remove_group(tree, "a");
    alerts_await_value("psi-a/derive-trigger_m", false);
    alerts_assert_message(alerts_await("a", NOTIF_WARNING, 1),
                          "; waiting tasks unknown: the alarm ended meanwhile");
    alerts_await("a", NOTIF_OKAY, 1);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    harness_assert_logs(0, NULL);
    ck_assert_int_eq(fake_shutdown(), 0);
    close(fd);
}
END_TEST

/* The stall is notified before its end, without waiting for the second sample of waiting tasks. */
START_TEST(reports_a_stall_before_its_end)
{
    const uint64_t begun_ms = alerts_now_ms();

    alerts_add_group("a", true);
    alerts_prepare("a", "cpu");
    harness_begin("Cgroup \"*\"\n" RULE(
        "c", OF_GROUPS "Resource \"cpu\"\nQuiet 1000\nTopTasks 1\nTopTasksWindow 1"));
    alerts_await_value("psi-a/derive-trigger_c", true);
    alerts_stall("a", "cpu", STALL_US);
    do
        harness_read();
    while (harness_number("psi-a/derive-trigger_c") == 0 &&
           alerts_now_ms() < begun_ms + ALERTS_PATIENCE_MS);
    tree_set_populated(tree, "a", false);
    alerts_assert_message(alerts_await("a", NOTIF_OKAY, 1), "no process is left in it");
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_int_eq(fake_notification(0)->severity, NOTIF_WARNING);
    alerts_assert_message(fake_notification(0), " in a");
}
END_TEST

/* --- Shutdown ------------------------------------------------------------- */

static const struct {
    bool stalled;
    const char *rule, *limit;
    size_t least, most; /* notifications of the two stalls; the shutdown comes after the least */
} endings[] = {
    {false, "Quiet 1000", "50", 0, 0},
    {true, "Quiet 1000", "50", 2, 2},
    /* between the two samples of waiting tasks, if they can be read: the shutdown doesn't wait */
    {true, "Quiet 1000\nResource \"cpu\"\nTopTasks 1\nTopTasksWindow 1", "50", 0, 2},
    /* while a summary is due */
    {true, "Quiet 1000", "1", 1, 2},
};

/* No time passes meanwhile: what waits for some would wait for ever. */
static void shut_down_in_no_time(void)
{
    const unsigned before = alarm(2 * ALERTS_PATIENCE_MS / 1000);

    frozen_ns = hr_clock_ns();
    ck_assert_int_eq(fake_shutdown(), 0);
    frozen_ns = 0;
    alarm(before);
}

START_TEST(ends_at_once_and_reports_no_end)
{
    const uint64_t begun_ms = alerts_now_ms();
    char options[512];

    alerts_prepare(NULL, "memory");
    alerts_prepare(NULL, "cpu");
    alerts_add_group("a", true);
    alerts_prepare("a", "cpu");
    snprintf(options, sizeof(options),
             "Cgroup \"*\"\nMaxNotificationsPerSecond %s\n" RULE("s", "%s")
                 RULE("g", OF_GROUPS "%s"),
             endings[_i].limit, endings[_i].rule, endings[_i].rule);
    harness_begin(options);
    alerts_await_value("psi-system/derive-trigger_s", true);
    alerts_await_value("psi-a/derive-trigger_g", true);
    if (endings[_i].stalled) {
        alerts_stall(NULL, "memory", STALL_US);
        alerts_stall(NULL, "cpu", STALL_US);
        alerts_stall("a", "memory", STALL_US);
        alerts_stall("a", "cpu", STALL_US);
        do
            harness_read();
        while (alerts_now_ms() < begun_ms + ALERTS_PATIENCE_MS &&
               (harness_number("psi-system/derive-trigger_s") == 0 ||
                harness_number("psi-a/derive-trigger_g") == 0 ||
                alerts_count(NULL, NOTIF_WARNING) < endings[_i].least));
    }
    shut_down_in_no_time();
    ck_assert_uint_eq(alerts_count("system", NOTIF_OKAY) + alerts_count("a", NOTIF_OKAY), 0);
    ck_assert_uint_ge(alerts_count(NULL, NOTIF_WARNING), endings[_i].least);
    ck_assert_uint_le(alerts_count(NULL, NOTIF_WARNING), endings[_i].most);
}
END_TEST

/* Takes the place of libc's: the shutdown waits for a handler only now. */
int pthread_timedjoin_np(pthread_t thread, void **result,
                         __attribute__((unused)) const struct timespec *until)
{
    for (int i = 0; i < 100; i++)
        sem_post(&released); /* for all further calls, if there are any */
    return pthread_join(thread, result);
}

/* A running handler can't be interrupted; the next ones aren't started. */
START_TEST(ends_soon_though_handlers_are_slow)
{
    sem_init(&entered, 0, 0);
    sem_init(&released, 0, 0);
    fake_on_notification(block, NULL);
    alerts_prepare(NULL, "memory");
    harness_begin(RULE("a", "") RULE("b", "") RULE("c", "") RULE("d", "") RULE("e", "")
                      RULE("f", ""));
    alerts_await_value("psi-system/derive-trigger_f", true);
    alerts_stall(NULL, "memory", STALL_US);
    await_handler();
    ck_assert_int_eq(fake_shutdown(), 0);
    ck_assert_uint_eq(fake_notifications(), 1);
    fake_on_notification(NULL, NULL);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("notifications");

    tcase_add_checked_fixture(tests, alerts_set_up, harness_tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, limits_notifications);
    tcase_add_test(tests, publishes_values_while_a_notification_is_handled);
    tcase_add_test(tests, reports_why_no_task_can_be_named);
    tcase_add_test(tests, says_something_of_waiting_tasks);
    tcase_add_test(tests, samples_values_while_tasks_are_sampled);
    tcase_add_test(tests, samples_tasks_for_the_time_that_the_rule_says);
    tcase_add_test(tests, a_slow_handler_ends_no_alarm);
    tcase_add_test(tests, reports_a_stall_before_its_end);
    tcase_add_loop_test(tests, ends_at_once_and_reports_no_end, 0, COUNT(endings));
    tcase_add_test(tests, ends_soon_though_handlers_are_slow);
    return run_suite("plugin psi notifications", tests);
}
