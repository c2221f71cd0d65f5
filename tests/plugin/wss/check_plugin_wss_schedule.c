/* SPDX-License-Identifier: MIT */
/*
 * plugin/wss/check_plugin_wss_schedule.c - the plugin wss: when targets are due.
 */
#include "wss/backoff.h"
#include "wss/schedule.h"

#include <stdlib.h>

#include "headroom/clock.h"
#include "support/suite.h"

#define ENTRIES 200

static struct wss_schedule schedule;
static struct wss_due entries[ENTRIES];

static void set_up(void)
{
    schedule = (struct wss_schedule){0};
    for (size_t i = 0; i < ENTRIES; i++)
        entries[i] = (struct wss_due){0};
    srand(4711);
}

static void tear_down(void)
{
    wss_schedule_free(&schedule);
}

static void put(struct wss_due *due)
{
    ck_assert_int_eq(wss_schedule_put(&schedule, due, (uint64_t)rand() % 100), 0);
}

/* Removes all, in order. @return how many there were. */
static size_t drain(void)
{
    uint64_t last_ns = 0;
    size_t count = 0;

    for (struct wss_due *due; (due = wss_schedule_first(&schedule)) != NULL; count++) {
        ck_assert_uint_ge(due->at_ns, last_ns);
        last_ns = due->at_ns;
        wss_schedule_remove(&schedule, due);
        ck_assert_uint_eq(due->place, 0);
    }
    return count;
}

START_TEST(is_empty_at_first)
{
    ck_assert_ptr_null(wss_schedule_first(&schedule));
    wss_schedule_remove(&schedule, &entries[0]);
}
END_TEST

START_TEST(gives_them_in_order)
{
    for (size_t i = 0; i < ENTRIES; i++)
        put(&entries[i]);
    ck_assert_uint_eq(drain(), ENTRIES);
}
END_TEST

START_TEST(keeps_the_order_as_they_change_and_go)
{
    size_t count = 0;

    for (int i = 0; i < 5000; i++) {
        struct wss_due *due = &entries[rand() % ENTRIES];
        if (rand() % 3 == 0)
            wss_schedule_remove(&schedule, due);
        else
            put(due);
    }
    for (size_t i = 0; i < ENTRIES; i++)
        count += entries[i].place != 0;
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_eq(drain(), count);
}
END_TEST

static size_t visited, visited_late;

static void count_due(struct wss_due *due)
{
    visited++;
    visited_late += due->at_ns > ENTRIES / 2;
}

START_TEST(visits_all_that_are_due)
{
    for (size_t i = 0; i < ENTRIES; i++)
        wss_schedule_put(&schedule, &entries[i], 1 + i * 7 % ENTRIES);
    visited = visited_late = 0;
    wss_schedule_each_due(&schedule, ENTRIES / 2, count_due);
    ck_assert_uint_eq(visited, ENTRIES / 2);
    ck_assert_uint_eq(visited_late, 0);
    wss_schedule_each_due(&schedule, 0, count_due);
    ck_assert_uint_eq(visited, ENTRIES / 2);
    drain();
    wss_schedule_each_due(&schedule, ENTRIES, count_due);
    ck_assert_uint_eq(visited, ENTRIES / 2);
}
END_TEST

/* --- Backing off ---------------------------------------------------------- */

START_TEST(backs_off_up_to_an_hour_and_step_by_step_back)
{
    const uint64_t cycle_ns = 10 * HR_NS_PER_S;
    uint64_t expected_ns = cycle_ns;
    struct wss_backoff backoff = {0};

    for (int i = 0; i < 100; i++) {
        ck_assert_uint_eq(wss_backoff_cycle_ns(&backoff, cycle_ns), expected_ns);
        ck_assert_int_eq(wss_backoff_is_over(&backoff), i == 0);
        wss_backoff_extend(&backoff, cycle_ns);
        expected_ns = expected_ns < 1800 * HR_NS_PER_S ? 2 * expected_ns : 3600 * HR_NS_PER_S;
    }
    for (int i = 0; i < 9; i++, wss_backoff_relax(&backoff))
        ck_assert(!wss_backoff_is_over(&backoff)); /* 10 s, nine times doubled, exceed an hour */
    ck_assert(wss_backoff_is_over(&backoff));
    wss_backoff_relax(&backoff);
    ck_assert_uint_eq(wss_backoff_cycle_ns(&backoff, cycle_ns), cycle_ns);
}
END_TEST

START_TEST(never_shortens_a_cycle)
{
    const uint64_t cycle_ns = 3601 * HR_NS_PER_S;
    struct wss_backoff backoff = {0};

    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(wss_backoff_cycle_ns(&backoff, cycle_ns), cycle_ns);
        wss_backoff_extend(&backoff, cycle_ns);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("schedule");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, is_empty_at_first);
    tcase_add_test(tests, gives_them_in_order);
    tcase_add_test(tests, keeps_the_order_as_they_change_and_go);
    tcase_add_test(tests, visits_all_that_are_due);
    tcase_add_test(tests, backs_off_up_to_an_hour_and_step_by_step_back);
    tcase_add_test(tests, never_shortens_a_cycle);
    return run_suite("wss schedule", tests);
}
