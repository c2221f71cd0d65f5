/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_limits.c - the tightest limit of memory of a group and those above it, in a
 * tree of files: of cgroup2, and of version 1.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/limits.h"
#include "headroom/root.h"
#include "support/one_group.h"
#include "support/suite.h"
#include "support/tree.h"

#define PARENT      "a.slice/b.slice"
#define GROUP       PARENT "/c.service"
#define NO_LIMIT_V1 "9223372036854771712\n" /* as 64-bit kernels with pages of 4 KiB print it */

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_limits *limits;

static void set_up(void)
{
    tree = tree_new();
    tree_add_group(tree, GROUP, true);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_limits_close(limits);
    limits = NULL;
    hr_cgroup_set_close(set);
    set = NULL;
    hr_root_close(root);
    tree_free(tree);
}

static int open_limits(void)
{
    return hr_limits_open(root, one_group_open(root, GROUP, &set), &limits);
}

static void write_in(const char *mount, const char *group, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s/%s", mount, group, name);
    tree_write(tree, path, "%s", text);
}

static void write_file(const char *group, const char *name, const char *text)
{
    write_in(TREE_CGROUPS, group, name, text);
}

static const char *const levels[] = {GROUP, PARENT, "a.slice"};

/* memory.high and memory.max of the group, the one above, and the one above that. */
static const struct {
    const char *high[3], *max[3];
    uint64_t value;
    size_t level;
} memory[] = {
    {{"max\n", "max\n", "max\n"}, {"max\n", "max\n", "max\n"}, HR_NO_LIMIT, 0},
    {{"max\n", "max\n", "max\n"}, {"2147483648\n", "max\n", "max\n"}, (uint64_t)2 << 30, 0},
    {{"max\n", "max\n", "max\n"}, {"max\n", "max\n", "1073741824\n"}, 1 << 30, 2},
    {{"max\n", "max\n", "max\n"}, {"2147483648\n", "4294967296\n", "1073741824\n"}, 1 << 30, 2},
    {{"max\n", "536870912\n", "max\n"}, {"2147483648\n", "1073741824\n", "max\n"}, 1 << 29, 1},
    {{"max\n", "max\n", "max\n"}, {"4096\n", "4096\n", "4096\n"}, 4096, 0},
    {{"max\n", "max\n", "max\n"}, {"0\n", "max\n", "max\n"}, 0, 0},
};

static void write_memory(int row)
{
    for (int i = 0; i < 3; i++) {
        write_file(levels[i], "memory.high", memory[row].high[i]);
        write_file(levels[i], "memory.max", memory[row].max[i]);
    }
    write_file(GROUP, "memory.current", "123456789\n");
}

START_TEST(memory_of_version_2)
{
    struct hr_limit limit;
    uint64_t bytes;

    write_memory(_i);
    ck_assert_int_eq(open_limits(), 0);
    ck_assert_int_eq(hr_limits_read(limits, &limit), 0);
    ck_assert_uint_eq(limit.value, memory[_i].value);
    ck_assert_uint_eq(limit.level, memory[_i].level);
    ck_assert_int_eq(hr_limits_read_usage(limits, &bytes), 0);
    ck_assert_uint_eq(bytes, 123456789);
}
END_TEST

/* A limit that is changed is read as it is then. */
START_TEST(limits_may_change)
{
    struct hr_limit limit;

    write_memory(0);
    ck_assert_int_eq(open_limits(), 0);
    write_file(PARENT, "memory.max", "8192\n");
    ck_assert_int_eq(hr_limits_read(limits, &limit), 0);
    ck_assert_uint_eq(limit.value, 8192);
    ck_assert_uint_eq(limit.level, 1);
}
END_TEST

/* What can't be read may be the tightest. */
START_TEST(one_that_is_not_understood_makes_all_unknown)
{
    static const char *const bad[] = {"", "x\n", "-1\n", "12", "max\nmax\n"};
    struct hr_limit limit = {7, 7};

    write_memory(1);
    write_file("a.slice", "memory.max", bad[_i]);
    ck_assert_int_eq(open_limits(), 0);
    ck_assert_int_eq(hr_limits_read(limits, &limit), -EBADMSG);
    ck_assert_uint_eq(limit.value, 7);
    tree_remove(tree, TREE_CGROUPS "/a.slice/memory.max");
    ck_assert_int_eq(hr_limits_read(limits, &limit), -ENOENT);
}
END_TEST

