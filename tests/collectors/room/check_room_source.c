/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_room_source.c - the room of groups of a tree of files: limits of the groups
 * above, swap space, and what is missing.
 */
#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/room.h"
#include "headroom/root.h"
#include "support/room_tree.h"
#include "support/suite.h"

static const struct hr_room_lines lines = {{40, 10, 40, 101}};

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_room_machine *machine;
static struct hr_room_source *source;
static struct hr_room_reading reading;

static void write_file(const char *group, const char *file, const char *text)
{
    room_tree_write(tree, group, file, text);
}

/* Of a group that was throttled in so many of its periods. */
static void write_cpu(const char *group, uint64_t used_us, unsigned periods, unsigned throttled)
{
    room_tree_cpu(tree, group, used_us, periods, throttled, 0);
}

static void set_up(void)
{
    passed_s = 0;
    tree = tree_new();
    room_tree_machine(tree, 0, 0, 0);
    tree_write(tree, "proc/vmstat", "oom_kill 7\n");
    room_tree_add_group(tree, "p");
    room_tree_add_group(tree, "p/q");
    room_tree_add_group(tree, "p/q/a");
    room_tree_memory(tree, "p", 300, 20);
    room_tree_memory(tree, "p/q", 200, 20);
    tree_write(tree, TREE_CGROUPS "/cpuset.cpus.effective", "0-1\n");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
}

static void tear_down(void)
{
    hr_room_close(source);
    source = NULL;
    hr_room_machine_close(machine);
    hr_cgroup_set_close(set);
    set = NULL;
    hr_root_close(root);
    tree_free(tree);
}

static void open_group(const char *path)
{
    const struct hr_cgroup_options options = {.patterns = &path, .pattern_count = 1};

    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    struct hr_cgroup *group = hr_cgroup_set_next(set, NULL);
    ck_assert_ptr_nonnull(group);
    ck_assert_int_eq(hr_room_open(machine, group, HR_NS_PER_S, &source), 0);
}

static void read_once(void)
{
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(source, &lines, &reading), 0);
}

static void assert_memory(double used_mib, double attainable_mib, enum hr_room_bound bound,
                          size_t level)
{
    ck_assert_int_eq(reading.memory.status, 0);
    ck_assert_double_eq(reading.memory.used, used_mib * MIB);
    ck_assert_double_eq(reading.memory.attainable, attainable_mib * MIB);
    ck_assert_int_eq(reading.memory.bound, bound);
    ck_assert_uint_eq(reading.memory.level, level);
}

/* --- Memory ----------------------------------------------------------------------------- */

START_TEST(without_a_limit_the_machine_binds)
{
    open_group("p/q/a");
    read_once();
    assert_memory(120, 400, HR_ROOM_MACHINE, 0);
    ck_assert(reading.has_oom_kills);
    ck_assert_uint_eq(reading.oom_kill_count, 3);
}
END_TEST

START_TEST(the_limit_of_a_grandparent_binds)
{
    write_file("p", "memory.max", "419430400\n"); /* 400 MiB, of which 300 can't be taken */
    open_group("p/q/a");
    read_once();
    assert_memory(120, 200, HR_ROOM_MEMORY_MAX, 2);
    ck_assert_double_eq(reading.memory.limit, 400.0 * MIB);
    /* a limit that changes is seen within a minute */
    write_file("p/q/a", "memory.high", "157286400\n"); /* 150 MiB */
    passed_s += 61;
    read_once();
    assert_memory(120, 150, HR_ROOM_MEMORY_HIGH, 0);
}
END_TEST

/* 40 MiB of swap space are free, and a group may use them as far as limits of that allow. */
START_TEST(swap_space_counts_as_far_as_it_may_be_used)
{
    room_tree_machine(tree, 0, 0, 40);
    write_file("p/q/a", "memory.max", "157286400\n");
    open_group("p/q/a");
    read_once();
    assert_memory(120, 190, HR_ROOM_MEMORY_MAX, 0);
    write_file("p/q", "memory.swap.max", "31457280\n");      /* 30 MiB for the group above, */
    write_file("p/q", "memory.swap.current", "10485760\n");  /* and 10 of them are used, */
    write_file("p/q/a", "memory.swap.current", "5242880\n"); /* 5 by the group */
    passed_s += 61;
    read_once();
    assert_memory(125, 175, HR_ROOM_MEMORY_MAX, 0);
    write_file("p/q/a", "memory.swap.max", "0\n");
    passed_s += 61;
    read_once();
    assert_memory(125, 155, HR_ROOM_MEMORY_MAX, 0);
}
END_TEST

