/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_single_noise.c - single noises and their parts. What is expected of a
 * recorded one was read off the kernel's text (fixtures/osnoise/6.12-singles/page.text), or is in
 * the kernel's osnoise-tracer.rst.
 */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "osnoise/single_noise.h"
#include "support/suite.h"

static struct hr_osnoise_record part(enum hr_osnoise_kind kind, const char *name, int number,
                                     uint64_t start_ns, uint64_t duration_ns)
{
    struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_PART};

    record.part.kind = kind;
    snprintf(record.part.name, sizeof(record.part.name), "%s", name);
    record.part.number = number;
    record.part.start_ns = start_ns;
    record.part.duration_ns = duration_ns;
    return record;
}

static struct hr_osnoise_record single_noise(uint64_t start_ns, uint64_t duration_ns,
                                             uint64_t count)
{
    struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_SINGLE_NOISE};

    record.single_noise.start_ns = start_ns;
    record.single_noise.duration_ns = duration_ns;
    record.single_noise.interference_count = count;
    return record;
}

static struct hr_osnoise_single_noises *single_noises;
static const struct hr_osnoise_single_noise *found;
static size_t found_count;

static void open_single_noises(void)
{
    ck_assert_int_eq(hr_osnoise_single_noises_open(3, 1000, &single_noises), 0);
}

static void close_single_noises(void)
{
    hr_osnoise_single_noises_close(single_noises);
}

/* Of CPU 8, the third. */
static void add(struct hr_osnoise_record record)
{
    hr_osnoise_single_noises_add_record(single_noises, 2, 8, &record);
}

/* The functions have letters as addresses, and names but for 'x'. */
static const char *name_function(void *context, uint64_t function)
{
    static char name[2];

    ck_assert_ptr_eq(context, &single_noises);
    name[0] = (char)function;
    return function == 'x' ? NULL : name;
}

static void print_sender(void *context, const struct hr_osnoise_ipi_sender *sender,
                         char text[HR_OSNOISE_SENDER])
{
    ck_assert_ptr_eq(context, &single_noises);
    snprintf(text, HR_OSNOISE_SENDER, "%d on CPU %u", sender->pid, sender->cpu);
}

static const struct hr_osnoise_namer namer = {name_function, print_sender, &single_noises};

static void take(void)
{
    found = hr_osnoise_single_noises_take(single_noises, &namer, &found_count);
}

static void take_one(void)
{
    take();
    ck_assert_uint_eq(found_count, 1);
    ck_assert_uint_eq(found->cpu, 8);
}

static void assert_part(size_t i, enum hr_osnoise_kind kind, const char *name, int number,
                        uint64_t duration_ns, uint64_t count)
{
    ck_assert_uint_lt(i, found->part_count);
    ck_assert_int_eq(found->parts[i].kind, kind);
    ck_assert_str_eq(found->parts[i].name, name);
    ck_assert_int_eq(found->parts[i].number, number);
    ck_assert_uint_eq(found->parts[i].duration_ns, duration_ns);
    ck_assert_uint_eq(found->parts[i].count, count);
}

/* osnoise-tracer.rst: "The first event is not part of the noise because it took place one
 * millisecond before." */
START_TEST(the_example_of_the_kernel_reads_as_it_says)
{
    add(part(HR_OSNOISE_IRQ, "local_timer", 236, 5789857529929, 1845));
    add(part(HR_OSNOISE_IRQ, "local_timer", 236, 5789858404871, 2848));
    add(part(HR_OSNOISE_THREAD, "migration/8", 54, 5789858409300, 3068));
    add(single_noise(5789858404555, 8812, 2));
    take_one();
    ck_assert_uint_eq(found->duration_ns, 8812);
    ck_assert_uint_eq(found->interference_count, 2);
    ck_assert_uint_eq(found->part_count, 2);
    assert_part(0, HR_OSNOISE_THREAD, "migration/8", 54, 3068, 1);
    assert_part(1, HR_OSNOISE_IRQ, "local_timer", 236, 2848, 1);
    ck_assert(found->parts_are_all);
}
END_TEST

