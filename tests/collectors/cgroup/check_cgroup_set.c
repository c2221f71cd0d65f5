/* SPDX-License-Identifier: MIT */
/*
 * collectors/cgroup/check_cgroup_set.c - the set of selected cgroups, as groups are created,
 * populated, emptied and removed.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/cgroup/set_harness.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"

START_TEST(selects_in_the_order_of_names)
{
    tree_add_group(tree, "b/x.service", true);
    tree_add_group(tree, "a/y.service", true);
    tree_add_group(tree, "a/x.service", true);
    tree_add_group(tree, "a/x.scope", true);
    tree_add_group(tree, "a/x.service/deeper.service", true);
    follow_groups("*/*.service");
    assert_story("+a/x.service ^a/x.service +a/y.service ^a/y.service +b/x.service ^b/x.service");
    read_set();
    assert_story("");
}
END_TEST

static const struct {
    const char *patterns[2];
    bool nested;
} nestings[] = {{{"*", "none"}, false},
                {{"**/empty", "ab"}, false},
                {{"ab", "a/b/*"}, false},
                {{"a/b", "a/b/c"}, true},
                {{"a", "a/b/c"}, true}};

START_TEST(knows_whether_groups_are_nested)
{
    tree_add_group(tree, "a/b/c", true);
    tree_add_group(tree, "ab", true);
    tree_add_group(tree, "ab/empty", false);
    open_set(nestings[_i].patterns, 2, NULL, 0, 0);
    ck_assert(!hr_cgroup_set_is_nested(set));
    read_set();
    ck_assert_int_eq(hr_cgroup_set_is_nested(set), nestings[_i].nested);
}
END_TEST

START_TEST(takes_the_first_pattern_that_matches)
{
    const char *patterns[] = {"*/b", "a/**"};
    const char *text;
    size_t length;

    tree_add_group(tree, "a/b/c", true);
    open_set(patterns, 2, "a/b/c", 0, 0);
    read_set();
    assert_story("+a/b ^a/b");
    struct hr_cgroup *group = hr_cgroup_set_next(set, NULL);
    ck_assert_uint_eq(group->pattern, 0);
    ck_assert_int_eq(hr_cgroup_wildcard(group, 1, &text, &length), 0);
    ck_assert_uint_eq(length, 1);
    ck_assert_mem_eq(text, "a", 1);
    ck_assert_int_eq(hr_cgroup_wildcard(group, 2, &text, &length), -ENOENT);
    ck_assert_ptr_null(hr_cgroup_set_next(set, group));
}
END_TEST

START_TEST(exclusion_wins_but_only_for_what_it_names)
{
    const char *patterns[] = {"**"};

    tree_add_group(tree, "a/b", true);
    tree_add_group(tree, "c", true);
    open_set(patterns, 1, "a", 0, 0);
    read_set();
    assert_story("+c ^c +a/b ^a/b");
}
END_TEST

START_TEST(follows_comings_and_goings)
{
    tree_add_group(tree, "a", true);
    follow_groups("**");
    assert_story("+a ^a");
    tree_add_group(tree, "a/b/c", true);
    read_set();
    assert_story("+a/b ^a/b +a/b/c ^a/b/c");
    tree_remove_group(tree, "a/b");
    read_set();
    assert_story("va/b/c -a/b/c va/b -a/b");
    tree_add_group(tree, "a/b", true);
    read_set();
    assert_story("+a/b ^a/b");
    hr_cgroup_set_close(set);
    set = NULL;
    assert_story("va/b -a/b va -a");
}
END_TEST

START_TEST(follows_directories_above_that_come_late)
{
    follow_groups("x/y/*");
    tree_add_group(tree, "x/other", true);
    read_set();
    tree_add_group(tree, "x/y", true);
    read_set();
    assert_story("");
    tree_add_group(tree, "x/y/z", true);
    read_set();
    assert_story("+x/y/z ^x/y/z");
    tree_remove_group(tree, "x");
    read_set();
    assert_story("vx/y/z -x/y/z");
}
END_TEST

START_TEST(passes_over_empty_groups)
{
    tree_add_group(tree, "a", false);
    tree_add_group(tree, "b", true);
    follow_groups("*");
    assert_story("+a +b ^b");
    ck_assert_str_eq(hr_cgroup_set_next(set, NULL)->path, "b");
    tree_set_populated(tree, "a", true);
    tree_set_populated(tree, "b", false);
    read_set();
    assert_story("^a vb");
    ck_assert_str_eq(hr_cgroup_set_next(set, NULL)->path, "a");
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_eq(counts.selected, 2);
    ck_assert_uint_eq(counts.populated, 1);
    tree_set_populated(tree, "a", false);
    tree_set_populated(tree, "a", true); /* both between two reads */
    read_set();
    assert_story("");
}
END_TEST