START_TEST(memory_that_stalls_leaves_no_room)
{
    open_group("p/q/a");
    read_once();
    tree_pressure(tree, "p/q/a", "memory", 1100000, 0);
    passed_s += 10;
    read_once();
    ck_assert(reading.has_stall[HR_PSI_MEMORY]);
    ck_assert_double_eq_tol(reading.stall_pct[HR_PSI_MEMORY], 11, 1e-9);
    ck_assert(reading.memory.is_in_trouble);
    ck_assert_double_eq(reading.memory.room_pct, 0);
    ck_assert_double_eq(reading.memory.attainable, 400.0 * MIB);
    ck_assert_ptr_eq(hr_room_tightest(&reading), &reading.memory);
}
END_TEST

START_TEST(memory_of_the_system)
{
    ck_assert_int_eq(hr_room_open(machine, NULL, HR_NS_PER_S, &source), 0);
    read_once();
    assert_memory(800, 1100, HR_ROOM_MACHINE, 0);
    ck_assert_uint_eq(reading.oom_kill_count, 7);
}
END_TEST

/* --- CPU time ----------------------------------------------------------------------------- */

/* In 100 s the group used one CPU for 20 s, others for 60; it waited for 6.4 s of them:
 * B = 0.4, k = ln 0.064 / ln 0.4 = 3; at 40 % B* = 0.7368. */
static void run_100_s(void)
{
    read_once();
    ck_assert_int_eq(reading.cpu.status, -ENODATA);
    room_tree_machine(tree, 50, 30, 0);
    write_cpu("p/q/a", 20000000, 1000, 0);
    write_cpu("p/q", 30000000, 1000, 0);
    write_cpu("p", 80000000, 1000, 100);
    tree_pressure(tree, "p/q/a", "cpu", 6400000, 0);
    passed_s += 100;
    read_once();
}

static void assert_cpu(double used, double attainable, enum hr_room_bound bound, size_t level)
{
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert_double_eq_tol(reading.cpu.used, used, 1e-6);
    ck_assert_double_eq_tol(reading.cpu.attainable, attainable, 1e-6);
    ck_assert_int_eq(reading.cpu.bound, bound);
    ck_assert_uint_eq(reading.cpu.level, level);
}

START_TEST(cpu_of_the_machine)
{
    write_cpu("p/q/a", 1, 0, 0); /* a group that ran before */
    open_group("p/q/a");
    run_100_s();
    assert_cpu(0.2, 2 * 0.7368062997 - 0.6, HR_ROOM_MACHINE, 0);
    ck_assert_double_eq_tol(reading.cpu.left, 2 * 0.7368062997 - 0.8, 1e-6);
}
END_TEST

START_TEST(cpu_max_of_a_grandparent)
{
    write_cpu("p/q/a", 1, 0, 0);
    write_cpu("p", 1, 0, 0);
    write_file("p", "cpu.max", "100000 100000\n");
    open_group("p/q/a");
    run_100_s();
    assert_cpu(0.2, 0.4, HR_ROOM_CPU_MAX, 2);
}
END_TEST

START_TEST(cpus_that_the_group_may_not_use_dont_count)
{
    write_cpu("p/q/a", 1, 0, 0);
    write_file("p/q", "cpuset.cpus.effective", "1\n");
    open_group("p/q/a");
    run_100_s();
    /* B = 0.3 of one CPU, k = ln 0.064 / ln 0.3 */
    assert_cpu(0.2, 0.669433 - 0.1, HR_ROOM_MACHINE, 0);
    ck_assert_double_eq(reading.cpu.limit, 1);
}
END_TEST

/* The sums begin again, so that what was before the limit isn't taken for its effect. */
START_TEST(a_limit_that_is_set_while_it_runs)
{
    open_group("p/q/a");
    run_100_s();
    write_file("p/q/a", "cpu.max", "30000 100000\n");
    write_cpu("p/q/a", 23000000, 1100, 90);
    passed_s += 61;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -ENODATA);
    write_cpu("p/q/a", 26000000, 1200, 180);
    passed_s += 10;
    read_once();
    assert_cpu(0.3, 0.3, HR_ROOM_CPU_MAX, 0);
    ck_assert(reading.cpu.is_in_trouble);
}
END_TEST

