/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_cpu_set.c - sets of CPUs: parsing, printing and iterating.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "headroom/cpu_set.h"
#include "support/suite.h"

static const struct {
    const char *text;
    size_t count;
    unsigned cpus[8]; /* the first of them, in ascending order */
} sets[] = {
    {"", 0, {0}},
    {"\n", 0, {0}},
    {"0", 1, {0}},
    {"0\n", 1, {0}},
    {"0-3,8\n", 5, {0, 1, 2, 3, 8}},
    {"8,0-3", 5, {0, 1, 2, 3, 8}},
    {"0-3,2-5,4", 6, {0, 1, 2, 3, 4, 5}},
    {"63-64\n", 2, {63, 64}},
    {"7-7", 1, {7}},
    {"007", 1, {7}},
    {"127,128,8191", 3, {127, 128, 8191}},
    {"0-8191", 8192, {0, 1, 2, 3, 4, 5, 6, 7}},
};

START_TEST(parses_lists)
{
    struct hr_cpu_set set;
    unsigned cpu = 0;

    memset(&set, 0xff, sizeof(set));
    ck_assert_int_eq(hr_cpu_set_parse(sets[_i].text, strlen(sets[_i].text), &set), 0);
    ck_assert_uint_eq(hr_cpu_set_count(&set), sets[_i].count);
    for (size_t i = 0; i < sets[_i].count && i < 8; i++) {
        cpu = hr_cpu_set_next(&set, cpu);
        ck_assert_uint_eq(cpu, sets[_i].cpus[i]);
        ck_assert(hr_cpu_set_has(&set, cpu));
        cpu++;
    }
    if (sets[_i].count <= 8)
        ck_assert_uint_eq(hr_cpu_set_next(&set, cpu), HR_CPU_MAX);
}
END_TEST

static const struct {
    const char *text;
    int status;
} faulty[] = {
    {"3-1", -EBADMSG},
    {"1,", -EBADMSG},
    {",1", -EBADMSG},
    {"1,,2", -EBADMSG},
    {",", -EBADMSG},
    {" 1", -EBADMSG},
    {"1 ", -EBADMSG},
    {"1, 2", -EBADMSG},
    {"1-", -EBADMSG},
    {"-1", -EBADMSG},
    {"1--2", -EBADMSG},
    {"1-2-3", -EBADMSG},
    {"0-10:2/4", -EBADMSG},
    {"all", -EBADMSG},
    {"0x1", -EBADMSG},
    {"1\n\n", -EBADMSG},
    {"\n1", -EBADMSG},
    {"1\n2", -EBADMSG},
    {"8192", -ERANGE},
    {"0-8192", -ERANGE},
    {"18446744073709551616", -ERANGE},
    {"4294967296", -ERANGE},
    {"1-99999999999999999999999", -ERANGE},
};

START_TEST(refuses_other_text)
{
    struct hr_cpu_set set = {{4711}};

    ck_assert_msg(hr_cpu_set_parse(faulty[_i].text, strlen(faulty[_i].text), &set) ==
                      faulty[_i].status,
                  "%s", faulty[_i].text);
    ck_assert_uint_eq(set.words[0], 4711); /* unchanged */
    ck_assert_uint_eq(set.words[1], 0);
}
END_TEST

START_TEST(looks_no_further_than_the_length)
{
    struct hr_cpu_set set;

    ck_assert_int_eq(hr_cpu_set_parse("1-25", 3, &set), 0);
    ck_assert_uint_eq(hr_cpu_set_count(&set), 2);
    ck_assert_int_eq(hr_cpu_set_parse("1\0", 2, &set), -EBADMSG);
}
END_TEST

