/* SPDX-License-Identifier: MIT */
/*
 * plugin/headroom/check_plugin_headroom.c - the plugin headroom in a stand-in for the daemon, over
 * a tree of files: values worked out by hand, what is missing, options and messages.
 */
#include "plugin/headroom/headroom_harness.h"

#include <sys/resource.h>
#include <unistd.h>

#include "headroom/room.h"
#include "support/fake_cache.h"
#include "support/suite.h"

static void assert_number(const char *identifier, double number)
{
    ck_assert_double_eq_tol(harness_number(identifier), number, 1e-6 * (1 + number));
}

/* --- Values ------------------------------------------------------------------------ */

/* As of check_room_source.c: in 100 s the group used one of two CPUs for 20 s, others for 60; it
 * waited for 6.4 s: k = 3, and at 40 % both are busy for 0.7368 of the time. */
static void run_100_s(void)
{
    room_tree_machine(tree, 50, 30, 0);
    room_tree_cpu(tree, "a", 20000001, 1000, 0, 0);
    tree_pressure(tree, "a", "cpu", 6400000, 0);
    headroom_pass(100);
}

START_TEST(publishes_the_room)
{
    const double attainable = 2 * 0.7368062997 - 0.6;

    room_tree_write(tree, "a", "memory.max", "209715200\n"); /* 200 MiB */
    harness_begin("Cgroup \"*\"");
    harness_read();
    harness_assert_count("headroom-a/*", 6);
    harness_assert_count("headroom-*/percent-room-memory", 2);
    harness_assert_count("headroom-*/percent-room", 0); /* of cpu nothing is known yet */
    run_100_s();
    assert_number("headroom-a/percent-room", 40);
    assert_number("headroom-a/percent-room-memory", 40);
    assert_number("headroom-a/percent-room-memory-most", 50);
    assert_number("headroom-a/memory-room", 80. * MIB);
    assert_number("headroom-a/memory-need", 120. * MIB);
    assert_number("headroom-a/memory-limit", 200. * MIB);
    assert_number("headroom-a/percent-room-cpu", 100 * (1 - 0.2 / attainable));
    assert_number("headroom-a/vcpu-room", attainable - 0.2);
    assert_number("headroom-a/total_operations-oom_kill", 3);
    harness_assert_count("headroom-a/*-by-*", 0);
    harness_assert_count("headroom-a/duration-to_trouble", 0);
    assert_number("headroom-system/percent-room-memory", 100 - 100 * 800. / 1100);
    assert_number("headroom-system/memory-limit", 1100. * MIB);
    assert_number("headroom-system/total_operations-oom_kill", 7);
    harness_assert_logs(0, NULL);
}
END_TEST

/* "a" touches 40 MiB within a minute, hardly more within two; the process of the same name as the
 * group "b" does the same. */
static const char *const measured_groups[] = {"a", "b"};
static const struct {
    const char *window;
    double mib;
} windows[] = {{"500ms", 10}, {"60s", 40}, {"120s", 41}};
static char series[2][COUNT(windows)][64];

static void set_working_sets(void)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < COUNT(windows); j++) {
            snprintf(series[i][j], sizeof(series[i][j]), "host.example/wss-%s/memory-referenced-%s",
                     measured_groups[i], windows[j].window);
            fake_cache_set(series[i][j], windows[j].mib * MIB);
        }
    fake_cache_set("host.example/wss-b/count-processes", 1);
    fake_cache_set("host.example/wss-a/memory-referenced", 41. * MIB);
    fake_cache_set("another/wss-a/memory-referenced-3600s", 90. * MIB);
}

static void prepare_groups_with_working_sets(void)
{
    room_tree_machine(tree, 0, 0, 100);
    tree_write(tree, "proc/diskstats", "8 0 sda 100 0 800 100 0 0 0 0 0 0 0\n"); /* 1 ms a read */
    for (int i = 0; i < 2; i++) {
        room_tree_add_group(tree, measured_groups[i]);
        room_tree_write(tree, measured_groups[i], "memory.max", "209715200\n");
        room_tree_write(tree, measured_groups[i], "memory.stat",
                        "inactive_file 20971520\nactive_file 20971520\nactive_anon 104857600\n"
                        "inactive_anon 0\nfile_mapped 41943040\nworkingset_refault_file 0\n");
    }
}

START_TEST(takes_the_need_from_working_sets_of_wss)
{
    prepare_groups_with_working_sets();
    harness_begin("Cgroup \"*\"\nSystem false");
    harness_read();
    assert_number("headroom-a/memory-need", 120. * MIB);
    set_working_sets();
    headroom_pass(61);
    assert_number("headroom-a/memory-need", 40. * MIB);
    assert_number("headroom-a/memory-limit", 200. * MIB);
    assert_number("headroom-b/memory-need", 120. * MIB);
    assert_number("headroom-b/memory-limit", 300. * MIB);
    fake_cache_forget();
    headroom_pass(61);
    assert_number("headroom-a/memory-need", 120. * MIB);
    harness_assert_logs(0, NULL);
}
END_TEST

