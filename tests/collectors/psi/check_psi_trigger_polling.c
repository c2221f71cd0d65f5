/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_psi_trigger_polling.c - how polling detects events, and whether they go on.
 * check_psi_window.c has the estimate, check_psi_trigger_live.c what needs a kernel.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "collectors/psi/psi_trigger_harness.h"
#include "headroom/clock.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- Polling -------------------------------------------------------------- */

START_TEST(measures_a_stall)
{
    uint64_t before_ns = hr_clock_ns();
    struct hr_psi_event event;

    begin_polling(SECOND / 10, LONG);
    sleep_ms(20);
    assert_quiet(0);
    sleep_ms(30);
    add_stall(123456);
    uint64_t grown_ns = hr_clock_ns();
    ck_assert_int_eq(read_trigger(&event), 0);
    uint64_t after_ns = hr_clock_ns();
    ck_assert(event.measured);
    ck_assert_uint_eq(event.stalled_us, 123456);
    ck_assert_uint_ge(event.time_ns, grown_ns);
    ck_assert_uint_le(event.time_ns, after_ns);
    ck_assert_uint_ge(event.elapsed_us, 50000); /* since it was armed */
    ck_assert_uint_le(event.elapsed_us, (after_ns - before_ns) / 1000);
}
END_TEST

START_TEST(measures_the_level_asked_for)
{
    const struct hr_psi_trigger_options options = {HR_PSI_MEMORY, HR_PSI_FULL, 60000, LONG,
                                                   HR_PSI_TRIGGER_POLL};
    struct hr_psi_event event;

    ck_assert_int_eq(hr_psi_trigger_open_system(root, &options, &trigger), 0);
    add_stall(100000);
    assert_quiet(0);
    add_stall(50000);
    ck_assert_int_eq(read_trigger(&event), 0);
    ck_assert_uint_eq(event.stalled_us, 75000);
}
END_TEST

/* The kernel's total is rounded down to a microsecond, so that the difference may lack one. */
static const struct {
    uint64_t stall_us, grown_us;
    int status;
} limits[] = {
    {500000, 500000, 0},       {500000, 499999, 0}, {500000, 499998, -EAGAIN},
    {500000, 0, -EAGAIN},      {500000, 800000, 0}, {LONG, LONG - 1, 0},
    {LONG, LONG - 2, -EAGAIN}, {2, 1, 0},           {2, 0, -EAGAIN},
};

START_TEST(allows_for_rounding)
{
    struct hr_psi_event event;

    begin_polling(limits[_i].stall_us, LONG);
    add_stall(limits[_i].grown_us);
    ck_assert_int_eq(read_trigger(&event), limits[_i].status);
    if (limits[_i].status == 0)
        ck_assert_uint_eq(event.stalled_us, limits[_i].grown_us);
}
END_TEST

START_TEST(reports_a_stall_once)
{
    struct hr_psi_event event;

    begin_polling(50000, SECOND / 10);
    grow_until_event(50000, &event);
    for (int i = 0; i < 40; i++) {
        assert_quiet(0);
        sleep_ms(10);
    }
}
END_TEST

START_TEST(reports_one_event_a_window)
{
    const uint64_t window_us = SECOND / 10;
    struct hr_psi_event former = {0}, event;
    uint64_t reported_us = 0;

    begin_polling(50000, window_us);
    for (int i = 0; i < 5; i++) {
        grow_until_event(50000, &event);
        if (i > 0)
            ck_assert_uint_ge(event.time_ns - former.time_ns, window_us * 1000);
        ck_assert(event.measured);
        /* it was in one window, however late we are */
        ck_assert_uint_ge(event.stalled_us + 1, 50000);
        ck_assert_uint_ge(event.stalled_us + 1 + window_us, 50000 + event.elapsed_us);
        /* Its stall began after that of the previous event. */
        if (i > 0)
            ck_assert_uint_le(event.elapsed_us, (event.time_ns - former.time_ns) / 1000);
        reported_us += event.stalled_us;
        ck_assert_uint_le(reported_us, total_us - BEGINNING);
        former = event;
    }
}
END_TEST

START_TEST(gets_over_a_total_that_goes_back)
{
    struct hr_psi_event event;

    begin_polling(50000, SECOND / 10);
    total_us = 10;
    add_stall(0);
    assert_quiet(0);
    assert_quiet(EPOLLPRI);
    grow_until_event(50000, &event);
    ck_assert_uint_le(event.stalled_us, total_us - 10);
}
END_TEST