START_TEST(can_be_asked_for_any_number)
{
    struct hr_cpu_set set = {{0}};

    ck_assert(!hr_cpu_set_has(&set, 8192));
    ck_assert(!hr_cpu_set_has(&set, 4294967295));
    ck_assert_uint_eq(hr_cpu_set_next(&set, 0), HR_CPU_MAX);
    ck_assert_uint_eq(hr_cpu_set_next(&set, 4294967295), HR_CPU_MAX);
    hr_cpu_set_add(&set, 8191);
    hr_cpu_set_add(&set, 64);
    hr_cpu_set_add(&set, 64);
    ck_assert(hr_cpu_set_has(&set, 64));
    ck_assert(!hr_cpu_set_has(&set, 63));
    ck_assert(!hr_cpu_set_has(&set, 0));
    ck_assert_uint_eq(hr_cpu_set_count(&set), 2);
    ck_assert_uint_eq(hr_cpu_set_next(&set, 64), 64);
    ck_assert_uint_eq(hr_cpu_set_next(&set, 65), 8191);
    ck_assert_uint_eq(hr_cpu_set_next(&set, 8191), 8191);
    ck_assert_uint_eq(hr_cpu_set_next(&set, 8192), HR_CPU_MAX);
}
END_TEST

/* --- Printing ------------------------------------------------------------- */

/* Rows of CPUs: from `first` to `last`, in every `step` CPUs the first `length`. */
static const struct {
    struct {
        unsigned first, last, length, step;
    } rows[4];
    const char *text;
} printed[] = {
    {{{0, 0, 0, 0}}, ""},
    {{{0, 0, 1, 1}}, "0"},
    {{{0, 3, 1, 1}, {8, 8, 1, 1}}, "0-3,8"},
    {{{8191, 8191, 1, 1}}, "8191"},
    {{{0, 8191, 1, 1}}, "0-8191"},
    {{{63, 64, 1, 1}}, "63-64"},
    {{{0, 3, 1, 2}}, "0,2"},             /* a pattern would be longer */
    {{{0, 7, 1, 2}}, "0,2,4,6"},         /* or as long */
    {{{0, 9, 1, 2}}, "0-8:1/2"},         /* shorter */
    {{{128, 255, 1, 2}}, "128-254:1/2"}, /* every second one, as with threads of cores */
    {{{2, 63, 14, 16}}, "2-63:14/16"},   /* all but the first two of each 16 */
    {{{1, 1, 1, 1}, {100, 199, 1, 10}, {300, 303, 1, 1}}, "1,100-190:1/10,300-303"},
    {{{0, 2, 2, 3}, {100, 199, 5, 10}, {201, 299, 5, 10}}, "0-1,100-194:5/10,201-295:5/10"},
    {{{0, 100, 1, 10}, {101, 130, 2, 10}}, "0-90:1/10,100-102,111-122:2/10"},
    {{{8000, 8191, 3, 4}}, "8000-8190:3/4"},
};

START_TEST(prints_what_the_kernel_parses)
{
    struct hr_cpu_set set = {{0}};
    char text[256], small[256] = "untouched";

    for (int row = 0; row < 4; row++)
        for (unsigned cpu = printed[_i].rows[row].first;
             printed[_i].rows[row].step > 0 && cpu <= printed[_i].rows[row].last; cpu++)
            if ((cpu - printed[_i].rows[row].first) % printed[_i].rows[row].step <
                printed[_i].rows[row].length)
                hr_cpu_set_add(&set, cpu);
    ck_assert_int_eq(hr_cpu_set_format(&set, text, sizeof(text)), 0);
    ck_assert_str_eq(text, printed[_i].text);
    ck_assert_int_eq(hr_cpu_set_format(&set, small, strlen(text) + 1), 0);
    ck_assert_str_eq(small, text);
    strcpy(small, "untouched");
    ck_assert_int_eq(hr_cpu_set_format(&set, small, strlen(text)), -E2BIG);
    ck_assert_str_eq(small, "untouched");
}
END_TEST

