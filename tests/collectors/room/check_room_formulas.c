/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_room_formulas.c - the formulas of the room, against answers worked out by
 * hand.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "room/cpu.h"
#include "room/cpu_stat.h"
#include "room/memory.h"
#include "room/working_set.h"
#include "support/suite.h"

#define MIB          ((uint64_t)1 << 20)
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- CPU time ------------------------------------------------------------------- */

/* Jobs that come at random and share one CPU: tasks wait while two or more are there, a share
 * rho^2 of the time. */
START_TEST(inverts_the_queue_of_one_cpu)
{
    bool is_at_least;

    for (double busy = 0.1; busy < 0.95; busy += 0.1) {
        ck_assert_double_eq_tol(hr_room_cpu_exponent(busy * busy, busy, &is_at_least), 2, 1e-9);
        ck_assert(!is_at_least);
        const struct hr_room_cpu_sums sums = {100e6, 1, busy * 100e6, busy * 100e6,
                                              busy * busy * 100e6};
        struct hr_room room;
        hr_room_cpu_by_machine(&sums, 40, &room);
        ck_assert_int_eq(room.status, 0);
        ck_assert_double_eq_tol(room.attainable, sqrt(0.4), 1e-9);
        ck_assert_double_eq_tol(room.used, busy, 1e-9);
        ck_assert_double_eq_tol(room.room_pct, busy < sqrt(0.4) ? 100 * (1 - busy / sqrt(0.4)) : 0,
                                1e-6);
    }
}
END_TEST

static const struct {
    double elapsed_s, cpus, busy_s, used_s, stalled_s, line_pct;
    int status;
    bool is_at_least;
    double used, attainable, room_pct;
} cpu_rows[] = {
    /* half of two CPUs is busy, a quarter by others; k = ln 0.25 / ln 0.5 = 2 */
    {100, 2, 100, 50, 25, 25, 0, false, 0.5, 0.5, 0},
    {100, 2, 100, 50, 25, 64, 0, false, 0.5, 1.1, 54.545454545},
    /* others use more than the line leaves */
    {100, 1, 60, 10, 36, 16, 0, false, 0.1, 0, 0},
    /* no task waits: k = 2 at least, or what 0.5 % of stall would be */
    {100, 1, 1, 1, 0, 25, 0, true, 0.01, 0.5, 98},
    {100, 4, 200, 200, 0, 40, 0, true, 2, 3.548132907, 43.632345},
    /* always busy: nothing can be known, but whether it waits */
    {100, 1, 99, 50, 10, 40, -EBUSY, false, 0.5, 0, 0},
    {100, 1, 99, 50, 1, 40, -EBUSY, false, 0.5, 0, 0},
    {100, 1, 99, 50, 0.9, 40, -ENODATA, false, 0.5, 0, 0},
    {100, 1, 50, 50, 100, 40, -EBUSY, false, 0.5, 0, 0},
    {0, 1, 0, 0, 0, 40, -ENODATA, false, 0, 0, 0},
    /* what a group used is counted finer than what the CPUs did */
    {100, 1, 50, 50.2, 25.2004, 25.2004, 0, false, 0.502, 0.502, 0},
};

START_TEST(room_by_the_machines_cpus)
{
    const struct hr_room_cpu_sums sums = {cpu_rows[_i].elapsed_s * 1e6, cpu_rows[_i].cpus,
                                          cpu_rows[_i].busy_s * 1e6, cpu_rows[_i].used_s * 1e6,
                                          cpu_rows[_i].stalled_s * 1e6};
    struct hr_room room;

    hr_room_cpu_by_machine(&sums, cpu_rows[_i].line_pct, &room);
    ck_assert_int_eq(room.status, cpu_rows[_i].status);
    ck_assert_double_eq_tol(room.used, cpu_rows[_i].used, 1e-6);
    if (room.status != 0)
        return;
    ck_assert_int_eq(room.is_at_least, cpu_rows[_i].is_at_least);
    ck_assert_double_eq_tol(room.attainable, cpu_rows[_i].attainable, 1e-6);
    ck_assert_double_eq_tol(room.room_pct, cpu_rows[_i].room_pct, 1e-4);
    ck_assert_int_eq(room.bound, HR_ROOM_MACHINE);
}
END_TEST

