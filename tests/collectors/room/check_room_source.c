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
#include "support/frozen_clock.h"
#include "support/one_group.h"
#include "support/room_tree.h"
#include "support/suite.h"

/* What the clock says when a test begins. */
#define BEGUN_NS (1000 * HR_NS_PER_S)

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
    frozen_ns = BEGUN_NS;
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
    frozen_ns = 0;
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
    const struct hr_cgroup *group = one_group_open(root, path, &set);

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

/* 100 MiB of anonymous memory and 20 of active files, of which 40 are touched within 60 seconds and
 * hardly more later; reads take 1 ms, so that of a hundred pages a second is trouble. */
START_TEST(a_working_set_tells_the_need)
{
    struct hr_room_working_set touched = {3, {1, 60, 120}, {10.0 * MIB, 40.0 * MIB, 41.0 * MIB}};

    write_file("p/q/a", "memory.stat",
               "inactive_file 20971520\nactive_file 20971520\nactive_anon 52428800\n"
               "inactive_anon 52428800\nfile_mapped 41943040\nworkingset_refault_file 0\n");
    write_file("p/q/a", "memory.max", "157286400\n");
    open_group("p/q/a");
    hr_room_set_working_set(source, &touched);
    read_once();
    assert_memory(120, 150, HR_ROOM_MEMORY_MAX, 0);
    ck_assert_int_eq(reading.working_set_status, -EAGAIN); /* no disk */
    tree_write(tree, "proc/diskstats", "8 0 sda 100 0 800 100 0 0 0 0 0 0 0\n");
    frozen_ns += 61 * HR_NS_PER_S;
    room_tree_machine(tree, 0, 0, 90); /* swap space, where what isn't touched can go */
    read_once();
    ck_assert_int_eq(reading.working_set_status, 0);
    ck_assert_double_eq(reading.touched_s, 60);
    assert_memory(40, 150, HR_ROOM_MEMORY_MAX, 0);
    ck_assert_double_eq(reading.memory_level, 100.0 * MIB);
    ck_assert_double_eq(reading.memory_bytes, 140.0 * MIB);
    ck_assert_double_eq(reading.swapped_bytes, 0);
    ck_assert_double_eq(reading.memory_level_most, 240.0 * MIB); /* with swap space */
    touched.count = 2;
    hr_room_set_working_set(source, &touched);
    read_once();
    ck_assert_int_eq(reading.working_set_status, -ENODATA);
    assert_memory(120, 240, HR_ROOM_MEMORY_MAX, 0);
    touched.count = 0;
    hr_room_set_working_set(source, &touched);
    read_once();
    ck_assert_int_eq(reading.working_set_status, -ENOENT);
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
    frozen_ns += 61 * HR_NS_PER_S;
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
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    assert_memory(125, 175, HR_ROOM_MEMORY_MAX, 0);
    write_file("p/q/a", "memory.swap.max", "0\n");
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    assert_memory(125, 155, HR_ROOM_MEMORY_MAX, 0);
}
END_TEST

START_TEST(memory_that_stalls_leaves_no_room)
{
    open_group("p/q/a");
    read_once();
    tree_pressure(tree, "p/q/a", "memory", 1100000, 0);
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    ck_assert(reading.has_stall[HR_PSI_MEMORY]);
    ck_assert_double_eq_tol(reading.stall_pct[HR_PSI_MEMORY], 11, 1e-9);
    ck_assert(reading.memory.is_in_trouble);
    ck_assert_double_eq(reading.memory.room_pct, 0);
    ck_assert_double_eq(reading.memory.attainable, 400.0 * MIB);
    ck_assert_ptr_eq(hr_room_tightest(&reading), &reading.memory);
}
END_TEST

/* 64 MiB full of files that are read at random: the kernel has them all on its list of inactive
 * ones, from which it takes what is read again soon. */
