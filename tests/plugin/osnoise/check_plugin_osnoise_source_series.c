/* SPDX-License-Identifier: MIT */
/*
 * plugin/osnoise/check_plugin_osnoise_source_series.c - which sources of noise the plugin osnoise
 * publishes, and under which names.
 */
#include "osnoise/source_series.h"
#include "plugin/osnoise/values_harness.h"
#include "support/fake_collectd.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- Sources -------------------------------------------------------------- */

static const struct {
    unsigned cpu;
    enum hr_osnoise_kind kind;
    const char *name, *series;
} names[] = {
    {3, HR_OSNOISE_IRQ, "local_timer", "irq_local_timer_us"},
    {3, HR_OSNOISE_SOFTIRQ, "NET_RX", "softirq_net_rx_us"},
    {3, HR_OSNOISE_THREAD, "migration/3", "thread_migration_us"},
    {3, HR_OSNOISE_THREAD, "migration/13", "thread_migration_13_us"},
    {3, HR_OSNOISE_THREAD, "rcuop/4", "thread_rcuop_4_us"},
    {3, HR_OSNOISE_THREAD, "/3", "thread__3_us"},
    {3, HR_OSNOISE_THREAD, "kworker/3:1H-kblockd", "thread_kworker_us"},
    {3, HR_OSNOISE_THREAD, "kworker/u8:0", "thread_kworker_us"},
    {3, HR_OSNOISE_THREAD, "kworkers", "thread_kworkers_us"},
    {3, HR_OSNOISE_THREAD, "irq/24-pciehp", "thread_irq_24_pciehp_us"},
    {3, HR_OSNOISE_THREAD, "Web Content", "thread_Web_Content_us"},
    {3, HR_OSNOISE_THREAD, "a.b-c\n\xc3\xa4", "thread_a_b_c____us"},
    {3, HR_OSNOISE_THREAD, "", "thread__us"},
    {3, HR_OSNOISE_NMI, "NMI", "nmi_all_us"},
    {3, HR_OSNOISE_IRQ, "eth/3", "irq_eth_3_us"},
    {3, HR_OSNOISE_IRQ, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy",
     "irq_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy_us"},
};

START_TEST(names_sources)
{
    struct hr_osnoise_source source = {.cpu = names[_i].cpu, .kind = names[_i].kind};
    char series[OSNOISE_SERIES];

    snprintf(source.name, sizeof(source.name), "%s", names[_i].name);
    osnoise_source_series(&source, series);
    ck_assert_str_eq(series, names[_i].series);
}
END_TEST

START_TEST(distinguishes_long_names)
{
    struct hr_osnoise_source one = {.kind = HR_OSNOISE_IRQ}, other;
    char series[OSNOISE_SERIES], another[OSNOISE_SERIES];

    memset(one.name, 'x', sizeof(one.name) - 1);
    other = one;
    other.name[sizeof(one.name) - 2] = 'y';
    osnoise_source_series(&one, series);
    osnoise_source_series(&other, another);
    ck_assert_uint_eq(strlen(series), OSNOISE_SERIES - 1);
    ck_assert_str_ne(series, another);
    ck_assert_str_eq(series + strlen(series) - 3, "_us");
    ck_assert_uint_eq(strspn(series, "irqus_x0123456789abcdef"), strlen(series));
}
END_TEST

START_TEST(publishes_the_first_and_the_rest)
{
    const struct hr_osnoise_source sources[] = {
        {2, HR_OSNOISE_THREAD, "small", 1, 1000500},
        {2, HR_OSNOISE_IRQ, "local_timer", 100, 5000900},
        {2, HR_OSNOISE_THREAD, "kworker/2:0", 1, 2000000},
        {2, HR_OSNOISE_THREAD, "kworker/2:1", 1, 2000100},
        {2, HR_OSNOISE_NMI, "NMI", 1, 600},
        {9, HR_OSNOISE_NMI, "NMI", 1, 77000}, /* of a CPU that isn't read */
    };

    begin_values(true, 2);
    add_sources(2, sources, COUNT(sources));
    publish();
    ck_assert_double_eq(number("osnoise-cpu2/derive-irq_local_timer_us"), 5000);
    ck_assert_double_eq(number("osnoise-cpu2/derive-thread_kworker_us"), 4000);
    ck_assert_double_eq(number("osnoise-cpu2/derive-other_us"), 1001);
    ck_assert_uint_eq(fake_count("osnoise-cpu2/derive-*_*_us"), 2);
    ck_assert_uint_eq(fake_count("osnoise-cpu9/*"), 0);
}
END_TEST

