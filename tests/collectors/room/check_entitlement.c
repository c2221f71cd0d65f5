/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_entitlement.c - what groups are entitled to beside others, in a tree of
 * files: memory that is protected, and shares of CPU time by weights, against answers worked out by
 * hand.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "headroom/cgroup.h"
#include "headroom/entitlement.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_cgroup_set_close(set);
    set = NULL;
    hr_root_close(root);
    tree_free(tree);
}

static void write_file(const char *group, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/%s", group, name);
    tree_write(tree, path, "%s", text);
}

static void open_set(void)
{
    const char *const pattern = "**";
    const struct hr_cgroup_options options = {.patterns = &pattern, .pattern_count = 1};

    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
}

static const struct hr_cgroup *find_group(const char *path)
{
    const struct hr_cgroup *group = NULL;

    while ((group = hr_cgroup_set_next(set, group)) != NULL)
        if (strcmp(group->path, path) == 0)
            return group;
    ck_abort_msg("there is no group %s", path);
    return NULL;
}

/* --- Memory --------------------------------------------------------------------------------- */

#define GROUP "a.slice/b.slice/c.service"

static const char *const levels[] = {GROUP, "a.slice/b.slice", "a.slice"};

/* memory.low and memory.min of the group, the one above, and the one above that. */
static const struct {
    const char *low[3], *min[3], *above;
    uint64_t bytes;
} memory[] = {
    {{"0\n", "0\n", "0\n"}, {"0\n", "0\n", "0\n"}, "", 0},
    {{"8192\n", "0\n", "0\n"}, {"0\n", "0\n", "0\n"}, "", 0},
    {{"8192\n", "0\n", "0\n"}, {"0\n", "0\n", "0\n"}, "a.slice/b.slice", 8192},
    {{"8192\n", "0\n", "0\n"}, {"0\n", "4096\n", "0\n"}, "a.slice", 0},
    {{"8192\n", "max\n", "16384\n"}, {"0\n", "0\n", "0\n"}, "", 8192},
    {{"4096\n", "8192\n", "max\n"}, {"12288\n", "0\n", "max\n"}, "", 4096},
    {{"0\n", "0\n", "max\n"}, {"8192\n", "4096\n", "max\n"}, "", 4096},
    {{"4096\n", "8192\n", "0\n"}, {"8192\n", "12288\n", "0\n"}, "a.slice", 8192},
    {{"8192\n", "4096\n", "0\n"}, {"4096\n", "0\n", "0\n"}, "a.slice", 4096},
    {{"max\n", "max\n", "max\n"}, {"0\n", "0\n", "0\n"}, "", UINT64_MAX},
    {{"max\n", "0\n", "0\n"}, {"0\n", "0\n", "0\n"}, GROUP, 0},
};

START_TEST(protected_memory)
{
    uint64_t bytes = 7;

    tree_add_group(tree, GROUP, true);
    for (int i = 0; i < 3; i++) {
        write_file(levels[i], "memory.low", memory[_i].low[i]);
        write_file(levels[i], "memory.min", memory[_i].min[i]);
    }
    open_set();
    const struct hr_cgroup *group = find_group(GROUP);
    ck_assert_int_eq(hr_memory_protection_read(root, group, memory[_i].above, &bytes), 0);
    ck_assert_uint_eq(bytes, memory[_i].bytes);
}
END_TEST

START_TEST(protection_that_is_not_known)
{
    uint64_t bytes = 7;

    tree_add_group(tree, GROUP, true);
    open_set();
    const struct hr_cgroup *group = find_group(GROUP);
    ck_assert_int_eq(hr_memory_protection_read(root, group, "", &bytes), -ENOENT);
    write_file(GROUP, "memory.low", "8192\n");
    write_file(GROUP, "memory.min", "x\n");
    ck_assert_int_eq(hr_memory_protection_read(root, group, "a.slice/b.slice", &bytes), -EBADMSG);
    write_file(GROUP, "memory.min", "0\n"); /* the group above has none */
    ck_assert_int_eq(hr_memory_protection_read(root, group, "a.slice", &bytes), -ENOENT);
    ck_assert_uint_eq(bytes, 7);
    tree_remove_group(tree, GROUP);
    ck_assert_int_lt(hr_memory_protection_read(root, group, "a.slice/b.slice", &bytes), 0);
}
END_TEST

/* --- CPU time ------------------------------------------------------------------------------- */

/* Groups with their weights, and what each contender gets of 2 CPUs. */
static const struct division {
    const char *above;
    struct {
        const char *path, *weight;
    } groups[8];
    struct {
        const char *path;
        double cpus;
    } contenders[5];
} divisions[] = {
    {"", {{"a", "100\n"}, {"b", "300\n"}}, {{"a", 0.5}, {"b", 1.5}}},
    {"", {{"a", "100\n"}, {"b", "300\n"}, {"c", "400\n"}}, {{"a", 0.5}, {"b", 1.5}}},
    {"", {{"a", "100\n"}}, {{"a", 2}}},
    {"a", {{"a", "1\n"}}, {{"a", 2}}},
    {"a", {{"a", "1\n"}, {"a/x", "50\n"}, {"a/y", "150\n"}}, {{"a/x", 0.5}, {"a/y", 1.5}}},
    /* the weight of a is shared by those in it */
    {"",
     {{"a", "100\n"}, {"a/x", "100\n"}, {"a/y", "300\n"}, {"b", "100\n"}},
     {{"a/x", 0.25}, {"a/y", 0.75}, {"b", 1}}},
    {"",
     {{"a", "100\n"}, {"a/x", "7\n"}, {"ab", "100\n"}, {"ab/x", "9\n"}},
     {{"a/x", 1}, {"ab/x", 1}}},
    {"",
     {{"s", "1\n"}, {"s/t", "100\n"}, {"s/t/x", "1\n"}, {"s/t/y", "3\n"}, {"s/u", "100\n"}},
     {{"s/t/x", 0.25}, {"s/t/y", 0.75}, {"s/u", 1}}},
    /* cpu.idle */
    {"", {{"a", "0\n"}, {"b", "0\n"}}, {{"a", 1}, {"b", 1}}},
};

