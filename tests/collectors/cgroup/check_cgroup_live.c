/* SPDX-License-Identifier: MIT */
/*
 * collectors/cgroup/check_cgroup_live.c - a set of the running kernel's cgroups: what the kernel
 * reports, in which order, and what reading a set opens.
 */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "support/groups.h"
#include "support/suite.h"

static struct groups *groups;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static char story[65536];

static void record_event(struct hr_cgroup *group, enum hr_cgroup_event event,
                         __attribute__((unused)) void *context)
{
    static const char marks[] = {[HR_CGROUP_ADDED] = '+',
                                 [HR_CGROUP_POPULATED] = '^',
                                 [HR_CGROUP_EMPTIED] = 'v',
                                 [HR_CGROUP_REMOVED] = '-'};
    size_t used = strlen(story);

    snprintf(story + used, sizeof(story) - used, "%c%s ", marks[event],
             group->path + strlen(groups_path(groups)) + 1);
}

/* Follows the groups of this test that a pattern selects. */
static void follow_groups(const char *below, size_t max_count, size_t max_empty)
{
    char pattern[128];
    const char *patterns[] = {pattern};
    const struct hr_cgroup_options options = {.patterns = patterns,
                                              .pattern_count = 1,
                                              .max_count = max_count,
                                              .max_empty = max_empty,
                                              .event = record_event};

    story[0] = '\0';
    snprintf(pattern, sizeof(pattern), "%s/%s", groups_path(groups), below);
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
}

/* Reads the set until it has reported something. */
static void read_until(const char *expected, int (*read)(struct hr_cgroup_set *set))
{
    for (int i = 0; i < 3000 && strstr(story, expected) == NULL; i++) {
        ck_assert_int_ge(read(set), 0);
        usleep(10000);
    }
    ck_assert_msg(strstr(story, expected) != NULL, "no %s in %s", expected, story);
}

static void set_up(void)
{
    set = NULL;
    groups = groups_new();
    ck_assert_int_eq(hr_root_open("/", &root), 0);
}

static void tear_down(void)
{
    hr_cgroup_set_close(set);
    hr_root_close(root);
    groups_free(groups);
}

static void make_many(const char *prefix, int count)
{
    char name[32];

    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%s%03d", prefix, i);
        groups_make(groups, name);
    }
}

/* Begins to record that this test's top directory, or one directly in it, is opened. */
static int watch_opens(void)
{
    char path[64];
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    snprintf(path, sizeof(path), "/proc/self/fd/%d", groups_dirfd(groups));
    ck_assert_int_ge(inotify_add_watch(fd, path, IN_OPEN), 0);
    return fd;
}

static bool was_opened(int fd)
{
    char buffer[4096];

    return read(fd, buffer, sizeof(buffer)) > 0;
}

START_TEST(gives_no_place_to_empty_groups)
{
    make_many("a", 100);
    groups_make(groups, "y");
    groups_make(groups, "z");
    pid_t first = groups_start_sleeper(groups, "y");
    groups_start_sleeper(groups, "z");
    follow_groups("*", 1, 0);
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_eq(counts.selected, 102);
    ck_assert_uint_eq(counts.populated, 1);
    ck_assert_uint_eq(counts.excess, 1);
    ck_assert_ptr_nonnull(strstr(story, "^y "));
    groups_end(groups, first);
    read_until("vy ^z ", hr_cgroup_set_read_events);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).excess, 0);
}
END_TEST

/* Beyond the limit of empty groups those with processes are found, however deep. */
START_TEST(finds_the_populated_beyond_the_limit_of_empty_groups)
{
    make_many("a", 100);
    groups_make(groups, "z");
    groups_make(groups, "z/y");
    groups_start_sleeper(groups, "z/y");
    follow_groups("**", 0, 20);
    ck_assert_ptr_nonnull(strstr(story, "^z "));
    ck_assert_ptr_nonnull(strstr(story, "^z/y "));
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_le(counts.selected, 22);
    ck_assert_uint_eq(counts.selected - 2 + counts.unfollowed, 100);
    groups_start_sleeper(groups, "a099");
    read_until("^a099 ", hr_cgroup_set_read);
}
END_TEST

