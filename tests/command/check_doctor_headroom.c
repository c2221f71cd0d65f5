/* SPDX-License-Identifier: MIT */
/*
 * command/check_doctor_headroom.c - `headroom doctor`: whether memory can be taken from cgroups, as
 * `headroom probe` does, and whether forecasts go on after a restart, in a tree of files.
 */
#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor/checks.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

static struct tree *tree;
static struct hr_root *root;
static struct findings findings;
static struct usage usage;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    tree_add_process(tree, &(struct tree_process){.pid = 1, .name = "init", .started = 1});
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
}

/* @return NULL: nothing is said of it. */
static const struct finding *find(const char *feature, enum findings_judgement judgement)
{
    memset(&findings, 0, sizeof(findings));
    findings_begin(&findings, "headroom", judgement);
    doctor_check_headroom(root, &usage, &findings);
    for (size_t i = 0; i < findings.count; i++)
        if (strcmp(findings.items[i].feature, feature) == 0)
            return &findings.items[i];
    return NULL;
}

static const struct finding *check(enum findings_judgement judgement)
{
    const struct finding *found = find("taking memory from cgroups, for headroom probe", judgement);

    ck_assert_ptr_nonnull(found);
    return found;
}

static void assert_note(const char *cause, const char *remedy)
{
    const struct finding *found = check(FINDINGS_ALL);

    ck_assert_int_eq(found->state, FINDING_NOTE);
    ck_assert_str_eq(found->cause, cause);
    ck_assert_str_eq(found->remedy, remedy);
}

/* One group suffices: the controller may be enabled for some only. */
START_TEST(works_where_the_file_is)
{
    tree_write(tree, TREE_CGROUPS "/b/memory.current", "4096\n");
    tree_write(tree, TREE_CGROUPS "/b/memory.reclaim", "%s", "");
    const struct finding *found = check(FINDINGS_ALL);
    ck_assert_int_eq(found->state, FINDING_WORKS);
    ck_assert(found->used);
}
END_TEST

START_TEST(an_older_kernel_is_no_fault)
{
    tree_write(tree, TREE_CGROUPS "/a/memory.current", "4096\n");
    tree_write(tree, TREE_CGROUPS "/b/memory.current", "4096\n");
    assert_note("this kernel has no memory.reclaim", "it takes Linux 5.19 or newer");
}
END_TEST

START_TEST(nor_is_a_controller_that_is_not_enabled)
{
    assert_note("the memory controller isn't enabled for the cgroup",
                "write +memory to cgroup.subtree_control of the one above");
}
END_TEST

/* Whatever the plugin is to do. */
START_TEST(a_configuration_never_uses_it)
{
    usage.headroom.system = usage.headroom.oom = true;
    ck_assert(!check(FINDINGS_AS_CONFIGURED)->used);
    usage = (struct usage){.headroom = {.oom = false}};
}
END_TEST

/* A group above has a limit, but what this one does isn't known. */
START_TEST(a_group_without_the_io_controller)
{
    static const char feature[] = "room of cgroups by I/O";
    struct config_fault fault;
    char path[256];

    tree_add_group(tree, "a/c", true);
    tree_write(tree, "collectd.conf",
               "LoadPlugin headroom\n<Plugin headroom>\n  Cgroup \"a/c\"\n</Plugin>\n");
    snprintf(path, sizeof(path), "%s/collectd.conf", tree_path(tree));
    ck_assert_int_eq(usage_read(path, &usage, &fault), 0);
    ck_assert_ptr_null(find(feature, FINDINGS_ALL));
    tree_write(tree, TREE_CGROUPS "/a/io.max", "8:0 rbps=1000 wbps=max riops=max wiops=max\n");
    tree_write(tree, TREE_CGROUPS "/a/io.stat", "8:0 rbytes=1 wbytes=2 rios=3 wios=4\n");
    const struct finding *found = find(feature, FINDINGS_ALL);
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(found->state, FINDING_LACKS);
    ck_assert_str_eq(found->cause, "of a/c, the io controller isn't enabled there, though a group "
                                   "above has a limit");
    ck_assert_str_eq(found->remedy, "set IOAccounting=yes in systemd, or write +io to "
                                    "cgroup.subtree_control above");
    tree_write(tree, TREE_CGROUPS "/a/c/io.max", "%s", "");
    tree_write(tree, TREE_CGROUPS "/a/c/io.stat", "%s", "");
    ck_assert_ptr_null(find(feature, FINDINGS_ALL));
    usage_free(&usage);
    usage = (struct usage){.headroom = {.oom = false}};
}
END_TEST

START_TEST(the_history_must_be_writable_and_its_own)
{
    static const char feature[] = "history of forecasts over a restart";
    const struct timespec long_ago[] = {{1000000, 0}, {1000000, 0}};
    char path[256];

    snprintf(path, sizeof(path), "%s/lib/history.state", tree_path(tree));
    usage.headroom.state_file = path;
    const struct finding *found = find(feature, FINDINGS_ALL);
    ck_assert_int_eq(found->state, FINDING_LACKS);
    ck_assert_ptr_nonnull(strstr(found->cause, "/lib isn't there"));
    tree_add_directory(tree, "lib");
    ck_assert_int_eq(find(feature, FINDINGS_ALL)->state, FINDING_WORKS); /* none is saved yet */
    tree_write(tree, "lib/history.state", "%05000d", 0);
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(find(feature, FINDINGS_ALL)->state, FINDING_WORKS);
    ck_assert_int_eq(chmod(path, 0666), 0);
    found = find(feature, FINDINGS_ALL);
    ck_assert_int_eq(found->state, FINDING_NOTE);
    ck_assert_ptr_nonnull(strstr(found->cause, "may be written by others"));
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    found = find(feature, FINDINGS_ALL);
    ck_assert_int_eq(found->state, FINDING_NOTE);
    ck_assert_ptr_nonnull(strstr(found->cause, "history.state (5 KB) was saved "));
    ck_assert_ptr_nonnull(strstr(found->cause, " min ago, not every ten"));
    usage.headroom.state_file = NULL;
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("doctor_headroom");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, works_where_the_file_is);
    tcase_add_test(tests, an_older_kernel_is_no_fault);
    tcase_add_test(tests, nor_is_a_controller_that_is_not_enabled);
    tcase_add_test(tests, a_configuration_never_uses_it);
    tcase_add_test(tests, a_group_without_the_io_controller);
    tcase_add_test(tests, the_history_must_be_writable_and_its_own);
    return run_suite("doctor_headroom", tests);
}
