/* SPDX-License-Identifier: MIT */
#include "plugin/osnoise/values_harness.h"

struct osnoise_values *values;

static void set_up(void)
{
    fake_start_parts();
    fake_read();
}

static void tear_down(void)
{
    ck_assert_uint_eq(fake_rejections(), 0);
    ck_assert_uint_eq(fake_truncations(), 0);
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
    osnoise_values_free(values);
    fake_stop();
}

void begin_values(bool has_samples, size_t top)
{
    const struct osnoise_values_options options = {
        .has_samples = has_samples,
        .by_source = !has_samples || top > 0,
        .top = top,
    };

    values = osnoise_values_new(&options);
    ck_assert_ptr_nonnull(values);
}

void publish(void)
{
    size_t count;

    ck_assert_int_eq(fake_read(), 0);
    osnoise_values_publish(values);
    const struct fake_value *all = fake_values(&count);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(!all[i].decreased, "%s goes back", all[i].identifier);
}

double number(const char *identifier)
{
    const struct fake_value *value = fake_find(identifier);

    ck_assert_msg(value != NULL, "%s wasn't published", identifier);
    return value->number;
}

void add_cpus(const struct hr_osnoise_cpu *cpus, size_t count)
{
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = 1000000000, .cpus = cpus, .cpu_count = count};

    osnoise_values_add(values, &reading);
}

void add_sources(unsigned cpu, const struct hr_osnoise_source *sources, size_t count)
{
    const struct hr_osnoise_cpu cpus[] = {{.cpu = cpu, .sample_count = 1, .runtime_us = 10000}};
    const struct hr_osnoise_reading reading = {.elapsed_ns = 1000000000,
                                               .cpus = cpus,
                                               .cpu_count = 1,
                                               .has_sources = true,
                                               .sources = sources,
                                               .source_count = count};

    osnoise_values_add(values, &reading);
}

void add_values_fixture(TCase *tests)
{
    tcase_add_checked_fixture(tests, set_up, tear_down);
}
