/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_waiters.c - waiters: sums, ranks, limits, and processes that start, end and
 * move between two samples.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/psi/waiters_harness.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- Ranking -------------------------------------------------------------- */

START_TEST(ranks_processes)
{
    set_processes("a", "5\n12\n7\n9\n");
    set_waited(5, 1000, OLD_US);
    set_waited(7, 90000, OLD_US);
    set_waited(9, 0, OLD_US);
    set_waited(12, 50, OLD_US);
    set_name(5, "five");
    set_name(12, "twelve");
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_waited(5, 1300, OLD_US);
    set_waited(12, 5050, OLD_US);
    set_waited(9, 300, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 4);
    ck_assert_uint_eq(report.skipped_count, 0);
    ck_assert_uint_eq(report.count, 3); /* 7 didn't wait */
    require_waiter(0, 12, 5000);
    require_waiter(1, 5, 300); /* the lower PID first */
    require_waiter(2, 9, 300);
    ck_assert_str_eq(top[0].name, "twelve");
    ck_assert_str_eq(top[1].name, "five");
    ck_assert_str_eq(top[2].name, "?"); /* ended meanwhile */
}
END_TEST

START_TEST(reports_the_first_few)
{
    set_processes("a", "1\n2\n3\n");
    for (pid_t pid = 1; pid <= 3; pid++)
        set_waited(pid, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    for (pid_t pid = 1; pid <= 3; pid++)
        set_waited(pid, (uint64_t)pid, OLD_US);
    ck_assert_int_eq(hr_waiters_read(waiters, top, 0, &report), 0);
    ck_assert_uint_eq(report.count, 0);
    ck_assert_int_eq(hr_waiters_read(waiters, top, 2, &report), 0);
    ck_assert_uint_eq(report.count, 2);
    require_waiter(0, 3, 3);
    require_waiter(1, 2, 2);
    ck_assert_int_eq(top[2].pid, 0);
    hr_waiters_close(waiters);
}
END_TEST

/* Different values, so that none can be mistaken for another. */
static const struct {
    enum hr_psi_resource resource;
    uint64_t waited_ns;
} sums[] = {
    {HR_PSI_CPU, 1},
    {HR_PSI_IO, 10},
    {HR_PSI_MEMORY, 100 + 1000 + 10000 + 100000 + 1000000},
    {HR_PSI_IRQ, 10000000},
};

START_TEST(sums_what_counts_for_a_resource)
{
    static const struct hr_task_delays before = {.ns = {7, 7, 7, 7, 7, 7, 7, 7}};
    const struct hr_task_delays after = {.ns = {[HR_DELAY_CPU] = 8,
                                                [HR_DELAY_BLKIO] = 17,
                                                [HR_DELAY_SWAPIN] = 107,
                                                [HR_DELAY_FREEPAGES] = 1007,
                                                [HR_DELAY_THRASHING] = 10007,
                                                [HR_DELAY_COMPACT] = 100007,
                                                [HR_DELAY_WPCOPY] = 1000007,
                                                [HR_DELAY_IRQ] = 10000007}};
    struct hr_waiters *waiters;

    set_processes("a", "5\n");
    fake_taskstats_set_process(fake, 5, &before);
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, sums[_i].resource, LIMIT, &waiters),
                     0);
    fake_taskstats_set_process(fake, 5, &after);
    take_second_sample(waiters, MAX);
    require_waiter(0, 5, sums[_i].waited_ns);
}
END_TEST

/* --- Names ---------------------------------------------------------------- */

static const struct {
    const char *comm, *name;
} names[] = {
    {"two words", "two words"},
    {"fifteen bytes..", "fifteen bytes.."},
    {"kworker/u8:1-events_unbound", "kworker/u8:1-ev"},
    {"new\nline\t\x7f\x1b[0m", "new?line???[0m"},
    {"caf\xc3\xa9", "caf\xc3\xa9"},
    {"fourteen bytes\xc3\xa9", "fourteen bytes?"}, /* the kernel cuts at any byte */
    {"\x9b[31m \xc2\x9b \xff", "?[31m ?? ?"},
    {"", "?"},
};