/* As old as its longest window; one of hours is one of the time before. */
START_TEST(takes_no_need_from_an_old_working_set)
{
    static const char hour[] = "host.example/wss-a/memory-referenced-3600s";
    static const struct {
        int age_s, longest_age_s;
        bool has_hour;
        double need_mib;
    } ages[] = {{640, 640, false, 40}, {800, 800, false, 120}, {10, 800, false, 120},
                {800, 10, false, 40},  {800, 3600, true, 40},  {10, 3800, true, 120}};

    prepare_groups_with_working_sets();
    harness_begin("Cgroup \"*\"\nSystem false");
    harness_read();
    set_working_sets();
    if (ages[_i].has_hour)
        fake_cache_set(hour, 42. * MIB);
    const cdtime_t now = cdtime();
    for (size_t i = 0; i < COUNT(windows); i++)
        fake_cache_set_time(series[0][i], now - TIME_T_TO_CDTIME_T(ages[_i].age_s));
    fake_cache_set_time(ages[_i].has_hour ? hour : series[0][COUNT(windows) - 1],
                        now - TIME_T_TO_CDTIME_T(ages[_i].longest_age_s));
    headroom_pass(61);
    assert_number("headroom-a/memory-need", ages[_i].need_mib * MIB);
}
END_TEST

/* Who has no room by memory has none, whatever the room by CPU time will be. */
START_TEST(publishes_no_room_at_once)
{
    room_tree_write(tree, "a", "memory.max", "104857600\n"); /* 100 MiB, 120 are needed */
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    harness_assert_count("headroom-a/percent-room-cpu", 0);
    assert_number("headroom-a/percent-room", 0);
}
END_TEST

