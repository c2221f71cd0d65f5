/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_psi_live.c - the collectors on the running kernel, in cgroups made for the
 * test.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/psi.h"
#include "headroom/root.h"
#include "support/descriptor_shortage.h"
#include "support/groups.h"
#include "support/suite.h"

static const struct hr_psi_options every_resource = {.resources = {true, true, true, true}};

static struct groups *groups;
static struct hr_root *root;
static struct hr_cgroup_set *set;

static void set_up(void)
{
    set = NULL;
    groups = groups_new();
    ck_assert_ptr_nonnull(groups);
    ck_assert_int_eq(hr_root_open("/", &root), 0);
}

static void tear_down(void)
{
    hr_cgroup_set_close(set);
    hr_root_close(root);
    groups_free(groups);
}

/* Follows the groups of this test that a pattern selects. */
static void follow_groups(const char *below)
{
    char pattern[128];
    const char *patterns[] = {pattern};
    const struct hr_cgroup_options options = {.patterns = patterns, .pattern_count = 1};

    snprintf(pattern, sizeof(pattern), "%s/%s", groups_path(groups), below);
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
}

static struct hr_cgroup *read_first(void)
{
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    return hr_cgroup_set_next(set, NULL);
}

/* The kernel reports with a delay that a process entered or the last one left. */
static struct hr_cgroup *read_until(bool populated)
{
    struct hr_cgroup *group = read_first();

    for (int i = 0; i < 1000 && (group != NULL) != populated; i++) {
        usleep(20000);
        group = read_first();
    }
    ck_assert_int_eq(group != NULL, populated);
    return group;
}

START_TEST(reads_the_system)
{
    struct hr_psi_snapshot snapshot;
    struct hr_psi *psi;

    ck_assert_int_eq(hr_psi_open_system(root, &every_resource, &psi), 0);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    for (int i = HR_PSI_CPU; i <= HR_PSI_IO; i++)
        ck_assert_int_eq(snapshot.status[i], 0);
    ck_assert_uint_gt(snapshot.sample[HR_PSI_CPU].stall[HR_PSI_SOME].total_us, 0);
    ck_assert(!snapshot.sample[HR_PSI_CPU].stall[HR_PSI_FULL].present);
    ck_assert(snapshot.sample[HR_PSI_MEMORY].stall[HR_PSI_FULL].present);
    hr_psi_close(psi);
}
END_TEST

START_TEST(follows_processes_in_and_out)
{
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    follow_groups("**");
    ck_assert_ptr_null(hr_cgroup_set_next(set, NULL));
    ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 2);
    pid_t pid = groups_start_sleeper(groups, "a/b");
    read_until(true);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).populated, 2); /* a process below counts */
    groups_end(groups, pid);
    read_until(false);
}
END_TEST

START_TEST(reports_a_group_that_goes_while_its_files_are_open)
{
    struct hr_psi_snapshot snapshot;
    struct hr_psi *psi;

    groups_make(groups, "a");
    pid_t pid = groups_start_sleeper(groups, "a");
    follow_groups("a");
    struct hr_cgroup *group = read_until(true);
    ck_assert_int_eq(hr_psi_open_cgroup(group, &every_resource, &psi), 0);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], 0);
    ck_assert(snapshot.sample[HR_PSI_CPU].stall[HR_PSI_FULL].present);
    groups_end(groups, pid);
    groups_remove(groups, "a");
    groups_make(groups, "a"); /* another group of the same name */
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), -ENODEV);
    ck_assert_int_eq(snapshot.status[HR_PSI_IO], -ENODEV);
    ck_assert_int_eq(hr_cgroup_openat(group, "cgroup.procs", O_RDONLY), -ENODEV);
    hr_psi_close(psi);

    uint64_t id = group->id;
    groups_start_sleeper(groups, "a");
    group = read_until(true);
    ck_assert_uint_ne(group->id, id);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 1);
}
END_TEST

START_TEST(detects_pressure_switched_off_and_on_again)
{
    struct hr_psi_snapshot snapshot;
    struct hr_psi *psi;

    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    follow_groups("a");
    ck_assert_int_eq(hr_psi_open_cgroup(read_until(true), &every_resource, &psi), 0);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    groups_write(groups, "a", "cgroup.pressure", "0");
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], -EOPNOTSUPP);
    ck_assert_int_eq(snapshot.status[HR_PSI_MEMORY], -EOPNOTSUPP);
    groups_write(groups, "a", "cgroup.pressure", "1");
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], 0);
    hr_psi_close(psi);
}
END_TEST

/* Watches that outlive their group would accumulate in the kernel, invisible in the process. */
static unsigned count_watches(void)
{
    unsigned count = 0;
    char path[64], line[512];

    for (int fd = 0; fd < 4096; fd++) {
        snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
        FILE *stream = fopen(path, "r");
        if (stream == NULL)
            continue;
        while (fgets(line, sizeof(line), stream) != NULL)
            count += strncmp(line, "inotify ", 8) == 0;
        fclose(stream);
    }
    return count;
}

START_TEST(leaves_nothing_of_groups_that_went)
{
    char name[32];
    pid_t sleepers[10]; /* in as many of the groups: these keep their directories open */

    follow_groups("**");
    int descriptors = count_descriptors();
    unsigned watches = count_watches();
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 50; i++) {
            snprintf(name, sizeof(name), "g%d", i);
            groups_make(groups, name);
            if (i < 10)
                sleepers[i] = groups_start_sleeper(groups, name);
        }
        read_first();
        ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 50);
        ck_assert_int_eq(count_descriptors(), descriptors + 10);
        ck_assert_uint_eq(count_watches(), watches + 100);
        for (int i = 0; i < 50; i++) {
            snprintf(name, sizeof(name), "g%d", i);
            if (i < 10)
                groups_end(groups, sleepers[i]);
            groups_remove(groups, name);
        }
        read_first();
        ck_assert_uint_eq(hr_cgroup_set_counts(set).selected, 0);
        ck_assert_int_eq(count_descriptors(), descriptors);
        ck_assert_uint_eq(count_watches(), watches);
    }
}
END_TEST

START_TEST(takes_no_memory_in_10000_intervals)
{
    struct hr_psi_snapshot snapshot;
    struct hr_psi *psi;

    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    follow_groups("**");
    ck_assert_int_eq(hr_psi_open_cgroup(read_until(true), &every_resource, &psi), 0);
    hr_psi_read(psi, &snapshot);
    size_t heap = mallinfo2().uordblks;
    int descriptors = count_descriptors();
    for (int interval = 0; interval < 10000; interval++) {
        read_first();
        ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    }
    ck_assert_uint_eq(mallinfo2().uordblks, heap);
    ck_assert_int_eq(count_descriptors(), descriptors);
    hr_psi_close(psi);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("live");
    struct groups *probe = groups_new();

    if (probe == NULL) {
        puts("1..0 # SKIP no cgroup2 hierarchy that can be written to (root is needed)");
        return 0;
    }
    groups_free(probe);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, reads_the_system);
    tcase_add_test(tests, follows_processes_in_and_out);
    tcase_add_test(tests, reports_a_group_that_goes_while_its_files_are_open);
    tcase_add_test(tests, detects_pressure_switched_off_and_on_again);
    tcase_add_test(tests, leaves_nothing_of_groups_that_went);
    tcase_add_test(tests, takes_no_memory_in_10000_intervals);
    tcase_set_timeout(tests, 30);
    return run_suite("live", tests);
}
