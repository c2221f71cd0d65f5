/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_room_io.c - the room by I/O of groups of a tree of files: under which limit
 * it is the smallest, what others leave, what isn't known.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/room.h"
#include "headroom/root.h"
#include "support/frozen_clock.h"
#include "support/one_group.h"
#include "support/room_tree.h"
#include "support/suite.h"

/* What the clock says when a test begins. */
#define BEGUN_NS (1000 * HR_NS_PER_S)

/* Full pressure of io from 40 % on. */
static const struct hr_room_lines lines = {{40, 10, 40, 101}};

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_room_machine *machine;
static struct hr_room_source *source;
static struct hr_room_reading reading;

static void limit(const char *group, const char *text)
{
    room_tree_write(tree, group, "io.max", text);
}

/* What a group has done on 8:16 since it was created. */
static void write_io(const char *group, unsigned read_kib, unsigned reads, unsigned writes)
{
    char text[256];

    snprintf(text, sizeof(text),
             "7:0 rbytes=9999 wbytes=9 rios=99 wios=9 dbytes=0 dios=0\n"
             "8:16 rbytes=%llu wbytes=%llu rios=%u wios=%u dbytes=0 dios=0\n",
             read_kib * 1024ull, writes * 4096ull, reads, writes);
    room_tree_write(tree, group, "io.stat", text);
}

static void set_up(void)
{
    frozen_ns = BEGUN_NS;
    tree = tree_new();
    room_tree_machine(tree, 0, 0, 0);
    tree_write(tree, "proc/vmstat", "oom_kill 7\n");
    room_tree_add_group(tree, "p");
    room_tree_add_group(tree, "p/a");
    limit("p", "");
    limit("p/a", "");
    write_io("p", 0, 0, 0);
    write_io("p/a", 0, 0, 0);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
}

static void tear_down(void)
{
    frozen_ns = 0;
    hr_room_close(source);
    source = NULL;
    hr_room_machine_close(machine);
    hr_cgroup_set_close(set);
    set = NULL;
    hr_root_close(root);
    tree_free(tree);
}

static void read_after(unsigned seconds)
{
    frozen_ns += seconds * HR_NS_PER_S;
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(source, &lines, &reading), 0);
}

static void begin(void)
{
    const struct hr_cgroup *group = one_group_open(root, "p/a", &set);

    ck_assert_int_eq(hr_room_open(machine, group, HR_NS_PER_S, &source), 0);
    read_after(0);
}

static void assert_room(double pct, enum hr_stall_io kind, size_t level)
{
    const struct hr_room *room = &reading.io.room;

    ck_assert_int_eq(room->status, 0);
    ck_assert_double_eq_tol(room->room_pct, pct, 1e-9);
    ck_assert_int_eq(room->bound, HR_ROOM_IO_MAX);
    ck_assert_int_eq(reading.io.kind, kind);
    ck_assert_uint_eq(room->level, level);
    ck_assert_uint_eq(reading.io.device_major, 8);
    ck_assert_uint_eq(reading.io.device_minor, 16);
}

START_TEST(without_a_limit_it_isnt_known)
{
    begin();
    write_io("p/a", 1000, 1000, 1000);
    read_after(10);
    ck_assert_int_eq(reading.io.room.status, -ENOENT);
    ck_assert_int_eq(reading.io_limits_status, 0);
}
END_TEST

/* 80 KiB/s of 100, and 10 of 40 writes. */
START_TEST(of_its_own_limits_the_tightest_binds)
{
    limit("p/a", "8:16 rbps=102400 wbps=max riops=max wiops=40\n");
    begin();
    ck_assert_int_eq(reading.io.room.status, -EAGAIN);
    ck_assert_ptr_null(hr_room_tightest(&reading));
    write_io("p/a", 800, 7, 100);
    read_after(10);
    assert_room(20, HR_STALL_READ_BYTES, 0);
    ck_assert_double_eq(reading.io.room.used, 80 * 1024);
    ck_assert_double_eq(reading.io.room.limit, 102400);
    write_io("p/a", 810, 8, 480);
    read_after(10);
    assert_room(5, HR_STALL_WRITES, 0);
}
END_TEST

