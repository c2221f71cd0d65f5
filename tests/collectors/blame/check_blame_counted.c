/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_counted.c - waits that are read while they last, and end meanwhile:
 * each part is counted once, whichever step of the one comes between two steps of the other.
 */
#include <linux/types.h>

#include "blame/counted.bpf.h"
#include "support/suite.h"

/* A wait, and one on another CPU whose clock is ahead. */
enum { QUEUED = 1000, FIRST = 1020, SECOND = 1050, END = 1100, AHEAD = 1030, AHEAD_END = 1200 };

static struct counted counted;
static unsigned long long last_queued;

static void set_up(void)
{
    counted = (struct counted){.owed = 0};
    last_queued = QUEUED;
}

/* @return whether a reader is to count a wait. */
static int read_until(__u64 queued, __u64 until)
{
    const struct counted before = counted;

    return count_until(&counted, &before, &last_queued, queued, until);
}

/* @return from when on it is to be counted. */
static __u64 end(__u64 queued, __u64 at)
{
    begin_ending(&counted, queued);
    return finish_ending(&counted, queued, at);
}

static void end_ahead(void)
{
    ck_assert_uint_eq(end(AHEAD, AHEAD_END), AHEAD);
}

START_TEST(test_the_end_leaves_out_what_was_read)
{
    ck_assert_uint_eq(end(QUEUED - 100, QUEUED - 50), QUEUED - 100);
    ck_assert(read_until(QUEUED, FIRST));
    ck_assert_uint_eq(find_counted(&counted, QUEUED), FIRST);
    ck_assert(read_until(QUEUED, SECOND));
    ck_assert_uint_eq(end(QUEUED, END), SECOND);
    ck_assert_uint_eq(end(END, END + 10), END);
}
END_TEST

START_TEST(test_the_next_wait_leaves_out_what_was_read_beyond_the_end)
{
    ck_assert(read_until(QUEUED, SECOND));
    ck_assert_uint_eq(end(QUEUED, SECOND - 10), SECOND - 10);
    ck_assert_uint_eq(end(END, END + 4), END + 4);
    ck_assert_uint_eq(end(END + 5, END + 20), END + 5 + 6);
    ck_assert_uint_eq(end(END + 30, END + 40), END + 30);
}
END_TEST

START_TEST(test_the_end_finds_what_is_noted)
{
    note(&counted, QUEUED, FIRST);
    begin_ending(&counted, QUEUED);
    ck_assert_uint_eq(finish_ending(&counted, QUEUED, END), FIRST);
    ck_assert(is_left_out(&counted, &last_queued, QUEUED, FIRST));
}
END_TEST

START_TEST(test_a_reader_that_comes_too_late_counts_nothing)
{
    ck_assert_uint_eq(end(QUEUED, END), QUEUED);
    ck_assert(!read_until(QUEUED, FIRST));
    last_queued = 0;
    ck_assert(!read_until(QUEUED, FIRST));
}
END_TEST

START_TEST(test_a_wait_may_have_been_queued_before_one_that_has_ended)
{
    end_ahead();
    ck_assert(read_until(QUEUED, FIRST));
    ck_assert_uint_eq(end(QUEUED, END), FIRST);
}
END_TEST

/* As is that from before, when a later one has ended. */
START_TEST(test_a_wait_that_is_over_is_not_read)
{
    end_ahead();
    last_queued = AHEAD_END + 1;
    ck_assert(!read_until(QUEUED, FIRST));
    ck_assert_uint_eq(find_counted(&counted, QUEUED), QUEUED);
}
END_TEST

START_TEST(test_a_wait_that_is_over_is_not_read_after_one_that_was_queued_before)
{
    last_queued = AHEAD;
    end_ahead();
    ck_assert_uint_eq(end(QUEUED, END), QUEUED);
    last_queued = 0;
    ck_assert(!read_until(AHEAD, AHEAD_END));
    ck_assert_uint_eq(find_counted(&counted, AHEAD), AHEAD);
}
END_TEST

/* On processors that may show the one write before the other. */
START_TEST(test_a_reader_does_not_take_an_earlier_end_for_that_of_the_wait)
{
    ck_assert_uint_eq(end(QUEUED - 100, QUEUED - 50), QUEUED - 100);
    publish(&counted.ending, QUEUED);
    ck_assert_uint_eq(await_ended(&counted, QUEUED), 0);
}
END_TEST

/* Its CPU doesn't go on meanwhile, as a hypervisor may have stopped it. */
START_TEST(test_a_reader_that_gives_up_leaves_nothing_to_be_left_out)
{
    begin_ending(&counted, QUEUED);
    ck_assert(!read_until(QUEUED, FIRST));
    ck_assert_uint_eq(finish_ending(&counted, QUEUED, END), QUEUED);
}
END_TEST

START_TEST(test_a_reader_that_gives_up_leaves_what_was_read_before)
{
    ck_assert(read_until(QUEUED, FIRST));
    begin_ending(&counted, QUEUED);
    ck_assert(!read_until(QUEUED, SECOND));
    ck_assert_uint_eq(finish_ending(&counted, QUEUED, END), FIRST);
}
END_TEST

/* The end of the wait before had been found to be later. */
START_TEST(test_a_reader_does_not_take_another_end_for_that_of_the_wait)
{
    end_ahead();
    begin_ending(&counted, QUEUED);
    ck_assert(!read_until(QUEUED, FIRST));
    ck_assert_uint_eq(finish_ending(&counted, QUEUED, END), QUEUED);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("blame_counted");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, test_the_end_leaves_out_what_was_read);
    tcase_add_test(tests, test_the_next_wait_leaves_out_what_was_read_beyond_the_end);
    tcase_add_test(tests, test_the_end_finds_what_is_noted);
    tcase_add_test(tests, test_a_reader_that_comes_too_late_counts_nothing);
    tcase_add_test(tests, test_a_wait_may_have_been_queued_before_one_that_has_ended);
    tcase_add_test(tests, test_a_wait_that_is_over_is_not_read);
    tcase_add_test(tests, test_a_wait_that_is_over_is_not_read_after_one_that_was_queued_before);
    tcase_add_test(tests, test_a_reader_does_not_take_an_earlier_end_for_that_of_the_wait);
    tcase_add_test(tests, test_a_reader_that_gives_up_leaves_nothing_to_be_left_out);
    tcase_add_test(tests, test_a_reader_that_gives_up_leaves_what_was_read_before);
    tcase_add_test(tests, test_a_reader_does_not_take_another_end_for_that_of_the_wait);
    return run_suite("blame_counted", tests);
}