/* What was stalled in the window after an event is reported when that is over. */
START_TEST(reports_a_stall_that_had_to_wait)
{
    struct hr_psi_event event;

    begin_polling(50000, SECOND / 10);
    add_stall(60000);
    sleep_ms(100);
    ck_assert_int_eq(read_trigger(&event), 0);
    ck_assert_uint_ge(hr_psi_trigger_due_ns(trigger), (clock_us + SECOND / 10) * 1000);
    add_stall(70000);
    sleep_ms(50);
    assert_quiet(0);
    wait_until_due();
    ck_assert_int_eq(read_trigger(&event), 0);
    ck_assert(event.measured);
    ck_assert_uint_eq(event.stalled_us, 70000);
}
END_TEST

/* The limit is the window, all of the time is stalled, and each read is of a total a little after
 * its time: the first one most. */
START_TEST(reports_a_stall_as_long_as_the_window)
{
    static const uint64_t late_us[] = {1000, 300, 0, 700, 200, 500, 100};
    uint64_t begin_us = clock_us, events = 0;
    struct hr_psi_event event;

    add_stall(late_us[0]);
    begin_polling(SECOND, SECOND);
    for (unsigned i = 1; i <= 300; i++) {
        sleep_ms(100);
        total_us = BEGINNING + clock_us - begin_us;
        add_stall(late_us[i % COUNT(late_us)]);
        events += read_trigger(&event) == 0;
    }
    ck_assert_uint_ge(events, 25);
    ck_assert_uint_le(events, 30);
}
END_TEST

/* --- Whether it goes on --------------------------------------------------- */

static int confirm(struct hr_psi_event *event)
{
    return hr_psi_trigger_confirm(trigger, event);
}

static const enum hr_psi_trigger_mode both[] = {HR_PSI_TRIGGER_POLL, HR_PSI_TRIGGER_KERNEL};

/* By the average since the last event, or since it was opened. */
static const struct {
    unsigned elapsed_ms;
    uint64_t stalled_us;
    int status;
} averages[] = {
    {3000, 450000, 0},       {3000, 449999, 0},  {3000, 449990, -EAGAIN}, {3000, 3000000, 0},
    {3000, 150000, -EAGAIN}, {3000, 0, -EAGAIN}, {0, 0, -EAGAIN},         {600000, 90000000, 0},
};

START_TEST(confirms_that_it_still_stalls)
{
    const int row = _i / (int)COUNT(both);
    struct hr_psi_event event = {0};

    ck_assert_int_eq(open_trigger(both[_i % (int)COUNT(both)], 150000, SECOND), 0);
    for (int i = 0; i < 2; i++) {
        sleep_ms(averages[row].elapsed_ms);
        add_stall(averages[row].stalled_us);
        ck_assert_int_eq(confirm(&event), averages[row].status);
        if (averages[row].status < 0)
            return;
        ck_assert(event.measured);
        ck_assert_uint_eq(event.time_ns, clock_us * 1000);
        ck_assert_uint_eq(event.stalled_us, averages[row].stalled_us);
        ck_assert_uint_eq(event.elapsed_us, (uint64_t)averages[row].elapsed_ms * 1000);
    }
}
END_TEST

/* What was confirmed isn't reported again. */
START_TEST(confirms_a_stall_once)
{
    struct hr_psi_event event;

    ck_assert_int_eq(open_trigger(both[_i], 150000, SECOND), 0);
    sleep_ms(1000);
    add_stall(200000);
    ck_assert_int_eq(confirm(&event), 0);
    sleep_ms(1100);
    ck_assert_int_eq(confirm(&event), -EAGAIN);
    assert_quiet(both[_i] == HR_PSI_TRIGGER_KERNEL ? EPOLLPRI : 0);
    ck_assert_int_eq(confirm(&event), -EAGAIN);
}
END_TEST

START_TEST(reports_that_it_can_not_be_confirmed)
{
    struct hr_psi_event event;

    ck_assert_int_eq(open_trigger(both[_i], 150000, SECOND), 0);
    tree_write(tree, "proc/pressure/memory", "?");
    ck_assert_int_eq(confirm(&event), -EBADMSG);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    add_trigger_fixture(tests);
    tcase_add_test(tests, measures_a_stall);
    tcase_add_test(tests, measures_the_level_asked_for);
    tcase_add_loop_test(tests, allows_for_rounding, 0, COUNT(limits));
    tcase_add_test(tests, reports_a_stall_once);
    tcase_add_test(tests, reports_one_event_a_window);
    tcase_add_test(tests, gets_over_a_total_that_goes_back);
    tcase_add_test(tests, reports_a_stall_that_had_to_wait);
    tcase_add_test(tests, reports_a_stall_as_long_as_the_window);
    tcase_add_loop_test(tests, confirms_that_it_still_stalls, 0, COUNT(averages) * COUNT(both));
    tcase_add_loop_test(tests, confirms_a_stall_once, 0, COUNT(both));
    tcase_add_loop_test(tests, reports_that_it_can_not_be_confirmed, 0, COUNT(both));
    return run_suite("psi trigger polling", tests);
}
