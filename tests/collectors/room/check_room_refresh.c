/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_room_refresh.c - limits that are read again: what is kept when they can't
 * be, when that is over, and how the work is spread over intervals.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/room.h"
#include "headroom/root.h"
#include "support/frozen_clock.h"
#include "support/room_tree.h"
#include "support/suite.h"

/* What the clock says when a test begins. */
#define BEGUN_NS    (1000 * HR_NS_PER_S)
#define GROUP_COUNT 60

static const struct hr_room_lines lines = {{40, 10, 40, 101}};

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_room_machine *machine;
static struct hr_room_source *sources[GROUP_COUNT];
static size_t source_count;
static struct hr_room_reading reading;

static void set_up(void)
{
    frozen_ns = BEGUN_NS;
    source_count = 0;
    tree = tree_new();
    room_tree_machine(tree, 0, 0, 0);
    tree_write(tree, TREE_CGROUPS "/cpuset.cpus.effective", "0-1\n");
    room_tree_add_group(tree, "p");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
}

static void tear_down(void)
{
    frozen_ns = 0;
    for (size_t i = 0; i < source_count; i++)
        hr_room_close(sources[i]);
    hr_room_machine_close(machine);
    hr_cgroup_set_close(set);
    set = NULL;
    hr_root_close(root);
    tree_free(tree);
}

static void open_groups(const char *pattern)
{
    const struct hr_cgroup_options options = {.patterns = &pattern, .pattern_count = 1};
    struct hr_cgroup *group = NULL;

    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    while ((group = hr_cgroup_set_next(set, group)) != NULL)
        ck_assert_int_eq(hr_room_open(machine, group, HR_NS_PER_S, &sources[source_count++]), 0);
    ck_assert_uint_ge(source_count, 1);
}

static void read_once(void)
{
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(sources[0], &lines, &reading), 0);
}

/* The machine's files are read before descriptors run out. */
static void read_without_descriptors(void)
{
    struct rlimit limit, none;

    hr_room_machine_read(machine);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    int status = hr_room_read(sources[0], &lines, &reading);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(status, 0);
}

/* --- Transient failures ------------------------------------------------------------------ */

/* So that its trend is known. */
static void read_for_a_minute(void)
{
    for (unsigned i = 0; i < 60; i++, frozen_ns += HR_NS_PER_S)
        read_once();
    ck_assert(reading.outlook.is_known);
}

START_TEST(a_lack_of_descriptors_forgets_nothing)
{
    room_tree_write(tree, "p", "memory.max", "157286400\n"); /* 150 MiB */
    room_tree_write(tree, "p", "cpuset.cpus.effective", "1\n");
    open_groups("p");
    read_for_a_minute();
    for (unsigned i = 0; i < 60; i++, frozen_ns += HR_NS_PER_S)
        read_without_descriptors();
    ck_assert_int_eq(reading.limits_status, -EMFILE);
    ck_assert_int_eq(reading.memory.status, 0);
    ck_assert_double_eq(reading.memory.attainable, 150. * MIB);
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert_double_eq(reading.cpu.limit, 1);
    ck_assert(reading.outlook.is_known);
    /* it is tried again at once */
    room_tree_write(tree, "p", "memory.max", "209715200\n");
    frozen_ns += HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.limits_status, 0);
    ck_assert_double_eq(reading.memory.attainable, 200. * MIB);
    ck_assert(reading.outlook.is_known);
    frozen_ns = BEGUN_NS; /* Check can't count to so many microseconds */
}
END_TEST

START_TEST(what_was_known_long_ago_isnt_any_more)
{
    open_groups("p");
    read_for_a_minute();
    for (unsigned i = 0; i < 53; i++) {
        frozen_ns += 10 * HR_NS_PER_S;
        read_without_descriptors();
        ck_assert_int_eq(reading.memory.status, 0);
        ck_assert_int_eq(reading.cpu.status, 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        frozen_ns += 10 * HR_NS_PER_S;
        read_without_descriptors();
    }
    ck_assert_int_eq(reading.memory.status, -EMFILE);
    ck_assert_int_eq(reading.memory_limits_status, -EMFILE);
    ck_assert_int_eq(reading.cpu_limits_status, -EMFILE);
    frozen_ns += HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.memory.status, 0);
    ck_assert_int_eq(reading.cpu_limits_status, 0);
    ck_assert_int_eq(reading.cpu.status, 0); /* the sums went on */
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(a_lack_of_descriptors_from_the_beginning)
{
    open_groups("p");
    read_without_descriptors();
    ck_assert_int_eq(reading.memory.status, -EMFILE);
    ck_assert_int_eq(reading.cpu_limits_status, -EMFILE);
    frozen_ns += HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.limits_status, 0);
    ck_assert_int_eq(reading.memory.status, 0);
    ck_assert_int_eq(reading.cpu_limits_status, 0);
}
END_TEST

