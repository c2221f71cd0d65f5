/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_psi_window.c - the estimate of growth within a window, and when totals are
 * read, on a clock of its own; against a reference of what the kernel's trigger does.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "psi/window.h"
#include "support/suite.h"

#define US        UINT64_C(1000)
#define WINDOW_US UINT64_C(1000000)
#define TENTH_US  (WINDOW_US / 10)

/* --- A pressure total ----------------------------------------------------- */

/* The total at each millisecond. */
enum { DURATION_MS = 30000 };
static uint64_t totals_us[DURATION_MS + 1];
static uint64_t boot_us = UINT64_C(123456789123);

static void stall_nothing(void)
{
    memset(totals_us, 0, sizeof(totals_us));
}

/* Adds a stall at a rate from one millisecond to another. */
static void stall(uint64_t from_ms, uint64_t to_ms, double rate)
{
    double grown_us = 0;
    uint64_t before_us = 0;

    for (uint64_t ms = from_ms; ms < DURATION_MS; ms++) {
        if (ms < to_ms)
            grown_us += 1000 * rate;
        totals_us[ms + 1] += (uint64_t)grown_us;
        if (totals_us[ms + 1] < before_us)
            totals_us[ms + 1] = before_us;
        before_us = totals_us[ms + 1];
    }
}

static uint64_t total_at(uint64_t time_us)
{
    uint64_t ms = time_us / 1000;

    if (ms >= DURATION_MS)
        return totals_us[DURATION_MS];
    return totals_us[ms] + (totals_us[ms + 1] - totals_us[ms]) * (time_us % 1000) / 1000;
}

/* The most that the total grew within any time of a length. */
static uint64_t largest_growth(uint64_t length_ms)
{
    uint64_t largest_us = 0;

    for (uint64_t ms = 0; ms <= DURATION_MS; ms++) {
        uint64_t from_ms = ms > length_ms ? ms - length_ms : 0;
        if (totals_us[ms] - totals_us[from_ms] > largest_us)
            largest_us = totals_us[ms] - totals_us[from_ms];
    }
    return largest_us;
}

/* When the growth in the last window first reached a limit; 0: never. */
static uint64_t find_crossing(uint64_t limit_us)
{
    for (uint64_t ms = 1; ms <= DURATION_MS; ms++)
        if (totals_us[ms] - totals_us[ms > 1000 ? ms - 1000 : 0] >= limit_us)
            return ms * 1000;
    return 0;
}

/* --- The kernel's trigger, as a reference --------------------------------- */

/* When the kernel would report first (update_triggers and window_update in kernel/sched/psi.c): it
 * checks ten times a window from the first change on. 0: never. */
static uint64_t find_kernel_event(uint64_t limit_us)
{
    uint64_t start_us = 0, start_total = 0, previous = 0, until_us = 0, seen = 0;

    for (uint64_t now = TENTH_US; now < DURATION_MS * US; now += TENTH_US) {
        uint64_t total = total_at(now);
        if (total == seen)
            continue;
        if (now > until_us) { /* begins to watch: the window starts when the total began to move */
            uint64_t moved_us = now - TENTH_US;
            while (total_at(moved_us) == seen)
                moved_us += 1000;
            start_us = moved_us - 1000;
            start_total = seen;
            previous = 0;
        }
        until_us = now + WINDOW_US;
        seen = total;
        uint64_t growth = total - start_total, elapsed = now - start_us;
        if (elapsed > WINDOW_US) {
            start_us = now;
            start_total = total;
            previous = growth;
        } else {
            growth += previous * (WINDOW_US - elapsed) / WINDOW_US;
        }
        if (growth >= limit_us)
            return now;
    }
    return 0;
}

/* --- A reader ------------------------------------------------------------- */

struct event {
    uint64_t time_us;
    struct hr_psi_growth growth;
};

static struct event events[1000];
static size_t event_count, read_count;
static unsigned char read_tenths[10]; /* reads of the last window by tenth */

/* How late a read is: the reader wakes up late, and the total is of a little after its time. */
struct lateness {
    uint64_t read_us, total_us; /* up to */
};

static uint64_t up_to(uint64_t limit)
{
    return limit == 0 ? 0 : (uint64_t)rand() % (limit + 1);
}

static struct hr_psi_reading take_reading(uint64_t time_us, struct lateness lateness)
{
    return (struct hr_psi_reading){(boot_us + time_us) * US,
                                   total_at(time_us + up_to(lateness.total_us))};
}