START_TEST(a_limit_above_leaves_what_others_there_dont_use)
{
    struct hr_room room = {.used = 0.5, .attainable = 3};
    /* two CPUs for the group two levels above, of which a sibling uses 0.9 */
    const struct hr_room_cpu_limit limit = {2, 1.4, 0.1, 2};

    hr_room_cpu_by_limit(&limit, 0.5, &room);
    ck_assert_int_eq(room.status, 0);
    ck_assert_double_eq_tol(room.attainable, 1.1, 1e-9);
    ck_assert_double_eq_tol(room.room_pct, 100 * 0.6 / 1.1, 1e-9);
    ck_assert_int_eq(room.bound, HR_ROOM_CPU_MAX);
    ck_assert_uint_eq(room.level, 2);
    ck_assert_double_eq(room.limit, 2);
    /* one that leaves more changes nothing */
    hr_room_cpu_by_limit(&(struct hr_room_cpu_limit){4, 1.4, 0.1, 3}, 0.5, &room);
    ck_assert_uint_eq(room.level, 2);
}
END_TEST

/* Of CPUs that are always busy a group may get less than its limit. */
START_TEST(a_limit_isnt_what_an_unknown_rest_of_the_machine_leaves)
{
    struct hr_room room = {.status = -ENODATA};

    hr_room_cpu_by_limit(&(struct hr_room_cpu_limit){2, 1.4, 0.1, 2}, 0.5, &room);
    ck_assert_int_eq(room.status, -ENODATA);
    /* one that leaves nothing is enough to know it */
    hr_room_cpu_by_limit(&(struct hr_room_cpu_limit){2, 2, 0.1, 1}, 0.5, &room);
    ck_assert_int_eq(room.status, 0);
    ck_assert_double_eq(room.room_pct, 0);
    ck_assert_uint_eq(room.level, 1);
}
END_TEST

START_TEST(who_is_throttled_has_no_room)
{
    struct hr_room room = {.used = 0.3, .attainable = 3};

    hr_room_cpu_by_limit(&(struct hr_room_cpu_limit){1, 0.3, 0.24, 0}, 0.3, &room);
    ck_assert_double_eq_tol(room.room_pct, 70, 1e-9);
    hr_room_cpu_by_limit(&(struct hr_room_cpu_limit){1, 0.3, 0.25, 0}, 0.3, &room);
    ck_assert(room.is_in_trouble);
    ck_assert_double_eq(room.room_pct, 0);
    ck_assert_double_eq(room.left, 0);
    ck_assert_int_eq(room.bound, HR_ROOM_CPU_MAX);
}
END_TEST

/* In 10 periods of 100 ms nobody is throttled for longer than a second, on however many CPUs. */
START_TEST(throttled_time_is_no_longer_than_its_periods)
{
    ck_assert_uint_eq(hr_cpu_throttled(10, 900000, 100000), 900000);
    ck_assert_uint_eq(hr_cpu_throttled(10, 7200000, 100000), 1000000);
    ck_assert_uint_eq(hr_cpu_throttled(0, 7200000, 100000), 0);
    ck_assert_uint_eq(hr_cpu_throttled(UINT64_MAX, 7200000, 100000), 7200000);
}
END_TEST

/* Pressure above the line counts, whatever the formula says. */
START_TEST(measured_trouble_wins)
{
    const struct hr_room_cpu_sums sums = {100e6, 1, 20e6, 20e6, 4e6};
    struct hr_room room;

    hr_room_cpu_by_machine(&sums, 40, &room);
    ck_assert_double_gt(room.room_pct, 60);
    hr_room_set_trouble(&room);
    ck_assert_double_eq(room.room_pct, 0);
    ck_assert_double_eq(room.left, 0);
    ck_assert_double_eq_tol(room.attainable, sqrt(0.4), 1e-9);
}
END_TEST

