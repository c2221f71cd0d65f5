/* SPDX-License-Identifier: MIT */
/*
 * plugin/osnoise/check_plugin_osnoise_values.c - what the plugin osnoise publishes of readings:
 * sums, gauges and the histogram.
 */
#include "plugin/osnoise/values_harness.h"
#include "support/fake_collectd.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- Samples -------------------------------------------------------------- */

START_TEST(sums_up_an_interval)
{
    const struct hr_osnoise_cpu first[] = {
        {3, 0, 1, 10000, 100, 40, 100, 1, 2, 3, 4, 5, 0, 0},
        {7, 0, 2, 20000, 0, 0, 0, 0, 0, 20, 0, 0, 6, 0},
    };
    const struct hr_osnoise_cpu second[] = {
        {3, 0, 2, 30000, 700, 500, 600, 10, 20, 30, 40, 50, 7, 0}};
    static const struct {
        const char *identifier;
        double number;
    } expected[] = {
        {"osnoise-cpu3/percent-available", 98}, /* of the sums, not the mean of 99 and 97.67 */
        {"osnoise-cpu3/duration-max_single", 0.0005}, {"osnoise-cpu3/duration-max_period", 0.0006},
        {"osnoise-cpu3/derive-runtime_us", 40000},    {"osnoise-cpu3/derive-noise_us", 800},
        {"osnoise-cpu3/total_operations-hw", 11},     {"osnoise-cpu3/total_operations-nmi", 22},
        {"osnoise-cpu3/total_operations-irq", 33},    {"osnoise-cpu3/total_operations-softirq", 44},
        {"osnoise-cpu3/total_operations-thread", 55}, {"osnoise-cpu3/total_operations-lost", 7},
        {"osnoise-cpu7/percent-available", 100},      {"osnoise-cpu7/duration-max_single", 0},
        {"osnoise-cpu7/total_operations-irq", 20},    {"osnoise-cpu7/total_operations-lost", 6},
    };
    size_t count;

    begin_values(true, 0);
    add_cpus(first, 2);
    add_cpus(second, 1);
    publish();
    for (size_t i = 0; i < COUNT(expected); i++)
        ck_assert_msg(number(expected[i].identifier) == expected[i].number, "%s is %g",
                      expected[i].identifier, number(expected[i].identifier));
    ck_assert_uint_eq(fake_count("*"), 22);
    const struct fake_value *all = fake_values(&count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(all[i].time, all[0].time);
}
END_TEST

/* Gauges are of the interval alone, counters go on. */
START_TEST(begins_each_interval_at_zero)
{
    const struct hr_osnoise_cpu much[] = {{3, 0, 1, 10000, 5000, 4000, 5000, 0, 0, 9, 0, 0, 0, 0}};
    const struct hr_osnoise_cpu little[] = {{3, 0, 1, 10000, 10, 10, 10, 0, 0, 1, 0, 0, 0, 0}};

    begin_values(true, 0);
    add_cpus(much, 1);
    publish();
    add_cpus(little, 1);
    publish();
    ck_assert_double_eq_tol(number("osnoise-cpu3/percent-available"), 99.9, 1e-9);
    ck_assert_double_eq_tol(number("osnoise-cpu3/duration-max_single"), 10e-6, 1e-12);
    ck_assert_double_eq_tol(number("osnoise-cpu3/duration-max_period"), 10e-6, 1e-12);
    ck_assert_double_eq(number("osnoise-cpu3/derive-noise_us"), 5010);
    ck_assert_double_eq(number("osnoise-cpu3/total_operations-irq"), 10);
}
END_TEST

/* What isn't known isn't 0. */
START_TEST(has_no_values_without_samples)
{
    const struct hr_osnoise_cpu before[] = {{0, 0, 1, 10000, 50, 5, 50, 1, 0, 9, 0, 0, 0, 0}};
    const struct hr_osnoise_cpu silent[] = {
        {.cpu = 0, .state = HR_OSNOISE_CPU_SILENT, .lost_count = 2},
        {.cpu = 1, .state = HR_OSNOISE_CPU_OFFLINE},
    };

    begin_values(true, 2);
    add_cpus(before, 1);
    publish();
    add_cpus(silent, 2);
    publish();
    ck_assert_uint_eq(fake_count("*"), 2);
    ck_assert_double_eq(number("osnoise-cpu0/total_operations-lost"), 2);
    ck_assert_double_eq(number("osnoise-cpu1/total_operations-lost"), 0);
    publish(); /* nothing was read at all */
    ck_assert_uint_eq(fake_count("*"), 0);
    add_cpus(before, 1);
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/derive-noise_us"), 100);
    ck_assert_double_eq(number("osnoise-cpu0/percent-available"), 99.5);
}
END_TEST

/* A kernel that has samples for another program alone. */
START_TEST(has_the_rest_without_samples)
{
    const struct hr_osnoise_cpu cpu = {.cpu = 3};
    const struct hr_osnoise_source source = {
        .cpu = 3, .kind = HR_OSNOISE_IRQ, .name = "local_timer", .count = 1, .duration_ns = 7000};
    const struct hr_osnoise_bucket bucket = {.cpu = 3, .lower_ns = 4096, .count = 2};
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = 1000000000,
        .cpus = &cpu,
        .cpu_count = 1,
        .lacks_samples = true,
        .has_sources = true,
        .sources = &source,
        .source_count = 1,
        .buckets = &bucket,
        .bucket_count = 1,
    };

    begin_values(true, 5);
    osnoise_values_add(values, &reading);
    publish();
    ck_assert_double_eq(number("osnoise-cpu3/derive-irq_local_timer_us"), 7);
    ck_assert_double_eq(number("osnoise-cpu3/total_values-noise_4us"), 2);
    ck_assert_ptr_null(fake_find("osnoise-cpu3/percent-available"));
    ck_assert_ptr_null(fake_find("osnoise-cpu3/derive-runtime_us"));
}
END_TEST