/* A task that was interrupted: its record comes after those of what interrupted it. */
START_TEST(what_is_the_same_is_one_part)
{
    add(part(HR_OSNOISE_IRQ, "local_timer", 236, 11661998221, 50000));
    add(part(HR_OSNOISE_IRQ, "virtio0", 21, 11662500000, 60000));
    add(part(HR_OSNOISE_IRQ, "local_timer", 236, 11662858221, 40000));
    add(part(HR_OSNOISE_THREAD, "spin", 84, 11661965843, 1874276));
    add(part(HR_OSNOISE_THREAD, "spin", 85, 11663965843, 10));
    add(single_noise(11661861313, 2133885, 5));
    take_one();
    ck_assert_uint_eq(found->part_count, 4);
    assert_part(0, HR_OSNOISE_THREAD, "spin", 84, 1874276, 1);
    assert_part(1, HR_OSNOISE_IRQ, "local_timer", 236, 90000, 2);
    assert_part(2, HR_OSNOISE_IRQ, "virtio0", 21, 60000, 1);
    assert_part(3, HR_OSNOISE_THREAD, "spin", 85, 10, 1);
    ck_assert(found->parts_are_all);
}
END_TEST

START_TEST(a_part_begins_within_the_noise)
{
    add(part(HR_OSNOISE_IRQ, "before", 1, 9999, 5000));
    add(part(HR_OSNOISE_IRQ, "first", 1, 10000, 40));
    add(part(HR_OSNOISE_IRQ, "last", 1, 12000, 30));
    add(part(HR_OSNOISE_IRQ, "after", 1, 12001, 50));
    add(single_noise(10000, 2000, 2));
    take_one();
    ck_assert_uint_eq(found->part_count, 2);
    assert_part(0, HR_OSNOISE_IRQ, "first", 1, 40, 1);
    assert_part(1, HR_OSNOISE_IRQ, "last", 1, 30, 1);
}
END_TEST

START_TEST(hardware_has_no_parts)
{
    add(part(HR_OSNOISE_IRQ, "local_timer", 236, 1, 40));
    add(single_noise(10000, 2000, 0));
    take_one();
    ck_assert_uint_eq(found->part_count, 0);
    ck_assert_uint_eq(found->interference_count, 0);
    ck_assert(found->parts_are_all);
}
END_TEST

START_TEST(only_noises_above_the_limit_count)
{
    struct hr_osnoise_record sample = {.type = HR_OSNOISE_RECORD_SAMPLE};

    sample.sample.runtime_us = 50000;
    sample.sample.noise_us = 40000;
    add(sample);
    add(single_noise(10000, 1000, 0));
    take();
    ck_assert_uint_eq(found_count, 0);
    add(single_noise(20000, 1001, 0));
    take_one();
    take();
    ck_assert_uint_eq(found_count, 0);
}
END_TEST

START_TEST(parts_are_of_their_cpu)
{
    struct hr_osnoise_record of_first = part(HR_OSNOISE_IRQ, "eth0", 30, 10001, 500);
    struct hr_osnoise_record noise = single_noise(10000, 2000, 1);

    hr_osnoise_single_noises_add_record(single_noises, 0, 4, &of_first);
    add(noise);
    hr_osnoise_single_noises_add_record(single_noises, 0, 4, &noise);
    take();
    ck_assert_uint_eq(found_count, 2);
    ck_assert_uint_eq(found->cpu, 4);
    assert_part(0, HR_OSNOISE_IRQ, "eth0", 30, 500, 1);
    ck_assert(found->parts_are_all);
    found++;
    ck_assert_uint_eq(found->cpu, 8);
    ck_assert_uint_eq(found->part_count, 0);
    ck_assert(!found->parts_are_all); /* the kernel counted one */
}
END_TEST

START_TEST(the_longest_parts_are_reported)
{
    char name[16];

    for (int i = 0; i < HR_OSNOISE_PARTS + 1; i++) {
        snprintf(name, sizeof(name), "irq%d", i);
        add(part(HR_OSNOISE_IRQ, name, i, 10000 + (uint64_t)i, 100 + (uint64_t)(i * 7 % 9)));
    }
    add(single_noise(10000, 2000, HR_OSNOISE_PARTS + 1));
    take_one();
    ck_assert_uint_eq(found->part_count, HR_OSNOISE_PARTS);
    for (size_t i = 0; i < HR_OSNOISE_PARTS; i++)
        ck_assert_uint_eq(found->parts[i].duration_ns, 108 - i);
    ck_assert(!found->parts_are_all);
}
END_TEST

