/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_unnamed.c - what tables of names lack, as they are full or are being
 * cleared, is found by the sums beside them.
 */
#include "collectors/osnoise/sources_harness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/suite.h"

#define MODEL_CPUS  8
#define MODEL_NAMES 1000

/* A table of 4096 entries and its sums, as the kernel keeps them, and what really was. */
static struct {
    struct tally {
        unsigned long count, duration;
    } named[MODEL_CPUS][MODEL_NAMES], sums[MODEL_CPUS];
    unsigned long entries, dropped;
} model;

static void model_noise(unsigned cpu, unsigned name, unsigned long duration)
{
    struct tally *named = &model.named[cpu][name];

    model.sums[cpu].count++;
    model.sums[cpu].duration += duration;
    if (named->count == 0 && model.entries == 4096) {
        model.dropped++;
        return;
    }
    model.entries += named->count == 0;
    named->count++;
    named->duration += duration;
}

/* Each name comes by on each CPU. */
static void model_hop(unsigned from)
{
    for (unsigned i = 0; i < MODEL_NAMES; i++)
        for (unsigned cpu = 0; cpu < MODEL_CPUS; cpu++)
            model_noise(cpu, (i * 7 + cpu + from) % MODEL_NAMES, 10 + i % 13 + cpu);
}

static void write_model(void)
{
    char name[32];

    begin_sums();
    for (unsigned cpu = 0; cpu < MODEL_CPUS; cpu++)
        add_nmi(cpu, model.sums[cpu].count, model.sums[cpu].duration);
    end_sums();
    for (unsigned cpu = 0; cpu < MODEL_CPUS; cpu++)
        for (unsigned i = 0; i < MODEL_NAMES; i++) {
            snprintf(name, sizeof(name), "task-%u", i);
            if (model.named[cpu][i].count > 0)
                add_thread(cpu, name, model.named[cpu][i].count, model.named[cpu][i].duration);
        }
    end_table(HR_OSNOISE_TABLE_THREAD, model.dropped);
}

/* More comes between a reading and the clearing. */
static void clear_model(void)
{
    model_noise(3, 17, 1000);
    memset(model.named, 0, sizeof(model.named));
    model.entries = model.dropped = 0;
}

/* 8,000 pairs of CPU and name, of which 4096 have room. */
START_TEST(what_has_no_room_is_in_the_sum)
{
    struct tally seen[MODEL_CPUS] = {{0}};
    uint64_t without_name = 0;

    on_clear = clear_model;
    for (unsigned round = 0; round < 4; round++) {
        model_hop(round);
        write_model();
        read_counts();
        for (size_t i = 0; i < counts.source_count; i++) {
            const struct hr_osnoise_source *source = &counts.sources[i];
            seen[source->cpu].count += source->count;
            seen[source->cpu].duration += source->duration_ns;
            without_name += source->name[0] == '\0' ? source->count : 0;
        }
        for (unsigned cpu = 0; cpu < MODEL_CPUS; cpu++) {
            const unsigned late = cpu == 3 ? 1 : 0; /* since it was cleared */
            ck_assert_uint_eq(seen[cpu].count + late, model.sums[cpu].count);
            ck_assert_uint_eq(seen[cpu].duration + late * 1000, model.sums[cpu].duration);
        }
    }
    ck_assert_uint_eq(cleared[HR_OSNOISE_TABLE_THREAD], 4);
    ck_assert_uint_eq(without_name, 4 * (8000 - 4096) + 3);
}
END_TEST

static void write_sum_and_name(unsigned long sum, unsigned long named)
{
    begin_sums();
    add_nmi(1, sum, 10 * sum);
    end_sums();
    add_thread(1, "task", named, 10 * named);
    end_table(HR_OSNOISE_TABLE_THREAD, 0);
}

/* The sum is printed before the names. */
START_TEST(what_came_in_between_is_not_missing)
{
    static const struct {
        unsigned long sum, named, missing;
    } steps[] = {{10, 12, 0}, {20, 20, 0}, {30, 31, 0}, {45, 42, 3}, {50, 48, 0}, {60, 56, 1}};
    unsigned long before = 0;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        write_sum_and_name(steps[i].sum, steps[i].named);
        read_counts();
        ck_assert_uint_eq(counts.source_count, steps[i].missing > 0 ? 2 : 1);
        assert_source(1, HR_OSNOISE_THREAD, "task", steps[i].named - before,
                      10 * (steps[i].named - before));
        if (steps[i].missing > 0)
            assert_source(1, HR_OSNOISE_THREAD, "", steps[i].missing, 10 * steps[i].missing);
        before = steps[i].named;
    }
}
END_TEST

/* Another program cleared it. */
START_TEST(sums_that_were_emptied_begin_again)
{
    write_sum_and_name(100, 100);
    read_counts();
    write_sum_and_name(5, 110);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 1);
    write_sum_and_name(17, 119);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 1);
    write_sum_and_name(27, 119);
    read_counts();
    ck_assert_uint_eq(counts.source_count, 1);
    assert_source(1, HR_OSNOISE_THREAD, "", 8, 80);
}
END_TEST

START_TEST(of_other_cpus_nothing_is_missing)
{
    struct hr_cpu_set none = {{0}};

    write_sum_and_name(10, 4);
    ck_assert_int_eq(hr_osnoise_sources_read(sources, &tracefs, &none, &counts), 0);
    ck_assert_uint_eq(counts.source_count, 0);
    write_sum_and_name(11, 4);
    read_counts();
    assert_source(1, HR_OSNOISE_THREAD, "", 1, 10);
}
END_TEST

START_TEST(there_is_one_table_of_names)
{
    begin_sums();
    end_table(HR_OSNOISE_TABLE_THREAD, 0);
    read_fails(-EBADMSG);
    begin_table();
    add_totals(0);
    add_gap();
    add_header("common_cpu,comm", 4096);
    end_table(HR_OSNOISE_TABLE_THREAD, 0);
    read_fails(-EBADMSG);
}
END_TEST

int main(void)
{
    TCase *tests = new_sources_tests("unnamed");

    tcase_add_test(tests, what_has_no_room_is_in_the_sum);
    tcase_add_test(tests, what_came_in_between_is_not_missing);
    tcase_add_test(tests, sums_that_were_emptied_begin_again);
    tcase_add_test(tests, of_other_cpus_nothing_is_missing);
    tcase_add_test(tests, there_is_one_table_of_names);
    return run_suite("osnoise_unnamed", tests);
}