START_TEST(takes_no_more_noise_than_time)
{
    const struct hr_osnoise_cpu odd[] = {
        {.cpu = 0, .sample_count = 1, .runtime_us = 100, .noise_us = 101},
        {.cpu = 1, .sample_count = 1},
    };

    begin_values(true, 0);
    add_cpus(odd, 2);
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/percent-available"), 0);
    ck_assert_uint_eq(fake_count("osnoise-cpu1/percent-available"), 0);
    ck_assert_double_eq(number("osnoise-cpu1/derive-runtime_us"), 0);
}
END_TEST

/* What rtla's 32 bits don't hold after 21 days. */
START_TEST(holds_a_year)
{
    const uint64_t day_us = UINT64_C(86400) * 1000000;
    const struct hr_osnoise_source source = {0, HR_OSNOISE_THREAD, "a", 1, day_us * 500};
    const struct hr_osnoise_cpu day[] = {{.cpu = 0,
                                          .sample_count = 86400,
                                          .runtime_us = day_us,
                                          .noise_us = day_us / 2,
                                          .irq_count = UINT32_MAX}};
    const struct hr_osnoise_reading reading = {
        .cpus = day, .cpu_count = 1, .has_sources = true, .sources = &source, .source_count = 1};

    begin_values(true, 1);
    for (int i = 0; i < 366; i++) {
        osnoise_values_add(values, &reading);
        if (i % 30 == 29)
            publish();
    }
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/percent-available"), 50);
    ck_assert_double_eq(number("osnoise-cpu0/derive-runtime_us"), 366.0 * (double)day_us);
    ck_assert_double_eq(number("osnoise-cpu0/total_operations-irq"), 366.0 * UINT32_MAX);
    ck_assert_double_eq(number("osnoise-cpu0/derive-thread_a_us"), 366.0 * (double)day_us / 2);
}
END_TEST

/* A reader of series must not take those of a long period for missing. */
START_TEST(reports_how_far_apart_samples_are)
{
    const struct osnoise_values_options options = {.has_samples = true,
                                                   .sample_interval = TIME_T_TO_CDTIME_T(60)};
    const struct hr_osnoise_cpu cpus[] = {{.cpu = 0, .sample_count = 1, .runtime_us = 1}};

    values = osnoise_values_new(&options);
    add_cpus(cpus, 1);
    publish();
    ck_assert_uint_eq(fake_find("osnoise-cpu0/derive-noise_us")->interval, TIME_T_TO_CDTIME_T(60));
    ck_assert_uint_eq(fake_find("osnoise-cpu0/percent-available")->interval,
                      TIME_T_TO_CDTIME_T(60));
    ck_assert_uint_eq(fake_find("osnoise-cpu0/total_operations-lost")->interval, 0);
}
END_TEST

