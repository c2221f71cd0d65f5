/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/check_plugin_dispatcher.c - in which order notifications are dispatched, how many a
 * second, what waits and what is refused while a handler hangs, and what stopping does with them.
 */
#include <check.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "common/dispatcher.h"
#include "headroom/clock.h"
#include "support/descriptor_shortage.h"
#include "support/fake_collectd.h"
#include "support/frozen_clock.h"
#include "support/suite.h"

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))
#define NO_LIMIT     1000000
#define PATIENCE_MS  50000
#define BLOCKER      1000000 /* the alarm whose beginning the handler keeps */

static struct dispatcher *dispatcher;
static sem_t entered, released;

/* What waiting for a thread with a limit does in a test: nothing, but it remembers the limit. */
static bool joins_nothing;
static struct timespec join_limit;

int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    if (!joins_nothing)
        return pthread_join(thread, result);
    join_limit = *until;
    return ETIMEDOUT;
}

static void set_up(void)
{
    fake_start_parts();
    sem_init(&entered, 0, 0);
    sem_init(&released, 0, 0);
    ck_assert_int_eq(dispatcher_open("x", NO_LIMIT, NULL, &dispatcher), 0);
}

static void tear_down(void)
{
    frozen_ns = 0;
    dispatcher_close(dispatcher);
    fake_stop();
    sem_destroy(&entered);
    sem_destroy(&released);
}

static void reopen(size_t per_second, const char *option)
{
    dispatcher_close(dispatcher);
    ck_assert_int_eq(dispatcher_open("x", per_second, option, &dispatcher), 0);
}

/* --- Queueing ------------------------------------------------------------- */

/* "b7": the beginning of alarm 7; with metadata, which must be freed. */
static notification_t make_notice(char kind, uint64_t alarm)
{
    notification_t notice = {.severity = kind == 'b' ? NOTIF_WARNING : NOTIF_OKAY};

    snprintf(notice.message, sizeof(notice.message), "%c%d", kind, (int)alarm);
    plugin_notification_meta_add_string(&notice, "Trigger", "of the alarm");
    return notice;
}

static bool begin_after(uint64_t record, uint64_t alarm)
{
    notification_t notice = make_notice('b', alarm);
    bool is_queued = dispatcher_queue_beginning(dispatcher, alarm, record, &notice);

    ck_assert_ptr_null(notice.meta);
    return is_queued;
}

static bool begin(uint64_t alarm)
{
    return begin_after(0, alarm);
}

static bool end(uint64_t alarm)
{
    notification_t notice = make_notice('e', alarm);
    bool is_queued = dispatcher_queue_end(dispatcher, alarm, &notice);

    ck_assert_ptr_null(notice.meta);
    return is_queued;
}

static bool has_beginning(uint64_t alarm)
{
    struct dispatcher_waiting waiting;

    ck_assert_int_eq(dispatcher_list_waiting(dispatcher, &waiting), 0);
    bool has = dispatcher_waiting_has_beginning(&waiting, alarm);
    dispatcher_waiting_free(&waiting);
    return has;
}

/* Or a handler has it. */
static bool has_end(uint64_t alarm)
{
    struct dispatcher_waiting waiting;

    ck_assert_int_eq(dispatcher_list_waiting(dispatcher, &waiting), 0);
    bool has = waiting.current == alarm || dispatcher_waiting_has_end(&waiting, alarm);
    dispatcher_waiting_free(&waiting);
    return has;
}