/* 90 of 100 writes in a second, of a group above. */
START_TEST(publishes_the_room_by_io_under_a_limit)
{
    room_tree_add_group(tree, "b");
    room_tree_write(tree, "a", "io.max", "8:16 rbps=max wbps=max riops=max wiops=100\n");
    room_tree_write(tree, "a", "io.stat", "");
    harness_begin("Cgroup \"*\"\nSystem false");
    headroom_pass(10);
    harness_assert_count("headroom-*/percent-room-io", 0);
    room_tree_write(tree, "a", "io.stat", "8:16 rbytes=0 wbytes=0 rios=0 wios=900\n");
    headroom_pass(10);
    harness_assert_count("headroom-*/percent-room-io", 1);
    assert_number("headroom-a/percent-room-io", 10);
    headroom_pass(10);
    headroom_pass(10);
    assert_number("headroom-a/percent-room-io", 100);
    room_tree_write(tree, "a", "io.stat", "8:16 rbytes=0 wbytes=0 rios=0 wios=1850\n");
    headroom_pass(10);
    assert_number("headroom-a/percent-room", 5);
    /* nor is there any for one that waits for it */
    room_tree_write(tree, "a", "io.stat", "8:16 rbytes=0 wbytes=0 rios=0 wios=2750\n");
    tree_pressure(tree, "a", "io", 9000000, 9000000);
    headroom_pass(10);
    assert_number("headroom-a/percent-room-io", 0);
    assert_number("headroom-a/duration-to_trouble", 0);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(says_that_the_io_controller_is_missing)
{
    room_tree_add_group(tree, "p");
    room_tree_add_group(tree, "p/a");
    room_tree_write(tree, "p", "io.max", "8:16 rbps=max wbps=max riops=max wiops=100\n");
    room_tree_write(tree, "p", "io.stat", "");
    harness_begin("Cgroup \"p/a\"\nSystem false");
    headroom_pass(10);
    headroom_pass(10);
    harness_assert_logs(1, "the room by I/O of cgroup p/a isn't known, as the io controller isn't "
                           "enabled there");
    harness_assert_count("headroom-p_a/percent-room-memory", 1);
}
END_TEST

/* Limits of CPU time that change begin the sums again: the room isn't that by memory meanwhile. */
START_TEST(room_waits_for_that_by_cpu_after_limits_changed)
{
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    run_100_s();
    harness_assert_count("headroom-a/percent-room", 1);
    room_tree_write(tree, "a", "cpu.max", "50000 100000\n");
    headroom_pass(61);
    harness_assert_count("headroom-a/percent-room-memory", 1);
    harness_assert_count("headroom-a/percent-room", 0);
}
END_TEST

/* The line of a pattern wins over that of all, which holds for the system, too. */
START_TEST(heeds_trouble_lines)
{
    room_tree_add_group(tree, "b");
    room_tree_cpu(tree, "b", 1, 0, 0, 0);
    harness_begin("Trouble \"cpu\" 5\n<Cgroup \"a\">\nTrouble \"cpu\" 7\n</Cgroup>\nCgroup \"b\"");
    harness_read();
    tree_pressure(tree, "a", "cpu", 600000, 0);
    tree_pressure(tree, "b", "cpu", 600000, 0);
    tree_pressure(tree, NULL, "cpu", 600000, 0);
    headroom_pass(10);
    harness_assert_count("headroom-a/percent-room-cpu", 0); /* too early to know */
    assert_number("headroom-b/percent-room-cpu", 0);
    assert_number("headroom-b/vcpu-room", 0);
    assert_number("headroom-b/percent-room", 0);
    assert_number("headroom-b/duration-to_trouble", 0);
    assert_number("headroom-system/percent-room", 0);
}
END_TEST

/* Trouble that is beyond the horizon is as far away as any. */
static const struct {
    const char *options;
    double expected_s, tolerance_s;
} horizons[] = {
    {"Cgroup \"a\"\nHorizon 3600", 45 * 20, 40},
    {"Cgroup \"a\"\nHorizon 600", 86400, 1},
};

START_TEST(knows_how_long_it_lasts)
{
    room_tree_write(tree, "a", "memory.max", "209715200\n");
    harness_begin(horizons[_i].options);
    for (unsigned i = 0; i < 55; i++)
        headroom_pass(10);
    harness_assert_count("headroom-a/duration-to_trouble", 0);
    for (unsigned i = 0; i < 120; i++)
        headroom_pass(10);
    assert_number("headroom-a/duration-to_trouble", 86400);
    /* a MiB in 20 s, from 100 on */
    for (unsigned i = 1; i <= 110; i++) {
        room_tree_memory(tree, "a", 100 + i / 2, 0);
        headroom_pass(10);
    }
    ck_assert_double_eq_tol(harness_number("headroom-a/duration-to_trouble"),
                            horizons[_i].expected_s, horizons[_i].tolerance_s);
    assert_number("headroom-system/duration-to_trouble", 86400);
    frozen_ns = BEGUN_NS; /* Check can't count to so many microseconds */
}
END_TEST

/* --- Causes ------------------------------------------------------------------------- */

/* In 10 s it was stalled for 6, of which it was throttled for 5, 50 times; none of its tasks ran
 * for 6. */
static void throttle(unsigned intervals)
{
    tree_pressure(tree, "a", "cpu", 6000000ull * intervals, 6000000ull * intervals);
    room_tree_cpu(tree, "a", 5000000ull * intervals, 100 * intervals, 50 * intervals,
                  5000000ull * intervals);
    headroom_pass(10);
}

START_TEST(splits_a_stall_by_cause)
{
    room_tree_write(tree, "a", "cpu.max", "50000 100000\n");
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    throttle(1);
    harness_assert_count("headroom-a/percent-cpu-by-*", 0);
    assert_number("headroom-a/percent-room-cpu", 0);
    throttle(2);
    double limit = harness_number("headroom-a/percent-cpu-by-limit"), sum = limit;
    ck_assert_double_eq_tol(limit, 50, 0.1);
    if (fake_find("headroom-a/percent-cpu-by-neighbours") != NULL)
        sum += harness_number("headroom-a/percent-cpu-by-neighbours");
    if (fake_find("headroom-a/percent-cpu-by-unknown") != NULL)
        sum += harness_number("headroom-a/percent-cpu-by-unknown");
    ck_assert_double_eq_tol(sum, 60, 2);
    /* it goes on at 0 */
    for (int i = 0; i < 10; i++)
        headroom_pass(10);
    assert_number("headroom-a/percent-cpu-by-limit", 0);
}
END_TEST

static double sum_of_causes(const char *instance, const char *resource)
{
    static const char *const parts[] = {"limit", "neighbours", "itself", "steal", "irq", "unknown"};
    char identifier[96];
    double sum = 0;

    for (size_t i = 0; i < COUNT(parts); i++) {
        snprintf(identifier, sizeof(identifier), "%s/percent-%s-by-%s", instance, resource,
                 parts[i]);
        if (fake_find(identifier) != NULL)
            sum += harness_number(identifier);
    }
    return sum;
}

/* In 10 s of one group of eight busy CPUs it was throttled in 40 of 100 periods on all of them, and
 * so was the group above: both sums are many times the 6 s for which it was stalled. */
START_TEST(causes_add_up_to_the_stall)
{
    room_tree_add_group(tree, "a/b");
    room_tree_write(tree, "a", "cpu.max", "500000 100000\n");
    room_tree_write(tree, "a/b", "cpu.max", "400000 100000\n");
    harness_begin("Cgroup \"a/b\"\nSystem false");
    harness_read();
    for (unsigned i = 1; i <= 2; i++) {
        tree_pressure(tree, "a/b", "cpu", 6000000ull * i, 6000000ull * i);
        room_tree_cpu(tree, "a/b", 40000000ull * i, 100 * i, 40 * i, 30000000ull * i);
        room_tree_cpu(tree, "a", 40000000ull * i, 100 * i, 40 * i, 28000000ull * i);
        headroom_pass(10);
    }
    ck_assert_double_eq_tol(sum_of_causes("headroom-a_b", "cpu"), 60, 2);
    ck_assert_double_ge(harness_number("headroom-a_b/percent-cpu-by-limit"), 40);
}
END_TEST

/* By its own limit, three times as often as by that of the group above. */
START_TEST(causes_of_memory_add_up_to_the_stall)
{
    room_tree_add_group(tree, "a/b");
    room_tree_write(tree, "a", "memory.max", "209715200\n");
    room_tree_write(tree, "a/b", "memory.max", "104857600\n");
    harness_begin("Cgroup \"a/b\"\nSystem false");
    harness_read();
    for (unsigned i = 1; i <= 2; i++) {
        tree_pressure(tree, "a/b", "memory", 3000000ull * i, 0);
        for (int j = 0; j < 2; j++) {
            const char *group = j == 0 ? "a" : "a/b";
            char text[64];
            snprintf(text, sizeof(text), "low 0\nhigh 0\nmax %u\noom 0\noom_kill 0\n",
                     (j == 0 ? 10 : 30) * i);
            room_tree_write(tree, group, "memory.events", text);
            room_tree_write(tree, group, "memory.events.local", text);
        }
        headroom_pass(10);
    }
    ck_assert_double_eq_tol(sum_of_causes("headroom-a_b", "memory"), 30, 2);
    ck_assert_double_ge(harness_number("headroom-a_b/percent-memory-by-limit"), 28);
}
END_TEST

/* Its requests took all of the half in which it waited, at the limit of a hundred in a second. */
START_TEST(causes_of_io_add_up_to_the_stall)
{
    room_tree_write(tree, "a", "io.max", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    room_tree_write(tree, "a", "io.stat", "8:16 rbytes=0 wbytes=0 rios=0 wios=0\n");
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    for (unsigned i = 1; i <= 2; i++) {
        char text[64];
        tree_pressure(tree, "a", "io", 5000000ull * i, 5000000ull * i);
        snprintf(text, sizeof(text), "8:16 rbytes=0 wbytes=0 rios=%u wios=0\n", 1000 * i);
        room_tree_write(tree, "a", "io.stat", text);
        headroom_pass(10);
    }
    ck_assert_double_eq_tol(sum_of_causes("headroom-a", "io"), 50, 2);
    ck_assert_double_ge(harness_number("headroom-a/percent-io-by-limit"), 48);
}
END_TEST

/* --- Who had the CPUs ----------------------------------------------------------------- */

enum {
    BY_B,
    BY_KWORKER,
    BY_OTHER,
    BY_ITSELF,
    BY_LIMIT,
    BY_INTERRUPTS,
    BY_STEAL,
    BY_IDLE,
    UNATTRIBUTED
};

#define TAKEN(taker) "host.example/psi-a/derive-cpu_taken_" taker "_us"

static const char *const takers[] = {
    [BY_B] = TAKEN("by_b"),
    [BY_KWORKER] = TAKEN("by_kworker"),
    [BY_OTHER] = TAKEN("by_other"),
    [BY_ITSELF] = TAKEN("by_itself"),
    [BY_LIMIT] = TAKEN("by_limit"),
    [BY_INTERRUPTS] = TAKEN("by_interrupts"),
    [BY_STEAL] = TAKEN("by_steal"),
    [BY_IDLE] = TAKEN("by_idle"),
    [UNATTRIBUTED] = TAKEN("unattributed"),
};

/* What the psi plugin has of the group: how many milliseconds of each second its tasks waited. */
static void set_taken(const double ms[COUNT(takers)], cdtime_t time)
{
    for (size_t i = 0; i < COUNT(takers); i++) {
        fake_cache_set(takers[i], 1e3 * ms[i]);
        fake_cache_set_time(takers[i], time);
    }
}

static void assert_parts(const double expected_pct[HR_STALL_PART_COUNT])
{
    for (int i = 0; i < HR_STALL_PART_COUNT; i++) {
        char identifier[64];
        snprintf(identifier, sizeof(identifier), "headroom-a/percent-cpu-by-%s",
                 hr_stall_part_name(i));
        const bool is_there = fake_find(identifier) != NULL;
        ck_assert_double_eq_tol(is_there ? harness_number(identifier) : 0, expected_pct[i], 0.01);
    }
}

static const struct {
    double stalled_s, none_ran_s; /* of 10 */
    double waited_ms[COUNT(takers)];
    double expected_pct[HR_STALL_PART_COUNT];
} splits[] = {
    /* Two of its tasks share a CPU with one of b, each a third: both wait, for one another and b.
     */
    {10,
     10. / 3,
     {[BY_B] = 2000. / 3, [BY_ITSELF] = 2000. / 3},
     {[HR_STALL_BY_NEIGHBOURS] = 50, [HR_STALL_BY_ITSELF] = 50}},
    /* A limit of a quarter of a CPU, which it shares with b: half of the time it is throttled. */
    {7.5,
     7.5,
     {[BY_B] = 250, [BY_LIMIT] = 500},
     {[HR_STALL_BY_NEIGHBOURS] = 25, [HR_STALL_BY_LIMIT] = 50}},
    /* Of two tasks on two CPUs, one or both wait for 6 s. */
    {6,
     3,
     {100, 150, 50, 200, 250, 75, 125, 20, 30},
     {[HR_STALL_BY_NEIGHBOURS] = 18,
      [HR_STALL_BY_ITSELF] = 12,
      [HR_STALL_BY_LIMIT] = 15,
      [HR_STALL_BY_IRQ] = 4.5,
      [HR_STALL_BY_STEAL] = 7.5,
      [HR_STALL_BY_UNKNOWN] = 3}},
};

/* From the first interval on, as no counters from before it are needed. */
START_TEST(splits_a_stall_by_who_had_the_cpus)
{
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    for (unsigned i = 1; i <= 2; i++) {
        tree_pressure(tree, "a", "cpu", (uint64_t)(1e6 * splits[_i].stalled_s * i),
                      (uint64_t)(1e6 * splits[_i].none_ran_s * i));
        set_taken(splits[_i].waited_ms, cdtime());
        headroom_pass(10);
        assert_parts(splits[_i].expected_pct);
    }
}
END_TEST

/* One that isn't among the greatest takers any more has no new value, and is in "other". But what
 * collectd has not written yet counts as it was in the interval before. */
START_TEST(leaves_out_takers_that_have_become_others)
{
    static const double waited_ms[COUNT(takers)] = {
        [BY_B] = 250, [BY_KWORKER] = 500, [BY_ITSELF] = 250};
    static const double without_pct[HR_STALL_PART_COUNT] = {
        [HR_STALL_BY_NEIGHBOURS] = 30, [HR_STALL_BY_ITSELF] = 30};
    static const double all_pct[HR_STALL_PART_COUNT] = {
        [HR_STALL_BY_NEIGHBOURS] = 45, [HR_STALL_BY_ITSELF] = 15};
    cdtime_t before = cdtime();

    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    tree_pressure(tree, "a", "cpu", 6000000, 6000000);
    set_taken(waited_ms, before + TIME_T_TO_CDTIME_T(10));
    fake_cache_set_time(takers[BY_KWORKER], before);
    headroom_pass(10);
    assert_parts(without_pct);
    before = cdtime();
    tree_pressure(tree, "a", "cpu", 12000000, 12000000);
    set_taken(waited_ms, before + TIME_T_TO_CDTIME_T(10));
    fake_cache_set_time(takers[BY_KWORKER], before);
    fake_cache_set_time(takers[BY_LIMIT], before);
    headroom_pass(10);
    assert_parts(all_pct);
}
END_TEST

/* What throttle() does, by counters: throttled for 5 s of 6, and what was in the last period isn't
 * known. */
static const double by_counters_pct[HR_STALL_PART_COUNT] = {
    [HR_STALL_BY_LIMIT] = 50, [HR_STALL_BY_NEIGHBOURS] = 9, [HR_STALL_BY_UNKNOWN] = 1};
static const double by_takers_pct[HR_STALL_PART_COUNT] = {[HR_STALL_BY_NEIGHBOURS] = 60};
static const double by_b_ms[COUNT(takers)] = {[BY_B] = 600};
static const double too_little_ms[COUNT(takers)] = {[BY_B] = 299};

/* When there are none yet, they are of less than half of the stall, of another interval, or none
 * has come for two. */
START_TEST(splits_by_counters_where_it_isnt_known_who_had_the_cpus)
{
    const cdtime_t second = TIME_T_TO_CDTIME_T(1);

    room_tree_write(tree, "a", "cpu.max", "50000 100000\n");
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    fake_cache_set("host.example/psi-a/percent-cpu-some", 60);
    throttle(1);
    throttle(2);
    assert_parts(by_counters_pct);
    set_taken(by_b_ms, cdtime());
    throttle(3);
    assert_parts(by_takers_pct);
    set_taken(too_little_ms, cdtime());
    throttle(4);
    assert_parts(by_counters_pct);
    set_taken(by_b_ms, cdtime());
    throttle(5);
    assert_parts(by_takers_pct);
    set_taken(by_b_ms, cdtime() - 15 * second);
    throttle(6);
    assert_parts(by_counters_pct);
    set_taken(by_b_ms, cdtime());
    throttle(7);
    assert_parts(by_takers_pct);
    for (size_t i = 0; i < COUNT(takers); i++)
        fake_cache_set_interval(takers[i], second);
    throttle(8);
    assert_parts(by_counters_pct);
}
END_TEST

/* --- Trouble -------------------------------------------------------------------------- */

/* Both CPUs are always busy. The group waits for more than its line, then for less: what stops
 * would leave a threshold as it was. */
START_TEST(time_to_trouble_goes_on)
{
    harness_begin("Cgroup \"a\"\nSystem false\nHorizon 3600");
    harness_read();
    for (unsigned i = 1; i <= 20; i++) {
        room_tree_machine(tree, 10 * i, 10 * i, 0);
        tree_pressure(tree, "a", "cpu", 4100000ull * i, 0);
        headroom_pass(10);
        assert_number("headroom-a/duration-to_trouble", 0);
        assert_number("headroom-a/percent-room-cpu", 0);
        assert_number("headroom-a/percent-room", 0);
    }
    for (unsigned i = 21; i <= 60; i++) {
        room_tree_machine(tree, 10 * i, 10 * i, 0);
        headroom_pass(10);
        harness_assert_count("headroom-a/duration-to_trouble", 1);
    }
    assert_number("headroom-a/duration-to_trouble", 86400);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Its processes end in trouble, and others begin: nothing is known of these yet, so that they
 * aren't out of trouble. */
START_TEST(trouble_is_not_over_before_it_is_measured)
{
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    tree_pressure(tree, "a", "cpu", 4100000, 0);
    headroom_pass(10);
    assert_number("headroom-a/duration-to_trouble", 0);
    tree_set_populated(tree, "a", false);
    headroom_pass(10);
    harness_assert_count("*", 1);
    tree_set_populated(tree, "a", true);
    headroom_pass(10);
    harness_assert_count("headroom-a/duration-to_trouble", 0);
    headroom_pass(10);
    assert_number("headroom-a/duration-to_trouble", 86400);
}
END_TEST

/* --- What is missing ------------------------------------------------------------------ */

START_TEST(says_once_that_groups_have_no_memory_controller)
{
    tree_remove(tree, TREE_CGROUPS "/a/memory.max");
    harness_begin("Cgroup \"a\"");
    harness_read();
    harness_assert_logs(1, "notice: headroom: the room by memory of cgroup a isn't known, as the "
                           "memory controller isn't enabled there");
    run_100_s();
    harness_assert_logs(0, NULL);
    harness_assert_count("headroom-a/memory-*", 0);
    harness_assert_count("headroom-a/total_operations-*", 0);
    harness_assert_count("headroom-a/percent-room-cpu", 1);
    harness_assert_count("headroom-a/percent-room", 1);
}
END_TEST

START_TEST(says_once_that_limits_cant_be_read)
{
    room_tree_write(tree, "a", "memory.max", "x\n");
    harness_begin("Cgroup \"a\"");
    harness_read();
    harness_assert_logs(1, "warning: headroom: the room by memory of cgroup a isn't known, as not "
                           "all limits, its own and those of the groups above, can be read: ");
    run_100_s();
    harness_assert_logs(0, NULL);
    harness_assert_count("headroom-a/memory-*", 0);
    harness_assert_count("headroom-a/percent-room-cpu", 1);
    room_tree_write(tree, "a", "memory.max", "max\n");
    room_tree_write(tree, "a", "cpu.max", "max x\n");
    headroom_pass(61);
    harness_assert_logs(1,
                        "warning: headroom: the room by CPU time of cgroup a isn't known, as not "
                        "all limits, its own and those of the groups above, can be read: ");
    harness_assert_count("headroom-a/percent-room-memory", 1);
    harness_assert_count("headroom-a/percent-room-cpu", 0);
}
END_TEST

START_TEST(says_once_that_too_many_groups_have_a_limit)
{
    char path[2 * HR_ROOM_LIMITS + 4] = "a";

    room_tree_write(tree, path, "cpu.max", "50000 100000\n");
    for (size_t i = 0; i < HR_ROOM_LIMITS; i++) {
        strcat(path, "/b");
        room_tree_add_group(tree, path);
        room_tree_write(tree, path, "cpu.max", "50000 100000\n");
    }
    harness_begin("Cgroup \"a/**\"");
    harness_read();
    harness_assert_logs(1, "warning: headroom: the room by CPU time of cgroup "
                           "a/b/b/b/b/b/b/b/b isn't known, as more than 8 groups, it and those "
                           "above, have a limit: remove those that never bind.");
    run_100_s();
    harness_assert_logs(0, NULL);
}
END_TEST

/* One is left, which suffices for what is read each time, but not for limits. */
static void leave_one_descriptor(struct rlimit *limit)
{
    int lowest = dup(STDIN_FILENO);

    ck_assert_int_ge(lowest, 0);
    close(lowest);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, limit), 0);
    const struct rlimit less = {(rlim_t)lowest + 1, limit->rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &less), 0);
}

