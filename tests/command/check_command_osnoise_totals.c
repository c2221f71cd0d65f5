/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_osnoise_totals.c - readings of noise added up: sums, maxima, sources,
 * shares.
 */
#include "support/suite.h"

#include "osnoise/totals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct osnoise_totals totals;

static void add(const struct hr_osnoise_reading *reading)
{
    static const struct timespec time = {1795261677, 0};
    ck_assert_int_eq(osnoise_totals_add(&totals, reading, &time), 0);
}

static void add_cpu(struct hr_osnoise_cpu cpu)
{
    add(&(struct hr_osnoise_reading){
        .elapsed_ns = 1000000000, .has_sources = true, .cpus = &cpu, .cpu_count = 1});
}

static void add_source(unsigned cpu, enum hr_osnoise_kind kind, const char *name, uint64_t count,
                       uint64_t duration_ns)
{
    struct hr_osnoise_source source = {
        .cpu = cpu, .kind = kind, .count = count, .duration_ns = duration_ns};
    snprintf(source.name, sizeof(source.name), "%s", name);
    add(&(struct hr_osnoise_reading){.has_sources = true, .sources = &source, .source_count = 1});
}

static void forget(void)
{
    osnoise_totals_free(&totals);
}

/* --- CPUs ----------------------------------------------------------------- */

START_TEST(adds_sums_and_keeps_maxima)
{
    add_cpu(
        (struct hr_osnoise_cpu){3, HR_OSNOISE_CPU_SILENT, 1, 10, 2, 9, 30, 4, 5, 6, 7, 8, 1, 20});
    add_cpu((struct hr_osnoise_cpu){3, HR_OSNOISE_CPU_FINE, 2, 20, 3, 7, 40, 1, 1, 1, 1, 1, 1, 3});
    ck_assert_uint_eq(totals.cpu_count, 1);
    const struct hr_osnoise_cpu *sums = &totals.cpus[0].sums;
    const struct hr_osnoise_cpu expected = {
        3, HR_OSNOISE_CPU_FINE, 3, 30, 5, 9, 40, 5, 6, 7, 8, 9, 2, 23};
    ck_assert_uint_eq(sums->cpu, expected.cpu);
    ck_assert_int_eq(sums->state, expected.state);
    ck_assert_uint_eq(sums->sample_count, expected.sample_count);
    ck_assert_uint_eq(sums->runtime_us, expected.runtime_us);
    ck_assert_uint_eq(sums->noise_us, expected.noise_us);
    ck_assert_uint_eq(sums->max_single_us, expected.max_single_us);
    ck_assert_uint_eq(sums->max_period_us, expected.max_period_us);
    ck_assert_uint_eq(sums->hw_count, expected.hw_count);
    ck_assert_uint_eq(sums->nmi_count, expected.nmi_count);
    ck_assert_uint_eq(sums->irq_count, expected.irq_count);
    ck_assert_uint_eq(sums->softirq_count, expected.softirq_count);
    ck_assert_uint_eq(sums->thread_count, expected.thread_count);
    ck_assert_uint_eq(sums->lost_count, expected.lost_count);
    ck_assert_uint_eq(sums->single_count, expected.single_count);
    ck_assert_uint_eq(totals.elapsed_ns, 2000000000);
    ck_assert_uint_eq(totals.reading_count, 2);
}
END_TEST

/* One that comes online later is put among the others. */
START_TEST(keeps_cpus_in_order)
{
    static const unsigned come[] = {8, 2, 5, 8191, 0, 5, 2, 8};
    static const unsigned stand[] = {0, 2, 5, 8, 8191};
    static const uint64_t periods[] = {1, 2, 2, 2, 1};
    for (size_t i = 0; i < COUNT(come); i++)
        add_cpu((struct hr_osnoise_cpu){.cpu = come[i], .sample_count = 1});
    for (unsigned cpu = 100; cpu < 160; cpu++)
        add_cpu((struct hr_osnoise_cpu){.cpu = cpu});
    ck_assert_uint_eq(totals.cpu_count, COUNT(stand) + 60);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(totals.cpus[i].sums.cpu, stand[i]);
        ck_assert_uint_eq(totals.cpus[i].sums.sample_count, periods[i]);
    }
    ck_assert_uint_eq(totals.cpus[64].sums.cpu, 8191);
    ck_assert_uint_eq(totals.cpus[64].sums.sample_count, 1);
}
END_TEST

