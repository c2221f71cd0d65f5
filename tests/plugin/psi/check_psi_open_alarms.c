/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_open_alarms.c - which alarm goes on after a restart or a reboot, and what is
 * written to the state file when.
 */
#include <check.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "plugin/psi/open_alarms_harness.h"
#include "support/fake_collectd.h"
#include "support/frozen_clock.h"
#include "support/suite.h"

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

/* --- The alarms of the previous run --------------------------------------- */

static const struct psi_rule of_io = {.name = "io"};
static const struct psi_subject claimant_of_io = {&of_io, "a_b.service", "a/b.service"};
static const struct psi_subject machine_of_memory = {&of_memory, "system", NULL};

static const struct psi_subject group_made_again = {&of_memory, "a_b.service", "a/again.service"};
static const struct psi_rule same_name = {.name = "m", .trigger = {.resource = HR_PSI_CPU}};
static const struct psi_subject other_resource = {&same_name, "a_b.service", "a/b.service"};

static const struct {
    const struct psi_subject *subject;
    bool goes_on;
} claims[] = {
    {&group, true},
    {&group_made_again, true},
    {&other, false},
    {&claimant_of_io, false},
    {&other_resource, false},
    {&machine, true},
    {&machine_of_memory, false},
};

START_TEST(alarms_go_on_after_a_restart)
{
    put(HEAD "%s" ALARM SYSTEM "end\n", our_boot);
    open_alarms();
    ck_assert(!open_alarms_has_rebooted(alarms));
    ck_assert_uint_eq(count_unclaimed(), 2);
    ck_assert(claim(claims[_i].subject) == claims[_i].goes_on);
    ck_assert_uint_eq(count_unclaimed(), claims[_i].goes_on ? 1 : 2);
    ck_assert(!claim(claims[_i].subject));
}
END_TEST

START_TEST(alarms_go_on_after_a_reboot)
{
    put(GOOD);
    open_alarms();
    ck_assert(open_alarms_has_rebooted(alarms));
    ck_assert(claim(claims[_i].subject) == claims[_i].goes_on);
    ck_assert_uint_eq(count_unclaimed(), claims[_i].goes_on ? 1 : 2);
}
END_TEST

/* Those that weren't claimed yet were saved with the new boot's id. */
START_TEST(alarms_go_on_after_a_reboot_and_a_restart)
{
    put(GOOD);
    open_alarms();
    save(NULL, NULL);
    close_alarms();
    open_alarms();
    ck_assert(!open_alarms_has_rebooted(alarms));
    ck_assert(claim(claims[_i].subject) == claims[_i].goes_on);
    ck_assert_uint_eq(count_unclaimed(), claims[_i].goes_on ? 1 : 2);
}
END_TEST

/* --- Ends that wait --------------------------------------------------------- */

static uint64_t waiting_beginnings[4], waiting_ends[4];
static struct dispatcher_waiting waiting = {.beginnings = waiting_beginnings, .ends = waiting_ends};

static void set_list(uint64_t *list, size_t *count, const char *text)
{
    *count = strlen(text);
    for (size_t i = 0; i < *count; i++)
        list[i] = (uint64_t)(text[i] - '0');
}

/* What waits in the dispatcher, a digit an alarm. @return how many of the ends are left. */
static size_t update(const char *beginnings, const char *ends, uint64_t current, bool is_last,
                     bool changes)
{
    bool has_changed = false;

    set_list(waiting_beginnings, &waiting.beginning_count, beginnings);
    set_list(waiting_ends, &waiting.end_count, ends);
    waiting.current = current;
    size_t left = open_alarms_update_ending(alarms, &waiting, is_last, &has_changed);
    ck_assert(has_changed == changes);
    return left;
}