START_TEST(says_once_that_limits_cant_be_read_again)
{
    struct rlimit limit;

    room_tree_write(tree, "a", "memory.max", "209715200\n");
    harness_begin("Cgroup \"a\"");
    harness_read();
    run_100_s();
    leave_one_descriptor(&limit);
    headroom_pass(61);
    for (unsigned i = 0; i < 10; i++)
        headroom_pass(10);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_uint_eq(
        fake_logs(
            LOG_WARNING,
            "limits of cgroup a can't be read again, so that the last known "
            "ones are used, for ten minutes at most: Too many open files: raise LimitNOFILE="),
        1);
    assert_number("headroom-a/memory-limit", 200. * MIB);
    harness_assert_count("headroom-a/percent-room-cpu", 1);
}
END_TEST

START_TEST(says_once_that_there_is_no_pressure)
{
    tree_remove_pressure(tree, "a", "cpu");
    tree_remove_pressure(tree, NULL, "cpu");
    harness_begin("Cgroup \"a\"");
    harness_read();
    harness_assert_logs(1,
                        "warning: headroom: the room by CPU time isn't known, as pressure of the "
                        "system can't be read: ");
    headroom_pass(100);
    harness_assert_logs(0, NULL);
    harness_assert_count("headroom-*/percent-room-cpu", 0);
    harness_assert_count("headroom-*/percent-room-memory", 2);
    tree_pressure(tree, NULL, "cpu", 0, 0);
    headroom_pass(61);
    ck_assert_uint_eq(fake_logs(0, "the room by CPU time of cgroup a isn't known"), 1);
    ck_assert_uint_eq(fake_logs(0, "info: headroom: pressure of the system is being read again"),
                      1);
    harness_assert_logs(2, "pressure");
}
END_TEST

