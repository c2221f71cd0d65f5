/* SPDX-License-Identifier: MIT */
/*
 * plugin/headroom/check_plugin_headroom_history.c - over restarts the plugin goes on with what
 * forecasts know, as far as its state file can be used.
 */
#include "plugin/headroom/headroom_harness.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/room.h"
#include "headroom/room_history.h"
#include "headroom/root.h"
#include "headroom/state_file.h"
#include "support/one_group.h"
#include "support/suite.h"

#define STATE "headroom-history.state"

static void set_up(void)
{
    headroom_set_up();
    room_tree_write(tree, "a", "memory.max", "209715200\n"); /* 200 MiB */
}

static void stop(void)
{
    ck_assert_int_eq(fake_shutdown(), 0);
    fake_stop();
}

static void start(const char *options)
{
    fake_start(harness_plugin);
    fake_set_base_dir(tree_path(tree));
    harness_begin(options);
}

/* A MiB in 20 s, from 100 MiB on, after a quarter of an hour without. */
static void grow(void)
{
    for (unsigned i = 0; i < 100; i++)
        headroom_pass(10);
    for (unsigned i = 1; i <= 110; i++) {
        room_tree_memory(tree, "a", 100 + i / 2, 0);
        headroom_pass(10);
    }
}

static const char *state_path(void)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/" STATE, tree_path(tree));
    return path;
}

/* Starts the plugin from a folder of its own, where it can be removed. */
static const char *start_copy(void)
{
    static char copy[PATH_MAX];
    const char *directory = getenv("HEADROOM_PLUGIN_DIR");
    char *own = strdup(directory != NULL ? directory : ".");
    char command[2 * PATH_MAX];

    ck_assert_ptr_nonnull(own);
    snprintf(copy, sizeof(copy), "%s/headroom.so", tree_path(tree));
    snprintf(command, sizeof(command), "cp '%s/headroom.so' '%s'", own, copy);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(setenv("HEADROOM_PLUGIN_DIR", tree_path(tree), 1), 0);
    start("Cgroup \"a\"");
    ck_assert_int_eq(setenv("HEADROOM_PLUGIN_DIR", own, 1), 0); /* of the next test */
    free(own);
    return copy;
}

/* Its package is purged while collectd runs, or only removed; or the file is removed. */
static const struct {
    bool removes_plugin, removes_file, is_written;
} removals[] = {{true, true, false}, {true, false, true}, {false, true, true}};