/* What was made and removed meanwhile is listed later. */
START_TEST(notices_an_emptied_group_without_listing)
{
    groups_make(groups, "busy");
    pid_t sleeper = groups_start_sleeper(groups, "busy");
    follow_groups("*", 0, 0);
    ck_assert_str_eq(story, "+busy ^busy ");
    make_many("new", 200);
    int opened = watch_opens();
    groups_end(groups, sleeper);
    for (int i = 0; i < 3000 && strstr(story, "vbusy ") == NULL; i++) {
        struct pollfd changes = {.fd = hr_cgroup_set_fd(set), .events = POLLIN};
        ck_assert_int_ge(poll(&changes, 1, 10000), 0);
        ck_assert_int_eq(hr_cgroup_set_read_events(set), 1);
    }
    ck_assert_str_eq(story, "+busy ^busy vbusy ");
    ck_assert(!was_opened(opened));
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    ck_assert(was_opened(opened));
    close(opened);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 201);
}
END_TEST

START_TEST(scans_nothing_else_where_permission_is_missing)
{
    make_many("a", 20);
    groups_make(groups, "a000/x");
    groups_make(groups, "closed");
    groups_start_sleeper(groups, "closed");
    groups_start_sleeper(groups, "a001");
    ck_assert_int_eq(fchmodat(groups_dirfd(groups), "closed", 0, 0), 0);
    ck_assert_int_eq(seteuid(65534), 0);
    follow_groups("**", 0, 0);
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_eq(counts.selected, 22);
    ck_assert_uint_eq(counts.populated, 1);
    ck_assert_uint_eq(counts.unreadable, 1);
    ck_assert_int_eq(counts.read_error, -EACCES);
    ck_assert_str_eq(strrchr(counts.unreadable_path, '/'), "/closed");
    int opened = watch_opens();
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    ck_assert(!was_opened(opened));
    close(opened);
    ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(fchmodat(groups_dirfd(groups), "closed", 0755, 0), 0);
    read_until("^closed ", hr_cgroup_set_read);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).unreadable, 0);
}
END_TEST

/* A group is found again after a restart, and no other in its place. */
START_TEST(identifies_groups_over_a_restart)
{
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "a");
    pid_t sleeper = groups_start_sleeper(groups, "b");
    follow_groups("*", 0, 0);
    struct hr_cgroup *a = hr_cgroup_set_next(set, NULL);
    uint64_t id_a = a->id, id_b = hr_cgroup_set_next(set, a)->id;
    struct stat status;
    ck_assert_int_eq(fstatat(groups_dirfd(groups), "a", &status, 0), 0);
    ck_assert_uint_eq(status.st_ino, id_a);
    hr_cgroup_set_close(set);
    groups_end(groups, sleeper);
    groups_remove(groups, "b");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "b");
    follow_groups("*", 0, 0);
    a = hr_cgroup_set_next(set, NULL);
    ck_assert_uint_eq(a->id, id_a);
    ck_assert_uint_ne(hr_cgroup_set_next(set, a)->id, id_b);
}
END_TEST

static const char *find_obstacle(void)
{
    if (geteuid() != 0)
        return "it needs root";
    struct groups *probe = groups_new();
    if (probe == NULL)
        return "it needs a cgroup2 hierarchy that can be written to";
    groups_free(probe);
    return NULL;
}

int main(void)
{
    const char *obstacle = find_obstacle();
    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    TCase *tests = tcase_create("cgroup live");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, gives_no_place_to_empty_groups);
    tcase_add_test(tests, finds_the_populated_beyond_the_limit_of_empty_groups);
    tcase_add_test(tests, notices_an_emptied_group_without_listing);
    tcase_add_test(tests, scans_nothing_else_where_permission_is_missing);
    tcase_add_test(tests, identifies_groups_over_a_restart);
    return run_suite("cgroup live", tests);
}