START_TEST(all_files_are_needed_where_they_are_read_again)
{
    write_file("p/q/a", "memory.current", "67108864\n");
    write_file("p/q/a", "memory.max", "67108864\n");
    write_file("p/q/a", "memory.stat",
               "inactive_file 41943040\nactive_file 0\nslab_reclaimable 0\n");
    open_group("p/q/a");
    read_once();
    assert_memory(24, 64, HR_ROOM_MEMORY_MAX, 0);
    tree_pressure(tree, "p/q/a", "memory", 190000, 0); /* 1.9 % of 10 s */
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    assert_memory(24, 64, HR_ROOM_MEMORY_MAX, 0);
    tree_pressure(tree, "p/q/a", "memory", 390000, 0); /* 2 % */
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    assert_memory(64, 64, HR_ROOM_MEMORY_MAX, 0);
    ck_assert(!reading.memory.is_in_trouble);
    ck_assert_double_eq(reading.memory.room_pct, 0);
    ck_assert(reading.memory.is_at_least); /* a part of them may do */
    ck_assert_double_eq(reading.memory_level, 24.0 * MIB);
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    assert_memory(24, 64, HR_ROOM_MEMORY_MAX, 0);
}
END_TEST

/* As after a restart. */
START_TEST(memory_that_stalled_before_the_first_reading)
{
    tree_write(tree, TREE_CGROUPS "/p/q/a/memory.pressure",
               "some avg10=%s avg60=0.00 avg300=0.00 total=5\n"
               "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n",
               _i == 0 ? "10.00" : "9.99");
    open_group("p/q/a");
    read_once();
    ck_assert(!reading.has_stall[HR_PSI_MEMORY]);
    ck_assert_int_eq(reading.memory.is_in_trouble, _i == 0);
    ck_assert_int_eq(reading.memory.room_pct == 0, _i == 0);
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

/* Pages that were reclaimed, since boot, as the machine was short of memory, and for limits. */
static void write_reclaimed(unsigned machine_pages, unsigned limit_pages, unsigned direct)
{
    tree_write(tree, "proc/vmstat",
               "oom_kill 7\nallocstall_normal %u\npgsteal_kswapd %u\npgsteal_direct 0\n"
               "pgsteal_anon %u\npgsteal_file 0\nworkingset_refault_file 0\n",
               direct, machine_pages, machine_pages + limit_pages);
}

/* From 500 pages of the machine, and none of limits, on. */
static const struct {
    unsigned machine_pages, limit_pages, direct;
    bool is_in_trouble;
} reclaimed[] = {
    {750, 1000, 3, false}, {751, 1000, 3, true}, {500, 32, 3, false},
    {500, 31, 3, true},    {750, 1000, 4, true}, {400, 0, 3, true},
};

/* Its pressure is that of all groups; what these lack by their own limits the machine has. */
START_TEST(memory_of_the_system_where_groups_are_at_their_limits)
{
    ck_assert_int_eq(hr_room_open(machine, NULL, HR_NS_PER_S, &source), 0);
    write_reclaimed(500, 0, 3);
    read_once();
    tree_write(tree, "proc/pressure/memory",
               "some avg10=0.00 avg60=0.00 avg300=0.00 total=1100000\n"
               "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    write_reclaimed(reclaimed[_i].machine_pages, reclaimed[_i].limit_pages, reclaimed[_i].direct);
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    ck_assert_double_eq_tol(reading.stall_pct[HR_PSI_MEMORY], 11, 1e-9);
    ck_assert_int_eq(reading.memory.is_in_trouble, reclaimed[_i].is_in_trouble);
    ck_assert_int_eq(reading.memory.room_pct == 0, reclaimed[_i].is_in_trouble);
}
END_TEST

/* It isn't known before the second reading, nor where the kernel doesn't count pages of limits. */
START_TEST(memory_of_the_system_where_it_isnt_known_what_it_waits_for)
{
    ck_assert_int_eq(hr_room_open(machine, NULL, HR_NS_PER_S, &source), 0);
    if (_i == 0)
        write_reclaimed(500, 1000, 3);
    for (int i = 0; i <= _i; i++) {
        tree_write(tree, "proc/pressure/memory",
                   "some avg10=10.00 avg60=0.00 avg300=0.00 total=%d\n"
                   "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
                   1100000 * i);
        frozen_ns += 10 * HR_NS_PER_S;
        read_once();
        ck_assert(reading.memory.is_in_trouble);
    }
}
END_TEST

/* --- CPU time ----------------------------------------------------------------------------- */

/* In 100 s the group used one CPU for 20 s, others for 60; it waited for 6.4 s of them:
 * B = 0.4, k = ln 0.064 / ln 0.4 = 3; at 40 % B* = 0.7368. */
static void run_100_s(void)
{
    read_once();
    ck_assert_int_eq(reading.cpu.status, -EAGAIN);
    room_tree_machine(tree, 50, 30, 0);
    write_cpu("p/q/a", 20000000, 1000, 0);
    write_cpu("p/q", 30000000, 1000, 0);
    write_cpu("p", 80000000, 1000, 100);
    tree_pressure(tree, "p/q/a", "cpu", 6400000, 0);
    frozen_ns += 100 * HR_NS_PER_S;
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

START_TEST(the_lowest_cpu_max)
{
    double cpus = 0;
    size_t level = 0;

    open_group("p/q/a");
    read_once();
    ck_assert_int_eq(hr_room_find_cpu_limit(source, &cpus, &level), -ENODATA);
    write_file("p", "cpu.max", "100000 100000\n");
    write_file("p/q", "cpu.max", "100000 200000\n");
    write_file("p/q/a", "cpu.max", "300000 100000\n");
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(hr_room_find_cpu_limit(source, &cpus, &level), 0);
    ck_assert_double_eq(cpus, 0.5);
    ck_assert_uint_eq(level, 1);
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
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -EAGAIN);
    write_cpu("p/q/a", 26000000, 1200, 180);
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    assert_cpu(0.3, 0.3, HR_ROOM_CPU_MAX, 0);
    ck_assert(reading.cpu.is_in_trouble);
}
END_TEST

/* Eight CPUs' time is summed, and both levels may have been throttled at the same time: it was 10 s
 * at most of the 16.4 for which the group waited. */
START_TEST(throttled_time_counts_once)
{
    write_file("p/q/a", "cpu.max", "200000 100000\n");
    write_file("p", "cpu.max", "200000 100000\n");
    write_cpu("p/q/a", 1, 0, 0);
    write_cpu("p", 1, 0, 0);
    open_group("p/q/a");
    read_once();
    room_tree_machine(tree, 50, 30, 0);
    room_tree_cpu(tree, "p/q/a", 20000001, 1000, 100, 60000000);
    room_tree_cpu(tree, "p", 20000001, 1000, 50, 40000000);
    tree_pressure(tree, "p/q/a", "cpu", 16400000, 0);
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    assert_cpu(0.2, 2 * 0.7368062997 - 0.6, HR_ROOM_MACHINE, 0);
    ck_assert(!reading.cpu.is_at_least);
}
END_TEST

/* The CPUs are busy for 80 % of the time; the group waits for 60 % of it, then for 20 %. */
START_TEST(trouble_lasts_as_long_as_there_is_no_room)
{
    unsigned stalled_ms = 0, without = 0;

    open_group("p/q/a");
    read_once();
    for (unsigned i = 1; i <= 90; i++) {
        stalled_ms += i <= 30 ? 6000 : 2000;
        room_tree_machine(tree, 8 * i, 8 * i, 4 * i);
        write_cpu("p/q/a", 1000000 * i, 0, 0);
        tree_pressure(tree, "p/q/a", "cpu", 1000ull * stalled_ms, 0);
        frozen_ns += 10 * HR_NS_PER_S;
        read_once();
        ck_assert_int_eq(reading.cpu.status, 0);
        ck_assert_int_eq(reading.cpu.is_in_trouble, reading.cpu.room_pct <= 0);
        without += i > 30 && reading.cpu.is_in_trouble;
    }
    ck_assert_uint_ge(without, 5);
    ck_assert(!reading.cpu.is_in_trouble);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* For 100 s it uses 0.6 of one CPU, which is all busy, and waits all the time; then nothing runs.
 * Whenever that begins, of the sums, its room only grows from then on. */
START_TEST(no_room_is_lost_once_a_load_is_over)
{
    const unsigned from = (unsigned)_i, to = from + 10;
    double room_pct = 0;

    open_group("p/q/a");
    read_once();
    for (unsigned i = 1; i <= to + 60; i++) {
        const unsigned loaded = i <= from ? 0 : i <= to ? i - from : to - from;
        room_tree_machine(tree, 10 * loaded, 0, 0);
        write_cpu("p/q/a", 6000000 * loaded, 0, 0);
        tree_pressure(tree, "p/q/a", "cpu", 10000000ull * loaded, 0);
        frozen_ns += 10 * HR_NS_PER_S;
        read_once();
        if (i <= from + 1)
            continue;
        ck_assert_int_eq(reading.cpu.status, 0);
        if (i <= to)
            ck_assert(reading.cpu.is_in_trouble);
        else
            ck_assert_msg(reading.cpu.room_pct >= room_pct, "%u s after it: %g %%, before %g %%",
                          10 * (i - to), reading.cpu.room_pct, room_pct);
        room_pct = reading.cpu.room_pct;
    }
    ck_assert_double_eq(room_pct, 100);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Soon after the start it waits all the time for 30 s, and uses half of one CPU, which is all busy;
 * then nothing runs. That was no load of minutes, of which the sums would be known: 20 s later
 * there is room. */
START_TEST(trouble_is_over_soon_after_the_start)
{
    const unsigned from = (unsigned)_i, to = from + 3;

    open_group("p/q/a");
    read_once();
    for (unsigned i = 1; i <= to + 30; i++) {
        const unsigned loaded = i <= from ? 0 : i <= to ? i - from : to - from;
        room_tree_machine(tree, 10 * loaded, 0, 0);
        write_cpu("p/q/a", 5000000 * loaded, 0, 0);
        tree_pressure(tree, "p/q/a", "cpu", 10000000ull * loaded, 0);
        frozen_ns += 10 * HR_NS_PER_S;
        read_once();
        if (i > from && i <= to)
            ck_assert(reading.cpu.is_in_trouble);
        if (i < to + 2)
            continue;
        ck_assert_int_eq(reading.cpu.status, 0);
        ck_assert_msg(!reading.cpu.is_in_trouble, "%u s after it", 10 * (i - to));
        ck_assert_double_ge(reading.cpu.room_pct, 50);
    }
    frozen_ns = BEGUN_NS;
}
END_TEST

/* As many intervals of 10 s since the start it waited all the time, and used half of one CPU, which
 * was all busy; in the others nothing ran. */
static void read_after_loads(unsigned loaded)
{
    room_tree_machine(tree, 10 * loaded, 0, 0);
    write_cpu("p/q/a", 5000000 * loaded, 0, 0);
    tree_pressure(tree, "p/q/a", "cpu", 10000000ull * loaded, 0);
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
}

/* The load of the first 130 s isn't in the sums, which began again after it: then one of 50 s would
 * be most of them. */
START_TEST(trouble_is_over_soon_after_the_sums_began_again)
{
    unsigned loaded = 0;

    open_group("p/q/a");
    read_once();
    for (unsigned i = 1; i <= 60; i++) {
        loaded += i <= 13 || (i > 16 && i <= 21);
        read_after_loads(loaded);
        if (i < 23)
            continue;
        ck_assert_msg(!reading.cpu.is_in_trouble, "%u s after it", 10 * (i - 21));
        ck_assert_double_ge(reading.cpu.room_pct, 50);
    }
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Half of each minute is loaded: in a few minutes the sums are of several loads, and there is no
 * room in between either. */
START_TEST(loads_that_come_again_leave_no_room)
{
    unsigned loaded = 0;

    open_group("p/q/a");
    read_once();
    for (unsigned i = 1; i <= 120; i++) {
        loaded += (i - 1) % 6 < 3;
        read_after_loads(loaded);
        if (i > 45)
            ck_assert_msg(reading.cpu.is_in_trouble, "in interval %u", i);
    }
    frozen_ns = BEGUN_NS;
}
END_TEST

/* For 150 s nothing of the limit's periods is throttled, for 100 s 30 %, then nothing runs: of what
 * is known of the past the share of these grows, but no trouble begins by that. */
START_TEST(no_trouble_begins_once_a_limit_throttles_no_more)
{
    const unsigned from = (unsigned)_i + 15, to = from + 10;
    bool was_in_trouble = true;

    write_file("p/q/a", "cpu.max", "50000 100000\n");
    open_group("p/q/a");
    read_once();
    for (unsigned i = 1; i <= to + 60; i++) {
        const unsigned ran = i <= (unsigned)_i ? 0 : i <= to ? i - (unsigned)_i : to - (unsigned)_i;
        const unsigned throttled = i <= from ? 0 : i <= to ? i - from : to - from;
        room_tree_machine(tree, 3 * ran, 0, 0);
        write_cpu("p/q/a", 2000000 * ran, 100 * ran, 30 * throttled);
        frozen_ns += 10 * HR_NS_PER_S;
        read_once();
        if (i > to)
            ck_assert_msg(was_in_trouble || !reading.cpu.is_in_trouble, "%u s after it",
                          10 * (i - to));
        was_in_trouble = i == to || reading.cpu.is_in_trouble;
    }
    ck_assert(!reading.cpu.is_in_trouble);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Both CPUs are always busy; the group waits for 45 and for 37 % of the intervals, by turns. */
START_TEST(trouble_lasts_where_cpus_are_always_busy)
{
    unsigned stalled_ms = 0;

    open_group("p/q/a");
    read_once();
    for (unsigned i = 1; i <= 60; i++) {
        stalled_ms += i % 2 == 1 ? 4500 : 3700;
        room_tree_machine(tree, 10 * i, 10 * i, 0);
        write_cpu("p/q/a", 1000000 * i, 0, 0);
        tree_pressure(tree, "p/q/a", "cpu", 1000ull * stalled_ms, 0);
        frozen_ns += 10 * HR_NS_PER_S;
        read_once();
        ck_assert_int_eq(reading.cpu.status, 0);
        ck_assert(reading.cpu.is_in_trouble);
        ck_assert_double_eq(reading.cpu.room_pct, 0);
    }
    /* once it waits less, nothing is known but that */
    for (unsigned i = 61; i <= 95; i++) {
        stalled_ms += 2000;
        room_tree_machine(tree, 10 * i, 10 * i, 0);
        tree_pressure(tree, "p/q/a", "cpu", 1000ull * stalled_ms, 0);
        frozen_ns += 10 * HR_NS_PER_S;
        read_once();
    }
    ck_assert_int_eq(reading.cpu.status, -EBUSY);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Of two CPUs that are always busy it isn't known how much a group could have below its limit. */
START_TEST(a_limit_on_a_machine_that_is_always_busy)
{
    write_file("p/q/a", "cpu.max", "100000 100000\n");
    write_cpu("p/q/a", 1, 0, 0);
    open_group("p/q/a");
    read_once();
    room_tree_machine(tree, 100, 100, 0);
    write_cpu("p/q/a", 20000001, 1000, 0);
    tree_pressure(tree, "p/q/a", "cpu", 20000000, 0);
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -EBUSY);
}
END_TEST

/* The room by CPU of a group that waits may be smaller than that by memory; of one that doesn't it
 * says nothing. */
START_TEST(the_tightest_where_cpus_are_always_busy)
{
    open_group("p/q/a");
    read_once();
    room_tree_machine(tree, 100, 100, 0);
    tree_pressure(tree, "p/q/a", "cpu", 500000, 0);
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -ENODATA);
    ck_assert_ptr_eq(hr_room_tightest(&reading), &reading.memory);
    room_tree_machine(tree, 200, 200, 0);
    tree_pressure(tree, "p/q/a", "cpu", 30500000, 0);
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -EBUSY);
    ck_assert_int_eq(reading.memory.status, 0);
    ck_assert_ptr_null(hr_room_tightest(&reading));
    /* less than none isn't possible */
    tree_pressure(tree, "p/q/a", "memory", 20000000, 0);
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    ck_assert_ptr_eq(hr_room_tightest(&reading), &reading.memory);
}
END_TEST

/* What is read at first is of another CPU, or limit, than what follows. */
static const struct {
    const char *file, *first, *then;
} changes[] = {
    {"cpuset.cpus.effective", "0\n", "1\n"},
    {"cpu.max", "150000 100000\n", "max 100000\n"},
};

START_TEST(sums_are_of_the_same_cpus_and_limits)
{
    write_file("p/q/a", changes[_i].file, changes[_i].first);
    write_cpu("p/q/a", 1, 0, 0);
    open_group("p/q/a");
    run_100_s();
    ck_assert_int_eq(reading.cpu.status, 0);
    write_file("p/q/a", changes[_i].file, changes[_i].then);
    room_tree_machine(tree, 80, 50, 0);
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -EAGAIN);
}
END_TEST

static void assert_limit_cpus(double cpus)
{
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert_double_eq_tol(reading.cpu.attainable, cpus, 0.001);
}

/* An interval of a minute, in each of which a controller sets another limit. */
START_TEST(a_limit_that_changes_with_each_reading)
{
    static const struct {
        const char *text;
        double cpus; /* the lower of this and the one before */
    } rows[] = {{"50000 100000\n", 0.5},
                {"150000 100000\n", 0.5},
                {"80000 100000\n", 0.8},
                {"160000 200000\n", 0.8},
                {"30000 100000\n", 0.3}};

    write_file("p/q/a", "cpu.max", "60000 100000\n");
    write_cpu("p/q/a", 1, 0, 0);
    open_group("p/q/a");
    read_once();
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        write_file("p/q/a", "cpu.max", rows[i].text);
        write_cpu("p/q/a", 6000000 * (i + 1), 600 * (i + 1), 0);
        room_tree_machine(tree, 6 * (i + 1), 6 * (i + 1), 0);
        frozen_ns += 61 * HR_NS_PER_S;
        read_once();
        assert_limit_cpus(rows[i].cpus);
    }
    frozen_ns = BEGUN_NS;
}
END_TEST

/* What was before the change counts no longer than until enough is known without it. */
START_TEST(a_limit_that_is_raised_once)
{
    write_file("p/q/a", "cpu.max", "50000 100000\n");
    write_cpu("p/q/a", 1, 0, 0);
    open_group("p/q/a");
    run_100_s();
    write_file("p/q/a", "cpu.max", "100000 100000\n");
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    assert_limit_cpus(0.5);
    for (unsigned i = 0; i < 2; i++) {
        frozen_ns += 10 * HR_NS_PER_S;
        read_once();
        assert_limit_cpus(0.5);
    }
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    assert_limit_cpus(1);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(a_limit_above_a_group_without_the_controller)
{
    write_cpu("p/q/a", 1, 0, 0);
    write_cpu("p", 1, 0, 0);
    write_file("p", "cpu.max", "100000 100000\n");
    tree_remove(tree, TREE_CGROUPS "/p/q/a/cpu.max");
    open_group("p/q/a");
    run_100_s();
    assert_cpu(0.2, 0.4, HR_ROOM_CPU_MAX, 2);
}
END_TEST

START_TEST(nothing_is_allocated_by_intervals)
{
    write_file("p", "memory.max", "419430400\n");
    write_file("p/q", "cpu.max", "100000 100000\n");
    open_group("p/q/a");
    for (int i = 0; i < 20; i++, frozen_ns += 10 * HR_NS_PER_S)
        read_once();
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 10000; i++, frozen_ns += 10 * HR_NS_PER_S)
        read_once();
    ck_assert_uint_eq(mallinfo2().uordblks, before);
    frozen_ns = BEGUN_NS; /* Check can't count to so many microseconds */
}
END_TEST

START_TEST(needs_twenty_seconds_unless_there_is_trouble)
{
    open_group("p/q/a");
    read_once();
    room_tree_machine(tree, 1, 1, 0);
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -EAGAIN);
    tree_pressure(tree, "p/q/a", "cpu", 4000001, 0);
    frozen_ns += 9 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert(reading.cpu.is_in_trouble);
    ck_assert_double_eq(reading.cpu.room_pct, 0);
}
END_TEST

/* --- Many levels ------------------------------------------------------------------------- */

#define DEEP_COUNT 12

/* The path of so many groups, one in the other. */
static const char *deep_path(unsigned count)
{
    static char path[2 * DEEP_COUNT];

    for (unsigned i = 0; i < count; i++) {
        path[2 * i] = (char)('a' + i);
        path[2 * i + 1] = i + 1 < count ? '/' : '\0';
    }
    return path;
}

static void add_deep_groups(void)
{
    for (unsigned i = 1; i <= DEEP_COUNT; i++)
        room_tree_add_group(tree, deep_path(i));
}

START_TEST(a_limit_far_above)
{
    add_deep_groups();
    write_file(deep_path(1), "memory.max", "157286400\n"); /* 150 MiB */
    write_file(deep_path(1), "cpu.max", "10000 100000\n");
    open_group(deep_path(DEEP_COUNT));
    read_once();
    assert_memory(120, 150, HR_ROOM_MEMORY_MAX, DEEP_COUNT - 1);
    room_tree_machine(tree, 5, 5, 0);
    write_cpu(deep_path(1), 1000000, 1000, 0);
    write_cpu(deep_path(DEEP_COUNT), 1000000, 1000, 0);
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    assert_cpu(0.01, 0.1, HR_ROOM_CPU_MAX, DEEP_COUNT - 1);
}
END_TEST

START_TEST(more_limits_than_are_followed)
{
    add_deep_groups();
    for (unsigned i = 1; i <= HR_ROOM_LIMITS + 1; i++) {
        write_file(deep_path(i), "memory.max", "157286400\n");
        write_file(deep_path(i), "cpu.max", "10000 100000\n");
    }
    open_group(deep_path(DEEP_COUNT));
    read_once();
    ck_assert_int_eq(reading.memory.status, -E2BIG);
    ck_assert_int_eq(reading.memory_limits_status, -E2BIG);
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -E2BIG);
    ck_assert_int_eq(reading.cpu_limits_status, -E2BIG);
    ck_assert_ptr_null(hr_room_tightest(&reading));
}
END_TEST