START_TEST(cleans_names)
{
    set_processes("a", "5\n");
    set_waited(5, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_waited(5, 1, OLD_US);
    set_name(5, names[_i].comm);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_str_eq(top[0].name, names[_i].name);
}
END_TEST

/* --- Coming, going, moving ------------------------------------------------ */

START_TEST(distinguishes_new_from_moved)
{
    set_processes("a", "5\n");
    set_waited(5, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_processes("a", "5\n6\n7\n");
    set_waited(6, 4000, YOUNG_US); /* started meanwhile */
    set_waited(7, 900000, OLD_US); /* waited elsewhere */
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 1);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 6, 4000);
}
END_TEST

/* The age, 10 s, is compared with the time between the samples, which is shorter or longer. */
START_TEST(measures_the_time_between_samples)
{
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);

    set_processes("a", "6\n");
    set_waited(6, 4000, 10 * HR_US_PER_S);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    ck_assert_uint_eq(report.count, 0);
    skipped_us = 10 * HR_US_PER_S;
    take_second_sample(waiters, MAX);
    require_waiter(0, 6, 4000);
}
END_TEST

/* A task of 10 s that moved isn't new because the reply with its age takes 20 s. */
START_TEST(asks_again_for_an_age_that_comes_late)
{
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);

    set_processes("a", "6\n");
    set_waited(6, 4000, 10 * HR_US_PER_S);
    delay_us = 20 * HR_US_PER_S;
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(delay_us, 0);
    ck_assert_uint_eq(report.count, 0);
}
END_TEST

START_TEST(detects_a_number_used_again)
{
    set_processes("a", "5\n6\n");
    set_waited(5, 70000, OLD_US);
    set_waited(6, 70000, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_waited(5, 4000, YOUNG_US);
    set_waited(6, 4000, OLD_US); /* another task that moved here, after 6 had ended */
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 5, 4000);
}
END_TEST

START_TEST(passes_over_those_that_ended)
{
    set_processes("a", "5\n6\n7\n");
    set_waited(5, 10, OLD_US);
    set_waited(7, 10, OLD_US); /* 6 has already ended */
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    end_process(5); /* still listed, as a zombie */
    set_waited(7, 30, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 7, 20);
}
END_TEST

START_TEST(passes_over_those_that_moved_away)
{
    set_processes("a", "5\n6\n");
    set_waited(5, 0, OLD_US);
    set_waited(6, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    set_processes("a", "6\n");
    set_waited(5, 500, OLD_US);
    set_waited(6, 20, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.count, 1);
    require_waiter(0, 6, 20);
}
END_TEST

START_TEST(passes_over_lost_replies)
{
    set_processes("a", "5\n");
    set_waited(5, 10, OLD_US);
    fake->trouble = FAKE_LOST;
    struct hr_waiters *waiters = take_first_sample(group, LIMIT);
    fake->trouble = FAKE_NONE;
    set_waited(5, 30, OLD_US);
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 0);
    ck_assert_uint_eq(report.count, 0); /* the start of its wait is unknown */

    waiters = take_first_sample(group, LIMIT);
    fake->trouble = FAKE_SILENT;
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 1);
    ck_assert_uint_eq(report.count, 0);
}
END_TEST

/* --- Limits --------------------------------------------------------------- */

START_TEST(samples_no_more_than_the_limit)
{
    set_processes("a", "5\n6\n7\n8\n9\n");
    for (pid_t pid = 5; pid <= 9; pid++)
        set_waited(pid, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, 2);
    set_processes("a", "1\n2\n3\n5\n6\n7\n8\n9\n");
    for (pid_t pid = 1; pid <= 9; pid++)
        set_waited(pid, (uint64_t)pid, pid < 5 ? YOUNG_US : OLD_US);
    fake->requests = 0;
    take_second_sample(waiters, MAX);
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_uint_eq(report.skipped_count, 3);
    ck_assert_uint_eq(report.count, 4);
    for (size_t i = 0; i < 4; i++) /* two sampled ones, and two new ones */
        ck_assert_int_eq(top[i].pid >= 5, i < 2);
    ck_assert_uint_eq(fake->requests, 2 + 2 * 2);
}
END_TEST

/* The highest PIDs are no more likely to be sampled than the lowest: each process is in 200 of 250
 * reports, by chance 162 to 238 (six standard deviations), and of 25 neighbours 15 or more are. */