START_TEST(takes_a_directory_made_again_for_another)
{
    tree_add_group(tree, "a/x", true);
    follow_groups("a/*");
    assert_story("+a/x ^a/x");
    uint64_t id = hr_cgroup_set_next(set, NULL)->id;
    tree_remove_group(tree, "a/x");
    tree_add_group(tree, "a/x", true);
    read_set();
    assert_story("va/x -a/x +a/x ^a/x");
    ck_assert_uint_ne(hr_cgroup_set_next(set, NULL)->id, id);
}
END_TEST

/* With more events than the kernel queues, nothing is lost: everything is listed again. */
START_TEST(survives_an_overflow)
{
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    unsigned queue;

    ck_assert(file != NULL && fscanf(file, "%u", &queue) == 1);
    fclose(file);
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    tree_add_group(tree, "c", true);
    follow_groups("*");
    story[0] = '\0';
    for (unsigned i = 0; i < queue; i++) /* alternating, as the kernel merges the same twice */
        tree_set_populated(tree, i % 2 == 0 ? "a" : "b", true);
    tree_set_populated(tree, "c", false);
    tree_add_group(tree, "d", true);
    read_set();
    assert_story("+d ^d vc");
}
END_TEST

/* A full scan finds what inotify doesn't report. */
/* What is removed between opening and listing a directory, or NULL. */
static const char *removed_before_listing;

/* In place of libc's, for the tests that remove a group meanwhile. */
ssize_t getdents64(int fd, void *buffer, size_t size)
{
    if (removed_before_listing != NULL)
        tree_remove_group(tree, removed_before_listing);
    removed_before_listing = NULL;
    return syscall(SYS_getdents64, fd, buffer, size);
}

/* The listing of such a directory ends with ENOENT. */
START_TEST(takes_a_directory_removed_while_it_is_listed_for_removed)
{
    tree_add_group(tree, "a/svc", true);
    tree_add_group(tree, "b/svc", true);
    follow_groups("*/svc");
    assert_story("+a/svc ^a/svc +b/svc ^b/svc");
    tree_add_group(tree, "a/other", true); /* so that a is listed again */
    removed_before_listing = "a";
    read_set();
    ck_assert_ptr_null(removed_before_listing);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).unreadable, 0);
    assert_story("va/svc -a/svc");
    read_set();
    assert_story("");
    assert_counts(1, 1, 0);
}
END_TEST

START_TEST(scans_now_and_then)
{
    const char *pattern = "*";

    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    open_set(&pattern, 1, NULL, 0, 1);
    read_set();
    story[0] = '\0';
    tree_rename(tree, TREE_CGROUPS "/b", TREE_CGROUPS "/z"); /* not in the mask of the watches */
    read_set();
    assert_story("vb -b +z ^z");
}
END_TEST

START_TEST(waits_for_the_mount)
{
    const char *pattern = "*";

    tree_write(tree, "proc/1/mounts", "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n");
    open_set(&pattern, 1, NULL, 0, 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), -ENOENT);
    tree_write(tree, "proc/1/mounts",
               "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
               "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n");
    ck_assert_int_eq(hr_cgroup_set_read(set), -ENOENT);
    tree_add_directory(tree, "sys/fs/cgroup/unified"); /* where it will be mounted */
    ck_assert_int_eq(hr_cgroup_set_read(set), -ENOENT);
    tree_write(tree, "sys/fs/cgroup/unified/cgroup.procs", "%s", "");
    read_set();
    tree_add_group(tree, "unified/a", true);
    read_set();
    assert_story("+a ^a");
}
END_TEST