/* CPUs may come in any order over time. */
START_TEST(keeps_cpus_apart)
{
    static const unsigned order[] = {64, 2, 8191, 0, 3, 2};
    char identifier[64];

    begin_values(true, 0);
    for (size_t i = 0; i < COUNT(order); i++) {
        const struct hr_osnoise_cpu cpu[] = {
            {.cpu = order[i], .sample_count = 1, .runtime_us = 1, .hw_count = order[i] + 1}};
        add_cpus(cpu, 1);
    }
    publish();
    for (size_t i = 0; i < COUNT(order); i++) {
        snprintf(identifier, sizeof(identifier), "osnoise-cpu%u/total_operations-hw", order[i]);
        ck_assert_double_eq(number(identifier), order[i] == 2 ? 6 : order[i] + 1);
    }
    ck_assert_uint_eq(fake_count("*/total_operations-hw"), 5);
}
END_TEST

/* --- Histogram ------------------------------------------------------------ */

START_TEST(names_buckets_after_their_lower_end)
{
    static const struct {
        uint64_t lower_ns;
        const char *series;
        double count;
    } expected[] = {
        {1, "noise_0us", 3},        /* all below a microsecond */ {512, "noise_0us", 3},
        {0, "noise_0us", 3},        {1024, "noise_1us", 1},
        {2048, "noise_2us", 1},     {4096, "noise_4us", 1},
        {32768, "noise_32us", 1},   {65536, "noise_65us", 1},
        {131072, "noise_131us", 1}, {UINT64_C(1) << 63, "noise_9223372036854775us", 1},
    };
    struct hr_osnoise_bucket buckets[COUNT(expected)];
    const struct hr_osnoise_cpu cpus[] = {{.cpu = 5, .sample_count = 1, .runtime_us = 1}};
    struct hr_osnoise_reading reading = {
        .cpus = cpus, .cpu_count = 1, .buckets = buckets, .bucket_count = COUNT(expected)};
    char identifier[64];

    for (size_t i = 0; i < COUNT(expected); i++)
        buckets[i] = (struct hr_osnoise_bucket){5, expected[i].lower_ns, 1};
    begin_values(true, 0);
    osnoise_values_add(values, &reading);
    publish();
    for (size_t i = 0; i < COUNT(expected); i++) {
        snprintf(identifier, sizeof(identifier), "osnoise-cpu5/total_values-%s",
                 expected[i].series);
        ck_assert_msg(number(identifier) == expected[i].count, "%s: %g", identifier,
                      number(identifier));
    }
    ck_assert_uint_eq(fake_count("*/total_values-noise_*us"), 8);
    ck_assert_double_eq(number("osnoise-cpu5/duration-noise_p50"), 4096e-9);
    ck_assert_double_eq(number("osnoise-cpu5/duration-noise_p999"), ldexp(1, 64) / 1e9);

    reading.bucket_count = 0;
    osnoise_values_add(values, &reading);
    publish(); /* one that was seen goes on */
    ck_assert_uint_eq(fake_count("*/total_values-noise_*us"), 8);
    ck_assert_double_eq(number("osnoise-cpu5/total_values-noise_0us"), 3);
}
END_TEST

/* --- Latencies ------------------------------------------------------------ */

enum { IRQ = HR_OSNOISE_TIMER_IRQ, THREAD = HR_OSNOISE_TIMER_THREAD };

static void begin_latencies(bool histogram)
{
    const struct osnoise_values_options options = {
        .has_samples = true, .has_latencies = true, .histogram = histogram};

    values = osnoise_values_new(&options);
}

/* Of CPU 3. */
static void add_latencies(const struct hr_osnoise_cpu_latencies *latencies)
{
    const struct hr_osnoise_cpu cpu = {.cpu = 3, .sample_count = latencies->of[THREAD].count};
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = 1000000000, .cpus = &cpu, .cpu_count = 1, .latencies = latencies};

    osnoise_values_add(values, &reading);
}

static const struct hr_osnoise_cpu_latencies first = {
    .cpu = 3,
    .of = {[IRQ] = {.count = 1000,
                    .min_ns = 900,
                    .max_ns = 4500,
                    .sum_ns = 3000700,
                    .buckets = {[9] = 1, [11] = 998, [12] = 1}},
           [THREAD] = {.count = 999,
                       .min_ns = 16000,
                       .max_ns = 83000,
                       .sum_ns = 18000000,
                       .buckets = {[14] = 997, [16] = 2}}}};

static const struct hr_osnoise_cpu_latencies second = {
    .cpu = 3,
    .of = {[IRQ] = {.count = 1, .min_ns = 500, .max_ns = 500, .sum_ns = 500, .buckets = {[8] = 1}},
           [THREAD] = {.count = 2,
                       .min_ns = 20000,
                       .max_ns = 40000,
                       .sum_ns = 60000,
                       .buckets = {[14] = 1, [15] = 1}}}};