/* As where cgroup.pressure has 0. What is left below the limit is known, but no stall: neither that
 * there is none left, nor why. */
START_TEST(knows_what_is_left_of_memory_without_pressure)
{
    static const char *const resources[] = {"cpu", "memory", "io"};

    room_tree_write(tree, "a", "memory.max", "209715200\n"); /* 200 MiB, 120 are needed */
    for (size_t i = 0; i < COUNT(resources); i++)
        tree_remove_pressure(tree, "a", resources[i]);
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    harness_assert_logs(1, "the room by CPU time of cgroup a isn't known, as pressure can't be "
                           "read: ");
    headroom_pass(10);
    assert_number("headroom-a/percent-room-memory", 40);
    harness_assert_count("headroom-a/percent-room-cpu", 0);
    harness_assert_count("headroom-a/*-by-*", 0);
    harness_assert_logs(0, NULL);
    tree_pressure(tree, "a", "memory", 0, 0);
    headroom_pass(61);
    tree_pressure(tree, "a", "memory", 2000000, 0);
    headroom_pass(10);
    assert_number("headroom-a/percent-room-memory", 0);
}
END_TEST

START_TEST(says_once_that_there_is_no_meminfo)
{
    harness_begin("Cgroup \"a\"");
    harness_read();
    tree_remove(tree, "proc/meminfo");
    headroom_pass(10);
    headroom_pass(10);
    harness_assert_logs(1, "warning: headroom: the room by memory isn't known");
    harness_assert_count("headroom-*/percent-room-memory", 0);
    room_tree_machine(tree, 0, 0, 0);
    headroom_pass(10);
    harness_assert_logs(1, "info: headroom: /proc/meminfo is being read again");
    harness_assert_count("headroom-*/percent-room-memory", 2);
}
END_TEST