/* `count` in the noise, after so many before it. */
static void add_many(int before, int count)
{
    for (int i = 0; i < before; i++)
        add(part(HR_OSNOISE_IRQ, "local_timer", 236, 1000 + (uint64_t)i, 1));
    for (int i = 0; i < count; i++)
        add(part(HR_OSNOISE_IRQ, "local_timer", 236, 10000 + (uint64_t)i, 1));
    add(single_noise(10000, 2000, (uint64_t)count));
    take_one();
}

START_TEST(what_was_forgotten_is_missing_only_where_it_belongs)
{
    add_many(1000, HR_OSNOISE_RECENT_PARTS);
    assert_part(0, HR_OSNOISE_IRQ, "local_timer", 236, HR_OSNOISE_RECENT_PARTS,
                HR_OSNOISE_RECENT_PARTS);
    ck_assert(found->parts_are_all);
}
END_TEST

START_TEST(one_more_than_are_remembered_is_too_many)
{
    add_many(0, HR_OSNOISE_RECENT_PARTS + 1);
    assert_part(0, HR_OSNOISE_IRQ, "local_timer", 236, HR_OSNOISE_RECENT_PARTS,
                HR_OSNOISE_RECENT_PARTS);
    ck_assert(!found->parts_are_all);
}
END_TEST

/* The kernel counts none, and what was forgotten is not the oldest. */
START_TEST(what_was_forgotten_need_not_be_the_oldest)
{
    add(part(HR_OSNOISE_IRQ, "local_timer", 236, 1000, 1));
    add(part(HR_OSNOISE_IRQ, "forgotten", 1, 10500, 1));
    for (int i = 0; i < HR_OSNOISE_RECENT_PARTS + 1; i++)
        add(part(HR_OSNOISE_IRQ, "local_timer", 236, 1000, 1));
    add(single_noise(10000, 2000, 0));
    take_one();
    ck_assert(!found->parts_are_all);
}
END_TEST

START_TEST(losses_are_of_the_noise_that_follows)
{
    hr_osnoise_single_noises_mark_lost(single_noises, 2);
    add(part(HR_OSNOISE_IRQ, "local_timer", 236, 10500, 1));
    add(single_noise(10000, 2000, 1));
    add(single_noise(20000, 2000, 0));
    take();
    ck_assert_uint_eq(found_count, 2);
    ck_assert(!found[0].parts_are_all);
    ck_assert_uint_eq(found[0].part_count, 1);
    ck_assert(found[1].parts_are_all);

    hr_osnoise_single_noises_mark_lost(single_noises, 2);
    add(single_noise(30000, 500, 0)); /* below the limit, but a noise */
    add(single_noise(40000, 2000, 0));
    hr_osnoise_single_noises_mark_lost(single_noises, 1);
    add(single_noise(50000, 2000, 0));
    take();
    ck_assert_uint_eq(found_count, 2);
    ck_assert(found[0].parts_are_all);
    ck_assert(found[1].parts_are_all);
}
END_TEST

/* Of CPU 1, 2 or 3. */
static void add_to(unsigned cpu, uint64_t start_ns, uint64_t duration_ns)
{
    struct hr_osnoise_record record = single_noise(start_ns, duration_ns, 0);

    hr_osnoise_single_noises_add_record(single_noises, cpu % 3, cpu, &record);
}

/* The longest is kept, and the last ones, in their order. */
static const struct {
    uint64_t lengths[9];
    size_t count;
    uint64_t kept[HR_OSNOISE_SINGLE_NOISES];
} orders[] = {
    {{2001, 2002, 2003, 2004}, 4, {2001, 2002, 2003, 2004}},
    {{2001, 2002, 2003, 2004, 2005, 2006}, 6, {2003, 2004, 2005, 2006}},
    {{2006, 2005, 2004, 2003, 2002, 2001}, 6, {2006, 2003, 2002, 2001}},
    {{2001, 2009, 2002, 2003, 2004, 2005, 2006}, 7, {2009, 2004, 2005, 2006}},
    {{2001, 2008, 2002, 2003, 2004, 2005, 2009, 2006, 2007}, 9, {2005, 2009, 2006, 2007}},
    {{2005, 2005, 2005, 2005, 2005}, 5, {2005, 2005, 2005, 2005}},
};

