/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_wss_marks.c - what a chart of a working set is compared with.
 */
#include <check.h>
#include <stdio.h>

#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"
#include "wss/marks.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MIB          1048576ull

static struct tree *tree;
static struct hr_root *root;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    tree_add_group(tree, "shop.slice", true);
    tree_add_group(tree, "shop.slice/web 1.service", true);
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
}

static void limit_memory(const char *group, const char *max)
{
    char path[256];

    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/memory.max", group);
    tree_write(tree, path, "%s\n", max);
    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/memory.high", group);
    tree_write(tree, path, "max\n");
}

/* Of a group that touched 100 MiB at most. */
static const struct {
    uint64_t rss_mib; /* 0: not known */
    const char *own_limit, *outer_limit;
    const char *names[2], *beyond;
    double levels[2];
} cases[] = {
    {160, "419430400", "max", {"RSS 160 MiB", "limit 400 MiB"}, "", {160, 400}},
    {160, "max", "209715200", {"RSS 160 MiB", "limit 200 MiB"}, "", {160, 200}},
    {160, "max", "max", {"RSS 160 MiB"}, "", {160}},
    {0, "419430400", "max", {"limit 400 MiB"}, "", {400}},
    {160, "2147483648", "max", {"RSS 160 MiB"}, ", limit 2048 MiB", {160}},
    {500, "2147483648", "max", {NULL}, ", RSS 500 MiB, limit 2048 MiB", {0}},
};

START_TEST(are_where_they_can_be_drawn)
{
    const struct point points[] = {{0.1, 40}, {1, 100}, {2, 90}};
    const struct hr_wss_target target = {.scope = HR_WSS_CGROUP,
                                         .cgroup = "shop.slice/web 1.service"};
    const struct hr_wss_sample sample = {.has_rss = cases[_i].rss_mib > 0,
                                         .rss_bytes = cases[_i].rss_mib * MIB};
    struct wss_marks marks;
    size_t count = 0;

    limit_memory("shop.slice/web 1.service", cases[_i].own_limit);
    limit_memory("shop.slice", cases[_i].outer_limit);
    wss_marks_find(root, &target, &sample, points, COUNT(points), &marks);
    for (; count < 2 && cases[_i].names[count] != NULL; count++) {
        ck_assert_uint_lt(count, marks.count);
        ck_assert_str_eq(marks.list[count].name, cases[_i].names[count]);
        ck_assert_double_eq(marks.list[count].y, cases[_i].levels[count]);
    }
    ck_assert_uint_eq(marks.count, count);
    ck_assert_str_eq(marks.beyond, cases[_i].beyond);
}
END_TEST

static const struct hr_wss_target others[] = {
    {.scope = HR_WSS_SYSTEM},
    {.scope = HR_WSS_PROCESSES},
    {.scope = HR_WSS_CGROUP, .cgroup = "none"},
    {.scope = HR_WSS_CGROUP, .cgroup = "shop.slice/*"},
};

START_TEST(are_of_the_group_alone)
{
    const struct point point = {1, 300};
    const struct hr_wss_sample sample = {.has_rss = false};
    struct wss_marks marks;

    limit_memory("shop.slice/web 1.service", "419430400");
    limit_memory("shop.slice", "419430400");
    wss_marks_find(root, &others[_i], &sample, &point, 1, &marks);
    ck_assert_uint_eq(marks.count, 0);
    ck_assert_str_eq(marks.beyond, "");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("command_wss_marks");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, are_where_they_can_be_drawn, 0, COUNT(cases));
    tcase_add_loop_test(tests, are_of_the_group_alone, 0, COUNT(others));
    return run_suite("command_wss_marks", tests);
}