START_TEST(knows_whether_there_were_samples)
{
    ck_assert(!osnoise_totals_sampled(&totals));
    add_cpu((struct hr_osnoise_cpu){.cpu = 1});
    ck_assert(!osnoise_totals_sampled(&totals));
    add_cpu((struct hr_osnoise_cpu){.cpu = 2, .sample_count = 1});
    ck_assert(osnoise_totals_sampled(&totals));
}
END_TEST

/* --- shares --------------------------------------------------------------- */

static const struct {
    uint64_t runtime_us, noise_us, share;
} shares[] = {
    /* the kernel's own examples */
    {1000000, 190, 9998100},
    {1000000, 5675, 9943250},
    {1000000, 7816, 9921840},
    /* 100 % is no noise at all */
    {1000000, 0, 10000000},
    {31536000000000, 1, 9999999},
    /* a year, ten, and whatever 64 bits hold; after 21 days 1e7 times that is more than that */
    {31536000000000, 31536000, 9999990},
    {1844674407371, 922337203685, 5000000},
    {315360000000000, 157680000000000, 5000000},
    {UINT64_MAX, UINT64_MAX / 4, 7500000},
    {UINT64_MAX, UINT64_MAX, 0},
    {3, 2, 3333333},
    /* what can't be is no huge number */
    {10, 11, 0},
};

START_TEST(knows_what_is_available)
{
    const struct hr_osnoise_cpu sums = {.runtime_us = shares[_i].runtime_us,
                                        .noise_us = shares[_i].noise_us};
    uint64_t share;
    ck_assert_int_eq(osnoise_available(&sums, &share), 0);
    ck_assert_uint_eq(share, shares[_i].share);
}
END_TEST

START_TEST(knows_nothing_without_samples)
{
    uint64_t share = 7;
    ck_assert_int_eq(osnoise_available(&(struct hr_osnoise_cpu){.noise_us = 5}, &share), -ENODATA);
    ck_assert_int_eq(osnoise_share(&(struct osnoise_cpu_total){0}, HR_OSNOISE_SOURCES, 5, &share),
                     -ENODATA);
    ck_assert_int_eq(osnoise_share(&(struct osnoise_cpu_total){0}, HR_OSNOISE_WORKLOAD, 5, &share),
                     -ENODATA);
    ck_assert_uint_eq(share, 7);
}
END_TEST

/* A source's share is of the time in which sources were counted, while its CPU was there. */
START_TEST(shares_are_of_the_time_that_is_known)
{
    struct hr_osnoise_cpu cpu = {.cpu = 1, .sample_count = 1, .runtime_us = 500000};
    struct hr_osnoise_reading reading = {
        .elapsed_ns = 1000000000, .has_sources = true, .cpus = &cpu, .cpu_count = 1};
    uint64_t share;
    add(&reading);
    add(&reading);
    reading.has_sources = false;
    add(&reading);
    reading.has_sources = true;
    cpu = (struct hr_osnoise_cpu){.cpu = 1, .state = HR_OSNOISE_CPU_OFFLINE};
    add(&reading);
    ck_assert_uint_eq(totals.missing_count, 1);
    ck_assert_int_eq(osnoise_share(&totals.cpus[0], HR_OSNOISE_WORKLOAD, 1000000, &share), 0);
    ck_assert_uint_eq(share, 10000); /* 1 ms of 1 s */
    ck_assert_int_eq(osnoise_share(&totals.cpus[0], HR_OSNOISE_SOURCES, 1000000, &share), 0);
    ck_assert_uint_eq(share, 5000); /* 1 ms of 2 s */
    ck_assert_uint_eq(totals.cpus[0].elapsed_ns, UINT64_C(3000000000));
}
END_TEST

/* --- sources -------------------------------------------------------------- */

static void expect_top(size_t index, size_t most, const char *expected)
{
    const struct hr_osnoise_source *first;
    struct osnoise_sum other;
    char text[1024] = "";
    size_t used = 0;
    size_t count = osnoise_totals_top(&totals, &totals.cpus[index], most, &first, &other);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%d %s %d %d, ", first[i].kind,
                                 first[i].name, (int)first[i].count, (int)first[i].duration_ns);
    snprintf(text + used, sizeof(text) - used, "%d %d %d", (int)other.source_count,
             (int)other.count, (int)other.duration_ns);
    ck_assert_str_eq(text, expected);
}