static void await_count(size_t count)
{
    for (int waited = 0; fake_notifications() < count; waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
}

/* The handler has it for a moment after what it did is seen. */
static void await_no_end(uint64_t alarm)
{
    for (int waited = 0; has_end(alarm); waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
}

/* --- A handler that hangs --------------------------------------------------- */

static void hang(const notification_t *notice, __attribute__((unused)) void *context)
{
    if (notice->message[0] != 'b' || atoi(notice->message + 1) != BLOCKER)
        return;
    sem_post(&entered);
    while (sem_wait(&released) < 0)
        continue;
}

/* From now on what is queued waits, until the handler is released. */
static void keep_handler(void)
{
    fake_on_notification(hang, NULL);
    ck_assert(begin(BLOCKER));
    while (sem_wait(&entered) < 0)
        continue;
}

/* --- Order ---------------------------------------------------------------- */

/* What is called while the handler hangs: b: begin, e: end, w: withdraw an end that waits, n:
 * withdraw one that doesn't. And what is dispatched afterwards. */
static const struct {
    const char *calls, *dispatched;
} orders[] = {
    {"b1 b2 b3", "b1 b2 b3"},
    {"e1 e2 e3", "e1 e2 e3"},
    {"e1 b2", "b2 e1"},
    {"e1 b2 e3 b4 e5 b6", "b2 b4 b6 e1 e3 e5"},
    {"b1 e1", "b1 e1"},
    {"b1 b1 e1", "b1 b1 e1"}, /* it lasts */
    {"b1 e1 b2 e2 b3 e3", "b1 b2 b3 e1 e2 e3"},
    {"e1 w1", ""},
    {"e1 w1 n1 e1", "e1"},
    {"n1 b1 n1 e1 n2", "b1 e1"},
    {"e1 e2 e3 w1 b4", "b4 e2 e3"}, /* the first, one between and the last of a queue */
    {"e1 e2 e3 w2 e4", "e1 e3 e4"},
    {"e1 e2 e3 w3 e4", "e1 e2 e4"},
    {"b1 e1 w1 b1 e1", "b1 b1 e1"},
};

static void call(const char *word)
{
    const uint64_t alarm = strtoull(word + 1, NULL, 10);

    switch (word[0]) {
    case 'b':
        ck_assert(begin(alarm));
        ck_assert(has_beginning(alarm));
        break;
    case 'e':
        ck_assert(end(alarm));
        ck_assert(has_end(alarm));
        break;
    default:
        ck_assert(has_end(alarm) == (word[0] == 'w'));
        ck_assert(dispatcher_withdraw_end(dispatcher, alarm) == (word[0] == 'w'));
        ck_assert(!has_end(alarm));
    }
}

START_TEST(dispatches_beginnings_first)
{
    const char *const calls = orders[_i].calls, *const expected = orders[_i].dispatched;
    char dispatched[64] = "";

    keep_handler();
    ck_assert(!has_beginning(BLOCKER)); /* the handler has it */
    for (const char *word = calls; word != NULL; word = strchr(word, ' '))
        call(word += *word == ' ');
    ck_assert_uint_eq(fake_notifications(), 0);
    sem_post(&released);
    const size_t count = (strlen(expected) + 1) / 3;
    await_count(1 + count);
    for (size_t i = 1; i <= count; i++) {
        strcat(dispatched, i > 1 ? " " : "");
        strcat(dispatched, fake_notification(i)->message);
        ck_assert_str_eq(fake_notification(i)->meta->nm_value.nm_string, "of the alarm");
    }
    ck_assert_str_eq(dispatched, expected);
    ck_assert(!has_beginning(1));
    await_no_end(1);
    ck_assert_ptr_null(fake_log(0));
}
END_TEST

/* Alarms begin, end and begin again at random while the thread dispatches: each has a beginning, an
 * end, a beginning, … */
enum { ALARMS = 20, STEPS = 5000 };

START_TEST(keeps_the_order_of_each_alarm)
{
    bool is_open[ALARMS] = {false}, has_begun[ALARMS] = {false};
    size_t expected = 0;
    unsigned seed = (unsigned)_i;

    for (int i = 0; i < STEPS; i++) {
        const int alarm = rand_r(&seed) % ALARMS;
        if (is_open[alarm]) {
            ck_assert(end((uint64_t)alarm));
            is_open[alarm] = false;
            expected++;
        } else if (dispatcher_withdraw_end(dispatcher, (uint64_t)alarm)) {
            is_open[alarm] = true;
            expected--;
        } else if (begin_after((uint64_t)rand_r(&seed) % 2 * (uint64_t)i, (uint64_t)alarm)) {
            is_open[alarm] = true;
            expected++;
        }
        if (rand_r(&seed) % 50 == 0)
            dispatcher_set_saved(dispatcher, (uint64_t)i);
    }
    dispatcher_set_saved(dispatcher, STEPS);
    await_count(expected);
    ck_assert_uint_eq(fake_notifications(), expected);
    for (size_t i = 0; i < expected; i++) {
        const char *message = fake_notification(i)->message;
        const int alarm = atoi(message + 1);
        ck_assert_msg((message[0] == 'e') == has_begun[alarm], "%s, %zu", message, i);
        has_begun[alarm] = message[0] == 'b';
    }
    for (int alarm = 0; alarm < ALARMS; alarm++)
        ck_assert(has_begun[alarm] == is_open[alarm]);
}
END_TEST

/* --- Records -------------------------------------------------------------- */

/* By a clock that stands still: only the record can make it go. */
START_TEST(a_beginning_waits_for_its_record)
{
    frozen_ns = hr_clock_ns();
    ck_assert(begin_after(5, 1) && begin(2) && end(3));
    dispatcher_set_saved(dispatcher, 4);
    frozen_ns += HR_NS_PER_S / 2 - 1;
    usleep(100000);
    ck_assert_uint_eq(fake_notifications(), 0);
    ck_assert(has_beginning(1) && has_beginning(2) && has_end(3));
    dispatcher_set_saved(dispatcher, 5);
    await_count(2);
    ck_assert_str_eq(fake_notification(0)->message, "b1");
    ck_assert_str_eq(fake_notification(1)->message, "b2");
    dispatcher_set_saved(dispatcher, 3); /* which changes nothing */
    ck_assert(begin_after(5, 4));
    await_count(3);
}
END_TEST

START_TEST(a_beginning_waits_for_half_a_second_at_most)
{
    frozen_ns = hr_clock_ns();
    ck_assert(begin_after(UINT64_MAX, 1));
    usleep(100000);
    ck_assert_uint_eq(fake_notifications(), 0);
    frozen_ns += HR_NS_PER_S / 2;
    await_count(1);
}
END_TEST

START_TEST(lists_what_waits)
{
    struct dispatcher_waiting waiting;

    keep_handler();
    ck_assert(begin(3) && begin(1) && begin(3) && end(9) && end(2) && end(UINT64_MAX));
    ck_assert_int_eq(dispatcher_list_waiting(dispatcher, &waiting), 0);
    ck_assert_uint_eq(waiting.beginning_count, 3);
    ck_assert_uint_eq(waiting.beginnings[0], 1);
    ck_assert_uint_eq(waiting.beginnings[1], 3);
    ck_assert_uint_eq(waiting.beginnings[2], 3);
    ck_assert_uint_eq(waiting.end_count, 3);
    ck_assert_uint_eq(waiting.ends[0], 2);
    ck_assert_uint_eq(waiting.ends[2], UINT64_MAX);
    ck_assert_uint_eq(waiting.current, BLOCKER);
    ck_assert(!dispatcher_waiting_has_beginning(&waiting, BLOCKER));
    ck_assert(!dispatcher_waiting_has_beginning(&waiting, 2));
    ck_assert(!dispatcher_waiting_has_end(&waiting, 3));
    dispatcher_waiting_free(&waiting);
    ck_assert(!dispatcher_waiting_has_end(&waiting, 2));
    sem_post(&released);
    await_count(7);
    await_no_end(UINT64_MAX);
}
END_TEST

/* --- Limits --------------------------------------------------------------- */

/* By a clock that stands still until a second's notifications have come. */
START_TEST(limits_notifications_a_second)
{
    const uint64_t begun_ns = hr_clock_ns();

    frozen_ns = begun_ns;
    reopen(4, NULL);
    for (uint64_t alarm = 0; alarm < 6; alarm++)
        ck_assert(begin(alarm));
    await_count(4);
    ck_assert(end(0)); /* which doesn't make it sooner */
    frozen_ns = begun_ns + HR_NS_PER_S - 1;
    usleep(1200000);
    ck_assert_uint_eq(fake_notifications(), 4);
    frozen_ns = begun_ns + HR_NS_PER_S;
    await_count(7);
    ck_assert_str_eq(fake_notification(4)->message, "b4");
    ck_assert_str_eq(fake_notification(6)->message, "e0");
    ck_assert(begin(6)); /* the fourth of this second */
    await_count(8);
    ck_assert(begin(7));
    ck_assert(has_beginning(7));
    frozen_ns = 0;
}
END_TEST

static void fill_up(void)
{
    keep_handler();
    for (uint64_t alarm = 1; alarm < DISPATCHER_CAPACITY; alarm++)
        ck_assert(begin(alarm));
    ck_assert(dispatcher_can_queue(dispatcher));
    ck_assert(begin(DISPATCHER_CAPACITY));
    ck_assert(!dispatcher_can_queue(dispatcher));
}

START_TEST(refuses_beginnings_beyond_the_capacity)
{
    fill_up();
    for (uint64_t alarm = 1; alarm < 5; alarm++) {
        ck_assert(!begin(BLOCKER + alarm));
        ck_assert(!has_beginning(BLOCKER + alarm));
        ck_assert(end(alarm)); /* ends can be queued always */
    }
    ck_assert_str_eq(
        fake_log(0),
        "warning: x: 1000 notifications are queued, so new alarms aren't reported until the queue "
        "shortens: a notification handler (such as headroom-mail) is slow or hangs, or there are "
        "more than 1000000 a second.");
    ck_assert_ptr_null(fake_log(1));
    sem_post(&released);
    await_count(1 + DISPATCHER_CAPACITY + 4);
    ck_assert(dispatcher_can_queue(dispatcher));
    ck_assert(begin(BLOCKER + 1));
    ck_assert_str_eq(fake_log(1), "info: x: new alarms can be reported again.");
    ck_assert_ptr_null(fake_log(2));
    await_count(1 + DISPATCHER_CAPACITY + 5);
    fill_up(); /* which is logged again */
    ck_assert(!begin(BLOCKER + 1));
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "1000 notifications are queued"), 2);
    ck_assert_uint_eq(fake_logs(0, NULL), 3);
    sem_post(&released);
}
END_TEST

