/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_alerts.c - the alerts of the plugin psi: notifications of a stall and
 * of its end, and of which groups.
 *
 * The triggers are polled, as the kernel has none for a tree of files.
 */
#include "plugin/psi/alerts_harness.h"

#include <sys/inotify.h>

#include "support/suite.h"

const char *const harness_plugin = "psi";

/* --- A stall and its end --------------------------------------------------- */

static const struct {
    const char *group; /* NULL: the system */
    const char *resource, *level, *options;
    int severity;
} stalls[] = {
    {NULL, "memory", "some", "", NOTIF_WARNING},
    {NULL, "io", "full", "Level \"full\"\nSeverity \"FAILURE\"\n", NOTIF_FAILURE},
    {NULL, "irq", "full", "Level \"full\"\nScope \"system\"\n", NOTIF_WARNING},
    {"a.slice/b", "memory", "some", OF_GROUPS, NOTIF_WARNING},
    {"a.slice/b", "cpu", "full", OF_GROUPS "level \"FULL\"\nseverity \"failure\"", NOTIF_FAILURE},
};

/* What the notification of a stall and that of its end have in common. */
static void assert_subject(const notification_t *notice, int i)
{
    const bool of_group = stalls[i].group != NULL;

    ck_assert_str_eq(notice->host, hostname_g);
    ck_assert_str_eq(notice->plugin, "psi");
    ck_assert_str_eq(notice->plugin_instance, of_group ? "a.slice_b" : "system");
    ck_assert_str_eq(notice->type, "derive");
    ck_assert_str_eq(notice->type_instance, "trigger_M-1.x");
    ck_assert_uint_ne(notice->time, 0);
    ck_assert_str_eq(alerts_meta_text(notice, "Trigger"), "M-1.x");
    ck_assert_str_eq(alerts_meta_text(notice, "Resource"), stalls[i].resource);
    ck_assert_str_eq(alerts_meta_text(notice, "Level"), stalls[i].level);
    ck_assert_double_eq_tol(alerts_meta_number(notice, "Stall"), 0.2, 1e-9);
    ck_assert_double_eq_tol(alerts_meta_number(notice, "Window"), 0.5, 1e-9);
    if (of_group)
        ck_assert_str_eq(alerts_meta_text(notice, "Cgroup"), stalls[i].group);
    else
        ck_assert_ptr_null(alerts_meta(notice, "Cgroup"));
}

START_TEST(reports_a_stall_and_its_end)
{
    const char *place = stalls[_i].group != NULL ? stalls[_i].group : "the system";
    const size_t common = stalls[_i].group != NULL ? 6 : 5;
    const uint64_t begun_ms = alerts_now_ms();
    char text[512];

    if (stalls[_i].group != NULL)
        alerts_add_group(stalls[_i].group, true);
    alerts_prepare(stalls[_i].group, stalls[_i].resource);
    snprintf(text, sizeof(text),
             "Cgroup \"*/*\"\n<Trigger \"M-1.x\">\nResource \"%s\"\nStall 0.2\nWindow 0.5\n"
             "Mode \"poll\"\nQuiet 1\n%s\n</Trigger>",
             stalls[_i].resource, stalls[_i].options);
    harness_begin(text);
    alerts_await_value(stalls[_i].group != NULL ? "psi-a.slice_b/derive-trigger_M-1.x"
                                                : "psi-system/derive-trigger_M-1.x",
                       true);
    alerts_stall(stalls[_i].group, stalls[_i].resource, STALL_US);

    const notification_t *notice = alerts_await(NULL, stalls[_i].severity, 1);
    assert_subject(notice, _i);
    ck_assert_uint_eq(alerts_count_meta(notice),
                      common + 3 + (alerts_meta(notice, "Cause") != NULL));
    ck_assert_double_eq_tol(alerts_meta_number(notice, "Quiet"), 1, 1e-9);
    double elapsed = alerts_meta_number(notice, "MeasuredWindow");
    ck_assert_double_eq_tol(alerts_meta_number(notice, "MeasuredStall"), 9, 1e-9);
    ck_assert_double_gt(elapsed, 0);
    ck_assert_double_le(elapsed, (double)(alerts_now_ms() + 1 - begun_ms) / 1000);
    snprintf(text, sizeof(text), "%s %s: stalled 9000 ms in %.4g s (limit 200 ms in 0.5 s) in %s",
             stalls[_i].resource, stalls[_i].level, elapsed, place);
    ck_assert_msg(strncmp(notice->message, text, strlen(text)) == 0, "%s", notice->message);

    notice = alerts_await(NULL, NOTIF_OKAY, 1);
    assert_subject(notice, _i);
    ck_assert_uint_eq(alerts_count_meta(notice), common + 1);
    ck_assert_double_eq_tol(alerts_meta_number(notice, "Quiet"), 1, 1e-9);
    snprintf(text, sizeof(text), "%s %s: below 200 ms in 0.5 s for 1 s in %s", stalls[_i].resource,
             stalls[_i].level, place);
    ck_assert_str_eq(notice->message, text);
    ck_assert_uint_eq(fake_notifications(), 2);
    harness_assert_logs(0, NULL);
}
END_TEST