START_TEST(latencies_take_the_place_of_noise)
{
    begin_latencies(false);
    add_latencies(&first);
    add_latencies(&second);
    publish();
    ck_assert_double_eq(number("osnoise-cpu3/duration-max_latency_irq"), 4500e-9);
    ck_assert_double_eq(number("osnoise-cpu3/duration-max_latency_thread"), 83e-6);
    ck_assert_double_eq(number("osnoise-cpu3/derive-latency_irq_us"), 3001);
    ck_assert_double_eq(number("osnoise-cpu3/derive-latency_thread_us"), 18060);
    ck_assert_double_eq(number("osnoise-cpu3/total_operations-latency_irq"), 1001);
    ck_assert_double_eq(number("osnoise-cpu3/total_operations-latency_thread"), 1001);
    ck_assert_double_eq(number("osnoise-cpu3/total_operations-lost"), 0);
    ck_assert_uint_eq(fake_count("*"), 7);
    add_latencies(&second);
    publish(); /* the longest of an interval, and the counters go on */
    ck_assert_double_eq(number("osnoise-cpu3/duration-max_latency_irq"), 500e-9);
    ck_assert_double_eq(number("osnoise-cpu3/duration-max_latency_thread"), 40e-6);
    ck_assert_double_eq(number("osnoise-cpu3/total_operations-latency_thread"), 1003);
}
END_TEST

START_TEST(latencies_have_a_histogram)
{
    begin_latencies(true);
    add_latencies(&first);
    add_latencies(&second);
    publish();
    ck_assert_double_eq(number("osnoise-cpu3/total_values-latency_irq_0us"), 2);
    ck_assert_double_eq(number("osnoise-cpu3/total_values-latency_irq_2us"), 998);
    ck_assert_double_eq(number("osnoise-cpu3/total_values-latency_irq_4us"), 1);
    ck_assert_double_eq(number("osnoise-cpu3/total_values-latency_thread_16us"), 998);
    ck_assert_double_eq(number("osnoise-cpu3/total_values-latency_thread_32us"), 1);
    ck_assert_double_eq(number("osnoise-cpu3/total_values-latency_thread_65us"), 2);
    ck_assert_uint_eq(fake_count("*/total_values-*"), 6);
    ck_assert_double_eq(number("osnoise-cpu3/duration-latency_irq_p50"), 4096e-9);
    ck_assert_double_eq(number("osnoise-cpu3/duration-latency_irq_p999"), 4096e-9);
    ck_assert_double_eq(number("osnoise-cpu3/duration-latency_thread_p50"), 32768e-9);
    ck_assert_double_eq(number("osnoise-cpu3/duration-latency_thread_p99"), 32768e-9);
    ck_assert_double_eq(number("osnoise-cpu3/duration-latency_thread_p999"), 131072e-9);
    add_latencies(&second);
    publish(); /* of that interval alone */
    ck_assert_double_eq(number("osnoise-cpu3/duration-latency_irq_p999"), 1024e-9);
    ck_assert_double_eq(number("osnoise-cpu3/duration-latency_thread_p50"), 32768e-9);
    ck_assert_double_eq(number("osnoise-cpu3/duration-latency_thread_p99"), 65536e-9);
}
END_TEST

/* No thread has run: what the CPU had isn't known, though there may be an interrupt. */
START_TEST(no_latency_is_not_0)
{
    static const struct hr_osnoise_cpu_latencies none = {
        .cpu = 3, .of = {[IRQ] = {.count = 1, .max_ns = 1, .buckets = {[0] = 1}}}};

    begin_latencies(true);
    add_latencies(&none);
    publish();
    ck_assert_ptr_nonnull(fake_find("osnoise-cpu3/total_operations-lost"));
    ck_assert_uint_eq(fake_count("*"), 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    add_values_fixture(tests);
    tcase_add_test(tests, sums_up_an_interval);
    tcase_add_test(tests, begins_each_interval_at_zero);
    tcase_add_test(tests, has_no_values_without_samples);
    tcase_add_test(tests, has_the_rest_without_samples);
    tcase_add_test(tests, takes_no_more_noise_than_time);
    tcase_add_test(tests, holds_a_year);
    tcase_add_test(tests, reports_how_far_apart_samples_are);
    tcase_add_test(tests, keeps_cpus_apart);
    tcase_add_test(tests, names_buckets_after_their_lower_end);
    tcase_add_test(tests, latencies_take_the_place_of_noise);
    tcase_add_test(tests, latencies_have_a_histogram);
    tcase_add_test(tests, no_latency_is_not_0);
    return run_suite("osnoise values", tests);
}