/* Reads the total whenever it is due, until a time. Check notes each assertion that holds, in
 * memory that a sanitizer goes through at the end, so that of many in loops only those that fail
 * are made. */
static struct hr_psi_window read_until(uint64_t limit_us, uint64_t end_us, unsigned seed,
                                       struct lateness lateness)
{
    struct hr_psi_reading now = take_reading(0, lateness);
    struct hr_psi_window window;

    event_count = read_count = 0;
    memset(read_tenths, 0, sizeof(read_tenths));
    hr_psi_window_start(&window, WINDOW_US, limit_us, seed, &now);
    while (window.due_ns / US - boot_us < end_us) {
        uint64_t time_us = window.due_ns / US - boot_us + 1 + up_to(lateness.read_us);
        struct event *event = &events[event_count];
        now = take_reading(time_us, lateness);
        read_count++;
        if (time_us + WINDOW_US >= end_us)
            read_tenths[(boot_us + time_us) / TENTH_US % 10]++;
        event->time_us = time_us;
        event_count += hr_psi_window_update(&window, &now, &event->growth);
        if (window.due_ns <= now.time_ns || window.due_ns > now.time_ns + 11 * TENTH_US * US)
            ck_abort_msg("at %d ms the next read is due in %" PRId64 " ns", (int)(time_us / US),
                         (int64_t)(window.due_ns - now.time_ns));
    }
    return window;
}

static const struct lateness exact = {0, 0};

/* A process for each of thousands of seeds would take a minute of a sanitizer's time. */
#define SEEDS_PER_TEST 100

static void try_seeds(int test, void (*property)(int seed))
{
    for (int i = 0; i < SEEDS_PER_TEST; i++)
        property(SEEDS_PER_TEST * test + i);
}

/* --- What is found -------------------------------------------------------- */

/* Stalls from a random time on, of random lengths and rates. */
static void stall_at_random(void)
{
    uint64_t ms = 5000 + (uint64_t)rand() % 2000;

    stall_nothing();
    for (int i = 0; i < 6; i++) {
        uint64_t length_ms = 20 + (uint64_t)rand() % 600;
        stall(ms, ms + length_ms, (double)(1 + rand() % 100) / 100);
        ms += length_ms + (uint64_t)rand() % 700;
    }
}

/* From the first movement on, until the kernel's first window ends. */
static void assert_nothing_of_the_kernels_is_missed(int seed)
{
    const uint64_t limit_us = 10000 + (uint64_t)(seed % 99) * 10000;
    const struct lateness jittery = {(uint64_t)(seed % 5) * 1000, 500};

    srand((unsigned)seed);
    stall_at_random();
    uint64_t kernel_us = find_kernel_event(limit_us), crossing_us = find_crossing(limit_us);
    read_until(limit_us, DURATION_MS * US, (unsigned)seed, jittery);
    /* Later windows begin at other times than the kernel's, and so do the estimates' errors; the
     * kernel also reports where it adds up what is not in one window. */
    if (crossing_us != 0 && crossing_us <= kernel_us && kernel_us <= find_crossing(1) + WINDOW_US) {
        ck_assert_msg(event_count > 0, "seed %d: nothing by %d ms", seed, (int)(kernel_us / US));
        ck_assert_msg(events[0].time_us <= kernel_us + WINDOW_US + 2 * TENTH_US,
                      "seed %d: nothing before %d ms", seed, (int)(events[0].time_us / US));
    }
    ck_assert_msg(event_count == 0 || largest_growth(3 * WINDOW_US / 1000) >= limit_us,
                  "seed %d: the limit was never reached", seed);
}

START_TEST(misses_nothing_that_the_kernel_reports)
{
    try_seeds(_i, assert_nothing_of_the_kernels_is_missed);
}
END_TEST

/* What was reported is true, and isn't reported twice. */
START_TEST(reports_what_was)
{
    uint64_t reported_us = 0;

    srand((unsigned)_i);
    stall_at_random();
    read_until(100000, DURATION_MS * US, (unsigned)_i, exact);
    for (size_t i = 0; i < event_count; i++) {
        const struct event *event = &events[i];
        ck_assert_uint_ge(event->growth.stalled_us + 1, 100000);
        ck_assert_uint_le(event->growth.stalled_us, event->growth.elapsed_us);
        ck_assert_uint_le(event->growth.elapsed_us, 3 * WINDOW_US);
        if (i > 0)
            ck_assert_uint_ge(event->time_us - events[i - 1].time_us, WINDOW_US);
        reported_us += event->growth.stalled_us;
    }
    ck_assert_uint_le(reported_us, totals_us[DURATION_MS]);
}
END_TEST