START_TEST(samples_evenly)
{
    static struct hr_waiter all[250];
    int seen[250] = {0};

    set_many(250);
    for (uint64_t round = 1; round <= 250; round++) {
        int neighbours[10] = {0};
        struct hr_waiters *waiters = take_first_sample(group, 200);
        for (pid_t pid = 100; pid < 350; pid++)
            fake_taskstats_set_process(fake, pid,
                                       &(struct hr_task_delays){.ns = {[HR_DELAY_CPU] = round}});
        ck_assert_int_eq(hr_waiters_read(waiters, all, 250, &report), 0);
        hr_waiters_close(waiters);
        ck_assert_uint_eq(report.count, 200);
        ck_assert_uint_eq(report.sampled_count, 200);
        ck_assert_uint_eq(report.skipped_count, 50);
        for (int i = 0; i < 200; i++) {
            seen[all[i].pid - 100]++;
            neighbours[(all[i].pid - 100) / 25]++;
        }
        for (int i = 0; i < 10; i++)
            ck_assert_int_ge(neighbours[i], 15);
    }
    for (int i = 0; i < 250; i++) {
        ck_assert_int_ge(seen[i], 162);
        ck_assert_int_le(seen[i], 238);
    }
}
END_TEST

/* Each report has it with a chance of 2000 in 2500. */
START_TEST(finds_the_lowest_pid_of_many)
{
    int reports = 0;

    set_many(2500);
    do {
        struct hr_waiters *waiters = take_first_sample(group, 2000);
        set_waited(100, (uint64_t)++reports, OLD_US);
        take_second_sample(waiters, MAX);
    } while (report.count == 0 && reports < 30);
    require_waiter(0, 100, 1);
    ck_assert_uint_eq(report.skipped_count, 500);
}
END_TEST

/* PIDs of different lengths, so that the ends of reads cut them in every way. */
START_TEST(reads_long_lists)
{
    static char text[400000];
    size_t length = 0;

    for (pid_t pid = 900; pid < 50000; pid += 1)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%d\n", (int)pid);
    set_processes("a", text);
    for (pid_t pid = 900; pid < 50000; pid += 100)
        set_waited(pid, 0, OLD_US);
    struct hr_waiters *waiters = take_first_sample(group, 100000);
    for (pid_t pid = 900; pid < 50000; pid += 100)
        set_waited(pid, (uint64_t)pid, OLD_US);
    take_second_sample(waiters, 1);
    ck_assert_uint_eq(report.sampled_count, 491); /* and no other PID */
    ck_assert_uint_eq(report.skipped_count, 0);
    require_waiter(0, 49900, 49900);

    waiters = take_first_sample(group, 10);
    take_second_sample(waiters, 1);
    ck_assert_uint_eq(report.skipped_count, 49090);
}
END_TEST

static const char *const bad_lists[] = {
    "x\n", "5", "5\n6", "\n", "5\n\n", "-5\n", "2147483648\n", "99999999999999999999\n", "5 6\n"};

START_TEST(refuses_odd_lists)
{
    struct hr_waiters *waiters = NULL;

    set_processes("a", bad_lists[_i]);
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_CPU, LIMIT, &waiters),
                     -EBADMSG);
    ck_assert_ptr_null(waiters);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    add_waiters_fixture(tests);
    tcase_add_test(tests, ranks_processes);
    tcase_add_test(tests, reports_the_first_few);
    tcase_add_loop_test(tests, sums_what_counts_for_a_resource, 0, COUNT(sums));
    tcase_add_loop_test(tests, cleans_names, 0, COUNT(names));
    tcase_add_test(tests, distinguishes_new_from_moved);
    tcase_add_test(tests, measures_the_time_between_samples);
    tcase_add_test(tests, asks_again_for_an_age_that_comes_late);
    tcase_add_test(tests, detects_a_number_used_again);
    tcase_add_test(tests, passes_over_those_that_ended);
    tcase_add_test(tests, passes_over_those_that_moved_away);
    tcase_add_test(tests, passes_over_lost_replies);
    tcase_add_test(tests, samples_no_more_than_the_limit);
    tcase_add_test(tests, samples_evenly);
    tcase_add_test(tests, finds_the_lowest_pid_of_many);
    tcase_add_test(tests, reads_long_lists);
    tcase_add_loop_test(tests, refuses_odd_lists, 0, COUNT(bad_lists));
    return run_suite("waiters", tests);
}