/* --- Trends ------------------------------------------------------------------------------- */

/* The group and another in p/q grow by a MiB a second each, after a minute in which neither did, up
 * to what p/q may have. */
START_TEST(siblings_that_grow_together)
{
    write_file("p/q", "memory.max", "419430400\n"); /* 400 MiB, 200 of them are used */
    open_group("p/q/a");
    for (unsigned i = 0; i < 60; i++, frozen_ns += HR_NS_PER_S)
        read_once();
    ck_assert(reading.outlook.is_known);
    ck_assert(!reading.outlook.is_trend);
    for (unsigned i = 1; i <= 60; i++, frozen_ns += HR_NS_PER_S) {
        room_tree_memory(tree, "p/q/a", 100 + i, 20);
        room_tree_memory(tree, "p/q", 200 + 2 * i, 20);
        read_once();
    }
    ck_assert(reading.outlook.is_trend);
    ck_assert_double_eq_tol(reading.outlook.trouble_s, 40, 2);
    ck_assert_double_eq_tol(reading.outlook.slope_per_s, 2. * MIB, MIB / 50.);
    assert_memory(180, 160 + 80, HR_ROOM_MEMORY_MAX, 1);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Another in p/q does, and takes what this one could have. */
START_TEST(a_sibling_that_grows)
{
    write_file("p/q", "memory.max", "419430400\n");
    open_group("p/q/a");
    for (unsigned i = 0; i < 60; i++, frozen_ns += HR_NS_PER_S)
        read_once();
    for (unsigned i = 1; i <= 60; i++, frozen_ns += HR_NS_PER_S) {
        room_tree_memory(tree, "p/q", 200 + 2 * i, 20);
        read_once();
    }
    ck_assert(reading.outlook.is_trend);
    ck_assert_double_eq_tol(reading.outlook.trouble_s, 40, 2);
    frozen_ns = BEGUN_NS;
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
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, -ENOENT);
    ck_assert_int_eq(reading.memory.status, 0);
}
END_TEST