/* All of the time is stalled, and the limit is the whole window; reads, and the totals of the
 * reads, are late by different times. */
START_TEST(finds_a_stall_as_long_as_the_window)
{
    static const struct lateness all[] = {{0, 0},      {0, 3000},     {1000, 1000},
                                          {9000, 500}, {40000, 2000}, {90000, 5000}};
    const struct lateness lateness = all[_i % 6];

    srand((unsigned)_i);
    stall_nothing();
    stall(0, DURATION_MS, 1);
    read_until(WINDOW_US, DURATION_MS * US, (unsigned)_i, lateness);
    ck_assert_uint_ge(event_count, 1);
    ck_assert_uint_le(events[0].time_us, 3 * WINDOW_US);
    for (size_t i = 1; i < event_count; i++)
        ck_assert_uint_le(events[i].time_us - events[i - 1].time_us, 2 * WINDOW_US);
    ck_assert_uint_gt(events[event_count - 1].time_us, DURATION_MS * US - 2 * WINDOW_US);
}
END_TEST

/* --- Properties, with reads that are late at random ------------------------- */

static uint64_t growth_until(uint64_t time_us, uint64_t length_us)
{
    return total_at(time_us) - total_at(time_us > length_us ? time_us - length_us : 0);
}

/* Whether there is an event after a time, up to another. */
static bool has_event(uint64_t after_us, uint64_t until_us)
{
    for (size_t i = 0; i < event_count; i++)
        if (events[i].time_us > after_us && events[i].time_us <= until_us)
            return true;
    return false;
}

/* All reads are late by less than a tenth of a window, but for the last cases: they find a stall
 * of all the time even if they are late by more than a window. */
static struct lateness choose_lateness(int i, double rate)
{
    static const uint64_t read_us[] = {0, 3000, 30000, 99000, 1500000};

    return (struct lateness){read_us[i % (rate < 1 ? 4 : 5)], 500};
}

/* A rate that just fills the limit in each window, for a hundredth more as the totals are rounded.
 */
static void assert_a_lasting_stall_is_found(int seed)
{
    srand((unsigned)seed);
    const double rate = seed % 3 == 0 ? 1 : (double)(2 + rand() % 98) / 100;
    const uint64_t limit_us = rate < 1 ? (uint64_t)(rate * 990000) : WINDOW_US;
    const uint64_t begin_us = (5000 + (uint64_t)rand() % 2000) * US;
    const struct lateness lateness = choose_lateness(seed, rate);
    const uint64_t longest_us = 3 * WINDOW_US + 2 * lateness.read_us;

    stall_nothing();
    stall(begin_us / US, DURATION_MS, rate);
    read_until(limit_us, DURATION_MS * US, (unsigned)seed, lateness);
    for (uint64_t us = begin_us; us + longest_us < DURATION_MS * US; us += TENTH_US)
        if (!has_event(us, us + longest_us))
            ck_abort_msg("seed %d: none at %d ms", seed, (int)(us / US));
}

START_TEST(finds_a_lasting_stall_that_fills_the_limit)
{
    try_seeds(_i, assert_a_lasting_stall_is_found);
}
END_TEST

/* What the estimate may miss: as the kernel's, of a stall on both sides of a window's end the
 * lesser part; and of a read that is late, what may have been before the window. What it may add
 * up: what was in the window before, and at first in the one before that; and of earlier growth,
 * too small to wake an idle total, a sixteenth of the limit. */
#define CUT_OFF_US  (3 * WINDOW_US / 20)
#define ADDED_UP_US (5 * WINDOW_US / 2)

static void assert_what_fills_the_limit_is_found(int seed, uint64_t limit_us)
{
    for (uint64_t us = WINDOW_US; us + 2 * WINDOW_US < DURATION_MS * US; us += 10 * US)
        if (growth_until(us, WINDOW_US) >= 2 * (limit_us + CUT_OFF_US) &&
            !has_event(us - 2 * WINDOW_US, us + 3 * WINDOW_US / 2))
            ck_abort_msg("seed %d: none at %d ms", seed, (int)(us / US));
}

static void assert_what_is_found_fills_the_limit(int seed, uint64_t limit_us,
                                                 struct lateness lateness)
{
    for (size_t i = 0; i < event_count; i++)
        ck_assert_msg(growth_until(events[i].time_us + lateness.total_us, ADDED_UP_US) + 2 >=
                          limit_us - limit_us / 16,
                      "seed %d: too little at %d ms", seed, (int)(events[i].time_us / US));
}

