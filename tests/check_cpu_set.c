/* Sets of CPUs: their text, and walking through them. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "headroom/cpu_set.h"
#include "suite.h"

static const struct {
    const char *text;
    size_t count;
    unsigned cpus[8]; /* the first of them, upwards */
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
    ck_assert_uint_eq(set.words[0], 4711); /* untouched */
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

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
    TCase *tests = tcase_create("cpu_set");

    tcase_add_loop_test(tests, parses_lists, 0, COUNT(sets));
    tcase_add_loop_test(tests, refuses_other_text, 0, COUNT(faulty));
    tcase_add_test(tests, looks_no_further_than_the_length);
    tcase_add_test(tests, can_be_asked_for_any_number);
    return run_suite("cpu_set", tests);
}
