/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/check_plugin_timers.c - which timer is due first, by random operations on the heap
 * and on a plain list of the same timers.
 */
#include <check.h>
#include <stdlib.h>

#include "common/timers.h"
#include "support/suite.h"

enum { TIMERS = 100, OPERATIONS = 5000, SEEDS = 4 };

static struct timers timers;
static struct timer many[TIMERS];
static uint64_t due_ns[TIMERS]; /* the list; TIMER_NEVER: not set */

static void set_up(void)
{
    timers = (struct timers){0};
    for (int i = 0; i < TIMERS; i++) {
        many[i] = (struct timer){0};
        due_ns[i] = TIMER_NEVER;
    }
    ck_assert_int_eq(timers_reserve(&timers, TIMERS), 0);
}

static void tear_down(void)
{
    timers_free(&timers);
    ck_assert_ptr_null(timers_first(&timers));
}

static void set(int i, uint64_t ns)
{
    timer_set(&timers, &many[i], ns);
    due_ns[i] = ns;
}

/* Asserts little, as Check writes each assertion down. */
static void assert_first(void)
{
    const struct timer *first = timers_first(&timers);
    uint64_t earliest_ns = TIMER_NEVER;
    size_t wrong = 0;

    for (int i = 0; i < TIMERS; i++) {
        wrong += many[i].position > 0 && many[i].due_ns != due_ns[i];
        wrong += (many[i].position == 0) != (due_ns[i] == TIMER_NEVER);
        if (due_ns[i] < earliest_ns)
            earliest_ns = due_ns[i];
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(first != NULL ? first->due_ns : TIMER_NEVER, earliest_ns);
}

/* Few times, so that many are the same; and the ends of the range. */
static uint64_t random_ns(unsigned *seed)
{
    const int kind = rand_r(seed) % 16;

    if (kind < 4)
        return TIMER_NEVER;
    return kind == 4 ? 0 : kind == 5 ? TIMER_NEVER - 1 : (uint64_t)(rand_r(seed) % 200);
}

START_TEST(is_as_a_plain_list)
{
    unsigned seed = (unsigned)_i;
    uint64_t last_ns = 0;
    struct timer *first;

    for (int i = 0; i < OPERATIONS; i++) {
        set(rand_r(&seed) % TIMERS, random_ns(&seed));
        assert_first();
    }
    while ((first = timers_first(&timers)) != NULL) { /* all, in their order */
        ck_assert_uint_ge(first->due_ns, last_ns);
        last_ns = first->due_ns;
        set((int)(first - many), TIMER_NEVER);
        assert_first();
    }
}
END_TEST

START_TEST(orders_by_address_what_is_due_at_once)
{
    unsigned seed = (unsigned)_i;

    for (int i = 0; i < OPERATIONS; i++)
        set(rand_r(&seed) % TIMERS, 7);
    for (int i = 0; i < TIMERS; i++)
        set(i, 7);
    for (int i = 0; i < TIMERS; i++) {
        ck_assert_ptr_eq(timers_first(&timers), &many[i]);
        set(i, 8);
    }
}
END_TEST

START_TEST(keeps_its_timers_when_it_grows)
{
    set(0, 7);
    set(1, 5);
    ck_assert_int_eq(timers_reserve(&timers, 100 * TIMERS), 0);
    ck_assert_ptr_eq(timers_first(&timers), &many[1]);
    set(1, 9);
    ck_assert_ptr_eq(timers_first(&timers), &many[0]);
    set(0, TIMER_NEVER);
    set(0, TIMER_NEVER);
    ck_assert_ptr_eq(timers_first(&timers), &many[1]);
    set(1, TIMER_NEVER);
    assert_first();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("timers");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, is_as_a_plain_list, 0, SEEDS);
    tcase_add_loop_test(tests, orders_by_address_what_is_due_at_once, 0, SEEDS);
    tcase_add_test(tests, keeps_its_timers_when_it_grows);
    return run_suite("plugin timers", tests);
}