/* --- Groups that come and go ------------------------------------------------------------ */

START_TEST(publishes_the_kill_that_emptied_a_group)
{
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    room_tree_write(tree, "a", "memory.events", "oom_kill 4\n");
    tree_set_populated(tree, "a", false);
    headroom_pass(10);
    harness_assert_count("*", 1);
    assert_number("headroom-a/total_operations-oom_kill", 4);
    headroom_pass(10);
    harness_assert_count("*", 0);
    tree_remove_group(tree, "a");
    room_tree_add_group(tree, "a");
    headroom_pass(10);
    assert_number("headroom-a/total_operations-oom_kill", 3);
    assert_number("headroom-a/memory-need", 120. * MIB);
}
END_TEST

/* Between two readings: its counters have begun again, and its limit is another. */
START_TEST(a_group_that_is_made_again_is_another)
{
    room_tree_write(tree, "a", "memory.max", "209715200\n");
    harness_begin("Cgroup \"a\"\nSystem false");
    harness_read();
    run_100_s();
    harness_assert_count("headroom-a/percent-room-cpu", 1);
    tree_remove_group(tree, "a");
    room_tree_add_group(tree, "a");
    room_tree_cpu(tree, "a", 5000000, 0, 0, 0);
    room_tree_memory(tree, "a", 10, 0);
    room_tree_write(tree, "a", "memory.max", "104857600\n");
    room_tree_write(tree, "a", "memory.events", "oom_kill 1\n");
    headroom_pass(10);
    assert_number("headroom-a/memory-need", 10. * MIB);
    assert_number("headroom-a/memory-limit", 100. * MIB);
    assert_number("headroom-a/total_operations-oom_kill", 1);
    harness_assert_count("headroom-a/percent-room-cpu", 0);
    room_tree_machine(tree, 100, 60, 0);
    room_tree_cpu(tree, "a", 25000000, 0, 0, 0);
    tree_pressure(tree, "a", "cpu", 6400000, 0);
    headroom_pass(100);
    assert_number("headroom-a/vcpu-room", 2 * 0.7368062997 - 0.8);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Options and life --------------------------------------------------------------------- */

static const struct {
    const char *options, *message;
} refused[] = {
    {"System 1", "headroom: option System doesn't accept 1; it takes true or false"},
    {"Trouble \"cpu\"",
     "option Trouble doesn't accept \"cpu\"; it takes \"cpu\", \"memory\" or \"io\""},
    {"Trouble \"disk\" 10", "option Trouble doesn't accept \"disk\" 10"},
    {"Trouble \"cpu\" 0", "a percentage above 0, up to 100"},
    {"Trouble \"memory\" 100.1", "a percentage above 0, up to 100"},
    {"Trouble 10 \"cpu\"", "option Trouble doesn't accept 10 \"cpu\""},
    {"<Cgroup \"a\">\nTrouble \"cpu\" 101\n</Cgroup>", "<Cgroup \"a\">: option Trouble"},
    {"Horizon 59",
     "option Horizon doesn't accept 59; it takes a number of seconds from 60 to 86400"},
    {"Horizon 86401", "option Horizon"},
    {"StateFile \"here\"", "option StateFile doesn't accept \"here\"; it takes the absolute path"},
    {"<Alert>\nBefore 86401\n</Alert>", "headroom: <Alert>: option Before doesn't accept 86401"},
    {"<Alert>\nRoomBelow 91\n</Alert>", "a percentage from 0 (never notifies) to 90"},
    {"<Alert>\nSeverity \"OKAY\"\n</Alert>", "it takes \"WARNING\" or \"FAILURE\""},
    {"<Alert>\nTopTakers 11\n</Alert>", "option TopTakers doesn't accept 11"},
    {"<Alert>\n</Alert>\n<Alert>\n</Alert>", "there is more than one block <Alert>"},
    {"<Alert \"a\">\n</Alert>", "it takes no value, as it is a block: <Alert>"},
    {"Cgroup \"a[\"", "option Cgroup"},
};

START_TEST(refuses_a_wrong_value)
{
    char text[256];

    snprintf(text, sizeof(text), "<Plugin headroom>\n%s\n</Plugin>", refused[_i].options);
    ck_assert_int_ne(fake_configure(text), 0);
    harness_assert_logs(1, refused[_i].message);
}
END_TEST

START_TEST(warns_of_what_it_doesnt_know)
{
    harness_begin("Troubles \"cpu\" 10\n<Cgroup \"a\">\nLine 3\n</Cgroup>\n"
                  "<Cgroup \"b\">\nHorizont 60\n</Cgroup>");
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "headroom: option Troubles is not known and has no "
                                             "effect: Trouble may be meant."),
                      1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "headroom: <Cgroup \"a\">: option Line is not known "
                                             "and has no effect."),
                      1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "effect: Horizon of <Plugin headroom> may be meant."),
                      1);
    harness_assert_logs(3, "is not known and has no effect");
}
END_TEST