/* That all texts are safe to show is asserted at the tear-down. */
START_TEST(makes_names_safe)
{
    static const char group[] = "a\x1b[2J\xc2\x9b\xe2\x80\xae\xff\\x2db";

    alerts_add_group(group, true);
    harness_begin("Cgroup \"*\"\n" RULE("m", OF_GROUPS));
    alerts_await_value("psi-a_[[]2J______\\\\x2db/derive-trigger_m", true);
    alerts_stall(group, "memory", STALL_US);
    const notification_t *notice = alerts_await("a_[2J______\\x2db", NOTIF_WARNING, 1);
    ck_assert_str_eq(alerts_meta_text(notice, "Cgroup"), "a?[2J??????\\x2db");
    alerts_assert_message(notice, " in a?[2J??????\\x2db");
    alerts_await("a_[2J______\\x2db", NOTIF_OKAY, 1);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- When ----------------------------------------------------------------- */

/* Counts how often a file or a directory of the tree is opened. */
static int watch_opens(const char *name)
{
    int inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", tree_path(tree), name);
    ck_assert_int_ge(inotify_add_watch(inotify, path, IN_OPEN), 0);
    return inotify;
}

/* How often it was opened since the last call; of a directory, itself, not what is in it. */
static size_t count_opens(int inotify)
{
    _Alignas(struct inotify_event) char buffer[16384];
    size_t count = 0;
    ssize_t got;

    while ((got = read(inotify, buffer, sizeof(buffer))) > 0) {
        const char *at = buffer;
        while (at < buffer + got) {
            const struct inotify_event *event = (const void *)at;
            count += event->len == 0 && (event->mask & IN_OPEN) != 0;
            at += sizeof(*event) + event->len;
        }
    }
    return count;
}

/* Nor are its causes sought any more. */
START_TEST(reports_a_lasting_stall_once)
{
    alerts_prepare(NULL, "memory");
    tree_write(tree, "proc/vmstat", "%s", "allocstall_normal 0\n");
    const int inotify = watch_opens("proc/vmstat");
    harness_begin(RULE("m", "Quiet 1000"));
    alerts_await_value("psi-system/derive-trigger_m", true);
    alerts_stall(NULL, "memory", STALL_US);
    alerts_await("system", NOTIF_WARNING, 1);
    ck_assert_uint_gt(count_opens(inotify), 0);
    alerts_stall_for("system", NULL, 6, 0);
    ck_assert_uint_eq(count_opens(inotify), 0);
    close(inotify);
    ck_assert_uint_eq(alerts_count("system", NOTIF_WARNING), 1);
    ck_assert_uint_eq(fake_notifications(), 1);
    harness_assert_logs(0, NULL);
}
END_TEST

/* How often tasks had to reclaim memory. */
static void write_reclaimed(unsigned count)
{
    tree_write(tree, "proc/vmstat",
               "allocstall_normal %u\npgsteal_kswapd 0\nworkingset_refault_anon 0\n", count);
}

/* Each of them, by counters that were taken before it. A turn proves nothing if, on a busy machine,
 * the stall is noticed so late that they were taken after what shows the cause. */
START_TEST(seeks_the_causes_of_each_alarm)
{
    unsigned reclaimed = 0;
    bool proven = false;

    alerts_prepare(NULL, "memory");
    write_reclaimed(reclaimed);
    harness_begin(RULE("m", ""));
    alerts_await_value("psi-system/derive-trigger_m", true);
    for (size_t turn = 1; turn <= 10 && !proven; turn++) {
        const uint64_t begun_ms = alerts_now_ms();
        while (alerts_now_ms() - begun_ms < 3 * WINDOW_MS) {
            alerts_stall(NULL, "memory", 3000); /* below the limit */
            harness_sleep(20);
        }
        write_reclaimed(reclaimed += 100);
        alerts_stall(NULL, "memory", STALL_US);
        const notification_t *notice = alerts_await("system", NOTIF_WARNING, turn);
        proven = turn > 1 && alerts_meta(notice, "Cause") != NULL;
        alerts_await("system", NOTIF_OKAY, turn);
    }
    ck_assert(proven);
}
END_TEST

/* The time that an alarm has lasted, of the message "…, for 2 s now"; 0: there is none. */
static int get_lasting_s(const notification_t *notice)
{
    const char *lasting = strstr(notice->message, ", for ");
    int seconds = 0;

    if (lasting != NULL)
        ck_assert_int_eq(sscanf(lasting, ", for %d s now", &seconds), 1);
    return seconds;
}

START_TEST(reports_again_if_asked_to)
{
    alerts_prepare(NULL, "memory");
    harness_begin(RULE("m", "Quiet 1000\nRepeat 1"));
    alerts_await_value("psi-system/derive-trigger_m", true);
    const uint64_t begun_ms = alerts_now_ms();
    size_t count = 0;
    for (int events = 6; count < 2; events++) {
        alerts_stall_for("system", NULL, events, 3500);
        count = alerts_count("system", NOTIF_WARNING);
    }
    ck_assert_uint_le(count, 1 + (alerts_now_ms() - begun_ms) / 1000);
    ck_assert_int_eq(get_lasting_s(fake_notification(0)), 0);
    for (size_t i = 1; i < count; i++)
        ck_assert_int_ge(get_lasting_s(fake_notification(i)), (int)i);
}
END_TEST

/* When the last end was dispatched. */
static _Atomic uint64_t ended_ms;

static void note_end(const notification_t *notice, __attribute__((unused)) void *context)
{
    if (notice->severity == NOTIF_OKAY)
        ended_ms = alerts_now_ms();
}

/* A turn proves nothing if, on a busy machine, the second stall comes after the end: then there is
 * another alarm. */
START_TEST(waits_for_the_quiet_time)
{
    size_t begun = 0, ended = 0, proven = 0;

    alerts_prepare(NULL, "memory");
    fake_on_notification(note_end, NULL);
    harness_begin(RULE("m", "Quiet 2"));
    alerts_await_value("psi-system/derive-trigger_m", true);
    for (int turn = 0; turn < 10 && proven < 2; turn++) {
        alerts_stall(NULL, "memory", STALL_US);
        alerts_await("system", NOTIF_WARNING, ++begun);
        harness_sleep(WINDOW_MS + WINDOW_MS / 5); /* another stall in the quiet time restarts it */
        const uint64_t stalled_ms = alerts_now_ms();
        alerts_stall(NULL, "memory", STALL_US);
        alerts_await("system", NOTIF_OKAY, ++ended);
        if (ended_ms + 1 >= stalled_ms + 2000) {
            proven++;
        } else {
            alerts_await("system", NOTIF_WARNING, ++begun);
            alerts_await("system", NOTIF_OKAY, ++ended);
        }
    }
    ck_assert_uint_eq(proven, 2);
    ck_assert_uint_eq(alerts_count(NULL, NOTIF_WARNING), begun);
    ck_assert_uint_eq(alerts_count(NULL, NOTIF_OKAY), ended);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Limits --------------------------------------------------------------- */

START_TEST(reports_nothing_below_the_limit)
{
    alerts_prepare(NULL, "memory");
    harness_begin(RULE("m", "Window 3") RULE("finer", "Window 3\nStall 0.1"));
    alerts_await_value("psi-system/derive-trigger_m", true);
    alerts_stall(NULL, "memory", 150000);
    ck_assert_str_eq(alerts_await(NULL, NOTIF_WARNING, 1)->type_instance, "trigger_finer");
    alerts_await(NULL, NOTIF_OKAY, 1);
    ck_assert_uint_eq(fake_notifications(), 2);
    harness_read();
    ck_assert_double_eq(harness_number("psi-system/derive-trigger_m"), 0);
    ck_assert_double_eq(harness_number("psi-system/derive-trigger_finer"), 1);
}
END_TEST

/* --- Groups --------------------------------------------------------------- */

/* A stall of "a" is noticed, and since the last call none of another group was. */
static void assert_quiet_but_for_a(size_t expected)
{
    harness_sleep(WINDOW_MS + WINDOW_MS / 5);
    harness_read();
    const double before = harness_number("psi-a/derive-trigger_m");
    alerts_stall("a", "memory", STALL_US);
    for (int waited = 0; harness_number("psi-a/derive-trigger_m") == before; waited += 5) {
        ck_assert_int_lt(waited, ALERTS_PATIENCE_MS);
        harness_sleep(5);
        harness_read();
    }
    alerts_await("a", NOTIF_WARNING, 1);
    ck_assert_uint_eq(fake_notifications(), expected);
}

START_TEST(applies_to_selected_groups_with_a_process)
{
    alerts_add_group("a", true);
    alerts_add_group("empty", false);
    alerts_add_group("excluded", true);
    alerts_add_group("a/below", true);
    alerts_prepare(NULL, "memory");
    harness_begin("Cgroup \"*\"\nExcludeCgroup \"ex*\"\n" RULE("m", LASTING) RULE("s", ""));
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_await_value("psi-system/derive-trigger_s", true);
    harness_assert_count("*/derive-*", 2);
    ck_assert_double_eq(harness_number("psi-a/derive-trigger_m"), 0);
    ck_assert_double_eq(harness_number("psi-system/derive-trigger_s"), 0);
    alerts_stall("empty", "memory", STALL_US);
    alerts_stall("excluded", "memory", STALL_US);
    alerts_stall("a/below", "memory", STALL_US);
    assert_quiet_but_for_a(1);
    harness_read();
    harness_assert_count("*/derive-*", 2);
    ck_assert_double_eq(harness_number("psi-a/derive-trigger_m"), 1);
    ck_assert_double_eq(harness_number("psi-system/derive-trigger_s"), 0);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Those younger than MinAge have no series, but alarms. */
START_TEST(watches_groups_of_any_age)
{
    alerts_add_group("a", true);
    harness_begin("Cgroup \"*\"\nMinAge 86400\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);
    alerts_add_group("young", true);
    for (int waited = 0; alerts_count("young", NOTIF_WARNING) == 0; waited += 50) {
        ck_assert_int_lt(waited, ALERTS_PATIENCE_MS); /* armed a moment after it was found */
        alerts_stall("young", "memory", STALL_US);
        harness_sleep(50);
        harness_read();
        harness_assert_count("psi-young/*", 0);
    }
    tree_remove_group(tree, "young");
    alerts_await("young", NOTIF_OKAY, 1);
    harness_read();
    harness_assert_count("psi-young/*", 0);
    harness_assert_count("psi-a/derive-*", 1);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(follows_groups)
{
    const notification_t *notice;

    alerts_add_group("a", true);
    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    alerts_await_value("psi-a/derive-trigger_m", true);

    /* it comes */
    alerts_add_group("b", true);
    alerts_await_value("psi-b/derive-trigger_m", true);
    alerts_stall("b", "memory", STALL_US);
    alerts_await("b", NOTIF_WARNING, 1);

    /* is emptied: its alarm ends */
    tree_set_populated(tree, "b", false);
    notice = alerts_await("b", NOTIF_OKAY, 1);
    ck_assert_str_eq(notice->message,
                     "memory some: no longer watched in b: no process is left in it");
    ck_assert_str_eq(alerts_meta_text(notice, "Cgroup"), "b");
    ck_assert_str_eq(alerts_meta_text(notice, "NoLongerWatched"), "no process is left in it");
    ck_assert_uint_eq(alerts_count_meta(notice), 7);
    alerts_await_value("psi-b/derive-trigger_m", false);
    alerts_stall("b", "memory", STALL_US);
    assert_quiet_but_for_a(3); /* b's alarm, its end, and a's */

    /* gets processes again: the series continues, and stalls meanwhile don't count */
    tree_set_populated(tree, "b", true);
    alerts_await_value("psi-b/derive-trigger_m", true);
    ck_assert_double_eq(harness_number("psi-b/derive-trigger_m"), 1);
    assert_quiet_but_for_a(3);
    alerts_stall("b", "memory", STALL_US);
    alerts_await("b", NOTIF_WARNING, 2);

    /* is removed, and made again: another group */
    tree_remove_group(tree, "b");
    alerts_assert_message(alerts_await("b", NOTIF_OKAY, 2), "no process is left in it");
    alerts_await_value("psi-b/derive-trigger_m", false);
    alerts_add_group("b", true);
    alerts_await_value("psi-b/derive-trigger_m", true);
    ck_assert_double_eq(harness_number("psi-b/derive-trigger_m"), 0);
    alerts_stall("b", "memory", STALL_US);
    alerts_await("b", NOTIF_WARNING, 3);
    harness_assert_logs(0, NULL);
}
END_TEST

#define MANY_GROUPS 500

/* @return whether many groups came in two seconds. @param scans  receives how many scans there were
 * meanwhile. */
static bool let_groups_come(int inotify, size_t *scans)
{
    const uint64_t begun_ms = alerts_now_ms();
    static unsigned made;
    const unsigned before = made;
    char name[32];

    *scans = 0;
    while (alerts_now_ms() - begun_ms < 2000) {
        snprintf(name, sizeof(name), "c%u", made++);
        tree_add_group(tree, name, true);
        *scans += count_opens(inotify);
        harness_sleep(1);
    }
    return made - before >= MANY_GROUPS;
}

/* Each scan takes locks of the kernel's that others' removals need. A turn proves nothing if, on a
 * busy machine, the thread doesn't come to scan, or few groups come. On one that is busy all the
 * time, none does. */
START_TEST(scans_seldom_while_many_groups_come)
{
    const int inotify = watch_opens(TREE_CGROUPS);
    bool proven = false, came = false;
    size_t scans;

    harness_begin("Cgroup \"*\"\n" RULE("m", LASTING));
    for (int turn = 0; turn < 10 && !proven; turn++) {
        if (!let_groups_come(inotify, &scans))
            continue;
        came = true;
        proven = scans > 0 && scans <= 10;
    }
    close(inotify);
    ck_assert(proven || !came);
}
END_TEST

START_TEST(warns_of_rules_without_groups)
{
    harness_begin(RULE("m", OF_GROUPS) RULE("n", OF_GROUPS));
    harness_assert_logs(1, "Scope \"cgroups\"");
    harness_read();
    harness_assert_count("*/derive-*", 0);
}
END_TEST

/* Judged by the system's values alone, there would be a warning that there is nothing to sample. */
START_TEST(needs_no_values_of_the_system)
{
    alerts_prepare(NULL, "memory");
    harness_begin("System false\n" RULE("m", ""));
    alerts_await_value("psi-system/derive-trigger_m", true);
    harness_assert_count("*", 1);
    alerts_stall(NULL, "memory", STALL_US);
    alerts_await("system", NOTIF_WARNING, 1);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- What can't be watched ------------------------------------------------ */

static void await_error(void)
{
    for (int waited = 0; fake_logs(LOG_ERR, NULL) == 0 && waited < ALERTS_PATIENCE_MS; waited += 5)
        harness_sleep(5);
}

START_TEST(reports_once_what_the_kernel_lacks)
{
    alerts_prepare(NULL, "memory");
    harness_begin(RULE("i", "Resource \"irq\"\nLevel \"full\"") RULE("m", ""));
    alerts_await_value("psi-system/derive-trigger_m", true);
    for (int i = 0; i < 5; i++) {
        harness_read();
        harness_sleep(50);
    }
    harness_assert_count("*/derive-trigger_i", 0);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "trigger i can't be armed"), 1);
    harness_assert_logs(1, "this kernel doesn't measure it");
    alerts_stall(NULL, "memory", STALL_US);
    alerts_await("system", NOTIF_WARNING, 1);
}
END_TEST

/* Whether a value comes before a moment. */
static bool comes_by(uint64_t end_ms, const char *identifier)
{
    do
        harness_read();
    while (fake_find(identifier) == NULL && alerts_now_ms() < end_ms);
    return fake_find(identifier) != NULL;
}

/* @return whether it was armed in a shorter time than the retry takes. */
static bool arms_group_before_it_retries(void)
{
    bool armed = false;

    alerts_add_group("a", true);
    harness_begin("Cgroup \"*\"\n" RULE("i", OF_GROUPS "Resource \"irq\"\nLevel \"full\""));
    await_error();
    harness_read();
    harness_assert_count("*/derive-*", 0);
    harness_assert_logs(1, "for 1 of the cgroups, such as a, retrying");
    alerts_prepare("a", "irq");
    /* a busy machine may need longer to see that it is empty */
    for (unsigned empty_ms = 200; !armed && empty_ms <= 1800; empty_ms *= 3) {
        tree_set_populated(tree, "a", false);
        alerts_await_value("psi-a/total_time_in_ms-io-some", false);
        harness_sleep(empty_ms);
        tree_set_populated(tree, "a", true);
        armed = comes_by(alerts_now_ms() + 1500, "psi-a/derive-trigger_i");
    }
    return armed;
}

/* A group is armed again when it gets processes, without waiting for the next retry, 10 s after the
 * first attempt. */
START_TEST(arms_groups_as_soon_as_it_can)
{
    for (int turn = 1; !arms_group_before_it_retries(); turn++) {
        ck_assert_int_lt(turn, 5);
        harness_tear_down();
        alerts_set_up();
    }
    alerts_stall("a", "irq", STALL_US);
    alerts_await("a", NOTIF_WARNING, 1);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(gives_up_what_can_no_longer_be_read)
{
    alerts_prepare(NULL, "memory");
    harness_begin(RULE("m", "Quiet 1000"));
    alerts_await_value("psi-system/derive-trigger_m", true);
    alerts_stall(NULL, "memory", STALL_US);
    alerts_await("system", NOTIF_WARNING, 1);
    tree_write(tree, "proc/pressure/memory", "?\n");
    alerts_assert_message(alerts_await("system", NOTIF_OKAY, 1),
                          "no longer watched in the system: its pressure can't be read");
    alerts_await_value("psi-system/derive-trigger_m", false);
    await_error();
    ck_assert_uint_eq(fake_logs(LOG_ERR, "trigger m can't be armed"), 1);
    ck_assert_uint_eq(fake_notifications(), 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, alerts_set_up, harness_tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, reports_a_stall_and_its_end, 0, COUNT(stalls));
    tcase_add_test(tests, makes_names_safe);
    tcase_add_test(tests, waits_for_the_quiet_time);
    tcase_add_test(tests, reports_a_lasting_stall_once);
    tcase_add_test(tests, seeks_the_causes_of_each_alarm);
    tcase_add_test(tests, reports_again_if_asked_to);
    tcase_add_test(tests, reports_nothing_below_the_limit);
    tcase_add_test(tests, applies_to_selected_groups_with_a_process);
    tcase_add_test(tests, watches_groups_of_any_age);
    tcase_add_test(tests, follows_groups);
    tcase_add_test(tests, scans_seldom_while_many_groups_come);
    tcase_add_test(tests, warns_of_rules_without_groups);
    tcase_add_test(tests, needs_no_values_of_the_system);
    tcase_add_test(tests, reports_once_what_the_kernel_lacks);
    tcase_add_test(tests, arms_groups_as_soon_as_it_can);
    tcase_add_test(tests, gives_up_what_can_no_longer_be_read);
    return run_suite("plugin psi alerts", tests);
}
