/* SPDX-License-Identifier: MIT */
/*
 * collectors/cgroup/check_cgroup_v1_live.c - groups of a version 1 hierarchy of the running kernel.
 *
 * The hierarchy has a name instead of a controller, so that nothing else on the machine uses it,
 * and is mounted in a namespace of its own.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "support/descriptor_shortage.h"
#include "support/groups.h"
#include "support/suite.h"

#define HIERARCHY   "name=headroom-test"
#define HIERARCHIES "/sys/fs/cgroup"

static struct groups *groups;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static char story[1024];

static void record_event(struct hr_cgroup *group, enum hr_cgroup_event event,
                         __attribute__((unused)) void *context)
{
    static const char marks[] = {[HR_CGROUP_ADDED] = '+',
                                 [HR_CGROUP_POPULATED] = '^',
                                 [HR_CGROUP_EMPTIED] = 'v',
                                 [HR_CGROUP_REMOVED] = '-'};
    size_t used = strlen(story);

    snprintf(story + used, sizeof(story) - used, "%s%c%s", used > 0 ? " " : "", marks[event],
             group->path + strlen(groups_path(groups)) + 1);
}

static void read_story(const char *expected)
{
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    ck_assert_str_eq(story, expected);
    story[0] = '\0';
}

/* Follows the groups of this test that a pattern selects. */
static void follow_groups(const char *below)
{
    char pattern[128];
    const char *patterns[] = {pattern};
    const struct hr_cgroup_options options = {
        .controller = HIERARCHY, .patterns = patterns, .pattern_count = 1, .event = record_event};

    snprintf(pattern, sizeof(pattern), "%s/%s", groups_path(groups), below);
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
}

static void set_up(void)
{
    set = NULL;
    story[0] = '\0';
    groups = groups_new_v1(HIERARCHY);
    ck_assert_ptr_nonnull(groups);
    ck_assert_int_eq(hr_root_open("/", &root), 0);
}

static void tear_down(void)
{
    hr_cgroup_set_close(set);
    hr_root_close(root);
    groups_free(groups);
}

START_TEST(follows_groups_that_come_and_go)
{
    groups_make(groups, "a");
    follow_groups("**");
    read_story("+a ^a");
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    ck_assert_uint_eq(counts.populated, 1);
    ck_assert_uint_eq(counts.unwatched, 0); /* the kernel reports what follows */
    ck_assert_int_ge(hr_cgroup_set_fd(set), 0);
    groups_make(groups, "b");
    groups_make(groups, "b/c");
    read_story("+b ^b +b/c ^b/c");
    groups_make(groups, "a/d");
    groups_remove(groups, "b/c");
    read_story("+a/d ^a/d vb/c -b/c");
    groups_remove(groups, "a/d");
    groups_remove(groups, "a");
    groups_remove(groups, "b");
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    ck_assert_ptr_null(hr_cgroup_set_next(set, NULL));
    ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 0);
}
END_TEST

START_TEST(takes_a_group_made_again_for_another)
{
    groups_make(groups, "a");
    follow_groups("*");
    read_story("+a ^a");
    struct hr_cgroup *group = hr_cgroup_set_next(set, NULL);
    uint64_t id = group->id;
    int fd = hr_cgroup_openat(group, "cgroup.procs", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(hr_cgroup_openat(group, "cgroup.events", O_RDONLY), -ENOENT);
    groups_remove(groups, "a");
    groups_make(groups, "a");
    ck_assert_int_eq(hr_cgroup_openat(group, "cgroup.procs", O_RDONLY), -ENODEV);
    ck_assert_int_eq(hr_cgroup_openat(group, "cgroup.events", O_RDONLY), -ENODEV);
    read_story("va -a +a ^a");
    ck_assert_uint_ne(hr_cgroup_set_next(set, NULL)->id, id);
}
END_TEST

/* Version 1 alone can do that. */
START_TEST(follows_a_group_that_is_renamed)
{
    const int above = groups_dirfd(groups);

    groups_make(groups, "a");
    follow_groups("*");
    read_story("+a ^a");
    ck_assert_int_eq(renameat(above, "a", above, "b"), 0);
    read_story("va -a +b ^b");
    groups_remove(groups, "b");
}
END_TEST

/* The kernel doesn't report which groups are populated, so that processes make no difference. */
START_TEST(takes_no_notice_of_processes)
{
    char text[16];

    groups_make(groups, "a");
    follow_groups("*");
    read_story("+a ^a");
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    snprintf(text, sizeof(text), "%d", (int)pid);
    groups_write(groups, "a", "cgroup.procs", text);
    read_story("");
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    read_story("");
    groups_remove(groups, "a");
    read_story("va -a");
}
END_TEST

START_TEST(keeps_no_descriptors_of_groups_that_went)
{
    char name[16];

    follow_groups("**");
    read_story("");
    int descriptors = count_descriptors();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i++) {
            snprintf(name, sizeof(name), "g%d", i);
            groups_make(groups, name);
        }
        ck_assert_int_eq(hr_cgroup_set_read(set), 0);
        ck_assert_uint_eq(hr_cgroup_set_counts(set).populated, 20);
        ck_assert_int_eq(count_descriptors(), descriptors + 20);
        for (int i = 0; i < 20; i++) {
            snprintf(name, sizeof(name), "g%d", i);
            groups_remove(groups, name);
        }
        ck_assert_int_eq(hr_cgroup_set_read(set), 0);
        ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 0);
        ck_assert_int_eq(count_descriptors(), descriptors);
    }
}
END_TEST

/* Over the directory where the others are mounted: it is there on any machine. */
static bool mount_hierarchy(void)
{
    return mount("none", HIERARCHIES, "cgroup", 0, "none," HIERARCHY) == 0;
}

static bool enter_own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool is_left(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[512];
    bool found = false;

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
        found = strstr(line, ":" HIERARCHY ":") != NULL;
    if (file != NULL)
        fclose(file);
    return found;
}

/* The kernel keeps a hierarchy that is unmounted while a removed group is still being released; it
 * goes when it is unmounted again. A test that runs beside this one may use it, too. */
static void remove_hierarchy(void)
{
    for (int tries = 0; tries < 20; tries++) {
        umount2(HIERARCHIES, 0);
        usleep(100000);
        if (!is_left() || !mount_hierarchy())
            return;
    }
}

int main(void)
{
    TCase *tests = tcase_create("cgroup v1 live");

    if (!enter_own_mounts() || !mount_hierarchy()) {
        printf("1..0 # SKIP no version 1 hierarchy can be mounted: %s\n", strerror(errno));
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, follows_groups_that_come_and_go);
    tcase_add_test(tests, takes_a_group_made_again_for_another);
    tcase_add_test(tests, follows_a_group_that_is_renamed);
    tcase_add_test(tests, takes_no_notice_of_processes);
    tcase_add_test(tests, keeps_no_descriptors_of_groups_that_went);
    tcase_set_timeout(tests, 30);
    int status = run_suite("cgroup v1 live", tests);
    remove_hierarchy();
    return status;
}