START_TEST(nothing_is_allocated_by_intervals)
{
    write_file("p", "memory.max", "419430400\n");
    write_file("p/q", "cpu.max", "100000 100000\n");
    open_group("p/q/a");
    for (int i = 0; i < 20; i++, passed_s += 10)
        read_once();
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 10000; i++, passed_s += 10)
        read_once();
    ck_assert_uint_eq(mallinfo2().uordblks, before);
    passed_s = 0; /* Check can't count to so many microseconds */
}
END_TEST

START_TEST(needs_twenty_seconds_unless_there_is_trouble)
{
    open_group("p/q/a");
    read_once();
    room_tree_machine(tree, 1, 1, 0);
    passed_s += 10;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -ENODATA);
    tree_pressure(tree, "p/q/a", "cpu", 4000001, 0);
    passed_s += 9;
    read_once();
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert(reading.cpu.is_in_trouble);
    ck_assert_double_eq(reading.cpu.room_pct, 0);
}
END_TEST

/* --- What is missing ------------------------------------------------------------------------ */

START_TEST(without_the_memory_controller)
{
    tree_remove(tree, TREE_CGROUPS "/p/q/a/memory.max");
    open_group("p/q/a");
    run_100_s();
    ck_assert_int_eq(reading.memory.status, -ENOENT);
    ck_assert(!reading.has_oom_kills);
    ck_assert(!reading.outlook.is_known);
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert_ptr_eq(hr_room_tightest(&reading), &reading.cpu);
}
END_TEST

START_TEST(without_the_cpu_controller)
{
    write_cpu("p/q/a", 1, 0, 0);
    tree_remove(tree, TREE_CGROUPS "/p/q/a/cpu.max");
    open_group("p/q/a");
    run_100_s();
    assert_cpu(0.2, 2 * 0.7368062997 - 0.6, HR_ROOM_MACHINE, 0);
}
END_TEST

START_TEST(without_pressure)
{
    tree_remove_pressure(tree, "p/q/a", "cpu");
    open_group("p/q/a");
    read_once();
    passed_s += 100;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -ENOENT);
    ck_assert_int_eq(reading.memory.status, 0);
}
END_TEST

static const char *const machine_files[] = {"proc/stat", "proc/meminfo"};

START_TEST(without_a_file_of_the_machine)
{
    open_group("p/q/a");
    read_once();
    tree_remove(tree, machine_files[_i]);
    passed_s += 100;
    read_once();
    ck_assert_int_eq(reading.cpu.status, _i == 0 ? -ENOENT : 0);
    ck_assert_int_eq(reading.memory.status, _i == 1 ? -ENOENT : 0);
}
END_TEST

static const char *const group_files[] = {"memory.current", "memory.stat", "cpu.stat"};

START_TEST(without_a_file_of_the_group)
{
    char path[128];

    open_group("p/q/a");
    snprintf(path, sizeof(path), TREE_CGROUPS "/p/q/a/%s", group_files[_i]);
    tree_remove(tree, path);
    read_once();
    passed_s += 100;
    read_once();
    ck_assert_int_eq(reading.cpu.status == 0, _i != 2);
    ck_assert_int_eq(reading.memory.status == 0, _i == 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("source");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, without_a_limit_the_machine_binds);
    tcase_add_test(tests, the_limit_of_a_grandparent_binds);
    tcase_add_test(tests, swap_space_counts_as_far_as_it_may_be_used);
    tcase_add_test(tests, memory_that_stalls_leaves_no_room);
    tcase_add_test(tests, memory_of_the_system);
    tcase_add_test(tests, cpu_of_the_machine);
    tcase_add_test(tests, cpu_max_of_a_grandparent);
    tcase_add_test(tests, cpus_that_the_group_may_not_use_dont_count);
    tcase_add_test(tests, a_limit_that_is_set_while_it_runs);
    tcase_add_test(tests, nothing_is_allocated_by_intervals);
    tcase_add_test(tests, needs_twenty_seconds_unless_there_is_trouble);
    tcase_add_test(tests, without_the_memory_controller);
    tcase_add_test(tests, without_the_cpu_controller);
    tcase_add_test(tests, without_pressure);
    tcase_add_loop_test(tests, without_a_file_of_the_machine, 0, 2);
    tcase_add_loop_test(tests, without_a_file_of_the_group, 0, 3);
    return run_suite("source", tests);
}