/* It may be the tightest. */
static const struct {
    const char *group, *file;
} limit_files[] = {
    {"p/q/a", "memory.max"}, {"p", "memory.high"}, {"p/q", "memory.swap.max"},
    {"p/q/a", "cpu.max"},    {"p", "cpu.max"},
};

START_TEST(a_limit_that_cant_be_read)
{
    const bool is_cpu = _i >= 3;

    open_group("p/q/a");
    run_100_s();
    write_file(limit_files[_i].group, limit_files[_i].file, "x\n");
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.memory.status, is_cpu ? 0 : -EBADMSG);
    ck_assert_int_eq(reading.memory_limits_status, is_cpu ? 0 : -EBADMSG);
    ck_assert_int_eq(reading.cpu.status, is_cpu ? -EBADMSG : 0);
    ck_assert_int_eq(reading.cpu_limits_status, is_cpu ? -EBADMSG : 0);
    /* what is measured is */
    tree_pressure(tree, "p/q/a", "cpu", 10400001, 0);
    frozen_ns += 10 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert(reading.cpu.is_in_trouble);
    write_file(limit_files[_i].group, limit_files[_i].file, is_cpu ? "max 100000\n" : "max\n");
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.memory.status, 0);
    ck_assert_int_eq(reading.cpu_limits_status, 0);
}
END_TEST

