/* SPDX-License-Identifier: MIT */
/*
 * collectors/cgroup/check_cgroup_v1.c - the set of selected cgroups in a hierarchy of version 1.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/cgroup/set_harness.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"

/* Follows groups in the hierarchy of the controller perf_event, which each read looks up again. */
static void follow_perf_event_groups(const char *pattern)
{
    char controller[] = "perf_event";
    const struct hr_cgroup_options options = {
        .controller = controller,
        .patterns = &pattern,
        .pattern_count = 1,
        .rescan_ns = 1,
        .event = record_event,
        .context = &story,
    };

    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    controller[0] = '\0'; /* it was copied */
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
}

#define HYBRID "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid 0 0\n"
#define CPU    "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"
#define PERF   "cgroup /sys/fs/cgroup/perf_event cgroup rw,nosuid,relatime,perf_event 0 0\n"
#define GROUP  "sys/fs/cgroup/perf_event/"

/* Adds all hierarchies of these lines. */
static void add_hierarchies(const char *mounts)
{
    tree_write(tree, "proc/1/mounts", "%s", mounts);
    tree_write(tree, "sys/fs/cgroup/unified/cgroup.procs", "1\n");
    tree_write(tree, "sys/fs/cgroup/cpu,cpuacct/cgroup.procs", "1\n");
    tree_write(tree, "sys/fs/cgroup/perf_event/cgroup.procs", "1\n");
}

/* A group of version 1 has no cgroup.events. */
START_TEST(takes_groups_of_version_1_for_populated)
{
    add_hierarchies(PERF HYBRID);
    tree_add_group(tree, "unified/elsewhere", true);
    tree_write(tree, GROUP "a/cgroup.procs", "%s", "");
    tree_write(tree, GROUP "a/b/cgroup.procs", "4711\n");
    const char *pattern = "**";
    const struct hr_cgroup_options options = {.controller = "perf_event",
                                              .patterns = &pattern,
                                              .pattern_count = 1,
                                              .event = record_event,
                                              .context = &story};
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    read_set();
    assert_story("+a ^a +a/b ^a/b");
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_eq(counts.populated, 2);
    ck_assert_uint_eq(counts.unwatched, 0);
    ck_assert_int_ge(hr_cgroup_set_fd(set), 0);
    tree_write(tree, GROUP "a/b/cgroup.procs", "%s", "");
    read_set();
    assert_story("");
    tree_add_directory(tree, "sys/fs/cgroup/perf_event/c");
    tree_write(tree, GROUP "c/cgroup.procs", "%s", "");
    tree_remove(tree, GROUP "a/b");
    read_set();
    assert_story("+c ^c va/b -a/b");
    tree_remove(tree, GROUP "c");
    tree_write(tree, GROUP "c/cgroup.procs", "%s", "");
    read_set();
    assert_story("vc -c +c ^c");
}
END_TEST

/* Nothing changes at a full scan while the controller stays where it is. */
START_TEST(keeps_groups_while_the_controller_stays)
{
    add_hierarchies(PERF HYBRID);
    tree_write(tree, GROUP "a/cgroup.procs", "%s", "");
    follow_perf_event_groups("*");
    assert_story("+a ^a");
    const struct hr_cgroup *group = hr_cgroup_set_next(set, NULL);
    int descriptors = count_descriptors();
    tree_write(tree, "proc/1/mounts", CPU PERF);
    for (int i = 0; i < 10; i++)
        read_set();
    assert_story("");
    ck_assert_ptr_eq(hr_cgroup_set_next(set, NULL), group);
    ck_assert_int_eq(count_descriptors(), descriptors);
}
END_TEST

START_TEST(goes_where_the_controller_goes)
{
    add_hierarchies(HYBRID);
    tree_add_group(tree, "unified/a", true);
    tree_add_group(tree, "unified/b/c", false);
    tree_write(tree, GROUP "a/cgroup.procs", "%s", "");
    follow_perf_event_groups("**");
    assert_story("+a ^a +b +b/c");
    int descriptors = count_descriptors();
    tree_write(tree, "proc/1/mounts", PERF HYBRID);
    read_set();
    ck_assert_ptr_nonnull(strstr(story, "va -a"));
    ck_assert_ptr_nonnull(strstr(story, "-b/c -b"));
    ck_assert_ptr_nonnull(strstr(story, "+a ^a"));
    ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 1);
    ck_assert_int_eq(count_descriptors(), descriptors); /* those of populated groups */
    story[0] = '\0';

    /* and the new one is followed */
    tree_write(tree, GROUP "d/cgroup.procs", "%s", "");
    read_set();
    assert_story("+d ^d");
    tree_write(tree, "proc/1/mounts", CPU);
    ck_assert_int_eq(hr_cgroup_set_read(set), -ENOENT);
    ck_assert_int_eq(hr_cgroup_set_fd(set), -1);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 0);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).unwatched, 0);
    story[0] = '\0';
    ck_assert_int_eq(hr_cgroup_set_read(set), -ENOENT);
    tree_write(tree, "proc/1/mounts", HYBRID);
    read_set();
    assert_story("+a ^a +b +b/c");
    ck_assert_int_eq(count_descriptors(), descriptors);
}
END_TEST

/* A mount table that can't be read for lack of descriptors doesn't remove any group. */
START_TEST(stays_while_the_mount_table_cannot_be_read)
{
    struct rlimit before;

    add_hierarchies(HYBRID);
    getrlimit(RLIMIT_NOFILE, &before);
    tree_add_group(tree, "unified/a", true);
    follow_perf_event_groups("*");
    assert_story("+a ^a");
    tree_write(tree, "proc/1/mounts", PERF);
    leave_descriptors(0);
    hr_cgroup_set_read(set); /* may fail */
    assert_story("");
    setrlimit(RLIMIT_NOFILE, &before);
    read_set();
    assert_story("va -a");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, takes_groups_of_version_1_for_populated);
    tcase_add_test(tests, keeps_groups_while_the_controller_stays);
    tcase_add_test(tests, goes_where_the_controller_goes);
    tcase_add_test(tests, stays_while_the_mount_table_cannot_be_read);
    return run_suite("cgroup v1", tests);
}