START_TEST(keeps_alarms_until_their_end_is_dispatched)
{
    put(HEAD "%s" ALARM SYSTEM "end\n", our_boot);
    open_alarms();
    open_alarms_set_ending(alarms, open_alarms_unclaimed(alarms), 1);
    psi_open_alarms_add_ending(alarms, 2, &other, ALARM_SENT);
    psi_open_alarms_add_ending(alarms, 3, &machine_of_memory, ALARM_INHERITED);
    ck_assert_uint_eq(count_unclaimed(), 1);
    ck_assert(!claim(&group));
    ck_assert(!claim(&other));
    ck_assert_uint_eq(update("", "123", 0, false, false), 3);
    ck_assert_uint_eq(update("", "13", 2, false, false), 3); /* a handler has it */
    ck_assert_uint_eq(update("", "13", 0, false, true), 2);
    save(NULL, NULL);
    close_alarms();
    assert_file(HEAD "%s" SYSTEM ALARM "m\tmemory\tsome\tbegins\tsystem\nend\n", our_boot);
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), 3);
    while (count_unclaimed() > 0)
        open_alarms_set_ending(alarms, open_alarms_unclaimed(alarms), 5);
    ck_assert_uint_eq(update("", "13", 0, false, true), 0);
    save(NULL, NULL);
    close_alarms();
    assert_file(HEAD "%send\n", our_boot);
    ck_assert_ptr_null(fake_log(0));
}
END_TEST

/* What is known of an alarm whose end waits: what it was, what waits, and what it is then; and
 * whether it is kept at the shutdown. */
static const struct {
    enum alarm_sent was;
    const char *beginnings;
    uint64_t current;
    enum alarm_sent is;
    bool is_kept;
} sent_cases[] = {
    {ALARM_UNSENT, "2", 0, ALARM_UNSENT, false},
    {ALARM_UNSENT, "2", 9, ALARM_UNSENT, false},
    {ALARM_UNSENT, "2", 2, ALARM_UNSURE, true},
    {ALARM_UNSENT, "", 2, ALARM_UNSURE, true},
    {ALARM_UNSENT, "19", 0, ALARM_SENT, true},
    {ALARM_INHERITED, "", 0, ALARM_INHERITED, true},
    {ALARM_INHERITED, "", 2, ALARM_INHERITED, true}, /* its end */
    {ALARM_UNSURE, "2", 0, ALARM_UNSURE, true},
    {ALARM_UNSURE, "2", 2, ALARM_UNSURE, true},
    {ALARM_UNSURE, "", 2, ALARM_UNSURE, true},
    {ALARM_UNSURE, "", 0, ALARM_SENT, true},
    {ALARM_SENT, "", 0, ALARM_SENT, true},
    {ALARM_SENT, "2", 0, ALARM_SENT, true}, /* that it lasts waits */
    {ALARM_SENT, "2", 2, ALARM_SENT, true},
};

START_TEST(knows_whether_an_ending_alarm_was_sent)
{
    const bool changes = sent_cases[_i].is != sent_cases[_i].was;

    open_alarms();
    psi_open_alarms_add_ending(alarms, 2, &other, sent_cases[_i].was);
    ck_assert_uint_eq(
        update(sent_cases[_i].beginnings, "2", sent_cases[_i].current, false, changes), 1);
    psi_open_alarms_add_ending(alarms, 2, &other, sent_cases[_i].was); /* its twin, to be closed */
    ck_assert_int_eq(open_alarms_take_ending(alarms, 2), sent_cases[_i].is);
    ck_assert_uint_eq(update(sent_cases[_i].beginnings, "2", sent_cases[_i].current, true,
                             changes || !sent_cases[_i].is_kept),
                      sent_cases[_i].is_kept);
}
END_TEST

START_TEST(an_end_that_is_withdrawn_is_forgotten)
{
    open_alarms();
    psi_open_alarms_add_ending(alarms, 2, &other, ALARM_UNSURE);
    psi_open_alarms_add_ending(alarms, 3, &group, ALARM_SENT);
    ck_assert_int_eq(open_alarms_take_ending(alarms, 2), ALARM_UNSURE);
    ck_assert_int_eq(open_alarms_take_ending(alarms, 2), ALARM_SENT); /* it isn't there */
    ck_assert_uint_eq(update("", "3", 0, false, false), 1);
}
END_TEST

/* --- Writing -------------------------------------------------------------- */