/* --- Memory ----------------------------------------------------------------------- */

/* 100 MiB: 60 anonymous, 10 active and 20 inactive files, 4 slab that can be reclaimed, 6 other;
 * and 8 are swapped out. */
static const struct hr_memory_use use = {100 * MIB, 10 * MIB, 20 * MIB, 4 * MIB,
                                         8 * MIB,   false,    {0}};

START_TEST(resident_memory)
{
    ck_assert_uint_eq(hr_memory_resident(&use), 66 * MIB);
    /* the counters are of different moments */
    const struct hr_memory_use less = {
        .current_bytes = 20 * MIB, .active_file_bytes = 10 * MIB, .inactive_file_bytes = 20 * MIB};
    ck_assert_uint_eq(hr_memory_resident(&less), 0);
}
END_TEST

/* 1,000 MiB, of which 300 are available, and swap space, of which 50 are free. */
static const struct hr_meminfo meminfo = {1000 * MIB, 300 * MIB, 90 * MIB, 50 * MIB};

static void assert_memory(const struct hr_room *room, uint64_t used_mib, uint64_t attainable_mib,
                          enum hr_room_bound bound, size_t level)
{
    ck_assert_int_eq(room->status, 0);
    ck_assert_double_eq(room->used, (double)(used_mib * MIB));
    ck_assert_double_eq(room->attainable, (double)(attainable_mib * MIB));
    ck_assert_double_eq(room->left, (double)((attainable_mib - used_mib) * MIB));
    ck_assert_double_eq_tol(room->room_pct, 100 - 100 * (double)used_mib / (double)attainable_mib,
                            1e-9);
    ck_assert_int_eq(room->bound, bound);
    ck_assert_uint_eq(room->level, level);
}

START_TEST(memory_of_the_machine)
{
    struct hr_room room;

    hr_room_machine_memory(&meminfo, &room);
    assert_memory(&room, 740, 1090, HR_ROOM_MACHINE, 0);
    ck_assert(!room.is_at_least);
}
END_TEST

START_TEST(memory_of_a_group)
{
    const struct hr_room_memory_limit limits[] = {
        {800 * MIB, 700 * MIB, 20 * MIB, HR_ROOM_MEMORY_HIGH, 2}, /* leaves 120 */
        {400 * MIB, 100 * MIB, 20 * MIB, HR_ROOM_MEMORY_MAX, 1},
        {200 * MIB, 66 * MIB, 10 * MIB, HR_ROOM_MEMORY_MAX, 0}, /* leaves 144 */
    };
    struct hr_room room;
    double level;

    hr_room_memory(&use, limits, 0, &meminfo, &room, &level);
    assert_memory(&room, 84, 74 + 350, HR_ROOM_MACHINE, 0);
    ck_assert(room.is_at_least);
    ck_assert_double_eq(level, (double)(74 * MIB));
    hr_room_memory(&use, limits + 1, 2, &meminfo, &room, &level);
    assert_memory(&room, 84, 74 + 144, HR_ROOM_MEMORY_MAX, 0);
    hr_room_memory(&use, limits, 3, &meminfo, &room, &level);
    assert_memory(&room, 84, 74 + 120, HR_ROOM_MEMORY_HIGH, 2);
    ck_assert_double_eq(room.limit, (double)(800 * MIB));
}
END_TEST

START_TEST(a_limit_that_is_exceeded_leaves_nothing)
{
    const struct hr_room_memory_limit limit = {50 * MIB, 66 * MIB, 0, HR_ROOM_MEMORY_HIGH, 0};
    struct hr_room room;
    double level;

    hr_room_memory(&use, &limit, 1, &meminfo, &room, &level);
    ck_assert_double_eq(room.left, 0);
    ck_assert_double_eq(room.room_pct, 0);
}
END_TEST

/* What is touched within 1, 10, 60 and 120 seconds. */
static const struct hr_room_working_set working_set = {
    4, {1, 10, 60, 120}, {20.0 * MIB, 40.0 * MIB, 60.0 * MIB, 61.0 * MIB}};