START_TEST(isnt_written_again_once_the_plugin_is_purged)
{
    stop();
    const char *copy = start_copy();
    grow();
    while (access(state_path(), F_OK) < 0) /* a thread writes it */
        usleep(1000);
    if (removals[_i].removes_plugin)
        ck_assert_int_eq(unlink(copy), 0);
    if (removals[_i].removes_file)
        ck_assert_int_eq(unlink(state_path()), 0);
    stop();
    ck_assert_int_eq(access(state_path(), F_OK) == 0, removals[_i].is_written);
    harness_assert_logs(0, NULL);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(goes_on_after_a_restart)
{
    harness_begin("Cgroup \"a\"");
    grow();
    const double before_s = harness_number("headroom-a/duration-to_trouble");
    ck_assert_double_lt(before_s, 3600);
    stop();
    frozen_ns += 15 * HR_NS_PER_S;
    start("Cgroup \"a\"");
    harness_assert_logs(1, "the history of 2 forecasts was read; its latest values are 15 s old");
    headroom_pass(5);
    ck_assert_double_eq_tol(harness_number("headroom-a/duration-to_trouble"), before_s - 20, 20);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(says_how_old_it_is)
{
    harness_begin("Cgroup \"a\"");
    grow();
    stop();
    frozen_ns += 3600 * HR_NS_PER_S;
    start("Cgroup \"a\"");
    harness_assert_logs(1, "its latest values are 60 min old");
    headroom_pass(5);
    harness_assert_count("headroom-a/duration-to_trouble", 0);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(is_as_old_after_two_restarts)
{
    harness_begin("Cgroup \"a\"");
    headroom_pass(10);
    stop();
    frozen_ns += 15 * HR_NS_PER_S;
    start("Cgroup \"a\"");
    harness_assert_logs(1, "its latest values are 15 s old");
    stop();
    frozen_ns += 15 * HR_NS_PER_S;
    start("Cgroup \"a\"");
    harness_assert_logs(1, "its latest values are 30 s old");
    frozen_ns = BEGUN_NS;
}
END_TEST

/* As collectd may be killed. */
START_TEST(saves_every_ten_minutes)
{
    struct stat status;

    harness_begin("Cgroup \"a\"");
    for (unsigned i = 0; i < 59; i++)
        headroom_pass(10);
    ck_assert_int_eq(stat(state_path(), &status), -1);
    headroom_pass(10);
    while (stat(state_path(), &status) < 0) /* a thread writes it */
        usleep(1000);
    ck_assert_int_eq(status.st_mode & 0777, 0600);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Reads what was saved of "a", as headroom report does. */
static double find_stalls(double pct[HR_STALL_PART_COUNT])
{
    struct hr_room_machine *machine;
    struct hr_room_source *source;
    struct hr_room_reading reading;
    struct hr_stall_hour hour;
    struct hr_cgroup_set *set;
    struct hr_root *root;
    uint64_t time_ns;
    size_t length;
    char *bytes;

    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
    ck_assert_int_eq(hr_room_open(machine, one_group_open(root, "a", &set), HR_NS_PER_S, &source),
                     0);
    const struct hr_room_lines lines = hr_room_default_lines(false);
    hr_room_machine_read(machine);
    hr_room_read(source, &lines, &reading);
    ck_assert_int_eq(hr_state_file_read_all(state_path(), &bytes, &length), 0);
    ck_assert_int_eq(hr_room_history_find_stalls(source, bytes, length, &hour, &time_ns), 0);
    free(bytes);
    hr_room_close(source);
    hr_room_machine_close(machine);
    hr_cgroup_set_close(set);
    hr_root_close(root);
    return hr_stall_hour_sum(&hour, time_ns, HR_PSI_CPU, pct);
}

/* Of two intervals 6 s each, of which it was throttled for 5; that is split from the second on. */
START_TEST(saves_the_stalls_of_the_last_hour)
{
    double pct[HR_STALL_PART_COUNT], sum = 0;

    room_tree_write(tree, "a", "cpu.max", "50000 100000\n");
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    for (unsigned i = 1; i <= 2; i++) {
        tree_pressure(tree, "a", "cpu", 6000000ull * i, 6000000ull * i);
        room_tree_cpu(tree, "a", 5000000ull * i, 100 * i, 50 * i, 5000000ull * i);
        headroom_pass(10);
    }
    stop();
    ck_assert_double_eq(find_stalls(pct), 20);
    ck_assert_double_eq_tol(pct[HR_STALL_BY_LIMIT], 25, 0.1);
    ck_assert_double_ge(pct[HR_STALL_BY_UNKNOWN], 30);
    for (int i = 0; i < HR_STALL_PART_COUNT; i++)
        sum += pct[i];
    ck_assert_double_eq_tol(sum, 60, 0.2);
}
END_TEST

START_TEST(says_one_forecast)
{
    harness_begin("");
    headroom_pass(10);
    stop();
    start("");
    harness_assert_logs(1, "the history of 1 forecast was read; its");
}
END_TEST

START_TEST(says_that_it_is_damaged)
{
    harness_begin("Cgroup \"a\"");
    headroom_pass(10);
    stop();
    ck_assert_int_eq(truncate(state_path(), 1000), 0);
    start("Cgroup \"a\"");
    harness_assert_logs(1, "forecasts start without a history, as ");
    headroom_pass(10);
    harness_assert_count("headroom-a/percent-room-memory", 1);
    stop();
    start("Cgroup \"a\"");
    harness_assert_logs(1, "the history of 2 forecasts was read; its");
}
END_TEST

START_TEST(takes_nothing_that_others_may_write)
{
    harness_begin("Cgroup \"a\"");
    headroom_pass(10);
    stop();
    ck_assert_int_eq(chmod(state_path(), 0666), 0);
    start("Cgroup \"a\"");
    harness_assert_logs(1, "it may have been written by another user, or isn't a file");
}
END_TEST

START_TEST(says_that_it_is_of_another_interval)
{
    harness_begin("Cgroup \"a\"");
    headroom_pass(10);
    stop();
    fake_start(harness_plugin);
    fake_set_base_dir(tree_path(tree));
    fake_set_interval(TIME_T_TO_CDTIME_T(60));
    harness_begin("Cgroup \"a\"");
    harness_assert_logs(1, "another boot, another Interval, or another version");
}
END_TEST

START_TEST(says_once_that_it_cant_be_saved)
{
    harness_begin("Cgroup \"a\"\nStateFile \"/nowhere/at/all\"");
    for (unsigned i = 0; i < 130; i++)
        headroom_pass(10);
    ck_assert_int_eq(fake_shutdown(), 0); /* what a thread writes has been tried by then */
    harness_assert_logs(1, "can't be saved to /nowhere/at/all");
    fake_stop();
    fake_start(harness_plugin);
    frozen_ns = BEGUN_NS;
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("headroom_history");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, headroom_tear_down);
    tcase_add_loop_test(tests, isnt_written_again_once_the_plugin_is_purged, 0,
                        sizeof(removals) / sizeof(removals[0]));
    tcase_add_test(tests, goes_on_after_a_restart);
    tcase_add_test(tests, says_how_old_it_is);
    tcase_add_test(tests, is_as_old_after_two_restarts);
    tcase_add_test(tests, saves_every_ten_minutes);
    tcase_add_test(tests, saves_the_stalls_of_the_last_hour);
    tcase_add_test(tests, says_one_forecast);
    tcase_add_test(tests, says_that_it_is_damaged);
    tcase_add_test(tests, takes_nothing_that_others_may_write);
    tcase_add_test(tests, says_that_it_is_of_another_interval);
    tcase_add_test(tests, says_once_that_it_cant_be_saved);
    return run_suite("headroom_history", tests);
}
