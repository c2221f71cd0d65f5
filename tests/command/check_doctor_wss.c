/* SPDX-License-Identifier: MIT */
/*
 * command/check_doctor_wss.c - `headroom doctor`: what it says of a collectd whose CPU time is
 * limited, of DAMON that the kernel uses itself, and of what a measurement left behind, in a tree
 * of files.
 */
#include <check.h>
#include <string.h>

#include "doctor/checks.h"
#include "headroom/root.h"
#include "support/left_damon.h"
#include "support/suite.h"
#include "support/tree.h"

#define RELEASE "proc/sys/kernel/osrelease"

static struct tree *tree;
static struct hr_root *root;
static struct findings findings;
static struct usage usage;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    tree_add_process(tree, &(struct tree_process){.pid = 1, .name = "init", .started = 1});
    tree_add_group(tree, "a/b", true);
    tree_write(tree, TREE_CGROUPS "/a/cpu.max", "%s", "50000 100000\n");
    tree_write(tree, TREE_CGROUPS "/a/b/cpu.max", "%s", "max 100000\n");
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
}

/* @return what is said of a feature; NULL: nothing. */
static const struct finding *check(const char *feature)
{
    memset(&findings, 0, sizeof(findings));
    findings_begin(&findings, "wss", FINDINGS_ALL);
    doctor_check_wss(root, &usage, &findings);
    for (size_t i = 0; i < findings.count; i++)
        if (strstr(findings.items[i].feature, feature) != NULL)
            return &findings.items[i];
    return NULL;
}

static const struct finding *check_limit(void)
{
    return check("throttled");
}

static void add_collectd(void)
{
    tree_add_process(tree, &(struct tree_process){.pid = 42, .name = "collectd", .started = 5});
    tree_write(tree, "proc/42/cgroup", "0::/a/b\n");
}

START_TEST(warns_of_a_limit_of_collectd)
{
    tree_write(tree, RELEASE, "6.17.13\n");
    ck_assert_ptr_null(check_limit()); /* it doesn't run */
    add_collectd();
    const struct finding *found = check_limit();
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(found->state, FINDING_LACKS);
    ck_assert_ptr_nonnull(strstr(found->cause, "in a/b, has no more than 0.5 CPUs"));
    ck_assert_ptr_nonnull(strstr(found->remedy, "CPUQuota="));
    tree_write(tree, TREE_CGROUPS "/a/cpu.max", "%s", "max 100000\n");
    ck_assert_ptr_null(check_limit());
}
END_TEST

static const struct {
    const char *release;
    bool warns;
} releases[] = {
    {"5.14.0-570.el9.x86_64", true},
    {"6.17.13", true},
    {"6.18.0", false},
    {"6.18-rc1", false},
    {"7.0.1", false},
    {"unknown", false},
};

/* Since 6.18 no limit of CPU time throttles it before the scan is done. */
START_TEST(warns_only_where_it_is_throttled_in_a_scan)
{
    add_collectd();
    tree_write(tree, RELEASE, "%s\n", releases[_i].release);
    ck_assert_int_eq(check_limit() != NULL, releases[_i].warns);
}
END_TEST

/* Then nr_kdamonds is 0, but nothing else can be switched on. */
START_TEST(finds_that_the_kernel_uses_damon_itself)
{
    tree_write(tree, LEFT_DAMON_KDAMONDS "nr_kdamonds", "0\n");
    ck_assert_int_eq(check("the damon method, for processes")->state, FINDING_WORKS);
    tree_write(tree, "sys/module/damon_stat/parameters/enabled", "Y\n");
    const struct finding *found = check("the damon method, for processes");
    ck_assert_int_eq(found->state, FINDING_LACKS);
    ck_assert_ptr_nonnull(strstr(found->cause, "the kernel itself uses DAMON (DAMON_STAT)"));
    ck_assert_ptr_nonnull(
        strstr(found->remedy, "echo N >/sys/module/damon_stat/parameters/enabled"));
}
END_TEST

START_TEST(finds_what_a_killed_run_left_behind)
{
    left_damon_add(tree);
    const struct finding *found = check("left behind");
    ck_assert_int_eq(found->state, FINDING_LACKS);
    ck_assert_ptr_nonnull(strstr(found->cause, "ended without switching DAMON off"));
    ck_assert_str_eq(found->remedy, "headroom wss --restore");
    tree_write(tree, LEFT_DAMON_KDAMONDS "nr_kdamonds", "0\n");
    ck_assert_int_eq(check("left behind")->state, FINDING_WORKS);
}
END_TEST

/* A folder in the place of a file can't be read, not even by root. */
START_TEST(says_if_it_cannot_look_for_what_was_left_behind)
{
    ck_assert_int_eq(check("left behind")->state, FINDING_WORKS);
    tree_add_directory(tree, "sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds");
    const struct finding *found = check("left behind");
    ck_assert_int_eq(found->state, FINDING_UNTRIED);
    ck_assert_ptr_nonnull(strstr(found->cause, "kdamonds can't be used"));
    ck_assert_str_eq(found->remedy, "");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("doctor wss");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, warns_of_a_limit_of_collectd);
    tcase_add_loop_test(tests, warns_only_where_it_is_throttled_in_a_scan, 0,
                        sizeof(releases) / sizeof(releases[0]));
    tcase_add_test(tests, finds_that_the_kernel_uses_damon_itself);
    tcase_add_test(tests, finds_what_a_killed_run_left_behind);
    tcase_add_test(tests, says_if_it_cannot_look_for_what_was_left_behind);
    return run_suite("doctor wss", tests);
}