START_TEST(the_longest_and_the_last_are_kept)
{
    for (size_t i = 0; i < orders[_i].count; i++)
        add(single_noise(10000 * i, orders[_i].lengths[i], 0));
    ck_assert_uint_eq(hr_osnoise_single_noises_count(single_noises, 2), orders[_i].count);
    take();
    ck_assert_uint_eq(found_count, HR_OSNOISE_SINGLE_NOISES);
    for (size_t i = 0; i < found_count; i++)
        ck_assert_uint_eq(found[i].duration_ns, orders[_i].kept[i]);
    ck_assert_uint_eq(hr_osnoise_single_noises_count(single_noises, 2), 0);
    take();
    ck_assert_uint_eq(found_count, 0);
}
END_TEST

/* An alert is of a CPU: one that has many, and long ones, takes nothing away from others. */
START_TEST(a_noisy_cpu_hides_no_other)
{
    add_to(1, 0, 2000);
    for (uint64_t i = 0; i < 1000; i++)
        add_to(2, 10000 * i, 5000 + i);
    add_to(3, 0, 1500);
    add_to(3, 10000, 1600);
    for (size_t place = 0; place < 3; place++)
        ck_assert_uint_eq(hr_osnoise_single_noises_count(single_noises, place), place == 0 ? 2
                                                                                : place == 1
                                                                                    ? 1
                                                                                    : 1000);
    take();
    ck_assert_uint_eq(found_count, 3 + HR_OSNOISE_SINGLE_NOISES);
    ck_assert_uint_eq(found[0].duration_ns, 1500);
    ck_assert_uint_eq(found[1].duration_ns, 1600);
    ck_assert_uint_eq(found[2].cpu, 1);
    for (size_t i = 0; i < HR_OSNOISE_SINGLE_NOISES; i++) {
        ck_assert_uint_eq(found[3 + i].cpu, 2);
        ck_assert_uint_eq(found[3 + i].duration_ns, 6000 - HR_OSNOISE_SINGLE_NOISES + i);
    }
}
END_TEST

/* --- Functions ------------------------------------------------------------ */

static void add_function(uint64_t time_ns, char function)
{
    const struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_CAUSE,
                                             .time_ns = time_ns,
                                             .cause = {.function = (uint64_t)function}};

    add(record);
}

static void add_part(enum hr_osnoise_kind kind, const char *name, uint64_t start_ns,
                     uint64_t end_ns)
{
    struct hr_osnoise_record record = part(kind, name, 7, start_ns, end_ns - start_ns);

    record.time_ns = end_ns;
    add(record);
}

static void assert_functions(size_t i, const char *expected)
{
    char text[64] = "";

    for (size_t f = 0; f < found->parts[i].function_count; f++)
        strcat(text, found->parts[i].functions[f]);
    strcat(text, found->parts[i].has_more_functions ? "+" : "");
    ck_assert_str_eq(text, expected);
}

/* A kworker works twice; in the second of its works the tick comes. What has no name is left out.
 */
START_TEST(parts_have_their_functions)
{
    add_function(10010, 'a');
    add_part(HR_OSNOISE_THREAD, "kworker/8:1", 10000, 10100);
    add_function(10210, 'b');
    add_function(10301, 't');
    add_function(10305, 'x');
    add_part(HR_OSNOISE_IRQ, "local_timer", 10300, 10310);
    add_part(HR_OSNOISE_THREAD, "kworker/8:1", 10200, 10400);
    add_part(HR_OSNOISE_SOFTIRQ, "RCU", 10500, 10501);
    add(single_noise(10000, 2000, 4));
    take_one();
    assert_part(0, HR_OSNOISE_THREAD, "kworker/8:1", 7, 300, 2);
    assert_functions(0, "ba");
    assert_part(1, HR_OSNOISE_IRQ, "local_timer", 7, 10, 1);
    assert_functions(1, "t");
    assert_functions(2, "");
}
END_TEST

START_TEST(of_many_functions_there_are_more)
{
    for (char c = 'a'; c < 'h'; c++)
        add_function(10000 + (uint64_t)(c - 'a') * (uint64_t)(c - 'a'), c);
    add_part(HR_OSNOISE_SOFTIRQ, "TIMER", 10000, 10036);
    add(single_noise(10000, 2000, 1));
    take_one();
    assert_functions(0, "fed+");
}
END_TEST

static void add_call(uint64_t time_ns, char function, uint64_t request)
{
    const struct hr_osnoise_record record = {
        .type = HR_OSNOISE_RECORD_CAUSE,
        .time_ns = time_ns,
        .cause = {.function = (uint64_t)function, .request = request}};

    add(record);
}