START_TEST(the_last_text_is_written_on_closing)
{
    struct stat stat_of;

    open_alarms();
    for (int i = 0; i < 100; i++)
        save(&other, i % 2 == 0 ? &machine : NULL);
    save(&group, &machine);
    close_alarms();
    assert_file(HEAD "%s" ALARM SYSTEM "end\n", our_boot);
    ck_assert_int_eq(stat(path, &stat_of), 0);
    ck_assert_uint_eq(stat_of.st_mode & 0777, 0600);
    ck_assert_int_ne(access(new_path, F_OK), 0);
    open_alarms_close(NULL);
}
END_TEST

START_TEST(writes_without_being_closed)
{
    open_alarms();
    save(&group, NULL);
    for (int waited = 0; access(path, F_OK) != 0; waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
    assert_file(HEAD "%s" ALARM "end\n", our_boot);
}
END_TEST

static void await_dispatched(size_t count)
{
    for (int waited = 0; fake_notifications() < count; waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
}

static bool begin(uint64_t record)
{
    notification_t notice = {.severity = NOTIF_WARNING};

    return dispatcher_queue_beginning(dispatcher, 7, record, &notice);
}

static char content[256]; /* of the file, or what replaces it, when a notification was dispatched */

/* What replaces it comes first: if it is gone, it has become the file. */
static void read_content(__attribute__((unused)) const notification_t *notice,
                         __attribute__((unused)) void *context)
{
    size_t length = 0;

    if (hr_state_file_read_prepared(path, content, sizeof(content), &length) < 0)
        hr_state_file_read(path, content, sizeof(content), &length);
    content[length] = '\0';
}

/* While the disk is stalled. */
static _Atomic bool hangs;

int fsync(__attribute__((unused)) int fd)
{
    while (hangs)
        usleep(1000);
    return 0;
}

START_TEST(an_alarm_is_on_record_before_it_is_dispatched)
{
    char expected[256];

    frozen_ns = hr_clock_ns();
    snprintf(expected, sizeof(expected), HEAD "%s" ALARM "end\n", our_boot);
    open_alarms();
    fake_on_notification(read_content, NULL);
    hangs = _i == 1;
    uint64_t record = open_alarms_next_record(alarms);
    ck_assert(begin(record));
    save(&group, NULL);
    ck_assert_uint_eq(open_alarms_next_record(alarms), record + 1);
    await_dispatched(1);
    frozen_ns = 0;
    hangs = false;
    ck_assert_str_eq(content, expected);
}
END_TEST

/* It was killed before it replaced the file, or while it wrote. */
static const struct {
    const char *file, *prepared, *newest; /* NULL: there is none */
} left[] = {
    {GOOD, HEAD BOOT ALARM "end\n", HEAD BOOT ALARM "end\n"},
    {NULL, GOOD, GOOD},
    {GOOD, HEAD BOOT ALARM "en", GOOD},
    {GOOD, "", GOOD},
};

START_TEST(takes_the_newest_that_is_whole)
{
    char text[512];
    size_t length;

    ck_assert_int_eq(hr_state_file_prepare(path, left[_i].prepared, strlen(left[_i].prepared)), 0);
    if (left[_i].file != NULL)
        put("%s", left[_i].file);
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), strstr(left[_i].newest, SYSTEM) != NULL ? 2 : 1);
    assert_file("%s", left[_i].newest); /* it isn't lost by what is prepared next */
    save(NULL, NULL);
    close_alarms();
    ck_assert_int_eq(hr_state_file_read_prepared(path, text, sizeof(text), &length), -ENOENT);
    ck_assert_ptr_null(fake_log(0));
}
END_TEST

/* What can't be saved delays nothing. */
START_TEST(an_alarm_that_can_not_be_recorded_is_dispatched)
{
    struct dispatcher_waiting now;

    ck_assert_int_eq(rmdir(folder), 0);
    open_alarms();
    save(&group, NULL);
    await_log("the open alarms can't be saved to ");
    for (int i = 0; i < 100; i++) { /* each would take half a second */
        ck_assert(begin(1));
        await_dispatched((size_t)i + 1);
    }
    ck_assert_int_eq(dispatcher_list_waiting(dispatcher, &now), 0);
    dispatcher_waiting_free(&now);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
}
END_TEST

