/* SPDX-License-Identifier: MIT */
/*
 * collectors/cgroup/check_cgroup_limits.c - what a set of cgroups leaves out or puts off: groups
 * beyond the limits, directories that can't be read, listings while only events are read.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/cgroup/set_harness.h"
#include "headroom/clock.h"
#include "support/suite.h"

/* Begins to record that these directories, and files in them, are opened. */
static int watch_opens(const char *pattern)
{
    char path[512];
    glob_t found;
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    snprintf(path, sizeof(path), "%s/" TREE_CGROUPS "/%s", tree_path(tree), pattern);
    ck_assert_int_eq(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        ck_assert_int_ge(inotify_add_watch(fd, found.gl_pathv[i], IN_OPEN), 0);
    globfree(&found);
    return fd;
}

/* How often, since then or the last call, one of them was opened itself, or anything in them. */
static size_t count_opens(int fd, bool themselves)
{
    _Alignas(struct inotify_event) char buffer[4096];
    size_t count = 0;
    ssize_t got;

    while ((got = read(fd, buffer, sizeof(buffer))) > 0)
        for (ssize_t offset = 0; offset < got;) {
            const struct inotify_event *event = (const void *)(buffer + offset);
            offset += (ssize_t)(sizeof(*event) + event->len);
            count += !themselves || event->len == 0;
        }
    return count;
}

START_TEST(keeps_to_the_cap_and_lets_others_move_up)
{
    const char *pattern = "**";

    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    tree_add_group(tree, "c/d", true);
    open_set(&pattern, 1, NULL, 2, 0);
    read_set();
    assert_story("+a ^a +b ^b +c +c/d");
    assert_counts(4, 2, 2);
    tree_remove_group(tree, "a");
    read_set();
    assert_story("va -a ^c");
    assert_counts(3, 2, 1);
    tree_remove_group(tree, "c"); /* c/d never had a place */
    read_set();
    assert_story("-c/d vc -c");
    assert_counts(1, 1, 0);
}
END_TEST

/* However many empty groups there are, they keep no other out. */
START_TEST(counts_populated_groups_only_for_the_cap)
{
    const char *pattern = "*";
    char name[32];

    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "a%02d", i);
        tree_add_group(tree, name, false);
    }
    tree_add_group(tree, "x", true);
    tree_add_group(tree, "y", true);
    open_set(&pattern, 1, NULL, 2, 0);
    read_set();
    ck_assert_ptr_nonnull(strstr(story, "+x ^x +y ^y"));
    ck_assert_ptr_null(strstr(story, "^a"));
    assert_counts(52, 2, 0);
    story[0] = '\0';

    /* those that are populated later wait in this order */
    tree_set_populated(tree, "a30", true);
    read_set();
    tree_set_populated(tree, "a10", true);
    tree_add_group(tree, "a05z", true);
    read_set();
    assert_story("+a05z");
    assert_counts(53, 2, 3);
    tree_set_populated(tree, "x", false);
    read_set();
    assert_story("vx ^a30");
    assert_counts(53, 2, 2);
    tree_set_populated(tree, "x", true); /* the last of all */
    read_set();
    tree_set_populated(tree, "a10", false);
    tree_set_populated(tree, "y", false);
    tree_set_populated(tree, "a30", false);
    read_set();
    assert_story("vy va30 ^a05z ^x");
    assert_counts(53, 2, 0);
    ck_assert_str_eq(hr_cgroup_set_next(set, NULL)->path, "a05z");
}
END_TEST

/* While the set is closed no other group gets a place. */
START_TEST(closes_with_groups_that_wait)
{
    const char *pattern = "*";

    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    open_set(&pattern, 1, NULL, 1, 0);
    read_set();
    assert_story("+a ^a +b");
    hr_cgroup_set_close(set);
    set = NULL;
    ck_assert_ptr_nonnull(strstr(story, "va -a"));
    ck_assert_ptr_null(strstr(story, "^b"));
    ck_assert_ptr_null(strstr(story, "vb"));
    ck_assert_ptr_nonnull(strstr(story, "-b"));
}
END_TEST

static void read_until_story(const char *expected)
{
    for (int i = 0; i < 600 && strcmp(story, expected) != 0; i++) {
        usleep(50000);
        read_set();
    }
    assert_story(expected);
}

/* Follows at most two directories that aren't populated. */
static void follow_few_empty(const char *pattern)
{
    const struct hr_cgroup_options options = {.patterns = &pattern,
                                              .pattern_count = 1,
                                              .max_empty = 2,
                                              .event = record_event,
                                              .context = &story};

    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    read_set();
}