START_TEST(names_the_option_that_limits)
{
    reopen(NO_LIMIT, "MostNotices");
    fill_up();
    ck_assert_ptr_nonnull(
        strstr(fake_log(0), "or there are more than 1000000 a second, the limit by MostNotices."));
    sem_post(&released);
}
END_TEST

/* --- Stopping ------------------------------------------------------------- */

static void *stop(__attribute__((unused)) void *context)
{
    dispatcher_stop(dispatcher);
    return NULL;
}

/* As stopping waits for the handler that hangs, another thread does it. */
static void stop_while_handler_hangs(void)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, stop, NULL), 0);
    while (dispatcher_can_queue(dispatcher))
        usleep(1000);
    sem_post(&released);
    pthread_join(thread, NULL);
}

START_TEST(stopping_dispatches_nothing_more)
{
    keep_handler();
    ck_assert(begin(2) && end(3) && end(4));
    stop_while_handler_hangs();
    ck_assert_uint_eq(fake_notifications(), 1); /* which the handler had */
    ck_assert_str_eq(fake_notification(0)->message, "b1000000");
    ck_assert(!has_beginning(BLOCKER));
    ck_assert(has_beginning(2));
    ck_assert(has_end(3) && has_end(4));
    ck_assert(!begin(5) && !has_beginning(5));
    ck_assert(!dispatcher_can_queue(dispatcher));
    ck_assert(end(2) && has_end(2));
    ck_assert(dispatcher_withdraw_end(dispatcher, 3) && !has_end(3));
    dispatcher_stop(dispatcher);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_ptr_null(fake_log(0));
}
END_TEST