/* By CPU, kind and name; and also after sorting what comes is added to the right ones. */
START_TEST(distinguishes_sources)
{
    for (unsigned cpu = 0; cpu < 4; cpu++)
        add_cpu((struct hr_osnoise_cpu){.cpu = cpu});
    for (int round = 0; round < 2; round++) {
        add_source(1, HR_OSNOISE_THREAD, "a", 1, 10);
        add_source(1, HR_OSNOISE_IRQ, "a", 2, 5);
        add_source(2, HR_OSNOISE_THREAD, "a", 1, 7);
        add_source(1, HR_OSNOISE_THREAD, "b", 1, 100);
        add_source(1, HR_OSNOISE_SOFTIRQ, "c", 1, 10);
        osnoise_totals_sort(&totals);
    }
    ck_assert_uint_eq(totals.source_count, 5);
    expect_top(0, 5, "0 0 0");
    expect_top(1, 9, "2 b 2 200, 1 c 2 20, 2 a 2 20, 0 a 4 10, 0 0 0");
    expect_top(1, 2, "2 b 2 200, 1 c 2 20, 2 6 30");
    expect_top(1, 0, "4 10 250");
    expect_top(2, 1, "2 a 2 14, 0 0 0");
    expect_top(3, 1, "0 0 0");
}
END_TEST

START_TEST(has_no_sources_at_first)
{
    add_cpu((struct hr_osnoise_cpu){.cpu = 0});
    osnoise_totals_sort(&totals);
    expect_top(0, 5, "0 0 0");
}
END_TEST

/* Threads come and go under new names for months. */
START_TEST(limits_the_sources)
{
    struct hr_osnoise_source *sources = calloc(OSNOISE_SOURCES_MAX + 10, sizeof(*sources));
    ck_assert_ptr_nonnull(sources);
    for (unsigned i = 0; i < OSNOISE_SOURCES_MAX + 10; i++) {
        sources[i] = (struct hr_osnoise_source){
            .cpu = 7, .kind = HR_OSNOISE_THREAD, .count = 1, .duration_ns = 2};
        snprintf(sources[i].name, sizeof(sources[i].name), "worker-%u", i);
    }
    add_cpu((struct hr_osnoise_cpu){.cpu = 7});
    for (int round = 0; round < 2; round++)
        add(&(struct hr_osnoise_reading){
            .has_sources = true, .sources = sources, .source_count = OSNOISE_SOURCES_MAX + 10});
    free(sources);
    ck_assert_uint_eq(totals.source_count, OSNOISE_SOURCES_MAX);
    ck_assert_uint_eq(totals.cpus[0].rest.count, 20);
    osnoise_totals_sort(&totals);
    const struct hr_osnoise_source *first;
    struct osnoise_sum other;
    osnoise_totals_top(&totals, &totals.cpus[0], 3, &first, &other);
    ck_assert_uint_eq(other.count, 2 * (OSNOISE_SOURCES_MAX - 3) + 20);
    ck_assert_uint_eq(other.duration_ns, 4 * (OSNOISE_SOURCES_MAX - 3) + 40);
}
END_TEST

/* They are of no number that is known. */
START_TEST(sources_without_a_name_are_others)
{
    const struct hr_osnoise_source sources[] = {
        {7, HR_OSNOISE_THREAD, "a", 2, 20},
        {7, HR_OSNOISE_THREAD, "", 30, 3000},
        {7, HR_OSNOISE_IRQ, "", 4, 400},
    };
    const struct hr_osnoise_source *first;
    struct osnoise_sum other;

    add_cpu((struct hr_osnoise_cpu){.cpu = 7});
    add(&(struct hr_osnoise_reading){
        .has_sources = true, .sources = sources, .source_count = COUNT(sources)});
    osnoise_totals_sort(&totals);
    ck_assert_uint_eq(osnoise_totals_top(&totals, &totals.cpus[0], 3, &first, &other), 1);
    ck_assert_uint_eq(totals.cpus[0].rest.count, 34);
    ck_assert_uint_eq(other.count, 34);
    ck_assert_uint_eq(other.duration_ns, 3400);
}
END_TEST

/* --- single noises -------------------------------------------------------- */

START_TEST(counts_by_duration)
{
    const struct hr_osnoise_bucket buckets[] = {
        {0, 1024, 3}, {0, 1024, 4}, {0, 1, 1}, {0, 0, 1}, {5, UINT64_C(1) << 63, 9}};
    add(&(struct hr_osnoise_reading){.buckets = buckets, .bucket_count = COUNT(buckets)});
    ck_assert_uint_eq(totals.cpu_count, 2);
    ck_assert_uint_eq(totals.cpus[0].buckets[10], 7);
    ck_assert_uint_eq(totals.cpus[0].buckets[0], 2);
    ck_assert_uint_eq(totals.cpus[1].buckets[63], 9);
}
END_TEST