static void assert_just_what_fills_the_limit_is_found(int seed)
{
    srand((unsigned)seed);
    const uint64_t limit_us = 10000 + (uint64_t)rand() % 900000;
    const struct lateness lateness = choose_lateness(seed, 0);
    uint64_t ms = 3000 + (uint64_t)rand() % 2000;

    stall_nothing();
    while (ms < DURATION_MS) {
        uint64_t length_ms = 20 + (uint64_t)rand() % 1500;
        stall(ms, ms + length_ms, rand() % 3 == 0 ? 1 : (double)(1 + rand() % 100) / 100);
        ms += length_ms + (uint64_t)rand() % 3000;
    }
    read_until(limit_us, DURATION_MS * US, (unsigned)seed, lateness);
    assert_what_fills_the_limit_is_found(seed, limit_us);
    assert_what_is_found_fills_the_limit(seed, limit_us, lateness);
}

START_TEST(finds_what_fills_the_limit_and_nothing_else)
{
    try_seeds(_i, assert_just_what_fills_the_limit_is_found);
}
END_TEST

/* Less than the limit in each window, for long. */
START_TEST(finds_nothing_in_a_slow_stall)
{
    stall_nothing();
    stall(3000, DURATION_MS, 0.09);
    read_until(200000, DURATION_MS * US, (unsigned)_i, exact);
    ck_assert_uint_eq(event_count, 0);
}
END_TEST

/* A total that moves already is read in time. */
START_TEST(reports_an_active_total_within_a_tenth)
{
    uint64_t stall_ms = 8000 + (uint64_t)_i * 7;

    stall_nothing();
    stall(5000, DURATION_MS, 0.05);
    stall(stall_ms, DURATION_MS, 0.9);
    read_until(300000, DURATION_MS * US, (unsigned)_i, exact);
    ck_assert_uint_ge(event_count, 1);
    ck_assert_uint_le(events[0].time_us, find_crossing(300000) + TENTH_US + 2000);
}
END_TEST

START_TEST(reports_an_idle_total_within_a_window)
{
    uint64_t stall_ms = 10000 + (uint64_t)_i * 13;

    stall_nothing();
    stall(stall_ms, DURATION_MS, 0.9);
    read_until(150000, DURATION_MS * US, (unsigned)_i, exact);
    ck_assert_uint_ge(event_count, 1);
    ck_assert_uint_ge(events[0].time_us, find_crossing(150000) - 1000);
    ck_assert_uint_le(events[0].time_us, find_crossing(150000) + WINDOW_US);
}
END_TEST

/* --- When totals are read ------------------------------------------------- */

START_TEST(reads_an_idle_total_once_a_window)
{
    struct hr_psi_window window;

    stall_nothing();
    if (_i == 1)
        stall(0, DURATION_MS, 0.005); /* a trickle is no movement */
    window = read_until(150000, DURATION_MS * US, 3, exact);
    ck_assert(!hr_psi_window_is_active(&window));
    ck_assert_uint_ge(read_count, 29);
    ck_assert_uint_le(read_count, 34);
}
END_TEST

START_TEST(reads_a_total_that_moves_ten_times_a_window)
{
    struct hr_psi_window window;

    stall_nothing();
    stall(0, DURATION_MS, 0.1);
    window = read_until(150000, DURATION_MS * US, 3, exact);
    ck_assert(hr_psi_window_is_active(&window));
    ck_assert_uint_eq(event_count, 0);
    ck_assert_uint_ge(read_count, 290);
    ck_assert_uint_le(read_count, 301);
}
END_TEST

/* After an event nothing can be reported for a window. */
START_TEST(reads_a_stalled_total_seldom)
{
    struct hr_psi_window window;

    stall_nothing();
    stall(0, DURATION_MS, 0.9);
    window = read_until(150000, DURATION_MS * US, 3, exact);
    ck_assert(hr_psi_window_is_active(&window));
    ck_assert_uint_ge(event_count, 26);
    ck_assert_uint_le(read_count, event_count + 5);
}
END_TEST

/* Some windows after the end of a stall. */
START_TEST(rests_after_a_stall)
{
    struct hr_psi_window window;

    stall_nothing();
    stall(3000, 5000, 0.9);
    window = read_until(150000, 5000 * US, 3, exact);
    ck_assert(hr_psi_window_is_active(&window));
    window = read_until(150000, 8500 * US, 3, exact);
    ck_assert(!hr_psi_window_is_active(&window));
}
END_TEST