static const char *const machine_files[] = {"proc/stat", "proc/meminfo"};

START_TEST(without_a_file_of_the_machine)
{
    open_group("p/q/a");
    read_once();
    tree_remove(tree, machine_files[_i]);
    frozen_ns += 100 * HR_NS_PER_S;
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
    frozen_ns += 100 * HR_NS_PER_S;
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
    tcase_add_test(tests, a_working_set_tells_the_need);
    tcase_add_test(tests, the_limit_of_a_grandparent_binds);
    tcase_add_test(tests, swap_space_counts_as_far_as_it_may_be_used);
    tcase_add_test(tests, memory_that_stalls_leaves_no_room);
    tcase_add_test(tests, all_files_are_needed_where_they_are_read_again);
    tcase_add_loop_test(tests, memory_that_stalled_before_the_first_reading, 0, 2);
    tcase_add_test(tests, memory_of_the_system);
    tcase_add_loop_test(tests, memory_of_the_system_where_groups_are_at_their_limits, 0,
                        sizeof(reclaimed) / sizeof(*reclaimed));
    tcase_add_loop_test(tests, memory_of_the_system_where_it_isnt_known_what_it_waits_for, 0, 2);
    tcase_add_test(tests, cpu_of_the_machine);
    tcase_add_test(tests, cpu_max_of_a_grandparent);
    tcase_add_test(tests, the_lowest_cpu_max);
    tcase_add_test(tests, cpus_that_the_group_may_not_use_dont_count);
    tcase_add_test(tests, a_limit_that_is_set_while_it_runs);
    tcase_add_test(tests, throttled_time_counts_once);
    tcase_add_test(tests, trouble_lasts_as_long_as_there_is_no_room);
    tcase_add_loop_test(tests, no_room_is_lost_once_a_load_is_over, 2, 40);
    tcase_add_loop_test(tests, trouble_is_over_soon_after_the_start, 0, 12);
    tcase_add_test(tests, trouble_is_over_soon_after_the_sums_began_again);
    tcase_add_test(tests, loads_that_come_again_leave_no_room);
    tcase_add_loop_test(tests, no_trouble_begins_once_a_limit_throttles_no_more, 2, 30);
    tcase_add_test(tests, trouble_lasts_where_cpus_are_always_busy);
    tcase_add_test(tests, a_limit_on_a_machine_that_is_always_busy);
    tcase_add_test(tests, the_tightest_where_cpus_are_always_busy);
    tcase_add_loop_test(tests, sums_are_of_the_same_cpus_and_limits, 0, 2);
    tcase_add_test(tests, a_limit_that_changes_with_each_reading);
    tcase_add_test(tests, a_limit_that_is_raised_once);
    tcase_add_test(tests, a_limit_above_a_group_without_the_controller);
    tcase_add_test(tests, nothing_is_allocated_by_intervals);
    tcase_add_test(tests, a_limit_far_above);
    tcase_add_test(tests, more_limits_than_are_followed);
    tcase_add_test(tests, siblings_that_grow_together);
    tcase_add_test(tests, a_sibling_that_grows);
    tcase_add_loop_test(tests, a_limit_that_cant_be_read, 0, 5);
    tcase_add_test(tests, needs_twenty_seconds_unless_there_is_trouble);
    tcase_add_test(tests, without_the_memory_controller);
    tcase_add_test(tests, without_the_cpu_controller);
    tcase_add_test(tests, without_pressure);
    tcase_add_loop_test(tests, without_a_file_of_the_machine, 0, 2);
    tcase_add_loop_test(tests, without_a_file_of_the_group, 0, 3);
    return run_suite("source", tests);
}