/* --- Groups in version 1 ------------------------------------------------------------------ */

static void add_directory_of_version_1(const char *limit)
{
    tree_write(tree, "memory/p/cgroup.procs", "7\n");
    tree_write(tree, "memory/p/memory.limit_in_bytes", "%s", limit);
    tree_write(tree, "memory/p/memory.usage_in_bytes", "120\n");
    tree_write(tree, "memory/p/memory.memsw.usage_in_bytes", "120\n");
    tree_write(tree, "memory/p/memory.stat",
               "total_cache 0\ntotal_rss 100\ntotal_inactive_file 0\ntotal_active_file 0\n"
               "total_unevictable 0\n");
}

static void add_version_1(const char *first_process)
{
    tree_write(tree, "proc/1/mounts",
               "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\ncgroup /memory cgroup rw,memory 0 0\n");
    tree_remove(tree, TREE_CGROUPS "/p/memory.max");
    room_tree_write(tree, "p", "cgroup.procs", first_process);
    tree_write(tree, "proc/7/cgroup", "3:memory:/p\n0::/p\n");
    tree_write(tree, "memory/cgroup.procs", "1\n");
    add_directory_of_version_1("157286400\n");
}

static void expect_after(unsigned seconds, int limits_status, int memory_status)
{
    frozen_ns += seconds * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.limits_status, limits_status);
    ck_assert_int_eq(reading.memory.status, memory_status);
}

START_TEST(a_group_of_version_1)
{
    add_version_1("7\n");
    open_groups("p");
    read_once();
    ck_assert_int_eq(reading.memory.status, 0);
    /* descriptors are short while its mount is looked for */
    frozen_ns += 61 * HR_NS_PER_S;
    read_without_descriptors();
    ck_assert_int_eq(reading.limits_status, -EMFILE);
    ck_assert_int_eq(reading.memory.status, 0);
    /* its first process has just ended */
    room_tree_write(tree, "p", "cgroup.procs", "8\n");
    expect_after(1, -EAGAIN, 0);
    room_tree_write(tree, "p", "cgroup.procs", "7\n");
    expect_after(1, 0, 0);
}
END_TEST

/* While it does, version 1 has it in the root cgroup. */
START_TEST(the_first_process_of_a_group_of_version_1_ends)
{
    struct tree_process process = {.pid = 7, .name = "ends", .state = 'R', .flags = 0x40044c};

    add_version_1("7\n");
    open_groups("p");
    read_once();
    tree_write(tree, "proc/7/cgroup", "3:memory:/\n0::/p\n");
    tree_add_process(tree, &process);
    expect_after(61, -EAGAIN, 0);
    /* one that goes on is elsewhere */
    process.flags = 0x400000;
    tree_add_process(tree, &process);
    expect_after(1, 0, -EXDEV);
}
END_TEST

START_TEST(the_last_process_of_a_group_of_version_1_has_ended)
{
    struct tree_process process = {.pid = 7, .name = "ends", .state = 'Z', .flags = 0x40044c};

    add_version_1("7\n");
    open_groups("p");
    read_once();
    tree_add_process(tree, &process);
    room_tree_write(tree, "p", "cgroup.procs", "");
    expect_after(61, -EAGAIN, 0);
    /* its parent has waited for it */
    tree_write(tree, "memory/p/cgroup.procs", "%s", "");
    expect_after(1, 0, 0);
}
END_TEST

/* As by a manager of version 1, which moves its processes into the new one. */
START_TEST(a_group_of_version_1_that_is_made_again)
{
    add_version_1("7\n");
    open_groups("p");
    read_for_a_minute();
    tree_rename(tree, "memory/p", "memory/before");
    add_directory_of_version_1("52428800\n");
    expect_after(61, 0, 0);
    ck_assert_double_eq(reading.memory.limit, 52428800);
    ck_assert(!reading.outlook.is_known);
}
END_TEST

/* All groups of an interval get by with what the first of them has found. */
START_TEST(where_version_1_is_is_looked_for_once_an_interval)
{
    add_version_1("7\n");
    open_groups("p");
    ck_assert_int_eq(
        hr_room_open(machine, hr_cgroup_set_next(set, NULL), HR_NS_PER_S, &sources[source_count++]),
        0);
    read_once();
    tree_write(tree, "proc/1/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
    ck_assert_int_eq(hr_room_read(sources[1], &lines, &reading), 0);
    ck_assert_int_eq(reading.memory.status, 0);
    frozen_ns += 61 * HR_NS_PER_S;
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(sources[1], &lines, &reading), 0);
    ck_assert_int_eq(reading.memory.status, -ENOENT);
}
END_TEST