/* Idle totals that started at once aren't read at once. */
START_TEST(spreads_the_reads)
{
    unsigned in_tenth[10] = {0};

    stall_nothing();
    for (unsigned seed = 0; seed < 1000; seed++) {
        read_until(150000, 10000 * US, seed * 7, exact);
        for (size_t i = 0; i < 10; i++)
            in_tenth[i] += read_tenths[i];
    }
    for (size_t i = 0; i < 10; i++) {
        ck_assert_uint_ge(in_tenth[i], 50);
        ck_assert_uint_le(in_tenth[i], 200);
    }
}
END_TEST

/* --- Single reads --------------------------------------------------------- */

static bool update_at(struct hr_psi_window *window, uint64_t time_us, uint64_t total_us,
                      struct hr_psi_growth *growth)
{
    const struct hr_psi_reading now = {(boot_us + time_us) * US, total_us};

    return hr_psi_window_update(window, &now, growth);
}

static void start_at_0(struct hr_psi_window *window, uint64_t limit_us)
{
    const struct hr_psi_reading now = {boot_us * US, 0};

    hr_psi_window_start(window, WINDOW_US, limit_us, 0, &now);
}

/* Of a read that is late by far only what can't have been before. */
static const struct {
    uint64_t time_us, total_us;
    bool found;
} late_reads[] = {
    {1100000, 500000, true},   {1100000, 499998, false},  {3000000, 2399999, true},
    {3000000, 2399998, false}, {3000000, 1000000, false},
};

START_TEST(counts_of_a_late_read_what_must_be)
{
    struct hr_psi_growth growth;
    struct hr_psi_window window;

    start_at_0(&window, 500000);
    ck_assert_int_eq(update_at(&window, late_reads[_i].time_us, late_reads[_i].total_us, &growth),
                     late_reads[_i].found);
    if (!late_reads[_i].found)
        return;
    ck_assert_uint_eq(growth.stalled_us, late_reads[_i].total_us);
    ck_assert_uint_eq(growth.elapsed_us, late_reads[_i].time_us);
}
END_TEST

START_TEST(starts_again_when_the_total_goes_back)
{
    struct hr_psi_growth growth;
    struct hr_psi_window window;

    start_at_0(&window, 500000);
    ck_assert(!update_at(&window, 200000, 100000, &growth));
    ck_assert(!update_at(&window, 300000, 10, &growth));
    ck_assert(!update_at(&window, 700000, 400000, &growth));
    ck_assert(update_at(&window, 900000, 500010, &growth));
    ck_assert_uint_eq(growth.stalled_us, 500000);
}
END_TEST

/* A failed read is due again, later. */
START_TEST(defers_a_read)
{
    struct hr_psi_window window;

    start_at_0(&window, 500000);
    uint64_t due_ns = window.due_ns;
    hr_psi_window_defer(&window, due_ns);
    ck_assert_uint_gt(window.due_ns, due_ns);
    ck_assert_uint_le(window.due_ns, due_ns + WINDOW_US * US);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("psi window");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, misses_nothing_that_the_kernel_reports, 0, 10);
    tcase_add_loop_test(tests, reports_what_was, 0, 100);
    tcase_add_loop_test(tests, finds_a_stall_as_long_as_the_window, 0, 60);
    tcase_add_loop_test(tests, finds_a_lasting_stall_that_fills_the_limit, 0, 6);
    tcase_add_loop_test(tests, finds_what_fills_the_limit_and_nothing_else, 0, 10);
    tcase_add_loop_test(tests, finds_nothing_in_a_slow_stall, 0, 10);
    tcase_add_loop_test(tests, reports_an_active_total_within_a_tenth, 0, 50);
    tcase_add_loop_test(tests, reports_an_idle_total_within_a_window, 0, 80);
    tcase_add_loop_test(tests, reads_an_idle_total_once_a_window, 0, 2);
    tcase_add_test(tests, reads_a_total_that_moves_ten_times_a_window);
    tcase_add_test(tests, reads_a_stalled_total_seldom);
    tcase_add_test(tests, rests_after_a_stall);
    tcase_add_test(tests, spreads_the_reads);
    tcase_add_loop_test(tests, counts_of_a_late_read_what_must_be, 0, 5);
    tcase_add_test(tests, starts_again_when_the_total_goes_back);
    tcase_add_test(tests, defers_a_read);
    return run_suite("psi window", tests);
}