/* 0.6 us a second is 6 us in ten. */
START_TEST(loses_no_remainders)
{
    const struct hr_osnoise_source sources[] = {{0, HR_OSNOISE_NMI, "NMI", 1, 600},
                                                {0, HR_OSNOISE_THREAD, "a", 1, 100000000}};

    begin_values(true, 1);
    for (int i = 0; i < 10; i++) {
        add_sources(0, sources, 2);
        publish();
    }
    ck_assert_double_eq(number("osnoise-cpu0/derive-other_us"), 6);
    ck_assert_double_eq(number("osnoise-cpu0/derive-thread_a_us"), 1000000);
}
END_TEST

START_TEST(publishes_sources_alone_without_a_workload)
{
    const struct hr_osnoise_cpu cpus[] = {{.cpu = 0}, {.cpu = 1, .state = HR_OSNOISE_CPU_OFFLINE}};
    const struct hr_osnoise_source source = {0, HR_OSNOISE_SOFTIRQ, "TIMER", 3, 9000};
    struct hr_osnoise_reading reading = {
        .cpus = cpus, .cpu_count = 2, .has_sources = true, .sources = &source, .source_count = 1};

    begin_values(false, 5);
    osnoise_values_add(values, &reading);
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/derive-softirq_timer_us"), 9);
    ck_assert_double_eq(number("osnoise-cpu0/derive-other_us"), 0);
    ck_assert_uint_eq(fake_count("*"), 4); /* and two of what was lost */
    reading.source_count = 0;
    osnoise_values_add(values, &reading);
    publish(); /* no noise is known to be none */
    ck_assert_double_eq(number("osnoise-cpu0/derive-softirq_timer_us"), 9);
    reading.has_sources = false;
    osnoise_values_add(values, &reading);
    publish(); /* now it isn't known */
    ck_assert_uint_eq(fake_count("*"), 2);
}
END_TEST

START_TEST(publishes_the_sum_alone_if_nothing_else_is_wanted)
{
    const struct hr_osnoise_source source = {0, HR_OSNOISE_SOFTIRQ, "TIMER", 3, 9000};

    begin_values(false, 0);
    add_sources(0, &source, 1);
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/derive-other_us"), 9);
    ck_assert_uint_eq(fake_count("*"), 2);
}
END_TEST

/* What came of sources in an interval without a sample comes with the next. */
START_TEST(holds_sources_back_until_there_is_a_sample)
{
    const struct hr_osnoise_cpu silent[] = {{.cpu = 0}};
    const struct hr_osnoise_source source = {0, HR_OSNOISE_IRQ, "a", 3, 9000000};
    const struct hr_osnoise_reading reading = {
        .cpus = silent, .cpu_count = 1, .has_sources = true, .sources = &source, .source_count = 1};

    begin_values(true, 1);
    osnoise_values_add(values, &reading);
    publish();
    ck_assert_uint_eq(fake_count("*"), 1);
    add_sources(0, &source, 1);
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/derive-irq_a_us"), 18000);
}
END_TEST

/* --- Ranking -------------------------------------------------------------- */

/* All that the counters of CPU 0 have grown by, to within the microsecond that each may lack. */
static double sum_of_growth(double last[], size_t names_count)
{
    char identifier[64];
    double grown = 0;

    for (size_t i = 0; i <= names_count; i++) {
        if (i < names_count)
            snprintf(identifier, sizeof(identifier), "osnoise-cpu0/derive-thread_t%zu_us", i);
        else
            snprintf(identifier, sizeof(identifier), "osnoise-cpu0/derive-other_us");
        const struct fake_value *value = fake_find(identifier);
        if (value == NULL)
            continue;
        grown += value->number - last[i];
        last[i] = value->number;
    }
    return grown;
}

