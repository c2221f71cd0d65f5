/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_numa.c - which nodes of memory there are, in trees of machines.
 */
#include "headroom/numa.h"

#include <check.h>
#include <errno.h>

#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

#define NODE "sys/devices/system/node/"

static struct tree *tree;
static struct hr_root *root;
static struct hr_numa numa;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_numa_free(&numa);
    hr_root_close(root);
    tree_free(tree);
}

static void check_cpus(const struct hr_numa_node *node, unsigned number, const char *expected)
{
    char list[64];

    ck_assert_uint_eq(node->number, number);
    ck_assert_int_eq(hr_cpu_set_format(&node->cpus, list, sizeof(list)), 0);
    ck_assert_str_eq(list, expected);
}

/* Node 1 has memory alone; node 3 has gone since the list was read. */
START_TEST(reads_nodes_with_cpus)
{
    tree_write(tree, NODE "online", "0-3\n");
    tree_write(tree, NODE "node0/cpulist", "0-3,8-11\n");
    tree_write(tree, NODE "node1/cpulist", "\n");
    tree_write(tree, NODE "node2/cpulist", "4-7\n");
    ck_assert_int_eq(hr_numa_read(root, &numa), 0);
    ck_assert_uint_eq(numa.count, 2);
    check_cpus(&numa.nodes[0], 0, "0-3,8-11");
    check_cpus(&numa.nodes[1], 2, "4-7");
}
END_TEST

START_TEST(has_none_without_numa)
{
    ck_assert_int_eq(hr_numa_read(root, &numa), 0);
    ck_assert_uint_eq(numa.count, 0);
}
END_TEST

START_TEST(reports_what_is_no_list)
{
    tree_write(tree, NODE "online", "0-1\n");
    tree_write(tree, NODE "node0/cpulist", "0\n");
    tree_write(tree, NODE "node1/cpulist", "none\n");
    ck_assert_int_eq(hr_numa_read(root, &numa), -EBADMSG);
    ck_assert_uint_eq(numa.count, 0);
    ck_assert_ptr_null(numa.nodes);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("numa");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, reads_nodes_with_cpus);
    tcase_add_test(tests, has_none_without_numa);
    tcase_add_test(tests, reports_what_is_no_list);
    return run_suite("numa", tests);
}