START_TEST(opens_files_beneath_the_directory_only)
{
    char text[32] = "";

    tree_add_group(tree, "a", true);
    follow_groups("*");
    struct hr_cgroup *group = hr_cgroup_set_next(set, NULL);
    int fd = hr_cgroup_openat(group, "cgroup.events", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(fcntl(fd, F_GETFD) & FD_CLOEXEC, 1);
    ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
    ck_assert_ptr_nonnull(strstr(text, "populated 1"));
    close(fd);
    ck_assert_int_eq(hr_cgroup_openat(group, "no.such", O_RDONLY), -ENOENT);
    tree_rename(tree, TREE_CGROUPS "/a", TREE_CGROUPS "/old");
    tree_add_group(tree, "a", true);
    tree_remove_group(tree, "old");
    ck_assert_int_eq(hr_cgroup_openat(group, "cgroup.events", O_RDONLY), -ENODEV);
}
END_TEST

START_TEST(gets_by_with_descriptor_shortage)
{
    tree_add_group(tree, "a/b", true);
    tree_add_group(tree, "c", true);
    leave_descriptors(6);
    follow_groups("**");
    assert_story("+a ^a +c ^c +a/b ^a/b");
    ck_assert_uint_eq(hr_cgroup_set_counts(set).reopened, 3);
    struct hr_cgroup *group = hr_cgroup_set_next(set, NULL);
    ck_assert_int_eq(group->dirfd, -1);
    int fd = hr_cgroup_openat(group, "cpu.pressure", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    close(fd);
    /* the path leads elsewhere now */
    tree_rename(tree, TREE_CGROUPS "/a", TREE_CGROUPS "/old");
    tree_add_group(tree, "a", true);
    ck_assert_int_eq(hr_cgroup_openat(group, "cpu.pressure", O_RDONLY), -ENODEV);
    tree_remove_group(tree, "c");
    read_set();
    ck_assert_ptr_nonnull(strstr(story, "-c"));
}
END_TEST

/* What can't be read for lack of descriptors is read when there are some again. */
START_TEST(loses_nothing_while_descriptors_are_out)
{
    struct rlimit before;

    getrlimit(RLIMIT_NOFILE, &before);
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", false);
    follow_groups("*");
    assert_story("+a ^a +b");
    tree_set_populated(tree, "a", false);
    tree_set_populated(tree, "b", true);
    leave_descriptors(0);
    hr_cgroup_set_read(set); /* may fail */
    assert_story("");
    setrlimit(RLIMIT_NOFILE, &before);
    read_set();
    assert_story("va ^b");
}
END_TEST

static bool has_inotify = true;

/* In place of libc's, so that the collector finds none: to take all that the user may have would
 * race with the user's other processes. */
int inotify_init1(int flags)
{
    if (has_inotify)
        return (int)syscall(SYS_inotify_init1, flags);
    errno = EMFILE;
    return -1;
}

/* Without inotify everything is read each time. */
START_TEST(polls_without_inotify)
{
    const char *pattern = "**";

    tree_add_group(tree, "a", true);
    open_set(&pattern, 1, NULL, 0, 0);
    has_inotify = false;
    read_set();
    assert_story("+a ^a");
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_gt(counts.unwatched, 0);
    ck_assert_int_eq(counts.watch_error, -EMFILE);
    tree_add_group(tree, "a/b", false);
    read_set();
    assert_story("+a/b");
    tree_set_populated(tree, "a/b", true);
    read_set();
    assert_story("^a/b");

    has_inotify = true;
    read_set();
    counts = hr_cgroup_set_counts(set);
    ck_assert_uint_eq(counts.unwatched, 0);
    ck_assert_int_eq(counts.watch_error, 0);
    tree_remove_group(tree, "a/b");
    read_set();
    assert_story("va/b -a/b");
}
END_TEST

/* Closing inotify takes long where CPUs are busy. */
START_TEST(follows_nothing_that_is_read_once)
{
    const char *pattern = "**";
    const struct hr_cgroup_options options = {.patterns = &pattern,
                                              .pattern_count = 1,
                                              .once = true,
                                              .event = record_event,
                                              .context = story};

    tree_add_group(tree, "a/b", true);
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    read_set();
    assert_story("+a ^a +a/b ^a/b");
    ck_assert_int_eq(hr_cgroup_set_fd(set), -1);
    ck_assert_int_eq(hr_cgroup_set_counts(set).watch_error, 0);
}
END_TEST

static void assert_matched(bool first, bool second, bool third)
{
    ck_assert_int_eq(hr_cgroup_set_matched(set, 0), first);
    ck_assert_int_eq(hr_cgroup_set_matched(set, 1), second);
    ck_assert_int_eq(hr_cgroup_set_matched(set, 2), third);
}

/* Also one whose groups another pattern has, that are empty, or excluded; and for good. */
START_TEST(knows_which_patterns_matched)
{
    const char *patterns[] = {"a/*", "a/b", "c/*"};

    open_set(patterns, 3, "a/b", 0, 0);
    read_set();
    assert_matched(false, false, false);
    tree_add_group(tree, "a/x", false);
    tree_add_group(tree, "c", true);
    read_set();
    assert_matched(true, false, false);
    tree_add_group(tree, "a/b", false);
    read_set();
    assert_matched(true, true, false);
    tree_remove_group(tree, "a");
    tree_add_group(tree, "c/x", true);
    read_set();
    assert_matched(true, true, true);
}
END_TEST

/* What is there where a pattern ceases to match. */
static const struct {
    const char *pattern, *nearest;
    bool is_awaited;
} nearest[] = {
    {"sytem.slice/*", "there is system.slice", false},
    {"units/mysq.service/*", "in units there is mysql.service", false},
    {"units/sshd.service", "in units there are: cron.service, mysql.service", false},
    {"*.slice/x/*", "there are: init.scope, many, system.slice, units", false},
    {"/system.slice/c.service/", "in system.slice there are: a.service, b.service", false},
    {"system.slice/*/x", "in system.slice there are: a.service, b.service", false},
    {"system.slice/a.service/b/c", "in system.slice/a.service there is none", true},
    {"system.slice/b.service/**", "in system.slice/b.service there is none", true},
    {"init.scope", "in init.scope there is none", false},
    {"many/7", "in many there are: 0, 1, 2, 3, 4 and 2 more", false},
    {"many/[0-9]x", "in many there are: 0, 1, 2, 3, 4 and 2 more", false},
};

START_TEST(describes_what_is_there)
{
    char text[200], small[8];

    tree_add_group(tree, "init.scope", true);
    tree_add_group(tree, "system.slice/a.service", true);
    tree_add_group(tree, "system.slice/b.service", false);
    tree_add_group(tree, "units/cron.service", true);
    tree_add_group(tree, "units/mysql.service", true);
    for (const char *name = "many/0\0many/1\0many/2\0many/3\0many/4\0many/5\0many/6\0";
         *name != '\0'; name += strlen(name) + 1)
        tree_add_group(tree, name, false);
    ck_assert_int_eq(
        hr_cgroup_describe_nearest(root, NULL, nearest[_i].pattern, text, sizeof(text)),
        nearest[_i].is_awaited);
    ck_assert_str_eq(text, nearest[_i].nearest);
    hr_cgroup_describe_nearest(root, NULL, nearest[_i].pattern, small, sizeof(small));
    ck_assert_int_eq(strncmp(small, text, sizeof(small) - 1), 0);
    ck_assert_uint_eq(strlen(small), sizeof(small) - 1);
    tree_remove(tree, "proc/1/mounts");
    ck_assert(!hr_cgroup_describe_nearest(root, NULL, nearest[_i].pattern, text, sizeof(text)));
    ck_assert_str_eq(text, "");
}
END_TEST

static const char *const no_patterns[] = {"", "a//b", "["};

START_TEST(refuses_patterns)
{
    const struct hr_cgroup_options options = {.patterns = &no_patterns[_i], .pattern_count = 1};
    const char *reason = NULL;
    struct hr_cgroup_set *opened = NULL;
    size_t wildcards = 4711;

    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &opened), -EINVAL);
    ck_assert_ptr_null(opened);
    ck_assert_int_eq(hr_cgroup_pattern_check(no_patterns[_i], &wildcards, &reason), -EINVAL);
    ck_assert_uint_eq(wildcards, 4711);
    ck_assert_ptr_nonnull(reason);
    ck_assert_int_eq(hr_cgroup_pattern_check("a/*/**", &wildcards, NULL), 0);
    ck_assert_uint_eq(wildcards, 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, selects_in_the_order_of_names);
    tcase_add_loop_test(tests, knows_whether_groups_are_nested, 0, 5);
    tcase_add_test(tests, takes_the_first_pattern_that_matches);
    tcase_add_test(tests, exclusion_wins_but_only_for_what_it_names);
    tcase_add_test(tests, follows_comings_and_goings);
    tcase_add_test(tests, follows_directories_above_that_come_late);
    tcase_add_test(tests, passes_over_empty_groups);
    tcase_add_test(tests, takes_a_directory_made_again_for_another);
    tcase_add_test(tests, survives_an_overflow);
    tcase_add_test(tests, takes_a_directory_removed_while_it_is_listed_for_removed);
    tcase_add_test(tests, scans_now_and_then);
    tcase_add_test(tests, waits_for_the_mount);
    tcase_add_test(tests, opens_files_beneath_the_directory_only);
    tcase_add_test(tests, gets_by_with_descriptor_shortage);
    tcase_add_test(tests, loses_nothing_while_descriptors_are_out);
    tcase_add_test(tests, polls_without_inotify);
    tcase_add_test(tests, follows_nothing_that_is_read_once);
    tcase_add_test(tests, knows_which_patterns_matched);
    tcase_add_loop_test(tests, describes_what_is_there, 0, sizeof(nearest) / sizeof(nearest[0]));
    tcase_add_loop_test(tests, refuses_patterns, 0, sizeof(no_patterns) / sizeof(no_patterns[0]));
    return run_suite("cgroup", tests);
}