/* Parses as the kernel does: the first `used` of each `group`. @return the end, or NULL. */
static const char *parse_region(const char *text, struct hr_cpu_set *set)
{
    unsigned first, last, used, group;
    int length = 0;

    if (sscanf(text, "%u-%u:%u/%u%n", &first, &last, &used, &group, &length) < 4) {
        if (sscanf(text, "%u-%u%n", &first, &last, &length) < 2) {
            if (sscanf(text, "%u%n", &first, &length) < 1)
                return NULL;
            last = first;
        }
        used = group = last + 1;
    }
    for (unsigned cpu = first; cpu <= last; cpu++)
        if ((cpu - first) % group < used)
            hr_cpu_set_add(set, cpu);
    return text + length;
}

static void assert_printed(const struct hr_cpu_set *set)
{
    struct hr_cpu_set again = {{0}};
    char text[32 * 1024];

    ck_assert_int_eq(hr_cpu_set_format(set, text, sizeof(text)), 0);
    for (const char *at = text; *at != '\0'; at += *at == ',') {
        at = parse_region(at, &again);
        ck_assert_msg(at != NULL && (*at == ',' || *at == '\0'), "%s", text);
    }
    ck_assert_msg(hr_cpu_set_equal(set, &again), "%s", text);
}

/* Random sets, sparse to dense and with rows, are each printed as what they are. */
START_TEST(prints_what_it_is)
{
    unsigned seed = 4711;

    for (int i = 0; i < 300; i++) {
        struct hr_cpu_set set = {{0}};
        unsigned end = i % 3 == 0 ? HR_CPU_MAX : 64, share = 1 + (unsigned)i % 9;
        for (unsigned cpu = 0, run = 0; cpu < end; cpu++) {
            seed = seed * 1103515245 + 12345;
            if (run == 0 && seed / 65536 % 10 < share)
                run = 1 + seed / 65536 / 10 % 4;
            if (run > 1 || (i % 4 == 0 && cpu % 3 == 0))
                hr_cpu_set_add(&set, cpu);
            if (run > 0)
                run--;
        }
        assert_printed(&set);
    }
}
END_TEST

/* The largest number of ranges, of two lengths, so that none form a pattern. */
START_TEST(has_room_for_all)
{
    struct hr_cpu_set set = {{0}};

    for (unsigned cpu = 0; cpu + 5 < HR_CPU_MAX; cpu += 7)
        for (unsigned i = 0; i < 6; i++)
            if (i != 2)
                hr_cpu_set_add(&set, cpu + i);
    assert_printed(&set);
}
END_TEST

START_TEST(removes)
{
    struct hr_cpu_set set = {{0}}, removed = {{0}}, expected = {{0}};

    ck_assert_int_eq(hr_cpu_set_parse("0-3,64,8191", 11, &set), 0);
    ck_assert_int_eq(hr_cpu_set_parse("1,4,64-65,8191", 14, &removed), 0);
    ck_assert_int_eq(hr_cpu_set_parse("0,2-3", 5, &expected), 0);
    hr_cpu_set_remove(&set, &removed);
    ck_assert(hr_cpu_set_equal(&set, &expected));
}
END_TEST

START_TEST(compares)
{
    struct hr_cpu_set a = {{0}}, b = {{0}};

    ck_assert(hr_cpu_set_equal(&a, &b));
    hr_cpu_set_add(&a, 8191);
    ck_assert(!hr_cpu_set_equal(&a, &b));
    hr_cpu_set_add(&b, 8191);
    ck_assert(hr_cpu_set_equal(&a, &b));
}
END_TEST

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
    TCase *tests = tcase_create("cpu_set");

    tcase_add_loop_test(tests, parses_lists, 0, COUNT(sets));
    tcase_add_loop_test(tests, refuses_other_text, 0, COUNT(faulty));
    tcase_add_test(tests, looks_no_further_than_the_length);
    tcase_add_test(tests, can_be_asked_for_any_number);
    tcase_add_loop_test(tests, prints_what_the_kernel_parses, 0, COUNT(printed));
    tcase_add_test(tests, prints_what_it_is);
    tcase_add_test(tests, has_room_for_all);
    tcase_add_test(tests, removes);
    tcase_add_test(tests, compares);
    return run_suite("cpu_set", tests);
}