static const struct {
    double cost_us, line_pct; /* 1 ms and 10 %: a hundred pages a second, 0.39 MiB */
    size_t count;
    int status;
    size_t window;
} working_set_rows[] = {
    {1000, 10, 4, 0, 2}, {1000, 10, 3, -ENODATA, 0}, {1000, 1, 4, 0, 2},        {1000, 60, 4, 0, 0},
    {100, 10, 4, 0, 0},  {1, 10, 4, 0, 0},           {1e6, 10, 4, -ENODATA, 0},
};

START_TEST(the_window_after_which_less_is_read_again)
{
    struct hr_room_working_set set = working_set;
    size_t window = 0;

    set.count = working_set_rows[_i].count;
    ck_assert_int_eq(
        hr_working_set_find(&set, working_set_rows[_i].cost_us * sysconf(_SC_PAGESIZE) / 4096,
                            working_set_rows[_i].line_pct, &window),
        working_set_rows[_i].status);
    ck_assert_uint_eq(window, working_set_rows[_i].window);
}
END_TEST

START_TEST(windows_by_their_names)
{
    struct hr_room_working_set set = {.count = 0};

    hr_room_working_set_add(&set, "60s", 3);
    hr_room_working_set_add(&set, "500ms", 1);
    hr_room_working_set_add(&set, "1s", 2);
    hr_room_working_set_add(&set, "0s", 4);
    hr_room_working_set_add(&set, "1m", 4);
    hr_room_working_set_add(&set, "", 4);
    hr_room_working_set_add(&set, "2s", NAN);
    ck_assert_uint_eq(set.count, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_double_eq(set.bytes[i], 1.0 + (double)i);
    ck_assert_double_eq(set.window_s[0], 0.5);
    for (int i = 0; i < 9; i++)
        hr_room_working_set_add(&set, "9s", 5);
    ck_assert_uint_eq(set.count, HR_ROOM_WINDOWS);
}
END_TEST

START_TEST(what_a_page_costs_that_is_read_again)
{
    const uint64_t hour_ns = 3600 * HR_NS_PER_S;
    struct hr_refault_cost cost = {.us = 0};

    hr_refault_cost_update(&cost, 1, 1000, 50000, 0);
    hr_refault_cost_update(&cost, 2, 1099, 99999, 0);
    ck_assert_double_eq(cost.us, 0);
    hr_refault_cost_update(&cost, 3, 1100, 80000, 0);
    ck_assert_double_eq(cost.us, 300);
    hr_refault_cost_update(&cost, 1 + hour_ns, 1200, 90000, 0);
    ck_assert_double_eq(cost.us, 200);
    hr_refault_cost_update(&cost, 2 * hour_ns, 1250, 99999, 0); /* what was known stays */
    ck_assert_double_eq(cost.us, 200);
    hr_refault_cost_update(&cost, 1 + 2 * hour_ns, 1250, 99999, 0); /* for an hour */
    ck_assert_double_eq(cost.us, 0);
}
END_TEST

/* Of which the kernel has read more than had to be: 1,000 pages in 10 s, for which tasks were
 * stalled for 1 s. */
static const struct {
    double missed_per_s, us;
} missed_rows[] = {
    {0, 1000},    /* nothing is known of it */
    {9.9, 1000},  /* too few */
    {10, 10000},  /* a hundred */
    {25, 4000},   /* a quarter */
    {1000, 1000}, /* not as many as had to be */
};

START_TEST(what_a_page_costs_that_had_to_be_read_again)
{
    const uint64_t second_ns = HR_NS_PER_S;
    struct hr_refault_cost cost = {.us = 0};
    const double missed_per_s = missed_rows[_i].missed_per_s;

    hr_refault_cost_update(&cost, 5 * second_ns, 0, 0, 1e9);
    hr_refault_cost_update(&cost, 7 * second_ns, 0, 500000, missed_per_s);
    hr_refault_cost_update(&cost, 15 * second_ns, 1000, 1000000, missed_per_s);
    ck_assert_double_eq_tol(cost.us, missed_rows[_i].us, 1e-6);
}
END_TEST

/* Pages a second, of 10 MiB within 1 s, 30 within 5 and 40 within 25. */
START_TEST(what_has_to_be_read_again)
{
    struct hr_room_working_set set = {.count = 0};
    const double page = (double)sysconf(_SC_PAGESIZE);

    ck_assert_double_eq(hr_working_set_misses(&set, 1), 0);
    hr_room_working_set_add(&set, "1s", 10 * MIB);
    hr_room_working_set_add(&set, "5s", 30 * MIB);
    hr_room_working_set_add(&set, "25s", 40 * MIB);
    ck_assert_double_eq(hr_working_set_misses(&set, 9 * MIB), 10 * MIB / page);
    ck_assert_double_eq(hr_working_set_misses(&set, 10 * MIB), 5 * MIB / page);
    ck_assert_double_eq(hr_working_set_misses(&set, 29 * MIB), 5 * MIB / page);
    ck_assert_double_eq(hr_working_set_misses(&set, 39 * MIB), MIB / 2 / page);
    ck_assert_double_eq(hr_working_set_misses(&set, 40 * MIB), 0);
}
END_TEST

/* As above, with 25 MiB of files mapped: 5 of the active ones may be read otherwise. */
static const struct {
    uint64_t touched_mib, swap_left_mib, needed_mib, used_mib;
} touched_rows[] = {
    {40, 100, 46, 51}, /* what isn't touched can be swapped out */
    {40, 20, 46, 56},  /* a part of it */
    {40, 0, 66, 76},   /* nothing: all but 10 of files */
    {3, 0, 66, 74},    /* 3 of which can be files */
    {200, 0, 96, 96},  /* no more than there is */
};

START_TEST(memory_that_is_touched)
{
    const struct hr_room_memory_limit limit = {100 * MIB, 66 * MIB, 50 * MIB, HR_ROOM_MEMORY_MAX,
                                               0};
    struct hr_memory_use known = use;
    struct hr_room room;

    known.has_parts = true;
    known.parts = (struct hr_memory_parts){60 * MIB, 25 * MIB, 0};
    hr_room_memory_touched(&known, &limit, 1, &meminfo, touched_rows[_i].swap_left_mib * MIB,
                           (double)(touched_rows[_i].touched_mib * MIB), &room);
    assert_memory(&room, touched_rows[_i].used_mib, 100, HR_ROOM_MEMORY_MAX, 0);
    ck_assert_double_eq(room.needed, (double)(touched_rows[_i].needed_mib * MIB));
    ck_assert_int_eq(room.is_at_least, room.used > room.needed);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("formulas");

    tcase_add_test(tests, inverts_the_queue_of_one_cpu);
    tcase_add_loop_test(tests, room_by_the_machines_cpus, 0, COUNT(cpu_rows));
    tcase_add_test(tests, a_limit_above_leaves_what_others_there_dont_use);
    tcase_add_test(tests, a_limit_isnt_what_an_unknown_rest_of_the_machine_leaves);
    tcase_add_test(tests, who_is_throttled_has_no_room);
    tcase_add_test(tests, throttled_time_is_no_longer_than_its_periods);
    tcase_add_test(tests, measured_trouble_wins);
    tcase_add_test(tests, resident_memory);
    tcase_add_test(tests, memory_of_the_machine);
    tcase_add_test(tests, memory_of_a_group);
    tcase_add_test(tests, a_limit_that_is_exceeded_leaves_nothing);
    tcase_add_loop_test(tests, the_window_after_which_less_is_read_again, 0,
                        COUNT(working_set_rows));
    tcase_add_test(tests, windows_by_their_names);
    tcase_add_test(tests, what_a_page_costs_that_is_read_again);
    tcase_add_loop_test(tests, what_a_page_costs_that_had_to_be_read_again, 0, COUNT(missed_rows));
    tcase_add_test(tests, what_has_to_be_read_again);
    tcase_add_loop_test(tests, memory_that_is_touched, 0, COUNT(touched_rows));
    return run_suite("formulas", tests);
}