/* --- CPUs ----------------------------------------------------------------------------------- */

static void run_100_s(void)
{
    room_tree_machine(tree, 50, 30, 0);
    room_tree_cpu(tree, "p", 20000001, 0, 0, 0);
    tree_pressure(tree, "p", "cpu", 6400000, 0);
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
}

static const struct {
    const char *text;
    int status;
} unknown_cpus[] = {{"x\n", -EBADMSG}, {"\n", -ENXIO}};

/* All CPUs would be more than the group has. */
START_TEST(cpus_that_arent_known)
{
    room_tree_cpu(tree, "p", 1, 0, 0, 0);
    room_tree_write(tree, "p", "cpuset.cpus.effective", unknown_cpus[_i].text);
    open_groups("p");
    read_once();
    run_100_s();
    ck_assert_int_eq(reading.cpu.status, unknown_cpus[_i].status);
    ck_assert_int_eq(reading.cpu_limits_status, unknown_cpus[_i].status);
    ck_assert_int_eq(reading.memory.status, 0);
    room_tree_write(tree, "p", "cpuset.cpus.effective", "1\n");
    frozen_ns += 61 * HR_NS_PER_S;
    read_once();
    frozen_ns += 100 * HR_NS_PER_S;
    read_once();
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert_double_eq(reading.cpu.limit, 1);
}
END_TEST

START_TEST(without_the_controller_all_cpus_count)
{
    room_tree_cpu(tree, "p", 1, 0, 0, 0);
    tree_remove(tree, TREE_CGROUPS "/cpuset.cpus.effective");
    open_groups("p");
    read_once();
    run_100_s();
    ck_assert_int_eq(reading.cpu.status, 0);
    ck_assert_double_eq(reading.cpu.limit, 2);
}
END_TEST

/* --- Many groups ----------------------------------------------------------------------------- */

static size_t count_with_limit(double limit)
{
    size_t count = 0;

    hr_room_machine_read(machine);
    for (size_t i = 0; i < source_count; i++) {
        ck_assert_int_eq(hr_room_read(sources[i], &lines, &reading), 0);
        count += reading.memory.status == 0 && reading.memory.limit == limit;
    }
    return count;
}

static void limit_all(const char *bytes)
{
    char path[32];

    for (unsigned i = 0; i < GROUP_COUNT; i++) {
        snprintf(path, sizeof(path), "p/g%u", i);
        room_tree_write(tree, path, "memory.max", bytes);
    }
}

START_TEST(limits_are_read_again_by_turns)
{
    char path[32];

    for (unsigned i = 0; i < GROUP_COUNT; i++) {
        snprintf(path, sizeof(path), "p/g%u", i);
        room_tree_add_group(tree, path);
    }
    limit_all("157286400\n"); /* 150 MiB */
    open_groups("p/*");
    ck_assert_uint_eq(source_count, GROUP_COUNT);
    ck_assert_uint_eq(count_with_limit(150. * MIB), GROUP_COUNT);
    for (unsigned minute = 0; minute < 3; minute++) {
        limit_all(minute % 2 == 0 ? "209715200\n" : "157286400\n");
        size_t before = 0;
        for (unsigned i = 0; i < 6; i++) {
            frozen_ns += 10 * HR_NS_PER_S;
            const size_t now = count_with_limit((minute % 2 == 0 ? 200. : 150.) * MIB);
            ck_assert_uint_ge(now - before, GROUP_COUNT / 6 - 3);
            ck_assert_uint_le(now - before, GROUP_COUNT / 6 + 3);
            before = now;
        }
        ck_assert_uint_eq(before, GROUP_COUNT);
    }
    frozen_ns = BEGUN_NS;
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("refresh");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_lack_of_descriptors_forgets_nothing);
    tcase_add_test(tests, what_was_known_long_ago_isnt_any_more);
    tcase_add_test(tests, a_lack_of_descriptors_from_the_beginning);
    tcase_add_test(tests, a_group_of_version_1);
    tcase_add_test(tests, the_first_process_of_a_group_of_version_1_ends);
    tcase_add_test(tests, the_last_process_of_a_group_of_version_1_has_ended);
    tcase_add_test(tests, a_group_of_version_1_that_is_made_again);
    tcase_add_test(tests, where_version_1_is_is_looked_for_once_an_interval);
    tcase_add_loop_test(tests, cpus_that_arent_known, 0, 2);
    tcase_add_test(tests, without_the_controller_all_cpus_count);
    tcase_add_test(tests, limits_are_read_again_by_turns);
    return run_suite("refresh", tests);
}