/* 40 reads of 100 that the group above may have, of which others have 50: it could have 50. */
START_TEST(others_in_the_limited_group_leave_less)
{
    limit("p", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    begin();
    write_io("p", 0, 900, 0);
    write_io("p/a", 0, 400, 0);
    read_after(10);
    assert_room(20, HR_STALL_READS, 1);
    ck_assert_double_eq(reading.io.room.attainable, 50);
    ck_assert_double_eq(reading.io.room.left, 10);
}
END_TEST

START_TEST(who_does_nothing_needs_nothing)
{
    limit("p", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    begin();
    write_io("p", 0, 1000, 0);
    read_after(10);
    assert_room(100, HR_STALL_READS, 1);
    write_io("p", 0, 2000, 0);
    write_io("p/a", 0, 20, 0);
    read_after(10);
    assert_room(0, HR_STALL_READS, 1);
    ck_assert(!reading.io.room.is_in_trouble);
}
END_TEST

/* 45 % of the time, in which it did what the limit allows, so that half of that is left. */
START_TEST(who_waits_for_its_limit_has_none)
{
    limit("p/a", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    begin();
    write_io("p/a", 0, 500, 0);
    tree_pressure(tree, "p/a", "io", 5000000, 4500000);
    read_after(10);
    ck_assert(reading.io.room.is_in_trouble);
    ck_assert_double_eq(reading.io.room.room_pct, 0);
    ck_assert_ptr_eq(hr_room_tightest(&reading), &reading.io.room);
}
END_TEST

/* 90 % of the time, far from its limit. */
START_TEST(who_waits_for_the_disk_has_some)
{
    limit("p/a", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    begin();
    write_io("p/a", 0, 200, 0);
    tree_pressure(tree, "p/a", "io", 9000000, 9000000);
    read_after(10);
    assert_room(80, HR_STALL_READS, 0);
    ck_assert(!reading.io.room.is_in_trouble);
}
END_TEST

/* By the limit of the group above, which others have used up. */
START_TEST(who_gets_nothing_of_a_limit_has_none)
{
    limit("p", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    begin();
    write_io("p", 0, 1000, 0);
    tree_pressure(tree, "p/a", "io", 9000000, 9000000);
    read_after(10);
    ck_assert(reading.io.room.is_in_trouble);
    ck_assert_double_eq(reading.io.room.room_pct, 0);
}
END_TEST

START_TEST(without_the_controller_its_own_part_isnt_known)
{
    limit("p", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    tree_remove(tree, TREE_CGROUPS "/p/a/io.max");
    tree_remove(tree, TREE_CGROUPS "/p/a/io.stat");
    begin();
    read_after(10);
    ck_assert_int_eq(reading.io.room.status, -ENODATA);
    ck_assert_int_eq(reading.io_limits_status, 0);
}
END_TEST

START_TEST(limits_come_and_go)
{
    begin();
    limit("p/a", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    read_after(61);
    ck_assert_int_eq(reading.io.room.status, -EAGAIN);
    write_io("p/a", 0, 500, 0);
    read_after(10);
    assert_room(50, HR_STALL_READS, 0);
    limit("p/a", "8:16 rbps=max wbps=max riops=50 wiops=max\n");
    write_io("p/a", 0, 2030, 0);
    read_after(61);
    assert_room(100 * (1 - 1530 / 61. / 50), HR_STALL_READS, 0);
    limit("p/a", "");
    read_after(61);
    ck_assert_int_eq(reading.io.room.status, -ENOENT);
}
END_TEST

/* The limit of the group above is read again for another group below it. */
START_TEST(a_limit_that_goes_for_another_group_goes_for_all)
{
    struct hr_room_source *other;
    struct hr_cgroup_set *others;

    limit("p", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    begin();
    read_after(59);
    ck_assert_int_eq(reading.io.room.status, 0);
    limit("p", "");
    room_tree_add_group(tree, "p/b");
    const struct hr_cgroup *group = one_group_open(root, "p/b", &others);
    ck_assert_int_eq(hr_room_open(machine, group, HR_NS_PER_S, &other), 0);
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(other, &lines, &reading), 0);
    ck_assert_int_eq(hr_room_read(source, &lines, &reading), 0);
    ck_assert_int_eq(reading.io.room.status, -ENOENT);
    hr_room_close(other);
    hr_cgroup_set_close(others);
}
END_TEST

START_TEST(limits_of_too_many_devices)
{
    limit("p/a",
          "8:0 rbps=1 wbps=max riops=max wiops=max\n8:16 rbps=1 wbps=max riops=max wiops=max\n"
          "8:32 rbps=1 wbps=max riops=max wiops=max\n"
          "8:48 rbps=1 wbps=max riops=max wiops=max\n"
          "8:64 rbps=1 wbps=max riops=max wiops=max\n");
    begin();
    read_after(10);
    ck_assert_int_eq(reading.io_limits_status, -EOVERFLOW);
    ck_assert_int_eq(reading.io.room.status, -EOVERFLOW);
}
END_TEST

/* A device that came back counts from 0 again. */
START_TEST(counts_that_go_back)
{
    limit("p/a", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    write_io("p/a", 0, 5000, 0);
    begin();
    write_io("p/a", 0, 100, 0);
    read_after(10);
    assert_room(100, HR_STALL_READS, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("room_io");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, without_a_limit_it_isnt_known);
    tcase_add_test(tests, of_its_own_limits_the_tightest_binds);
    tcase_add_test(tests, others_in_the_limited_group_leave_less);
    tcase_add_test(tests, who_does_nothing_needs_nothing);
    tcase_add_test(tests, who_waits_for_its_limit_has_none);
    tcase_add_test(tests, who_waits_for_the_disk_has_some);
    tcase_add_test(tests, who_gets_nothing_of_a_limit_has_none);
    tcase_add_test(tests, without_the_controller_its_own_part_isnt_known);
    tcase_add_test(tests, limits_come_and_go);
    tcase_add_test(tests, a_limit_that_goes_for_another_group_goes_for_all);
    tcase_add_test(tests, limits_of_too_many_devices);
    tcase_add_test(tests, counts_that_go_back);
    return run_suite("room_io", tests);
}