/* A text that is too long would be refused as a whole. */
START_TEST(writes_what_can_be_read)
{
    enum { ALARMS = 4200 };
    char long_path[PATH_MAX];
    const struct psi_subject longest = {&of_memory, "x", long_path};

    memset(long_path, 'x', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    open_alarms();
    open_alarms_begin(alarms);
    for (int i = 0; i < ALARMS; i++)
        psi_open_alarms_add(alarms, &longest, ALARM_SENT);
    open_alarms_commit(alarms);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "of the open alarms aren't saved"), 1);
    save(&group, NULL);
    ck_assert_str_eq(fake_log(1), "info: psi: all open alarms can be saved again.");
    open_alarms_begin(alarms);
    for (int i = 0; i < ALARMS; i++)
        psi_open_alarms_add(alarms, &longest, ALARM_SENT);
    open_alarms_commit(alarms);
    close_alarms();
    open_alarms();
    ck_assert_uint_gt(count_unclaimed(), 4000);
    ck_assert_uint_lt(count_unclaimed(), ALARMS);
    ck_assert_uint_eq(fake_logs(0, NULL), 3);
}
END_TEST

START_TEST(what_has_not_changed_is_not_written)
{
    put(GOOD);
    open_alarms();
    ck_assert(claim(&group));
    close_alarms();
    assert_file(GOOD);
}
END_TEST

#define NOT_SAVED "the open alarms can't be saved to "

START_TEST(a_missing_folder_is_logged_once)
{
    ck_assert_int_eq(rmdir(folder), 0);
    open_alarms();
    ck_assert_ptr_null(fake_log(0));
    save(&group, NULL);
    await_log(NOT_SAVED);
    save(&other, NULL);
    save(&group, NULL);
    close_alarms();
    ck_assert_uint_eq(fake_logs(LOG_WARNING, NOT_SAVED), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "No such file or directory (option StateFile)."), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 1);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
}
END_TEST

START_TEST(a_folder_that_comes_is_logged)
{
    ck_assert_int_eq(rmdir(folder), 0);
    open_alarms();
    save(&group, NULL);
    await_log(NOT_SAVED);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    save(&group, NULL);
    close_alarms();
    ck_assert_str_eq(fake_log(1), "info: psi: the open alarms are being saved again.");
    ck_assert_ptr_null(fake_log(2));
    assert_file(HEAD "%s" ALARM "end\n", our_boot);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    add_open_alarms_fixture(tests);
    tcase_add_loop_test(tests, alarms_go_on_after_a_restart, 0, COUNT(claims));
    tcase_add_loop_test(tests, alarms_go_on_after_a_reboot, 0, COUNT(claims));
    tcase_add_loop_test(tests, alarms_go_on_after_a_reboot_and_a_restart, 0, COUNT(claims));
    tcase_add_test(tests, keeps_alarms_until_their_end_is_dispatched);
    tcase_add_loop_test(tests, knows_whether_an_ending_alarm_was_sent, 0, COUNT(sent_cases));
    tcase_add_test(tests, an_end_that_is_withdrawn_is_forgotten);
    tcase_add_test(tests, the_last_text_is_written_on_closing);
    tcase_add_loop_test(tests, an_alarm_is_on_record_before_it_is_dispatched, 0, 2);
    tcase_add_loop_test(tests, takes_the_newest_that_is_whole, 0, COUNT(left));
    tcase_add_test(tests, an_alarm_that_can_not_be_recorded_is_dispatched);
    tcase_add_test(tests, writes_what_can_be_read);
    tcase_add_test(tests, writes_without_being_closed);
    tcase_add_test(tests, what_has_not_changed_is_not_written);
    tcase_add_test(tests, a_missing_folder_is_logged_once);
    tcase_add_test(tests, a_folder_that_comes_is_logged);
    return run_suite("psi open alarms", tests);
}