/* Whichever are among the first: the counters together are all noise, in each interval, and none
 * goes back (see publish()). */
START_TEST(counts_all_noise_once)
{
    enum { NAMES = 12 };
    struct hr_osnoise_source sources[NAMES];
    double last[NAMES + 1] = {0}, all_us = 0, reported_us = 0;
    size_t most = 0;

    srand(4711);
    begin_values(true, 3);
    for (int interval = 0; interval < 300; interval++) {
        uint64_t all_ns = 0;
        for (int i = 0; i < NAMES; i++) {
            /* each has its time of being the loudest */
            uint64_t loud = (interval / 20) % NAMES == i ? 50000000 : 100000;
            sources[i] =
                (struct hr_osnoise_source){0, HR_OSNOISE_THREAD, "", 1, (uint64_t)rand() % loud};
            snprintf(sources[i].name, sizeof(sources[i].name), "t%d", i);
            all_ns += sources[i].duration_ns;
        }
        add_sources(0, sources, NAMES);
        publish();
        all_us += (double)all_ns / 1000;
        reported_us += sum_of_growth(last, NAMES);
        ck_assert_double_eq_tol(reported_us, all_us, NAMES + 1);
        ck_assert_uint_eq(fake_count("osnoise-cpu0/derive-thread_t*"), 3);
        most = most > fake_count("*") ? most : fake_count("*");
    }
    ck_assert_uint_eq(most, 11 + 3 + 1);
}
END_TEST

/* Two that take turns being the loudest, by a little, beside one that is louder than both once. */
START_TEST(does_not_flicker)
{
    struct hr_osnoise_source sources[] = {
        {0, HR_OSNOISE_THREAD, "even", 1, 0},
        {0, HR_OSNOISE_THREAD, "odd", 1, 0},
        {0, HR_OSNOISE_THREAD, "once", 1, 0},
    };
    size_t changes = 0, was_even = 1;

    begin_values(true, 1);
    for (int interval = 0; interval < 100; interval++) {
        sources[interval % 2].duration_ns = 1000000;
        sources[1 - interval % 2].duration_ns = 0;
        sources[2].duration_ns = interval == 50 ? 3000000 : 0;
        if (interval == 0)
            sources[0].duration_ns = 3000000;
        add_sources(0, sources, 3);
        publish();
        ck_assert_uint_eq(fake_count("*/derive-thread_once_us"), 0);
        changes += was_even != fake_count("*/derive-thread_even_us");
        was_even = fake_count("*/derive-thread_even_us");
    }
    ck_assert_uint_eq(changes, 0);
}
END_TEST

/* One that is loud after long quiet gets its series within an interval; one that has ended loses
 * it some time. */
START_TEST(follows_the_loudest_sources)
{
    const struct hr_osnoise_source old = {0, HR_OSNOISE_THREAD, "old", 1, 1000000};
    const struct hr_osnoise_source new = {0, HR_OSNOISE_THREAD, "new", 1, 50000000};

    begin_values(true, 1);
    for (int i = 0; i < 50; i++) {
        add_sources(0, &old, 1);
        publish();
    }
    ck_assert_double_eq(number("osnoise-cpu0/derive-thread_old_us"), 50000);
    add_sources(0, &new, 1);
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/derive-thread_new_us"), 50000);
    ck_assert_uint_eq(fake_count("*/derive-thread_old_us"), 0);
    for (int i = 0; i < 300; i++) {
        add_sources(0, NULL, 0);
        publish();
    }
    ck_assert_uint_eq(fake_count("*/derive-thread_*_us"), 0);
    add_sources(0, &old, 1);
    publish(); /* it goes on where it was */
    ck_assert_double_eq(number("osnoise-cpu0/derive-thread_old_us"), 51000);
    ck_assert_double_eq(number("osnoise-cpu0/derive-other_us"), 0);
}
END_TEST