START_TEST(follows_no_more_empty_groups_than_allowed)
{
    for (char name[] = "a"; name[0] <= 'f'; name[0]++)
        tree_add_group(tree, name, false);
    tree_add_group(tree, "g", true);
    follow_few_empty("**");
    assert_story("+a +b +g ^g");
    assert_counts(3, 1, 0);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).unfollowed, 4);
    tree_set_populated(tree, "d", true);
    read_until_story("+d ^d");
    ck_assert_uint_eq(hr_cgroup_set_counts(set).unfollowed, 3);
    tree_set_populated(tree, "b", true); /* is followed: noticed at once */
    read_set();
    ck_assert_int_eq(strncmp(story, "^b", 2), 0);
    read_until_story("^b +c"); /* there is room for one more */
    tree_set_populated(tree, "g", false);
    read_set();
    assert_story("vg -g");
    tree_remove_group(tree, "a");
    tree_remove_group(tree, "c");
    tree_remove_group(tree, "e");
    for (int i = 0; i < 600 && hr_cgroup_set_counts(set).unfollowed > 0; i++) {
        usleep(50000);
        read_set();
    }
    ck_assert_uint_eq(hr_cgroup_set_counts(set).unfollowed, 0);
    assert_counts(4, 2, 0);
    story[0] = '\0';
    tree_set_populated(tree, "f", true);
    tree_add_group(tree, "h", true); /* not backed off from any more */
    read_set();
    assert_story("^f +h ^h");
}
END_TEST

/* A directory with many that aren't followed isn't listed at each of its changes. */
START_TEST(seldom_lists_what_has_too_many_empty_groups)
{
    char name[32];

    tree_add_group(tree, "many", true);
    tree_add_group(tree, "other", true);
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "many/%d", i);
        tree_add_group(tree, name, false);
    }
    follow_few_empty("**");
    assert_story("+many ^many +other ^other +many/0 +many/1");
    int opened = watch_opens("many");
    uint64_t began_ns = hr_clock_ns();
    for (int i = 0; i < 1000; i++) {
        tree_add_group(tree, "many/new", i == 999);
        read_set();
        tree_remove_group(tree, "many/new");
    }
    uint64_t seconds = (hr_clock_ns() - began_ns) / HR_NS_PER_S;
    ck_assert_uint_le(count_opens(opened, true), 1 + seconds);
    close(opened);
    /* what happens elsewhere, or to itself, is noticed at once */
    story[0] = '\0';
    tree_add_group(tree, "other/x", true);
    tree_set_populated(tree, "other", false);
    tree_set_populated(tree, "many", false);
    read_set();
    ck_assert_ptr_nonnull(strstr(story, "vmany"));
    ck_assert_ptr_nonnull(strstr(story, "+other/x ^other/x"));
}
END_TEST

/* --- Directories that can't be read --------------------------------------- */

