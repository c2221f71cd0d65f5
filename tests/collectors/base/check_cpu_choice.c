/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_cpu_choice.c - which CPUs an option chooses, in trees of machines with and
 * without isolated CPUs.
 */
#include "headroom/cpu_choice.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

#define CPU "sys/devices/system/cpu/"

static struct tree *tree;
static struct hr_root *root;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
}

static const struct {
    const char *text;
    int status;
    unsigned words;
    const char *list;
} texts[] = {
    {"0-3,8", 0, 0, "0-3,8"},
    {"7", 0, 0, "7"},
    {"isolated", 0, HR_CPUS_ISOLATED, ""},
    {"Isolated", 0, HR_CPUS_ISOLATED, ""},
    {"!isolated", 0, HR_CPUS_NOT_ISOLATED, ""},
    {"nohz_full", 0, HR_CPUS_NOHZ_FULL, ""},
    {"!nohz_full", -EBADMSG, 0, NULL},
    {"", -EBADMSG, 0, NULL},
    {"\n", -EBADMSG, 0, NULL},
    {"0-3\n", -EBADMSG, 0, NULL},
    {"! isolated", -EBADMSG, 0, NULL},
    {"!0-3", -EBADMSG, 0, NULL},
    {"isolated,0", -EBADMSG, 0, NULL},
    {"3-1", -EBADMSG, 0, NULL},
    {"8192", -ERANGE, 0, NULL},
};

START_TEST(parses)
{
    struct hr_cpu_choice choice;
    struct hr_cpu_set list;

    memset(&choice, 0x55, sizeof(choice));
    const struct hr_cpu_choice before = choice;
    ck_assert_int_eq(hr_cpu_choice_parse(texts[_i].text, &choice), texts[_i].status);
    if (texts[_i].status < 0) {
        ck_assert_mem_eq(&choice, &before, sizeof(choice));
        return;
    }
    ck_assert_int_eq(choice.words, texts[_i].words);
    ck_assert_int_eq(hr_cpu_set_parse(texts[_i].list, strlen(texts[_i].list), &list), 0);
    ck_assert(hr_cpu_set_equal(&choice.list, &list));
}
END_TEST

/* What the files contain; NULL: there is none. The texts of a choice are added up. Of CPUs 0 to 7
 * those that are chosen. */
static const struct {
    const char *isolated, *nohz_full, *text;
    int status;
    const char *chosen;
} machines[] = {
    {"\n", "(null)\n", NULL, 0, "0-7"},
    {"\n", "(null)\n", "0,6-9", 0, "0,6-7"},
    {"\n", "(null)\n", "isolated", 0, ""},
    {"\n", "(null)\n", "!isolated", 0, "0-7"},
    {"\n", "  (null)\n", "!isolated", 0, "0-7"}, /* padded to the number of CPUs */
    {"\n", "                          (null)\n", "isolated", 0, ""},
    {"\n", "  (null)", "!isolated", -EBADMSG, NULL},
    {"\n", "(null) \n", "!isolated", -EBADMSG, NULL},
    {"\n", "\n", "!isolated", 0, "0-7"},
    {NULL, NULL, "!isolated", 0, "0-7"},
    {NULL, NULL, "isolated", 0, ""},
    {"2-3\n", NULL, "isolated", 0, "2-3"},
    {"2-3\n", "3,5\n", "isolated", 0, "2-3,5"},
    {"2-3\n", "3,5\n", "!isolated", 0, "0-1,4,6-7"},
    {"2-3\n", "3,5\n", "0-3", 0, "0-3"},
    {"\n", "4-7\n", "!isolated", 0, "0-3"},
    {"2-3\n", "3,5\n", "nohz_full", 0, "3,5"},
    {"two\n", "3,5\n", "nohz_full", 0, "3,5"}, /* it isn't read */
    {"2-3\n", "(null)\n", "nohz_full", 0, ""},
    {"2-3\n", NULL, "nohz_full", 0, ""},
    {"2-3\n", "two\n", "nohz_full", -EBADMSG, NULL},
    {"2-3\n", "\n", "isolated 0", 0, "0,2-3"},
    {"2-3\n", "5\n", "nohz_full 0 3-4", 0, "0,3-5"},
    {"2-3\n", "5\n", "nohz_full isolated", 0, "2-3,5"},
    {"2-3\n", "5\n", "!isolated isolated", 0, "0-7"},
    {"2-3\n", "5\n", "!isolated 2", 0, "0-2,4,6-7"},
    {"two\n", "\n", "isolated", -EBADMSG, NULL},
    {"\n", "8192\n", "!isolated", -EBADMSG, NULL},
    {"two\n", "two\n", "0-3", 0, "0-3"}, /* they aren't read */
    {"two\n", "two\n", NULL, 0, "0-7"},
};

START_TEST(finds)
{
    struct hr_cpu_choice choice = {0}, more;
    struct hr_cpu_set chosen, all, expected;
    char list[64];

    if (machines[_i].isolated != NULL)
        tree_write(tree, CPU "isolated", "%s", machines[_i].isolated);
    if (machines[_i].nohz_full != NULL)
        tree_write(tree, CPU "nohz_full", "%s", machines[_i].nohz_full);
    ck_assert(hr_cpu_choice_is_all(&choice));
    snprintf(list, sizeof(list), "%s", machines[_i].text != NULL ? machines[_i].text : "");
    for (char *text = strtok(list, " "); text != NULL; text = strtok(NULL, " ")) {
        ck_assert_int_eq(hr_cpu_choice_parse(text, &more), 0);
        hr_cpu_choice_add(&choice, &more);
        ck_assert(!hr_cpu_choice_is_all(&choice));
    }
    ck_assert_int_eq(hr_cpu_set_parse("0-7", 3, &all), 0);
    memset(&chosen, 0x55, sizeof(chosen));
    const struct hr_cpu_set before = chosen;
    ck_assert_int_eq(hr_cpu_choice_find(&choice, root, &chosen), machines[_i].status);
    if (machines[_i].status < 0) {
        ck_assert(hr_cpu_set_equal(&chosen, &before));
        return;
    }
    ck_assert(!hr_cpu_set_has(&chosen, HR_CPU_MAX));
    hr_cpu_set_keep(&chosen, &all);
    ck_assert_int_eq(hr_cpu_set_parse(machines[_i].chosen, strlen(machines[_i].chosen), &expected),
                     0);
    ck_assert(hr_cpu_set_equal(&chosen, &expected));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cpu choice");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, parses, 0, sizeof(texts) / sizeof(texts[0]));
    tcase_add_loop_test(tests, finds, 0, sizeof(machines) / sizeof(machines[0]));
    return run_suite("cpu choice", tests);
}