START_TEST(warns_if_there_is_nothing_to_do)
{
    harness_begin("System false");
    harness_read();
    harness_assert_count("*", 0);
    harness_assert_logs(1, "warning: headroom: there is nothing to sample");
}
END_TEST

START_TEST(begins_once_though_asked_twice)
{
    harness_begin("Cgroup \"*\"");
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 1);
    harness_read();
    harness_assert_count("headroom-a/percent-room-memory", 1);
}
END_TEST

START_TEST(exports_one_symbol)
{
    harness_assert_exports_one_symbol();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("headroom");

    tcase_add_checked_fixture(tests, headroom_set_up, headroom_tear_down);
    tcase_add_test(tests, publishes_the_room);
    tcase_add_test(tests, takes_the_need_from_working_sets_of_wss);
    tcase_add_loop_test(tests, takes_no_need_from_an_old_working_set, 0, 6);
    tcase_add_test(tests, publishes_no_room_at_once);
    tcase_add_test(tests, publishes_the_room_by_io_under_a_limit);
    tcase_add_test(tests, says_that_the_io_controller_is_missing);
    tcase_add_test(tests, room_waits_for_that_by_cpu_after_limits_changed);
    tcase_add_test(tests, heeds_trouble_lines);
    tcase_add_loop_test(tests, knows_how_long_it_lasts, 0, COUNT(horizons));
    tcase_add_test(tests, splits_a_stall_by_cause);
    tcase_add_test(tests, says_once_that_groups_have_no_memory_controller);
    tcase_add_test(tests, causes_add_up_to_the_stall);
    tcase_add_test(tests, causes_of_memory_add_up_to_the_stall);
    tcase_add_test(tests, causes_of_io_add_up_to_the_stall);
    tcase_add_loop_test(tests, splits_a_stall_by_who_had_the_cpus, 0, COUNT(splits));
    tcase_add_test(tests, leaves_out_takers_that_have_become_others);
    tcase_add_test(tests, splits_by_counters_where_it_isnt_known_who_had_the_cpus);
    tcase_add_test(tests, time_to_trouble_goes_on);
    tcase_add_test(tests, trouble_is_not_over_before_it_is_measured);
    tcase_add_test(tests, says_once_that_limits_cant_be_read);
    tcase_add_test(tests, says_once_that_too_many_groups_have_a_limit);
    tcase_add_test(tests, says_once_that_limits_cant_be_read_again);
    tcase_add_test(tests, says_once_that_there_is_no_pressure);
    tcase_add_test(tests, knows_what_is_left_of_memory_without_pressure);
    tcase_add_test(tests, says_once_that_there_is_no_meminfo);
    tcase_add_test(tests, publishes_the_kill_that_emptied_a_group);
    tcase_add_test(tests, a_group_that_is_made_again_is_another);
    tcase_add_loop_test(tests, refuses_a_wrong_value, 0, COUNT(refused));
    tcase_add_test(tests, warns_of_what_it_doesnt_know);
    tcase_add_test(tests, warns_if_there_is_nothing_to_do);
    tcase_add_test(tests, begins_once_though_asked_twice);
    tcase_add_test(tests, exports_one_symbol);
    return run_suite("headroom", tests);
}