/* Makes a group in a directory and opens it. */
static int make_below(int above, const char *name)
{
    ck_assert_int_eq(mkdirat(above, name, 0755), 0);
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int events = openat(fd, "cgroup.events", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    int procs = openat(fd, "cgroup.procs", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_eq((int)write(events, "populated 1\n", 12), 12);
    close(procs);
    close(events);
    close(above);
    return fd;
}

/* Groups, one in another, whose paths get longer than the kernel takes. */
static int make_deep_groups(const char *top)
{
    char name[251];
    int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    memset(name, 'd', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    for (size_t length = 0; length <= PATH_MAX; length += sizeof(name))
        fd = make_below(fd, name);
    return fd;
}

static void remove_deep_groups(const char *top)
{
    char *command;

    ck_assert_int_gt(asprintf(&command, "cd '%s' && rm -rf d*", top), 0);
    ck_assert_int_eq(system(command), 0);
    free(command);
}

START_TEST(scans_nothing_else_for_a_path_that_is_too_long)
{
    char top[256], name[32];

    snprintf(top, sizeof(top), "%s/" TREE_CGROUPS, tree_path(tree));
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "g%02d", i);
        tree_add_group(tree, name, i % 2 == 0);
    }
    close(make_deep_groups(top));
    story[0] = '\0';
    const char *pattern = "**";
    open_set(&pattern, 1, NULL, 0, 0);
    hr_cgroup_set_read(set);
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_eq(counts.unreadable, 1);
    ck_assert_int_eq(counts.read_error, -ENAMETOOLONG);
    ck_assert_uint_ge(strlen(counts.unreadable_path), PATH_MAX);
    ck_assert_uint_eq(counts.unwatched, 0);
    ck_assert_uint_eq(counts.selected, 20 + counts.populated - 10 + 1);

    int opened = watch_opens("g*");
    for (int i = 0; i < 50; i++)
        read_set();
    ck_assert_uint_eq(count_opens(opened, false), 0);
    close(opened);
    story[0] = '\0';
    tree_set_populated(tree, "g01", true);
    tree_add_group(tree, "g02/x", true);
    read_set();
    assert_story("^g01 +g02/x ^g02/x");
    remove_deep_groups(top);
    read_set();
    ck_assert_uint_eq(hr_cgroup_set_counts(set).unreadable, 0);
    ck_assert_ptr_null(hr_cgroup_set_counts(set).unreadable_path);
}
END_TEST

/* A user who isn't root is a plain one already. */
static void set_user(uid_t user)
{
    ck_assert(getuid() != 0 || seteuid(user) == 0);
}

/* As a plain user. What can't be read is retried at most once a second, and found in the end. */
START_TEST(backs_off_where_permission_is_missing)
{
    const char *pattern = "**";
    char directory[256], events[256];

    tree_add_group(tree, "a/b", true);
    tree_add_group(tree, "closed/c", true);
    tree_add_group(tree, "secret/s", true);
    snprintf(directory, sizeof(directory), "%s/" TREE_CGROUPS "/closed", tree_path(tree));
    snprintf(events, sizeof(events), "%s/" TREE_CGROUPS "/secret/cgroup.events", tree_path(tree));
    ck_assert_int_eq(chmod(tree_path(tree), 0755), 0);
    ck_assert_int_eq(chmod(directory, 0) + chmod(events, 0), 0);
    int opened = watch_opens("secret");
    set_user(65534);
    open_set(&pattern, 1, NULL, 0, 0);
    read_set();
    ck_assert_ptr_nonnull(strstr(story, "+a ^a +closed +secret"));
    ck_assert_ptr_nonnull(strstr(story, "+a/b ^a/b"));
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_eq(counts.unreadable, 2);
    ck_assert_int_eq(counts.read_error, -EACCES);
    ck_assert_str_eq(counts.unreadable_path, "closed");
    ck_assert_ptr_nonnull(strstr(story, "+secret/s ^secret/s")); /* its children are read */
    story[0] = '\0';

    count_opens(opened, true);
    uint64_t began_ns = hr_clock_ns(), seconds;
    do {
        read_set();
        seconds = (hr_clock_ns() - began_ns) / HR_NS_PER_S;
    } while (seconds < 2);
    ck_assert_uint_le(count_opens(opened, true), 2 * (1 + seconds));
    set_user(0);
    ck_assert_int_eq(chmod(directory, 0755) + chmod(events, 0644), 0);
    set_user(65534);
    for (int i = 0; i < 600 && hr_cgroup_set_counts(set).unreadable > 0; i++) {
        usleep(50000);
        read_set();
    }
    set_user(0);
    ck_assert_ptr_nonnull(strstr(story, "^closed"));
    ck_assert_ptr_nonnull(strstr(story, "+closed/c ^closed/c"));
    ck_assert_ptr_nonnull(strstr(story, "^secret"));
    story[0] = '\0';
    tree_set_populated(tree, "closed", false); /* watched by now */
    tree_set_populated(tree, "secret", false);
    read_set();
    ck_assert_ptr_nonnull(strstr(story, "vclosed"));
    ck_assert_ptr_nonnull(strstr(story, "vsecret"));
}
END_TEST

/* --- Events without scans -------------------------------------------------- */

START_TEST(reads_events_without_listing)
{
    const char *pattern = "**";

    tree_add_group(tree, "a/b", true);
    tree_add_group(tree, "c", false);
    tree_add_group(tree, "d", true);
    open_set(&pattern, 1, NULL, 2, 0);
    ck_assert_int_eq(hr_cgroup_set_read_events(set), 0); /* no mount yet */
    read_set();
    assert_story("+a ^a +c +d ^d +a/b");
    ck_assert_int_eq(hr_cgroup_set_read_events(set), 0);
    tree_set_populated(tree, "d", false);
    tree_set_populated(tree, "c", true);
    ck_assert_int_eq(hr_cgroup_set_read_events(set), 0);
    assert_story("vd ^a/b"); /* c waits */
    assert_counts(4, 2, 1);

    tree_add_group(tree, "e", true);
    tree_set_populated(tree, "a", false);
    int opened = watch_opens("");
    ck_assert_int_eq(hr_cgroup_set_read_events(set), 1);
    ck_assert_uint_eq(count_opens(opened, true), 0);
    close(opened);
    assert_story("va ^c");
    struct pollfd changes = {.fd = hr_cgroup_set_fd(set), .events = POLLIN};
    ck_assert_int_eq(poll(&changes, 1, 0), 0);
    ck_assert_int_eq(hr_cgroup_set_read_events(set), 1); /* still so */
    read_set();
    assert_story("+e");
    assert_counts(5, 2, 1);
    ck_assert_int_eq(hr_cgroup_set_read_events(set), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cgroup limits");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, keeps_to_the_cap_and_lets_others_move_up);
    tcase_add_test(tests, counts_populated_groups_only_for_the_cap);
    tcase_add_test(tests, closes_with_groups_that_wait);
    tcase_add_test(tests, follows_no_more_empty_groups_than_allowed);
    tcase_add_test(tests, seldom_lists_what_has_too_many_empty_groups);
    tcase_add_test(tests, scans_nothing_else_for_a_path_that_is_too_long);
    tcase_add_test(tests, backs_off_where_permission_is_missing);
    tcase_add_test(tests, reads_events_without_listing);
    return run_suite("cgroup limits", tests);
}
