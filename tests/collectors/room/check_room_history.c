/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_room_history.c - what forecasts know, saved and restored: they go on as if
 * there had been no restart; and what isn't theirs is refused.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/hash.h"
#include "headroom/room.h"
#include "headroom/room_history.h"
#include "headroom/root.h"
#include "support/frozen_clock.h"
#include "support/one_group.h"
#include "support/room_tree.h"
#include "support/suite.h"

/* What the clock says when a test begins. */
#define BEGUN_NS (1000 * HR_NS_PER_S)

#define POINT_NS HR_NS_PER_S

static const struct hr_room_lines lines = {{40, 10, 40, 101}};

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_room_machine *machine;
static struct hr_room_source *system_source, *source;
static struct hr_room_reading reading;

static char *bytes;
static size_t length, count;
static uint64_t age_ns;

/* --- The machine -------------------------------------------------------------------- */

static void open_group(const char *path)
{
    const struct hr_cgroup *group = one_group_open(root, path, &set);

    ck_assert_int_eq(hr_room_open(machine, NULL, POINT_NS, &system_source), 0);
    ck_assert_int_eq(hr_room_open(machine, group, POINT_NS, &source), 0);
}

static void close_all(void)
{
    hr_room_close(source);
    hr_room_close(system_source);
    source = system_source = NULL;
    hr_room_machine_close(machine);
    machine = NULL;
    hr_cgroup_set_close(set);
    set = NULL;
}

static void set_up(void)
{
    frozen_ns = BEGUN_NS;
    tree = tree_new();
    room_tree_machine(tree, 0, 0, 0);
    tree_write(tree, "proc/vmstat", "oom_kill 7\n");
    room_tree_add_group(tree, "p");
    room_tree_add_group(tree, "p/a");
    room_tree_write(tree, "p/a", "memory.max", "262144000\n"); /* 250 MiB */
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
    bytes = NULL;
}

static void tear_down(void)
{
    frozen_ns = 0;
    close_all();
    hr_root_close(root);
    tree_free(tree);
    free(bytes);
}

static void read_once(void)
{
    hr_room_machine_read(machine);
    ck_assert_int_eq(hr_room_read(source, &lines, &reading), 0);
}

/* A minute without a change, and so many seconds in which the group grows by a MiB each. */
static void grow(unsigned seconds)
{
    for (unsigned i = 0; i < 60; i++, frozen_ns += HR_NS_PER_S)
        read_once();
    for (unsigned i = 1; i <= seconds; i++, frozen_ns += HR_NS_PER_S) {
        room_tree_memory(tree, "p/a", 100 + i, 20);
        read_once();
    }
}

static void save(void)
{
    free(bytes);
    ck_assert_int_eq(hr_room_history_save(machine, POINT_NS, &bytes, &length), 0);
}

static int restore(void)
{
    close_all();
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
    return hr_room_history_restore(machine, bytes, length, POINT_NS, &age_ns, &count);
}

/* --- Going on ----------------------------------------------------------------------- */

/* A MiB a second, from 160 on, of 250: what is said just after the restart differs by the second
 * that passed only. */
