/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_room_live.c - the room by CPU time of groups whose limits and loads are
 * known, on the running kernel.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "collectors/room/stall_harness.h"
#include "headroom/room.h"
#include "support/suite.h"

#define CPU     0
#define POINT   1000000000
#define SECONDS 1000000

static const struct hr_room_lines lines = {{40, 10, 40, 101}};

static struct hr_room_machine *machine;
static struct hr_room_source *source;

static void set_up(void)
{
    set_up_groups("cpu");
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
}

static void tear_down(void)
{
    hr_room_close(source);
    hr_room_machine_close(machine);
    tear_down_groups();
}

static void start_loop(const char *name)
{
    join_group(name, groups_start_busy(groups, name, CPU));
}

static void limit_to_half(const char *name)
{
    limit_group(name, "cpu.max", "50000 100000", "cpu.cfs_quota_us", "50000");
}

/* Reads now and after a while. */
static struct hr_room read_room(const char *name, unsigned after_s)
{
    struct hr_room_reading reading;

    ck_assert_int_eq(hr_room_open(machine, find_group(name), POINT, &source), 0);
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(source, &lines, &reading), 0);
    ck_assert_int_eq(reading.cpu.status, -EAGAIN /* a sum needs two reads */);
    usleep(after_s * SECONDS);
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(source, &lines, &reading), 0);
    printf("# %s: status %d, used %.3f of %.3f CPUs, room %.1f %%, by %s of level %zu\n", name,
           reading.cpu.status, reading.cpu.used, reading.cpu.attainable, reading.cpu.room_pct,
           hr_room_bound_name(reading.cpu.bound, reading.cpu.version), reading.cpu.level);
    fflush(stdout);
    return reading.cpu;
}

static void assert_no_room(const struct hr_room *room, size_t level)
{
    ck_assert_int_eq(room->status, 0);
    ck_assert(room->is_in_trouble);
    ck_assert_double_eq(room->room_pct, 0);
    ck_assert_int_eq(room->bound, HR_ROOM_CPU_MAX);
    ck_assert_uint_eq(room->level, level);
    ck_assert_double_eq_tol(room->limit, 0.5, 1e-9);
}

/* Of the loop alone it is known at the second read, as it is throttled. */
START_TEST(a_loop_with_half_a_cpu_has_no_room)
{
    make_group("a");
    prefer("a");
    limit_to_half("a");
    start_loop("a");
    struct hr_room room = read_room("a", 2);
    assert_no_room(&room, 0);
    ck_assert_double_lt(room.used, 0.65);
}
END_TEST

START_TEST(the_limit_of_the_group_above_binds)
{
    make_parent("p");
    make_group("p/a");
    prefer("p");
    limit_to_half("p");
    start_loop("p/a");
    struct hr_room room = read_room("p/a", 2);
    assert_no_room(&room, 1);
}
END_TEST

START_TEST(a_group_that_sleeps_has_room)
{
    make_group("a");
    limit_to_half("a");
    join_group("a", groups_start_sleeper(groups, "a"));
    struct hr_stall_machine_cpus before, after;
    double idle_pct;
    ck_assert_int_eq(hr_machine_cpus_read(root, &before), 0);
    struct hr_room room = read_room("a", 21);
    ck_assert_int_eq(hr_machine_cpus_read(root, &after), 0);
    ck_assert_int_eq(hr_machine_cpus_idle(&before, &after, &idle_pct), 0);
    ck_assert(!room.is_in_trouble);
    if (idle_pct < 5 && room.status != 0) {
        printf("# other work left %.1f %% of the CPUs idle\n", idle_pct);
        return; /* then it can't be known */
    }
    ck_assert_int_eq(room.status, 0);
    ck_assert_double_lt(room.used, 0.01);
    ck_assert_double_gt(room.room_pct, 95);
    ck_assert_double_le(room.attainable, 0.5);
}
END_TEST

/* While it is measured: the kernel removes the files, and those that are open can't be read. */
START_TEST(pressure_is_switched_off)
{
    struct hr_room_reading reading;

    make_group("a");
    start_loop("a");
    if (faccessat(groups_dirfd(groups), "a/cgroup.pressure", W_OK, 0) < 0)
        return; /* before Linux 6.1 */
    read_room("a", 1);
    groups_write(groups, "a", "cgroup.pressure", "0");
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(source, &lines, &reading), 0);
    for (int i = 0; i < HR_PSI_IRQ; i++) {
        ck_assert_int_eq(reading.psi.status[i], -EOPNOTSUPP);
        ck_assert(!reading.has_stall[i]);
    }
    ck_assert_int_eq(reading.cpu.status, -EOPNOTSUPP);
    ck_assert_int_eq(reading.memory_limits_status, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("live");
    const char *reason = why_not("cpu", "cpu.max", "cpu.cfs_quota_us");

    if (reason != NULL) {
        printf("1..0 # SKIP %s\n", reason);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_loop_with_half_a_cpu_has_no_room);
    tcase_add_test(tests, the_limit_of_the_group_above_binds);
    tcase_add_test(tests, a_group_that_sleeps_has_room);
    tcase_add_test(tests, pressure_is_switched_off);
    tcase_set_timeout(tests, 120);
    return run_suite("live", tests);
}
