/* SPDX-License-Identifier: MIT */
/*
 * collectors/cgroup/check_cgroup_age.c - a set of cgroups in which groups are populated only once
 * they have an age.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "collectors/cgroup/set_harness.h"
#include "headroom/clock.h"
#include "support/frozen_clock.h"
#include "support/suite.h"

#define AGE_NS (60 * HR_NS_PER_S)

static void set_up_clock(void)
{
    frozen_ns = 1000 * HR_NS_PER_S;
    set_up();
}

static void tear_down_clock(void)
{
    tear_down();
    frozen_ns = 0;
}

static void open_with_age(size_t max_count, size_t max_empty)
{
    static const char *const pattern = "**";
    const struct hr_cgroup_options options = {.patterns = &pattern,
                                              .pattern_count = 1,
                                              .max_count = max_count,
                                              .max_empty = max_empty,
                                              .min_age_ns = AGE_NS,
                                              .event = record_event,
                                              .context = &story};

    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
}

static void pass(uint64_t ns)
{
    frozen_ns += ns;
    read_set();
}

static void assert_young(size_t count)
{
    ck_assert_uint_eq(hr_cgroup_set_counts(set).young, count);
}

START_TEST(is_populated_once_it_is_old_enough)
{
    tree_add_group(tree, "a", true);
    open_with_age(0, 0);
    read_set();
    assert_story("+a ^a"); /* since when isn't known */
    tree_add_group(tree, "b", true);
    read_set();
    assert_story("+b");
    assert_counts(2, 1, 0);
    assert_young(1);
    tree_set_populated(tree, "b", true); /* written again */
    pass(AGE_NS - 1);
    assert_story("");
    pass(1);
    assert_story("^b");
    assert_counts(2, 2, 0);
    assert_young(0);
    tree_set_populated(tree, "b", false); /* whose age remains */
    read_set();
    tree_set_populated(tree, "b", true);
    read_set();
    assert_story("vb ^b");
}
END_TEST

START_TEST(is_populated_by_events_alone)
{
    open_with_age(0, 0);
    read_set();
    tree_add_group(tree, "a", true);
    read_set();
    frozen_ns += AGE_NS;
    ck_assert_int_eq(hr_cgroup_set_read_events(set), 0);
    assert_story("+a ^a");
}
END_TEST

/* The age is the group's, not that of its processes. */
START_TEST(counts_from_when_the_group_was_found)
{
    open_with_age(0, 0);
    read_set();
    tree_add_group(tree, "a", false);
    read_set();
    pass(AGE_NS / 2);
    tree_add_group(tree, "b", true);
    read_set();
    assert_story("+a +b");
    tree_set_populated(tree, "a", true);
    read_set();
    assert_young(2);
    pass(AGE_NS / 2);
    assert_story("^a"); /* though its process came last */
    tree_remove_group(tree, "a");
    tree_add_group(tree, "a", true); /* another one */
    read_set();
    assert_story("va -a +a");
    pass(AGE_NS / 2);
    assert_story("^b");
    pass(AGE_NS / 2);
    assert_story("^a");
}
END_TEST

START_TEST(ends_while_it_is_young)
{
    open_with_age(0, 0);
    read_set();
    tree_add_group(tree, "emptied", true);
    tree_add_group(tree, "removed", true);
    tree_add_group(tree, "stays", true);
    read_set();
    assert_story("+emptied +removed +stays");
    tree_set_populated(tree, "emptied", false);
    tree_remove_group(tree, "removed");
    read_set();
    assert_story("-removed");
    assert_young(1);
    pass(AGE_NS);
    assert_story("^stays");
    tree_add_group(tree, "late", true);
    read_set();
    story[0] = '\0';
    hr_cgroup_set_close(set);
    set = NULL;
    ck_assert_ptr_nonnull(strstr(story, "-late"));
    ck_assert_ptr_null(strstr(story, "vlate"));
}
END_TEST

/* Whatever was there before; and all of what is new, as deep as it is. */
START_TEST(knows_what_was_there_before)
{
    const struct hr_cgroup *group = NULL;

    tree_add_group(tree, "a/b/c", true);
    tree_add_group(tree, "leaf", true);
    open_with_age(0, 0);
    read_set();
    assert_counts(4, 4, 0);
    while ((group = hr_cgroup_set_next(set, group)) != NULL)
        ck_assert(hr_cgroup_has_age(group, UINT64_MAX));
    tree_add_group(tree, "a/b/c/d/e", true);
    tree_add_group(tree, "leaf/f", true);
    tree_add_group(tree, "g/h", true);
    read_set();
    assert_counts(9, 4, 0);
    assert_young(5);
    pass(AGE_NS);
    assert_counts(9, 9, 0);
    for (size_t i = 0; (group = hr_cgroup_set_next(set, group)) != NULL; i++) {
        ck_assert_int_eq(hr_cgroup_has_age(group, UINT64_MAX), i < 4);
        ck_assert(hr_cgroup_has_age(group, AGE_NS));
    }
}
END_TEST

START_TEST(knows_what_was_there_before_the_mount)
{
    tree_write(tree, "proc/1/mounts", "%s", "");
    open_with_age(0, 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), -ENOENT);
    tree_add_group(tree, "a", true);
    tree_write(tree, "proc/1/mounts", "none /" TREE_CGROUPS " cgroup2 rw 0 0\n");
    frozen_ns += HR_NS_PER_S;
    read_set();
    assert_story("+a ^a");
}
END_TEST

/* It takes a place when it is old enough, behind those that wait already. */
START_TEST(takes_no_place_while_it_is_young)
{
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "empty", false);
    open_with_age(2, 0);
    read_set();
    assert_story("+a ^a +empty");
    tree_add_group(tree, "b", true);
    read_set();
    tree_add_group(tree, "c", true);
    read_set();
    tree_set_populated(tree, "empty", true);
    read_set();
    assert_story("+b +c ^empty");
    assert_counts(4, 2, 0);
    assert_young(2);
    pass(AGE_NS);
    assert_story("");
    assert_counts(4, 2, 2);
    assert_young(0);
    tree_remove_group(tree, "a");
    read_set();
    assert_story("va -a ^b");
    tree_remove_group(tree, "empty");
    read_set();
    assert_story("vempty -empty ^c");
}
END_TEST

/* What has processes isn't lost among too many that have none. */
START_TEST(is_followed_while_it_is_young)
{
    for (char name[] = "a"; name[0] <= 'f'; name[0]++)
        tree_add_group(tree, name, false);
    open_with_age(0, 2);
    read_set();
    assert_story("+a +b");
    tree_add_group(tree, "y", true);
    tree_add_group(tree, "z", true);
    pass(2 * HR_NS_PER_S); /* such a directory is listed no earlier */
    assert_story("+y +z");
    tree_set_populated(tree, "y", true);
    pass(1);
    assert_young(2);
    tree_set_populated(tree, "y", false); /* now it is one of them */
    read_set();
    assert_story("-y");
    pass(AGE_NS);
    assert_story("^z");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cgroup age");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up_clock, tear_down_clock);
    tcase_add_test(tests, is_populated_once_it_is_old_enough);
    tcase_add_test(tests, is_populated_by_events_alone);
    tcase_add_test(tests, counts_from_when_the_group_was_found);
    tcase_add_test(tests, ends_while_it_is_young);
    tcase_add_test(tests, knows_what_was_there_before);
    tcase_add_test(tests, knows_what_was_there_before_the_mount);
    tcase_add_test(tests, takes_no_place_while_it_is_young);
    tcase_add_test(tests, is_followed_while_it_is_young);
    return run_suite("cgroup age", tests);
}