/* While the limit is reached, too. */
START_TEST(stopping_needs_no_second)
{
    frozen_ns = hr_clock_ns();
    reopen(1, NULL);
    ck_assert(begin(1) && begin(2));
    await_count(1);
    dispatcher_stop(dispatcher);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert(has_beginning(2));
}
END_TEST

static int64_t to_ns(const struct timespec *time)
{
    return time->tv_sec * (int64_t)HR_NS_PER_S + time->tv_nsec;
}

/* The shutdown goes on, and leaves the handler what it uses. */
START_TEST(stopping_waits_for_a_hanging_handler_for_five_seconds)
{
    struct timespec before, after;

    keep_handler();
    ck_assert(begin(2));
    joins_nothing = true;
    clock_gettime(CLOCK_REALTIME, &before);
    ck_assert(!dispatcher_stop(dispatcher));
    clock_gettime(CLOCK_REALTIME, &after);
    ck_assert_int_ge(to_ns(&join_limit), to_ns(&before) + 5 * (int64_t)HR_NS_PER_S);
    ck_assert_int_le(to_ns(&join_limit), to_ns(&after) + 5 * (int64_t)HR_NS_PER_S);
    dispatcher_close(dispatcher);
    struct dispatcher_waiting waiting;
    ck_assert_int_eq(dispatcher_list_waiting(dispatcher, &waiting), 0);
    ck_assert_uint_eq(waiting.current, BLOCKER);
    dispatcher_waiting_free(&waiting);
    ck_assert_uint_eq(fake_notifications(), 0);
    joins_nothing = false;
    sem_post(&released);
    ck_assert(dispatcher_stop(dispatcher)); /* it has ended at last */
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

START_TEST(closes_none)
{
    dispatcher_stop(NULL);
    dispatcher_close(NULL);
}
END_TEST

/* It needs one. */
START_TEST(reports_a_lack_of_descriptors)
{
    struct dispatcher *none = NULL;

    leave_descriptors(0);
    ck_assert_int_eq(dispatcher_open("x", 1, NULL, &none), -EMFILE);
    ck_assert_ptr_null(none);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("dispatcher");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, dispatches_beginnings_first, 0, COUNT(orders));
    tcase_add_loop_test(tests, keeps_the_order_of_each_alarm, 0, 3);
    tcase_add_test(tests, a_beginning_waits_for_its_record);
    tcase_add_test(tests, a_beginning_waits_for_half_a_second_at_most);
    tcase_add_test(tests, lists_what_waits);
    tcase_add_test(tests, limits_notifications_a_second);
    tcase_add_test(tests, refuses_beginnings_beyond_the_capacity);
    tcase_add_test(tests, names_the_option_that_limits);
    tcase_add_test(tests, stopping_dispatches_nothing_more);
    tcase_add_test(tests, stopping_needs_no_second);
    tcase_add_test(tests, stopping_waits_for_a_hanging_handler_for_five_seconds);
    tcase_add_test(tests, closes_none);
    tcase_add_test(tests, reports_a_lack_of_descriptors);
    return run_suite("plugin dispatcher", tests);
}
