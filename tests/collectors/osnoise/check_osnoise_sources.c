/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_sources.c - what the tables of an instance have counted since the last
 * reading; the tables are written here.
 */
#include "collectors/osnoise/sources_harness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/suite.h"

/* --- Differences ---------------------------------------------------------- */

START_TEST(every_table_is_reported)
{
    begin_table();
    add_irq(0, "eth0", 1, 100);
    add_irq(1, "eth0", 2, 200);
    end_table(HR_OSNOISE_TABLE_IRQ, 0);
    begin_table();
    add_softirq(1, 7, 3, 300);
    add_softirq(1, 12, 4, 400);
    end_table(HR_OSNOISE_TABLE_SOFTIRQ, 0);
    begin_table();
    add_thread(1, "new\nline", 5, 500);
    add_thread(1, " } hitcount: 1", 6, 600);
    end_table(HR_OSNOISE_TABLE_THREAD, 0);
    begin_table();
    add_nmi(1, 7, 700);
    end_table(HR_OSNOISE_TABLE_NMI, 0);
    begin_table();
    add_power(1, 11, 8);
    add_power(1, 1, 9);
    end_table(HR_OSNOISE_TABLE_DURATION, 0);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 7);
    assert_source(0, HR_OSNOISE_IRQ, "eth0", 1, 100);
    assert_source(1, HR_OSNOISE_IRQ, "eth0", 2, 200);
    assert_source(1, HR_OSNOISE_SOFTIRQ, "SCHED", 3, 300);
    assert_source(1, HR_OSNOISE_SOFTIRQ, "12", 4, 400);
    assert_source(1, HR_OSNOISE_THREAD, "new\nline", 5, 500);
    assert_source(1, HR_OSNOISE_THREAD, " } hitcount: 1", 6, 600);
    assert_source(1, HR_OSNOISE_NMI, "NMI", 7, 700);
    ck_assert_uint_eq(counts.bucket_count, 2);
    ck_assert_uint_eq(counts.buckets[0].lower_ns, 1024);
    ck_assert_uint_eq(counts.buckets[0].count, 8);
    ck_assert_uint_eq(counts.buckets[0].cpu, 1);
    ck_assert_uint_eq(counts.buckets[1].lower_ns, 1);
    ck_assert_uint_eq(counts.buckets[1].count, 9);
    ck_assert_uint_eq(counts.dropped_count, 0);
}
END_TEST

START_TEST(only_what_is_new_is_reported)
{
    begin_table();
    add_irq(1, "local_timer", 10, 1000);
    add_irq(1, "eth0", 5, 500);
    end_table(HR_OSNOISE_TABLE_IRQ, 0);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 2);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 0);
    ck_assert_uint_eq(counts.bucket_count, 0);
    begin_table();
    add_irq(1, "eth0", 5, 500);
    add_irq(1, "local_timer", 13, 1300);
    end_table(HR_OSNOISE_TABLE_IRQ, 0);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 1);
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 3, 300);
    for (int i = 0; i < HR_OSNOISE_TABLE_COUNT; i++)
        ck_assert_uint_eq(cleared[i], 0);
}
END_TEST

/* Two IRQs of one device, or tasks whose names are the same once they are cut. */
START_TEST(what_comes_to_the_same_is_added_up)
{
    char names[2][128];

    memset(names, 'x', sizeof(names));
    strcpy(names[0] + 100, "first");
    strcpy(names[1] + 100, "second");
    for (unsigned i = 1; i <= 2; i++) {
        begin_table();
        add_irq(1, names[0], i, 10 * i);
        add_irq(1, names[1], 100 * i, 1000 * i);
        end_table(HR_OSNOISE_TABLE_IRQ, 0);
        begin_table();
        add_power(1, 0, i);
        add_power(1, 1, 10 * i);
        end_table(HR_OSNOISE_TABLE_DURATION, 0);
        read_counts();
        names[0][HR_OSNOISE_NAME - 1] = '\0';
        ck_assert_uint_eq(counts.source_count, 1);
        assert_source(1, HR_OSNOISE_IRQ, names[0], 101, 1010);
        names[0][HR_OSNOISE_NAME - 1] = 'x';
        ck_assert_uint_eq(counts.bucket_count, 1);
        ck_assert_uint_eq(counts.buckets[0].count, 11);
    }
}
END_TEST

START_TEST(other_cpus_are_not_reported)
{
    struct hr_cpu_set one = {{0}};

    hr_cpu_set_add(&one, 1);
    for (unsigned i = 1; i <= 3; i++) {
        begin_table();
        add_irq(0, "eth0", 100 * i, i);
        add_irq(1, "eth0", i, i);
        end_table(HR_OSNOISE_TABLE_IRQ, 0);
        ck_assert_int_eq(
            hr_osnoise_sources_read(sources, &tracefs, i == 3 ? &all_cpus : &one, &counts), 0);
        assert_source(1, HR_OSNOISE_IRQ, "eth0", 1, 1);
        ck_assert_uint_eq(counts.source_count, i == 3 ? 2 : 1);
    }
    assert_source(0, HR_OSNOISE_IRQ, "eth0", 100, 1); /* of the last interval only */
}
END_TEST