static void add_sender(uint64_t time_ns, char function, uint64_t request, int pid)
{
    const struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_IPI,
                                             .time_ns = time_ns,
                                             .cause = {.function = (uint64_t)function,
                                                       .request = request,
                                                       .sender = {.pid = pid, .cpu = 4}}};

    add(record);
}

/* A function that a task of another CPU asked for. */
static void add_asked(uint64_t time_ns, char function, int pid)
{
    add_sender(time_ns, function, 0x100, pid);
    add_call(time_ns + 1, function, 0x100);
}

START_TEST(functions_have_their_senders)
{
    add_asked(10010, 'a', 423);
    add_call(10041, 'b', 0x200);
    add_part(HR_OSNOISE_IRQ, "call_function", 10000, 10050);
    add(single_noise(10000, 2000, 1));
    take_one();
    assert_functions(0, "ab");
    ck_assert_str_eq(found->parts[0].senders[0], "423 on CPU 4");
    ck_assert_str_eq(found->parts[0].senders[1], "");
}
END_TEST

/* In the second interrupt, which is the same source of noise. */
START_TEST(a_function_may_have_several_senders)
{
    add_asked(10010, 'a', 423);
    add_part(HR_OSNOISE_IRQ, "call_function", 10000, 10050);
    add_asked(10110, 'a', 7);
    add_part(HR_OSNOISE_IRQ, "call_function", 10100, 10200);
    add(single_noise(10000, 2000, 2));
    take_one();
    assert_functions(0, "aa");
    ck_assert_str_eq(found->parts[0].senders[0], "7 on CPU 4");
    ck_assert_str_eq(found->parts[0].senders[1], "423 on CPU 4");
}
END_TEST

START_TEST(functions_before_a_loss_are_forgotten)
{
    add_function(10010, 'a');
    add_sender(10011, 'b', 0x100, 423);
    hr_osnoise_single_noises_mark_lost(single_noises, 2);
    add_call(10020, 'b', 0x100);
    add_part(HR_OSNOISE_THREAD, "kworker/8:1", 10000, 10100);
    add(single_noise(10000, 2000, 1));
    take_one();
    assert_functions(0, "b");
    ck_assert_str_eq(found->parts[0].senders[0], "");
}
END_TEST

/* Numbers as no clock gives them. */
START_TEST(a_noise_may_end_beyond_all_numbers)
{
    add(part(HR_OSNOISE_NMI, "NMI", 0, UINT64_MAX, UINT64_MAX));
    add(part(HR_OSNOISE_NMI, "NMI", 0, 5, 1));
    add(single_noise(UINT64_MAX - 1, UINT64_MAX, 1));
    take_one();
    ck_assert_uint_eq(found->part_count, 1);
    assert_part(0, HR_OSNOISE_NMI, "NMI", 0, UINT64_MAX, 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("singles");

    tcase_add_checked_fixture(tests, open_single_noises, close_single_noises);
    tcase_add_test(tests, the_example_of_the_kernel_reads_as_it_says);
    tcase_add_test(tests, what_is_the_same_is_one_part);
    tcase_add_test(tests, a_part_begins_within_the_noise);
    tcase_add_test(tests, hardware_has_no_parts);
    tcase_add_test(tests, only_noises_above_the_limit_count);
    tcase_add_test(tests, parts_are_of_their_cpu);
    tcase_add_test(tests, the_longest_parts_are_reported);
    tcase_add_test(tests, what_was_forgotten_is_missing_only_where_it_belongs);
    tcase_add_test(tests, one_more_than_are_remembered_is_too_many);
    tcase_add_test(tests, what_was_forgotten_need_not_be_the_oldest);
    tcase_add_test(tests, losses_are_of_the_noise_that_follows);
    tcase_add_loop_test(tests, the_longest_and_the_last_are_kept, 0,
                        (int)(sizeof(orders) / sizeof(orders[0])));
    tcase_add_test(tests, a_noisy_cpu_hides_no_other);
    tcase_add_test(tests, parts_have_their_functions);
    tcase_add_test(tests, of_many_functions_there_are_more);
    tcase_add_test(tests, functions_have_their_senders);
    tcase_add_test(tests, a_function_may_have_several_senders);
    tcase_add_test(tests, functions_before_a_loss_are_forgotten);
    tcase_add_test(tests, a_noise_may_end_beyond_all_numbers);
    return run_suite("osnoise_singles", tests);
}