START_TEST(without_the_controller)
{
    struct hr_limit limit;
    uint64_t bytes;

    ck_assert_int_eq(open_limits(), 0);
    ck_assert_int_eq(hr_limits_read(limits, &limit), -ENOENT);
    ck_assert_int_eq(hr_limits_read_usage(limits, &bytes), -ENOENT);
}
END_TEST

/* --- version 1 -------------------------------------------------------------- */

/* Mounts controllers of version 1 beside cgroup2; the first process of the group is in them. */
static void add_version_1(const char *path_of_process)
{
    tree_write(tree, "proc/1/mounts",
               "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
               "cgroup /v1/memory cgroup rw,memory 0 0\n");
    tree_write(tree, "v1/memory/cgroup.procs", "1\n");
    write_file(GROUP, "cgroup.procs", "77\n");
    tree_add_process(tree, &(struct tree_process){.pid = 77, .name = "a"});
    tree_write(tree, "proc/77/cgroup", "2:memory:/%s\n0::/" GROUP "\n", path_of_process);
    for (int i = 0; i < 3; i++) {
        write_in("v1/memory", levels[i], "memory.limit_in_bytes", NO_LIMIT_V1);
        write_in("v1/memory", levels[i], "memory.use_hierarchy", "1\n");
    }
    write_in("v1/memory", GROUP, "memory.usage_in_bytes", "987654321\n");
}

START_TEST(version_1)
{
    struct hr_limit limit;
    uint64_t bytes;

    add_version_1(GROUP);
    ck_assert_int_eq(open_limits(), 0);
    ck_assert_int_eq(hr_limits_read(limits, &limit), 0);
    ck_assert_uint_eq(limit.value, HR_NO_LIMIT);
    ck_assert_uint_eq(limit.level, 0);
    ck_assert_int_eq(hr_limits_read_usage(limits, &bytes), 0);
    ck_assert_uint_eq(bytes, 987654321);
    write_in("v1/memory", "a.slice", "memory.limit_in_bytes", "1073741824\n");
    ck_assert_int_eq(hr_limits_read(limits, &limit), 0);
    ck_assert_uint_eq(limit.value, 1 << 30);
    ck_assert_uint_eq(limit.level, 2);
}
END_TEST

START_TEST(version_1_without_a_hierarchy)
{
    struct hr_limit limit;

    add_version_1(GROUP);
    write_in("v1/memory", "a.slice", "memory.limit_in_bytes", "4096\n");
    write_in("v1/memory", PARENT, "memory.limit_in_bytes", "8192\n");
    write_in("v1/memory", "a.slice", "memory.use_hierarchy", "0\n");
    ck_assert_int_eq(open_limits(), 0);
    ck_assert_int_eq(hr_limits_read(limits, &limit), 0);
    ck_assert_uint_eq(limit.value, 8192);
    ck_assert_uint_eq(limit.level, 1);
}
END_TEST

/* The same path in version 1 is another group, if the processes are elsewhere. */
START_TEST(another_group_of_version_1)
{
    add_version_1("elsewhere");
    ck_assert_int_eq(open_limits(), 0);
    struct hr_limit limit;
    uint64_t bytes;
    ck_assert_int_eq(hr_limits_read(limits, &limit), -ENOENT);
    ck_assert_int_eq(hr_limits_read_usage(limits, &bytes), -ENOENT);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("limits");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, memory_of_version_2, 0, sizeof(memory) / sizeof(*memory));
    tcase_add_test(tests, limits_may_change);
    tcase_add_loop_test(tests, one_that_is_not_understood_makes_all_unknown, 0, 5);
    tcase_add_test(tests, without_the_controller);
    tcase_add_test(tests, version_1);
    tcase_add_test(tests, version_1_without_a_hierarchy);
    tcase_add_test(tests, another_group_of_version_1);
    return run_suite("limits", tests);
}