START_TEST(a_sum_that_falls_is_no_spike)
{
    write_irq(100, 5000000);
    read_counts();
    write_irq(102, 4999000); /* the kernel took a duration for negative */
    read_counts();
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 2, 0);
    write_irq(103, (unsigned long)-3000); /* and once more, below nothing */
    read_counts();
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 1, 0);
    write_irq(104, 2000);
    read_counts();
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 1, 5000);
}
END_TEST

START_TEST(a_table_that_was_emptied_counts_from_nothing)
{
    begin_table();
    add_irq(1, "local_timer", 10, 1000);
    add_irq(1, "eth0", 5, 500);
    add_irq(1, "eth1", 5, 500);
    end_table(HR_OSNOISE_TABLE_IRQ, 9);
    read_counts();
    begin_table();
    add_irq(1, "local_timer", 12, 1200); /* more than before, but all of it is new */
    add_irq(1, "eth0", 4, 600);
    end_table(HR_OSNOISE_TABLE_IRQ, 0);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 2);
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 12, 1200);
    assert_source(1, HR_OSNOISE_IRQ, "eth0", 4, 600);
    ck_assert_uint_eq(counts.dropped_count, 0);
    begin_table();
    add_irq(1, "local_timer", 13, 1300);
    end_table(HR_OSNOISE_TABLE_IRQ, 0); /* eth0 is gone */
    read_counts();
    ck_assert_uint_eq(counts.source_count, 1);
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 13, 1300);
    begin_table();
    end_table(HR_OSNOISE_TABLE_IRQ, 0);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 0);
    write_irq(1, 1);
    read_counts();
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 1, 1);
}
END_TEST

START_TEST(tables_are_emptied_one_by_one)
{
    write_irq(10, 1000);
    begin_table();
    add_softirq(1, 7, 10, 1000);
    end_table(HR_OSNOISE_TABLE_SOFTIRQ, 0);
    read_counts();
    write_irq(2, 200);
    begin_table();
    add_softirq(1, 7, 12, 1200);
    end_table(HR_OSNOISE_TABLE_SOFTIRQ, 0);
    read_counts();
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 2, 200);
    assert_source(1, HR_OSNOISE_SOFTIRQ, "SCHED", 2, 200);
}
END_TEST

/* --- Full tables ---------------------------------------------------------- */

static void write_threads(unsigned count, unsigned long hits, unsigned long dropped)
{
    char name[32];

    begin_table();
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "kworker/%u", i);
        add_thread(i % 8, name, hits, 10 * hits);
    }
    end_table(HR_OSNOISE_TABLE_THREAD, dropped);
}

START_TEST(a_full_table_is_read_and_emptied)
{
    write_irq(10, 1000);
    write_threads(4096, 2, 0);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 4097);
    assert_source(7, HR_OSNOISE_THREAD, "kworker/4095", 2, 20);
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 1);
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_IRQ], 0);
    write_threads(10, 5, 0); /* more than before, as it took so long */
    write_irq(11, 1100);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 11);
    assert_source(1, HR_OSNOISE_THREAD, "kworker/9", 5, 50);
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 1, 100);
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 1);
}
END_TEST

START_TEST(three_quarters_are_not_full)
{
    write_threads(3072, 2, 0);
    read_counts();
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 0);
    write_threads(3073, 2, 0);
    read_counts();
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 1);
    ck_assert_uint_eq(counts.source_count, 1);
}
END_TEST

START_TEST(what_was_dropped_is_reported_and_the_table_emptied)
{
    write_threads(10, 2, 30);
    read_counts();
    ck_assert_uint_eq(counts.dropped_count, 30);
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 1);
    write_threads(10, 3, 4);
    read_counts();
    ck_assert_uint_eq(counts.dropped_count, 4);
    assert_source(1, HR_OSNOISE_THREAD, "kworker/9", 3, 30);
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 2);
    write_threads(10, 4, 5);
    read_counts();
    ck_assert_uint_eq(counts.dropped_count, 5);
    write_threads(10, 3, 0);
    read_counts();
    ck_assert_uint_eq(counts.dropped_count, 0);
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 3);
}
END_TEST

START_TEST(a_table_that_cannot_be_emptied_goes_on)
{
    clear_status = -EBUSY;
    write_threads(10, 2, 30);
    read_counts();
    ck_assert_uint_eq(counts.dropped_count, 30);
    write_threads(10, 3, 34);
    read_counts();
    ck_assert_uint_eq(counts.dropped_count, 4);
    assert_source(1, HR_OSNOISE_THREAD, "kworker/9", 1, 10);
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 2);
    write_threads(10, 3, 6); /* another program cleared it */
    read_counts();
    ck_assert_uint_eq(counts.dropped_count, 6);
    assert_source(1, HR_OSNOISE_THREAD, "kworker/9", 3, 30);
}
END_TEST