START_TEST(a_trend_goes_on)
{
    open_group("p/a");
    grow(60);
    ck_assert(reading.outlook.is_trend);
    const struct hr_outlook before = reading.outlook;
    save();
    frozen_ns += HR_NS_PER_S;
    ck_assert_int_eq(restore(), 0);
    ck_assert_uint_eq(count, 2); /* the machine and p/a */
    ck_assert_uint_eq(age_ns, 2 * HR_NS_PER_S);
    open_group("p/a");
    room_tree_memory(tree, "p/a", 162, 20);
    read_once();
    ck_assert(reading.outlook.is_trend);
    ck_assert_double_eq_tol(reading.outlook.slope_per_s, before.slope_per_s, MIB / 50.);
    ck_assert_double_eq_tol(reading.outlook.trouble_s, before.trouble_s - 2, 1.5);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(without_it_nothing_is_known)
{
    open_group("p/a");
    grow(60);
    close_all();
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
    open_group("p/a");
    read_once();
    ck_assert(!reading.outlook.is_known);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Of the time in which collectd didn't run nothing is known: with too much of it in the shortest
 * window there is no trend. */
START_TEST(a_long_pause_is_a_gap)
{
    open_group("p/a");
    grow(60);
    save();
    frozen_ns += 25 * HR_NS_PER_S;
    ck_assert_int_eq(restore(), 0);
    open_group("p/a");
    read_once();
    ck_assert(!reading.outlook.is_trend);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(a_group_that_was_made_again_begins_again)
{
    open_group("p/a");
    grow(60);
    save();
    tree_remove(tree, TREE_CGROUPS "/p/a");
    tree_write(tree, TREE_CGROUPS "/p/taken", "\n"); /* or the next gets the inode */
    room_tree_add_group(tree, "p/a");
    ck_assert_int_eq(restore(), 0);
    open_group("p/a");
    read_once();
    ck_assert(!reading.outlook.is_known);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* As collectd may be stopped again before it has read anything; it doesn't get any younger. */
START_TEST(what_was_not_taken_is_saved_again)
{
    open_group("p/a");
    grow(60);
    save();
    frozen_ns += HR_NS_PER_S;
    ck_assert_int_eq(restore(), 0);
    save();
    frozen_ns += HR_NS_PER_S;
    ck_assert_int_eq(restore(), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(age_ns, 3 * HR_NS_PER_S); /* grow() ends one after its last reading */
    open_group("p/a");
    read_once();
    ck_assert(reading.outlook.is_trend);
    save();
    ck_assert_int_eq(restore(), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(age_ns, 0);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(nothing_is_saved_before_a_reading)
{
    ck_assert_int_eq(hr_room_history_save(machine, POINT_NS, &bytes, &length), -ENODATA);
}
END_TEST

START_TEST(what_was_not_taken_expires)
{
    open_group("p/a");
    grow(60);
    save();
    ck_assert_int_eq(restore(), 0);
    frozen_ns += 601 * HR_NS_PER_S;
    hr_room_machine_read(machine);
    save();
    ck_assert_int_eq(restore(), 0);
    ck_assert_uint_eq(count, 0);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* As the plugin does, of an interval of a second; a group has them without the memory controller,
 * too. */
static void add_stalls(double limit_pct)
{
    const double pct[HR_STALL_PART_COUNT] = {[HR_STALL_BY_LIMIT] = limit_pct};

    tree_pressure(tree, "p/a", "cpu", 0, 0);
    read_once();
    frozen_ns += HR_NS_PER_S;
    read_once();
    hr_room_add_stalls(source, HR_PSI_CPU, pct);
}

static double find_stalls(void)
{
    double pct[HR_STALL_PART_COUNT];
    struct hr_stall_hour hour;
    uint64_t time_ns;

    ck_assert_int_eq(hr_room_history_find_stalls(source, bytes, length, &hour, &time_ns), 0);
    hr_stall_hour_sum(&hour, time_ns, HR_PSI_CPU, pct);
    return pct[HR_STALL_BY_LIMIT];
}

START_TEST(stalls_go_on)
{
    tree_remove(tree, TREE_CGROUPS "/p/a/memory.max");
    open_group("p/a");
    add_stalls(30);
    save();
    ck_assert_double_eq(find_stalls(), 30);
    ck_assert_int_eq(restore(), 0);
    ck_assert_uint_eq(count, 1); /* the machine's forecast */
    open_group("p/a");
    add_stalls(10);
    save();
    ck_assert_double_eq(find_stalls(), 20);
    ck_assert_int_eq(restore(), 0);
    save();
    open_group("p/a"); /* which has not read anything */
    read_once();
    ck_assert_double_eq(find_stalls(), 20);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Groups are read one after another: what the last were stalled for may be added once the next five
 * minutes have begun. */
START_TEST(stalls_that_are_added_late)
{
    const uint64_t part_ns = 300 * HR_NS_PER_S;
    const double pct[HR_STALL_PART_COUNT] = {[HR_STALL_BY_LIMIT] = 30};

    open_group("p/a");
    frozen_ns += part_ns - frozen_ns % part_ns - HR_NS_PER_S - 1;
    tree_pressure(tree, "p/a", "cpu", 0, 0);
    read_once();
    frozen_ns += HR_NS_PER_S;
    read_once();
    frozen_ns++;
    hr_room_add_stalls(source, HR_PSI_CPU, pct);
    save();
    ck_assert_double_eq(find_stalls(), 30);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* --- For others to look at ------------------------------------------------------------ */

/* From 60 s on by a MiB a second; the last point is of the second before. */
START_TEST(is_found_without_going_on)
{
    float points[HR_FORECAST_POINTS];
    struct hr_forecast forecast;
    struct hr_outlook outlook;
    uint64_t time_ns;

    open_group("p/a");
    grow(60);
    const struct hr_outlook before = reading.outlook;
    const double limit = reading.memory.attainable;
    save();
    frozen_ns += 300 * HR_NS_PER_S;
    close_all();
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
    open_group("p/a");
    read_once();
    ck_assert_int_eq(hr_room_history_find(source, bytes, length, &forecast, &time_ns), 0);
    ck_assert_uint_eq(time_ns, BEGUN_NS + 119 * HR_NS_PER_S);
    hr_forecast_copy_points(&forecast.windows[0], points);
    ck_assert_double_eq((double)points[HR_FORECAST_POINTS - 1], 159.0 * MIB);
    ck_assert_double_eq((double)points[0], 130.0 * MIB);
    ck_assert_double_eq(hr_forecast_highest(&forecast), 160.0 * MIB);
    hr_forecast_update(&forecast, time_ns, NAN, limit, &outlook);
    ck_assert(outlook.is_trend);
    ck_assert_double_eq(outlook.trouble_s, before.trouble_s);
    ck_assert_double_eq(outlook.slope_per_s, before.slope_per_s);
    ck_assert_double_eq(hr_forecast_highest(&forecast), 160.0 * MIB);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* The second window has points of six seconds, of which only some are known. */
START_TEST(unknown_points_are_the_oldest)
{
    float points[HR_FORECAST_POINTS];
    struct hr_forecast forecast;
    uint64_t time_ns;
    size_t unknown = 0;

    open_group("p/a");
    grow(1);
    save();
    read_once();
    ck_assert_int_eq(hr_room_history_find(system_source, bytes, length, &forecast, &time_ns), 0);
    hr_forecast_copy_points(&forecast.windows[1], points);
    while (unknown < HR_FORECAST_POINTS && isnan(points[unknown]))
        unknown++;
    ck_assert_uint_eq(unknown, HR_FORECAST_POINTS - forecast.windows[1].point_count);
    for (size_t i = unknown; i < HR_FORECAST_POINTS; i++)
        ck_assert(points[i] > 0);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(is_not_found)
{
    struct hr_forecast forecast;
    uint64_t time_ns;

    open_group("p/a");
    grow(1);
    save();
    close_all();
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
    open_group("p");
    read_once();
    ck_assert_int_eq(hr_room_history_find(source, bytes, length, &forecast, &time_ns), -ENODATA);
    ck_assert_int_eq(hr_room_history_find(source, bytes, 7, &forecast, &time_ns), -EBADMSG);
    bytes[0] ^= 1;
    ck_assert_int_eq(hr_room_history_find(source, bytes, length, &forecast, &time_ns), -ESTALE);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* --- What is refused ------------------------------------------------------------------ */

/* Where the hash of all that follows it is, and the first record's length of a point. */
#define HASH_AT        44
#define FIRST_POINT_AT 88

/* Of eight bytes that say what it is, 36 that say which boot. */
static const struct {
    size_t at;
    int status;
} changes[] = {
    {0, -ESTALE}, {8, -ESTALE}, {43, -ESTALE}, {44, -EBADMSG}, {48, -EBADMSG}, {200, -EBADMSG},
};

START_TEST(a_byte_that_is_another)
{
    open_group("p/a");
    grow(1);
    save();
    ck_assert_uint_gt(length, 1000);
    bytes[changes[_i].at] ^= 1;
    ck_assert_int_eq(restore(), changes[_i].status);
    open_group("p/a");
    read_once();
    ck_assert(!reading.outlook.is_known);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(what_is_cut)
{
    open_group("p/a");
    grow(1);
    save();
    for (; length > 0; length -= length < 100 ? 1 : 97) {
        ck_assert_int_eq(
            hr_room_history_restore(machine, bytes, length - 1, POINT_NS, &age_ns, &count),
            -EBADMSG);
    }
    frozen_ns = BEGUN_NS;
}
END_TEST

/* What the hash doesn't find is left out: here, the machine's. */
START_TEST(a_record_that_can_not_be)
{
    uint32_t hash = HR_HASH_EMPTY;

    open_group("p/a");
    grow(60);
    save();
    bytes[FIRST_POINT_AT] ^= 1;
    for (size_t i = HASH_AT + sizeof(hash); i < length; i++)
        hash = hr_hash_number(hash, (unsigned char)bytes[i]);
    memcpy(bytes + HASH_AT, &hash, sizeof(hash));
    ck_assert_int_eq(restore(), 0);
    ck_assert_uint_eq(count, 1);
    open_group("p/a");
    read_once();
    ck_assert(reading.outlook.is_trend);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(of_another_interval)
{
    open_group("p/a");
    grow(1);
    save();
    ck_assert_int_eq(hr_room_history_restore(machine, bytes, length, 2 * POINT_NS, &age_ns, &count),
                     -ESTALE);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* It can't be of this boot, whatever it says. */
START_TEST(of_the_future)
{
    open_group("p/a");
    grow(1);
    save();
    frozen_ns = BEGUN_NS;
    ck_assert_int_eq(restore(), -EBADMSG);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("room_history");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_trend_goes_on);
    tcase_add_test(tests, without_it_nothing_is_known);
    tcase_add_test(tests, a_long_pause_is_a_gap);
    tcase_add_test(tests, a_group_that_was_made_again_begins_again);
    tcase_add_test(tests, what_was_not_taken_is_saved_again);
    tcase_add_test(tests, stalls_go_on);
    tcase_add_test(tests, stalls_that_are_added_late);
    tcase_add_test(tests, nothing_is_saved_before_a_reading);
    tcase_add_test(tests, what_was_not_taken_expires);
    tcase_add_test(tests, is_found_without_going_on);
    tcase_add_test(tests, unknown_points_are_the_oldest);
    tcase_add_test(tests, is_not_found);
    tcase_add_loop_test(tests, a_byte_that_is_another, 0, sizeof(changes) / sizeof(*changes));
    tcase_add_test(tests, what_is_cut);
    tcase_add_test(tests, a_record_that_can_not_be);
    tcase_add_test(tests, of_another_interval);
    tcase_add_test(tests, of_the_future);
    return run_suite("room_history", tests);
}