START_TEST(cpu_time_by_weights)
{
    const struct division *row = &divisions[_i];
    struct hr_cpu_contender contenders[COUNT(row->contenders)];
    size_t count = 0;

    for (size_t i = 0; i < COUNT(row->groups) && row->groups[i].path != NULL; i++) {
        tree_add_group(tree, row->groups[i].path, true);
        write_file(row->groups[i].path, "cpu.weight", row->groups[i].weight);
    }
    open_set();
    for (; count < COUNT(row->contenders) && row->contenders[count].path != NULL; count++)
        contenders[count] = (struct hr_cpu_contender){find_group(row->contenders[count].path), -1};
    ck_assert_int_eq(hr_cpu_divide(root, row->above, 2, contenders, count), 0);
    for (size_t i = 0; i < count; i++)
        ck_assert_double_eq_tol(contenders[i].fair_cpus, row->contenders[i].cpus, 1e-9);
}
END_TEST

START_TEST(a_weight_that_is_not_known)
{
    struct hr_cpu_contender contenders[2];

    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b/0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15", true);
    write_file("a", "cpu.weight", "100\n");
    open_set();
    contenders[0] = (struct hr_cpu_contender){find_group("a"), -1};
    contenders[1] = (struct hr_cpu_contender){find_group("b"), -1};
    ck_assert_int_eq(hr_cpu_divide(root, "", 2, contenders, 2), -ENOENT);
    write_file("b", "cpu.weight", "much\n");
    ck_assert_int_eq(hr_cpu_divide(root, "", 2, contenders, 2), -EBADMSG);
    contenders[1].group = find_group("b/0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15");
    ck_assert_int_eq(hr_cpu_divide(root, "", 2, contenders, 2), -E2BIG);
    ck_assert_double_eq(contenders[0].fair_cpus, -1);
    ck_assert_int_eq(hr_cpu_divide(root, "", 2, contenders, 0), 0);
}
END_TEST

/* --- Version 1 ------------------------------------------------------------------------------ */

START_TEST(version_1_has_shares_and_protects_nothing)
{
    struct hr_cpu_contender contenders[2];
    uint64_t bytes = 7;

    tree_write(tree, "proc/1/mounts",
               "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
               "cgroup /v1/memory cgroup rw,memory 0 0\ncgroup /v1/cpu cgroup rw,cpu 0 0\n");
    tree_write(tree, "v1/memory/cgroup.procs", "1\n");
    tree_write(tree, "v1/cpu/cgroup.procs", "1\n");
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    for (int i = 0; i < 2; i++) {
        const char *group = i == 0 ? "a" : "b";
        char path[64];
        snprintf(path, sizeof(path), "v1/cpu/%s/cpu.shares", group);
        tree_write(tree, path, "%d\n", 1024 * (1 + 2 * i));
        snprintf(path, sizeof(path), "v1/cpu/%s/cgroup.procs", group);
        tree_write(tree, path, "%d\n", 77 + i);
        snprintf(path, sizeof(path), "v1/memory/%s/cgroup.procs", group);
        tree_write(tree, path, "%d\n", 77 + i);
        write_file(group, "cgroup.procs", i == 0 ? "77\n" : "78\n");
        tree_add_process(tree, &(struct tree_process){.pid = 77 + i, .name = "a"});
        snprintf(path, sizeof(path), "proc/%d/cgroup", 77 + i);
        tree_write(tree, path, "2:memory:/%s\n3:cpu:/%s\n0::/%s\n", group, group, group);
    }
    open_set();
    contenders[0] = (struct hr_cpu_contender){find_group("a"), -1};
    contenders[1] = (struct hr_cpu_contender){find_group("b"), -1};
    ck_assert_int_eq(hr_cpu_divide(root, "", 2, contenders, 2), 0);
    ck_assert_double_eq_tol(contenders[0].fair_cpus, 0.5, 1e-9);
    ck_assert_double_eq_tol(contenders[1].fair_cpus, 1.5, 1e-9);
    ck_assert_int_eq(hr_memory_protection_read(root, contenders[0].group, "", &bytes), 0);
    ck_assert_uint_eq(bytes, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("entitlement");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, protected_memory, 0, COUNT(memory));
    tcase_add_test(tests, protection_that_is_not_known);
    tcase_add_loop_test(tests, cpu_time_by_weights, 0, COUNT(divisions));
    tcase_add_test(tests, a_weight_that_is_not_known);
    tcase_add_test(tests, version_1_has_shares_and_protects_nothing);
    return run_suite("entitlement", tests);
}