/* --- Trouble -------------------------------------------------------------- */

/* The tables that can be read come before that which can't. */
START_TEST(a_reading_that_fails_loses_nothing)
{
    write_irq(10, 1000);
    read_counts();
    write_irq(15, 1500);
    remove_table(HR_OSNOISE_TABLE_DURATION);
    read_fails(-ENOENT);
    begin_table();
    add_power(1, 10, 1);
    entry_count = 7; /* which it hasn't */
    end_table(HR_OSNOISE_TABLE_DURATION, 0);
    read_fails(-EBADMSG);
    write_irq(16, 1600);
    begin_table();
    add_power(1, 12, 1);
    end_table(HR_OSNOISE_TABLE_DURATION, 0);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 1);
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 6, 600);
    ck_assert_uint_eq(counts.bucket_count, 1);
    ck_assert_uint_eq(counts.buckets[0].lower_ns, 2048);
}
END_TEST

START_TEST(sums_beyond_all_numbers_are_refused)
{
    write_irq(10, 1000);
    read_counts();
    begin_table();
    add_power(1, 0, UINT64_MAX);
    add_power(1, 1, 1);
    end_table(HR_OSNOISE_TABLE_DURATION, 0);
    read_fails(-EBADMSG);
    begin_table();
    add_power(1, 0, UINT64_MAX);
    end_table(HR_OSNOISE_TABLE_DURATION, 0);
    read_counts();
    ck_assert_uint_eq(counts.buckets[0].count, UINT64_MAX);
}
END_TEST

START_TEST(without_memory_nothing_is_lost)
{
    int failed = 0, status;

    write_irq(10, 1000);
    write_threads(200, 1, 0);
    do {
        allocations_left = failed;
        counts = (struct hr_osnoise_counts){0};
        status = hr_osnoise_sources_read(sources, &tracefs, &all_cpus, &counts);
        failed += status < 0;
        ck_assert(status == 0 || status == -ENOMEM);
    } while (status < 0);
    allocations_left = -1;
    ck_assert_int_ge(failed, 2);
    ck_assert_uint_eq(counts.source_count, 201);
    assert_source(1, HR_OSNOISE_IRQ, "local_timer", 10, 1000);
    assert_source(7, HR_OSNOISE_THREAD, "kworker/199", 1, 10);
}
END_TEST

START_TEST(in_steady_state_nothing_is_allocated)
{
    write_threads(3000, 1, 0);
    read_counts();
    allocations = 0;
    for (unsigned i = 2; i < 5; i++) {
        write_threads(3000, i, 0);
        read_counts();
        ck_assert_uint_eq(counts.source_count, 3000);
    }
    ck_assert_int_eq(allocations, 0);
}
END_TEST

START_TEST(only_what_was_asked_for_is_read)
{
    for (int i = 0; i < HR_OSNOISE_TABLE_DURATION; i++)
        remove_table((enum hr_osnoise_table)i);
    begin_table();
    add_power(1, 10, 1);
    end_table(HR_OSNOISE_TABLE_DURATION, 0);
    read_fails(-ENOENT);
    hr_osnoise_sources_close(sources);
    ck_assert_int_eq(hr_osnoise_sources_open("ours", false, true, &sources), 0);
    read_counts();
    ck_assert_uint_eq(counts.bucket_count, 1);
    ck_assert_uint_eq(counts.source_count, 0);
    remove_table(HR_OSNOISE_TABLE_DURATION);
    hr_osnoise_sources_close(sources);
    ck_assert_int_eq(hr_osnoise_sources_open("ours", false, false, &sources), 0);
    read_counts();
    ck_assert_uint_eq(counts.bucket_count, 0);
}
END_TEST

int main(void)
{
    TCase *tests = new_sources_tests("sources");

    tcase_add_test(tests, every_table_is_reported);
    tcase_add_test(tests, only_what_is_new_is_reported);
    tcase_add_test(tests, what_comes_to_the_same_is_added_up);
    tcase_add_test(tests, other_cpus_are_not_reported);
    tcase_add_test(tests, a_sum_that_falls_is_no_spike);
    tcase_add_test(tests, a_table_that_was_emptied_counts_from_nothing);
    tcase_add_test(tests, tables_are_emptied_one_by_one);
    tcase_add_test(tests, a_full_table_is_read_and_emptied);
    tcase_add_test(tests, three_quarters_are_not_full);
    tcase_add_test(tests, what_was_dropped_is_reported_and_the_table_emptied);
    tcase_add_test(tests, a_table_that_cannot_be_emptied_goes_on);
    tcase_add_test(tests, a_reading_that_fails_loses_nothing);
    tcase_add_test(tests, sums_beyond_all_numbers_are_refused);
    tcase_add_test(tests, without_memory_nothing_is_lost);
    tcase_add_test(tests, in_steady_state_nothing_is_allocated);
    tcase_add_test(tests, only_what_was_asked_for_is_read);
    return run_isolated_suite("osnoise_sources", tests);
}