/* Names without end: memory is limited, those that matter are kept, and nothing is lost. */
START_TEST(bears_endless_names)
{
    struct hr_osnoise_source sources[40];
    const size_t count = COUNT(sources);
    double all_us = 0;

    begin_values(true, 1);
    for (int interval = 0; interval < 200; interval++) {
        for (size_t i = 0; i < count; i++) {
            sources[i] = (struct hr_osnoise_source){0, HR_OSNOISE_THREAD, "", 1, 2000};
            snprintf(sources[i].name, sizeof(sources[i].name), "n%d-%zu", interval, i);
        }
        strcpy(sources[count - 1].name, "loud");
        sources[count - 1].duration_ns = 1000000;
        all_us += 2 * (double)(count - 1);
        add_sources(0, sources, count);
        publish();
        ck_assert_double_eq(number("osnoise-cpu0/derive-thread_loud_us"), 1000 * (interval + 1));
        ck_assert_double_eq(number("osnoise-cpu0/derive-other_us"), all_us);
    }
}
END_TEST

/* When all names that there is room for have been published, one of them is forgotten: none that
 * is, or its counter would go back. */
START_TEST(forgets_none_that_is_published)
{
    enum { NAMES = 20 }; /* as many as are remembered */
    struct hr_osnoise_source sources[NAMES + 1];

    begin_values(true, 1);
    for (int i = 0; i <= NAMES; i++) {
        sources[i] = (struct hr_osnoise_source){0, HR_OSNOISE_THREAD, "", 1, 1000000000};
        snprintf(sources[i].name, sizeof(sources[i].name), "t%d", i);
    }
    for (int turn = 0; turn < 31 * NAMES; turn++) {
        add_sources(0, &sources[turn / 31], turn % 31 == 0);
        publish();
    }
    ck_assert_double_eq(number("osnoise-cpu0/derive-thread_t19_us"), 1000000);
    for (int i = 0; i < NAMES; i++)
        sources[i].duration_ns = 2000000000;
    sources[NAMES].duration_ns = 3000000000;
    sources[NAMES - 1] = sources[NAMES];
    add_sources(0, sources, NAMES);
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/derive-thread_t20_us"), 3000000);
    strcpy(sources[0].name, "t19");
    sources[0].duration_ns = 100000000000;
    add_sources(0, sources, 1);
    publish();
    ck_assert_double_eq(number("osnoise-cpu0/derive-thread_t19_us"), 101000000);
}
END_TEST

/* What the kernel had no room for by name is in the sum of all the same. */
START_TEST(adds_what_has_no_name_to_the_rest)
{
    const struct hr_osnoise_source sources[] = {
        {2, HR_OSNOISE_THREAD, "a", 1, 1000000},
        {2, HR_OSNOISE_THREAD, "", 7, 90000000},
        {2, HR_OSNOISE_IRQ, "", 7, 5000},
    };

    begin_values(true, 5);
    for (int i = 1; i <= 2; i++) {
        add_sources(2, sources, COUNT(sources));
        publish();
        ck_assert_double_eq(number("osnoise-cpu2/derive-thread_a_us"), 1000 * i);
        ck_assert_double_eq(number("osnoise-cpu2/derive-other_us"), 90005 * i);
        ck_assert_uint_eq(fake_count("osnoise-cpu2/derive-*_*_us"), 1);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    add_values_fixture(tests);
    tcase_add_loop_test(tests, names_sources, 0, COUNT(names));
    tcase_add_test(tests, distinguishes_long_names);
    tcase_add_test(tests, publishes_the_first_and_the_rest);
    tcase_add_test(tests, loses_no_remainders);
    tcase_add_test(tests, publishes_sources_alone_without_a_workload);
    tcase_add_test(tests, publishes_the_sum_alone_if_nothing_else_is_wanted);
    tcase_add_test(tests, holds_sources_back_until_there_is_a_sample);
    tcase_add_test(tests, counts_all_noise_once);
    tcase_add_test(tests, does_not_flicker);
    tcase_add_test(tests, follows_the_loudest_sources);
    tcase_add_test(tests, bears_endless_names);
    tcase_add_test(tests, forgets_none_that_is_published);
    tcase_add_test(tests, adds_what_has_no_name_to_the_rest);
    return run_suite("osnoise source series", tests);
}
