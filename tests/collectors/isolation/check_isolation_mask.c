/* SPDX-License-Identifier: MIT */
/*
 * collectors/isolation/check_isolation_mask.c - sets of CPUs as the kernel's masks.
 */
#include "isolation/mask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

static const struct {
    const char *text;
    int status;
    const char *list;
} masks[] = {
    {"0", 0, ""},
    {"3\n", 0, "0-1"},
    {"f\n", 0, "0-3"},
    {"0000000c\n", 0, "2-3"},
    {"A", 0, "1,3"},
    {"ffffffff,00000003\n", 0, "0-1,32-63"},
    {"1,00000000,80000000", 0, "31,64"},
    {"", -EBADMSG, NULL},
    {"\n", -EBADMSG, NULL},
    {"g", -EBADMSG, NULL},
    {" 3", -EBADMSG, NULL},
    {"0x3", -EBADMSG, NULL},
    {"3\n\n", -EBADMSG, NULL},
    {",3", -EBADMSG, NULL},
    {"3,", -EBADMSG, NULL},
    {"1,0000003", -EBADMSG, NULL},
    {"1,,00000003", -EBADMSG, NULL},
    {"1-3", -EBADMSG, NULL},
};

START_TEST(parses)
{
    struct hr_cpu_set set, expected;

    memset(&set, 0x55, sizeof(set));
    const struct hr_cpu_set before = set;
    const char *text = masks[_i].text;
    ck_assert_int_eq(hr_cpu_mask_parse(text, strlen(text), &set), masks[_i].status);
    if (masks[_i].status < 0) {
        ck_assert(hr_cpu_set_equal(&set, &before));
        return;
    }
    ck_assert_int_eq(hr_cpu_set_parse(masks[_i].list, strlen(masks[_i].list), &expected), 0);
    ck_assert(hr_cpu_set_equal(&set, &expected));
}
END_TEST

/* 8,192 CPUs have 256 groups; zeros before them are no CPU. */
START_TEST(has_a_limit)
{
    char text[257 * 9 + 1] = "";
    struct hr_cpu_set set;

    for (int i = 0; i < 256; i++)
        strcat(text, i == 0 ? "80000000" : ",00000000");
    ck_assert_int_eq(hr_cpu_mask_parse(text, strlen(text), &set), 0);
    ck_assert(hr_cpu_set_has(&set, 8191));
    ck_assert_uint_eq(hr_cpu_set_count(&set), 1);
    strcat(text, ",00000000");
    ck_assert_int_eq(hr_cpu_mask_parse(text, strlen(text), &set), -ERANGE);
    memcpy(text, "00000000", 8);
    ck_assert_int_eq(hr_cpu_mask_parse(text, strlen(text), &set), 0);
    ck_assert_uint_eq(hr_cpu_set_count(&set), 0);
}
END_TEST

START_TEST(prints)
{
    static const struct {
        const char *list, *mask;
    } rows[] = {{"", "0"}, {"0-1", "3"}, {"31", "80000000"}, {"0-1,32-63", "ffffffff,00000003"}};
    struct hr_cpu_set set;
    char text[32];

    ck_assert_int_eq(hr_cpu_set_parse(rows[_i].list, strlen(rows[_i].list), &set), 0);
    ck_assert_int_eq(hr_cpu_mask_format(&set, text, sizeof(text)), 0);
    ck_assert_str_eq(text, rows[_i].mask);
    ck_assert_int_eq(hr_cpu_mask_format(&set, text, strlen(rows[_i].mask)), -E2BIG);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("mask");

    tcase_add_loop_test(tests, parses, 0, sizeof(masks) / sizeof(masks[0]));
    tcase_add_test(tests, has_a_limit);
    tcase_add_loop_test(tests, prints, 0, 4);
    return run_suite("isolation mask", tests);
}