/* How many noises are in which buckets, and the powers of two that a share of them doesn't exceed.
 */
static const struct {
    struct {
        unsigned power;
        uint64_t count;
    } buckets[4];
    unsigned p50, p99, p999;
} percentiles[] = {
    {{{10, 1}}, 11, 11, 11},
    {{{10, 500}, {12, 490}, {14, 9}, {20, 1}}, 11, 13, 15},
    {{{10, 499}, {12, 490}, {14, 9}, {20, 2}}, 13, 15, 21},
    {{{0, 1}, {1, 1}}, 1, 2, 2},
    {{{5, 1}, {6, 2}}, 7, 7, 7},
    {{{10, UINT64_MAX / 2}, {11, UINT64_MAX / 2}}, 11, 12, 12},
};

START_TEST(finds_percentiles)
{
    const unsigned expected[] = {percentiles[_i].p50, percentiles[_i].p99, percentiles[_i].p999};
    static const unsigned per_mille[] = {500, 990, 999};
    struct osnoise_cpu_total cpu = {.elapsed_ns = 0};
    uint64_t duration_ns = 0;

    for (size_t i = 0; i < 4; i++)
        cpu.buckets[percentiles[_i].buckets[i].power] += percentiles[_i].buckets[i].count;
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(osnoise_percentile(cpu.buckets, per_mille[i], &duration_ns), 0);
        ck_assert_uint_eq(duration_ns, UINT64_C(1) << expected[i]);
    }
}
END_TEST

START_TEST(without_noises_there_are_no_percentiles)
{
    struct osnoise_cpu_total cpu = {.elapsed_ns = 0};
    uint64_t duration_ns = 0;

    ck_assert_int_eq(osnoise_percentile(cpu.buckets, 500, &duration_ns), -ENODATA);
    cpu.buckets[63] = 1;
    ck_assert_int_eq(osnoise_percentile(cpu.buckets, 500, &duration_ns), 0);
    ck_assert_uint_eq(duration_ns, UINT64_MAX);
}
END_TEST

START_TEST(keeps_the_last_single_noises)
{
    struct hr_osnoise_single_noise single_noise = {.cpu = 1};
    for (unsigned i = 0; i < OSNOISE_SINGLE_NOISES_MAX + 7; i++) {
        single_noise.duration_ns = i;
        add(&(struct hr_osnoise_reading){.single_noises = &single_noise,
                                         .single_noise_count = 1,
                                         .single_noise_more_count = i == 3 ? 50 : 0});
        ck_assert_uint_eq(osnoise_totals_single_noise(&totals, totals.single_noise_count - 1)
                              ->single_noise.duration_ns,
                          i);
    }
    ck_assert_uint_eq(totals.single_noise_count, OSNOISE_SINGLE_NOISES_MAX);
    ck_assert_uint_eq(totals.single_noise_total, OSNOISE_SINGLE_NOISES_MAX + 57);
    for (unsigned i = 0; i < OSNOISE_SINGLE_NOISES_MAX; i++)
        ck_assert_uint_eq(osnoise_totals_single_noise(&totals, i)->single_noise.duration_ns, i + 7);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise_totals");

    tcase_add_checked_fixture(tests, NULL, forget);
    tcase_add_test(tests, adds_sums_and_keeps_maxima);
    tcase_add_test(tests, keeps_cpus_in_order);
    tcase_add_test(tests, knows_whether_there_were_samples);
    tcase_add_loop_test(tests, knows_what_is_available, 0, COUNT(shares));
    tcase_add_test(tests, knows_nothing_without_samples);
    tcase_add_test(tests, shares_are_of_the_time_that_is_known);
    tcase_add_test(tests, distinguishes_sources);
    tcase_add_test(tests, has_no_sources_at_first);
    tcase_add_test(tests, limits_the_sources);
    tcase_add_test(tests, sources_without_a_name_are_others);
    tcase_add_test(tests, counts_by_duration);
    tcase_add_loop_test(tests, finds_percentiles, 0, (int)COUNT(percentiles));
    tcase_add_test(tests, without_noises_there_are_no_percentiles);
    tcase_add_test(tests, keeps_the_last_single_noises);
    return run_suite("osnoise_totals", tests);
}
