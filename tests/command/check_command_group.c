/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_group.c - which groups a user means, by paths and by names in series.
 */
#include <errno.h>

#include "common/group.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

static struct tree *tree;
static struct hr_root *root;
static struct group_patterns patterns;

static void set_up(void)
{
    tree = tree_new();
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "a/b", true);
    tree_add_group(tree, "a/b.c[0]", true);
    tree_add_group(tree, "a/idle", false);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    group_patterns_free(&patterns);
    hr_root_close(root);
    tree_free(tree);
}

START_TEST(paths_and_names_are_compared)
{
    static const struct {
        const char *wanted, *group;
        bool is_meant;
    } cases[] = {
        {"a/b", "a/b", true},         {"a_b", "a/b", true},
        {"a/b", "a_b", true},         {"/a/b", "a_b", true},
        {"a_b", "a_b", true},         {"a", "a/b", false},
        {"a*", "a/b", true},          {"*/b", "a_b", true},
        {"a?b", "a/b", true},         {"a/b", "a/bc", false},
        {"a\\x2db", "a\\x2db", true}, {"a[0]", "a[0]", true},
        {"system", "system", true},   {"", "a", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(group_is_meant(cases[i].wanted, cases[i].group) == cases[i].is_meant,
                      "%s and %s", cases[i].wanted, cases[i].group);
}
END_TEST

static int find(const char *wanted, const char **missing)
{
    group_patterns_free(&patterns);
    return group_find_patterns(root, NULL, &wanted, 1, &patterns, missing);
}

START_TEST(a_pattern_of_paths_stays_as_it_is)
{
    const char *missing;

    ck_assert_int_eq(find("a/*", &missing), 0);
    ck_assert_uint_eq(patterns.count, 1);
    ck_assert_str_eq(patterns.list[0], "a/*");
    ck_assert_int_eq(find("a/idle", &missing), 0);
    ck_assert_str_eq(patterns.list[0], "a/idle");
}
END_TEST

START_TEST(a_name_becomes_the_paths_of_its_cgroups)
{
    const char *missing;

    ck_assert_int_eq(find("a_b", &missing), 0);
    ck_assert_uint_eq(patterns.count, 1);
    ck_assert_str_eq(patterns.list[0], "a/b");
    ck_assert_int_eq(find("a_b*", &missing), 0);
    ck_assert_uint_eq(patterns.count, 2);
    ck_assert_int_eq(find("a_b.c*", &missing), 0);
    ck_assert_str_eq(patterns.list[0], "a/b.c?0]");
}
END_TEST

START_TEST(patterns_are_covered_with_all_below)
{
    char with_slash[] = "a/", wildcard[] = "b/*";
    char *list[] = {with_slash, wildcard};
    const struct group_patterns some = {.list = list, .count = 2};

    ck_assert_int_eq(group_patterns_cover(&some, &patterns), 0);
    ck_assert_uint_eq(patterns.count, 4);
    ck_assert_str_eq(patterns.list[0], "a/");
    ck_assert_str_eq(patterns.list[1], "a/**");
    ck_assert_str_eq(patterns.list[2], "b/*");
    ck_assert_str_eq(patterns.list[3], "b/*/**");
}
END_TEST

START_TEST(what_matches_nothing_is_returned_and_what_is_there_described)
{
    static const char *const wanted[] = {"a/b", "a/c"};
    const char *missing;
    char others[200];

    ck_assert_int_eq(group_find_patterns(root, NULL, wanted, 2, &patterns, &missing), -ENODEV);
    ck_assert_str_eq(missing, "a/c");
    group_describe_others(root, missing, others, sizeof(others));
    ck_assert_str_eq(others, " (in a there are: b, b.c[0], idle)");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("groups");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, paths_and_names_are_compared);
    tcase_add_test(tcase, a_pattern_of_paths_stays_as_it_is);
    tcase_add_test(tcase, a_name_becomes_the_paths_of_its_cgroups);
    tcase_add_test(tcase, patterns_are_covered_with_all_below);
    tcase_add_test(tcase, what_matches_nothing_is_returned_and_what_is_there_described);
    return run_suite("command_group", tcase);
}
