/* SPDX-License-Identifier: MIT */
/*
 * plugin/headroom/check_plugin_headroom_alert.c - notifications of the plugin headroom, in a
 * stand-in for the daemon, over a tree of files: when they begin and end, what they say, what they
 * cost.
 */
#include "plugin/headroom/headroom_harness.h"

#include <stdlib.h>

#include "support/fake_cache.h"
#include "support/suite.h"

/* --- Trouble to come ------------------------------------------------------------------------- */

static const char *const leaking[] = {"p", "p/a", "p/b", "p/c"};

static void prepare_leak(void)
{
    for (size_t i = 0; i < COUNT(leaking); i++)
        room_tree_add_group(tree, leaking[i]);
    room_tree_write(tree, "p", "memory.max", "838860800\n"); /* 800 MiB */
    tree_write(tree, "proc/meminfo",
               "MemTotal: 9024000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
}

/* Two groups grow towards the limit above, three times as fast the one as the other. */
static void leak(unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        room_tree_memory(tree, "p/a", 100 + 3 * i / 2, 0);
        room_tree_memory(tree, "p/b", 100 + i / 2, 0);
        room_tree_memory(tree, "p", 300 + 2 * i, 0);
        tree_pressure(tree, "p/c", "memory", 200000ull * i, 0);
        headroom_pass(10);
    }
}

START_TEST(notifies_of_trouble_to_come_once)
{
    prepare_leak();
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\nTopTakers 2\n</Alert>");
    for (unsigned i = 0; i < 125; i++)
        headroom_pass(10);
    ck_assert_uint_eq(fake_notifications(), 0);
    leak(1, 110);
    const notification_t *notice = headroom_await_notice(NOTIF_WARNING, 2); /* p/c doesn't grow */
    ck_assert_uint_eq(headroom_count_notices(NOTIF_OKAY), 0);
    headroom_assert_says(notice, "memory: trouble in ");
    headroom_assert_says(notice, " of ");
    headroom_assert_says(
        notice, " (the limit of p, memory.max), grows 12 MiB/min; taking: p/a 75 %, p/b 25 %; "
                "waiting: p/c 2 %");
    ck_assert_str_eq(notice->type_instance, "room-memory");
    /* it stops: each has one end */
    for (unsigned i = 0; i < 120; i++)
        headroom_pass(10);
    notice = headroom_await_notice(NOTIF_OKAY, 2);
    headroom_assert_says(notice, " % of room again in p/");
    for (unsigned i = 0; i < 20; i++)
        headroom_pass(10);
    harness_sleep(100);
    ck_assert_uint_eq(fake_notifications(), 4);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* Once past errors are known. p has 800 MiB after 250 intervals. */
START_TEST(says_when_at_the_soonest_and_the_latest)
{
    double said_min, early_min, late_min;

    prepare_leak();
    harness_begin("Cgroup \"p/a\"\nSystem false\n<Alert>\nBefore 900\nTopTakers 0\n</Alert>");
    leak(1, 150);
    ck_assert_uint_eq(fake_notifications(), 0);
    leak(151, 190);
    const notification_t *notice = headroom_await_notice(NOTIF_WARNING, 1);
    ck_assert_int_eq(sscanf(notice->message, "memory: trouble in %lf min (%lf min..%lf min) in p/a",
                            &said_min, &early_min, &late_min),
                     3);
    ck_assert_double_le(early_min, said_min);
    ck_assert_double_le(said_min, late_min);
    ck_assert_double_ge(said_min, 12);
    ck_assert_double_le(said_min, 15);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* That the group needs more, as wss doesn't measure any more that it touches 10 of its 100 MiB and
 * the rest could be swapped out, isn't that it takes more. */
START_TEST(a_working_set_that_ends_is_no_growth)
{
    prepare_leak();
    room_tree_write(tree, "p/c", "memory.stat",
                    "inactive_file 0\nactive_file 0\nactive_anon 104857600\ninactive_anon 0\n"
                    "file_mapped 0\nworkingset_refault_file 0\n");
    room_tree_write(tree, "p/c", "memory.current", "104857600\n");
    tree_write(tree, "proc/diskstats", "8 0 sda 100 0 800 100 0 0 0 0 0 0 0\n"); /* 1 ms a read */
    tree_write(tree, "proc/meminfo",
               "MemTotal: 9024000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 102400 kB\n"
               "SwapFree: 102400 kB\n");
    fake_cache_set("host.example/wss-p_c/memory-referenced-10s", 10. * MIB);
    fake_cache_set("host.example/wss-p_c/memory-referenced-60s", 10. * MIB);
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\nTopTakers 3\n</Alert>");
    for (unsigned i = 0; i < 50; i++)
        headroom_pass(10);
    ck_assert_double_eq(harness_number("headroom-p_c/memory-need"), 10. * MIB);
    for (unsigned i = 0; i < 75; i++)
        headroom_pass(10);
    ck_assert_double_eq(harness_number("headroom-p_c/memory-need"), 10. * MIB); /* still there */
    leak(1, 40);
    fake_cache_forget();
    leak(41, 110);
    ck_assert_double_eq(harness_number("headroom-p_c/memory-need"), 100. * MIB);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 2), "; taking: p/a 75 %, p/b 25 %");
    ck_assert_uint_eq(fake_notifications(), 2);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* --- Little room ----------------------------------------------------------------------------- */

START_TEST(notifies_of_little_room_that_lasts)
{
    room_tree_write(tree, "a", "memory.max", "209715200\n");
    harness_begin("Cgroup \"a\"\nSystem false\n<Alert>\nRoomBelow 20\nSeverity \"FAILURE\"\n"
                  "TopTakers 0\n</Alert>");
    headroom_use_memory(100, 3);
    headroom_use_memory(170, 5);
    headroom_use_memory(100, 1);
    headroom_use_memory(170, 5);
    harness_sleep(100);
    ck_assert_uint_eq(fake_notifications(), 0);
    headroom_use_memory(170, 2);
    const notification_t *notice = headroom_await_notice(NOTIF_FAILURE, 1);
    ck_assert_str_eq(notice->message, "memory: 15 % of room left in a: needs 170 MiB of 200 MiB "
                                      "(its own limit, memory.max)");
    const notification_meta_t *lasting = harness_find_meta(notice, "Lasting");
    ck_assert_ptr_nonnull(lasting);
    ck_assert_double_eq(lasting->nm_value.nm_double, 60);
    headroom_use_memory(155, 20); /* 22.5 % isn't clearly more */
    ck_assert_uint_eq(fake_notifications(), 1);
    headroom_use_memory(140, 7);
    notice = headroom_await_notice(NOTIF_OKAY, 1);
    headroom_assert_says(notice, "memory: 30 % of room again in a, after ");
    ck_assert_uint_eq(fake_notifications(), 2);
    frozen_ns = BEGUN_NS;
}
END_TEST

/* In 10 s it was stalled for 6, of which it was throttled for 5, 50 times; none of its tasks ran
 * for 6. */
static void throttle(unsigned intervals)
{
    tree_pressure(tree, "a", "cpu", 6000000ull * intervals, 6000000ull * intervals);
    room_tree_cpu(tree, "a", 5000000ull * intervals, 100 * intervals, 50 * intervals,
                  5000000ull * intervals);
    headroom_pass(10);
}

/* What the group and one beside it read, in KiB a second. */
static void read_io(unsigned own_kib, unsigned other_kib, unsigned intervals)
{
    static unsigned long long own, all;
    char text[128];

    for (unsigned i = 0; i < intervals; i++) {
        own += own_kib * 10240ull;
        all += (own_kib + other_kib) * 10240ull;
        snprintf(text, sizeof(text), "8:16 rbytes=%llu wbytes=0 rios=0 wios=0\n", own);
        room_tree_write(tree, "p/a", "io.stat", text);
        snprintf(text, sizeof(text), "8:16 rbytes=%llu wbytes=0 rios=0 wios=0\n", all);
        room_tree_write(tree, "p", "io.stat", text);
        headroom_pass(10);
    }
}

/* Tasks wait for a CPU nearly all the time, while so much of each second both CPUs run. */
static void wait_for_cpus(unsigned first_pct, unsigned second_pct, unsigned intervals)
{
    static unsigned first_s, second_s, waited_s;

    for (unsigned i = 0; i < intervals; i++) {
        first_s += first_pct / 10;
        second_s += second_pct / 10;
        waited_s += 9;
        room_tree_machine(tree, first_s, second_s, 100);
        tree_pressure(tree, NULL, "cpu", 1000000ull * waited_s, 0);
        headroom_pass(10);
    }
}

START_TEST(the_machine_lacks_no_cpu_that_idles)
{
    harness_begin("System true\n<Alert>\n</Alert>");
    wait_for_cpus(100, 0, 20);
    harness_sleep(100);
    ck_assert_uint_eq(fake_notifications(), 0);
    ck_assert_double_eq(harness_number("headroom-system/percent-room-cpu"), 0);
    wait_for_cpus(100, 90, 40); /* that of the last minutes counts */
    const notification_t *notice = headroom_await_notice(NOTIF_WARNING, 1);
    headroom_assert_says(notice, "cpu: trouble now in the system");
    wait_for_cpus(100, 20, 30); /* still busy */
    harness_sleep(100);
    ck_assert_uint_eq(fake_notifications(), 1);
    wait_for_cpus(100, 0, 40);
    headroom_await_notice(NOTIF_OKAY, 1);
    ck_assert_uint_eq(fake_notifications(), 2);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(notifies_of_little_room_by_io)
{
    room_tree_add_group(tree, "p");
    room_tree_add_group(tree, "p/a");
    room_tree_write(tree, "p", "io.max", "8:16 rbps=1048576 wbps=max riops=max wiops=max\n");
    harness_begin("Cgroup \"p/a\"\nSystem false\n<Alert>\n</Alert>");
    read_io(400, 256, 20);
    harness_sleep(100);
    ck_assert_uint_eq(fake_notifications(), 0);
    read_io(720, 256, 7);
    const notification_t *notice = headroom_await_notice(NOTIF_WARNING, 1);
    ck_assert_str_eq(
        notice->message,
        "io: 6 % of room left in p/a: needs 720 KiB/s of 768 KiB/s of reads (the limit "
        "of p, io.max); waiting: none yet");
    ck_assert_str_eq(notice->type_instance, "room-io");
    read_io(400, 256, 8);
    headroom_await_notice(NOTIF_OKAY, 1);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(ends_the_alarm_of_a_group_that_is_gone)
{
    room_tree_write(tree, "a", "cpu.max", "50000 100000\n");
    harness_begin("Cgroup \"a\"\nSystem false\n<Alert>\n</Alert>");
    harness_read();
    for (unsigned i = 1; i <= 8; i++)
        throttle(i);
    const notification_t *notice = headroom_await_notice(NOTIF_WARNING, 1);
    headroom_assert_says(notice, "cpu: trouble now in a: waits 60 % of the time (its own limit, "
                                 "cpu.max); taking: a ");
    headroom_assert_says(notice, "; waiting: a 60 %");
    tree_remove_group(tree, "a");
    headroom_pass(10);
    notice = headroom_await_notice(NOTIF_OKAY, 1);
    ck_assert_str_eq(notice->message, "cpu: no longer watched in a: it has no process any more");
    ck_assert_uint_eq(fake_notifications(), 2);
    frozen_ns = BEGUN_NS;
}
END_TEST

START_TEST(a_group_that_ended_begins_again)
{
    room_tree_write(tree, "a", "memory.max", "209715200\n");
    harness_begin("Cgroup \"a\"\nSystem false\n<Alert>\nRoomBelow 20\n</Alert>");
    headroom_use_memory(170, 5);
    tree_set_populated(tree, "a", false);
    headroom_pass(10);
    tree_set_populated(tree, "a", true);
    headroom_use_memory(170, 5);
    harness_sleep(100);
    ck_assert_uint_eq(fake_notifications(), 0);
    headroom_use_memory(170, 2);
    headroom_await_notice(NOTIF_WARNING, 1);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

/* --- Who takes ------------------------------------------------------------------------------- */

static const unsigned mib_of[3] = {300, 100, 200};

/* Three groups in p, whose limit leaves 50 MiB; c shall be protected. */
static void fill_up(const char *low, const char *low_of_above)
{
    room_tree_add_group(tree, "p");
    room_tree_memory(tree, "p", 600, 0);
    room_tree_write(tree, "p", "memory.max", "681574400\n"); /* 650 MiB */
    room_tree_write(tree, "p", "memory.low", low_of_above);
    room_tree_write(tree, "p", "memory.min", "0\n");
    for (size_t i = 0; i < COUNT(mib_of); i++) {
        room_tree_add_group(tree, leaking[1 + i]);
        room_tree_memory(tree, leaking[1 + i], mib_of[i], 0);
        room_tree_write(tree, leaking[1 + i], "memory.low", i == 2 ? low : "0\n");
        room_tree_write(tree, leaking[1 + i], "memory.min", "0\n");
    }
    tree_write(tree, "proc/meminfo",
               "MemTotal: 9024000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
}

static const struct {
    const char *low, *taking;
} protections[] = {
    {"0\n", "; taking: p/a 300 MiB, p/c 200 MiB, p/b 100 MiB; waiting"},
    {"157286400\n", "; taking: p/a 300 MiB, p/b 100 MiB, p/c 50 MiB; waiting"}, /* 150 MiB */
    {"max\n", "; taking: p/a 300 MiB, p/b 100 MiB; waiting"},
};

/* Where none grows: what is protected isn't taken from others. */
START_TEST(names_who_has_most_beyond_its_protection)
{
    fill_up(protections[_i].low, "0\n");
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\nRoomBelow 50\n</Alert>");
    for (unsigned i = 0; i < 7; i++)
        headroom_pass(10);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 3), protections[_i].taking);
}
END_TEST

static const struct {
    unsigned file_mib;
    const char *swapped, *low, *taking;
} kept[] = {
    /* 240 MiB in memory, of which 150 are protected */
    {20, "0\n", "157286400\n", "; taking: p/a 300 MiB, p/b 100 MiB, p/c 90 MiB; waiting"},
    /* 200 MiB in memory, all protected, and 80 in the swap space */
    {0, "83886080\n", "251658240\n", "; taking: p/a 300 MiB, p/b 100 MiB, p/c 80 MiB; waiting"},
};

START_TEST(caches_are_protected_and_swapped_memory_is_not)
{
    fill_up(kept[_i].low, "0\n");
    room_tree_memory(tree, "p/c", 200, kept[_i].file_mib);
    room_tree_memory(tree, "p", 600, kept[_i].file_mib);
    room_tree_write(tree, "p/c", "memory.swap.current", kept[_i].swapped);
    tree_write(tree, "proc/meminfo",
               "MemTotal: 9024000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 102400 kB\n"
               "SwapFree: 0 kB\n");
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\nRoomBelow 50\n</Alert>");
    for (unsigned i = 0; i < 7; i++)
        headroom_pass(10);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 3), kept[_i].taking);
}
END_TEST

/* Of the machine's memory nothing of it is protected, as nothing of p is. */
START_TEST(a_group_above_without_protection_lends_none)
{
    fill_up("max\n", "0\n");
    room_tree_write(tree, "p", "memory.max", "max\n");
    tree_write(tree, "proc/meminfo",
               "MemTotal: 1024000 kB\nMemAvailable: 51200 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\nRoomBelow 30\n</Alert>");
    for (unsigned i = 0; i < 7; i++)
        headroom_pass(10);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 1),
                         "; taking: p/a 300 MiB, p/c 200 MiB, p/b 100 MiB; waiting");
}
END_TEST

/* It grows most, by 60 MiB, of which all are protected, or all but 20. */
START_TEST(protected_growth_takes_nothing)
{
    static const char *const lows[] = {"max\n", "251658240\n"}; /* 240 MiB */
    static const char *const taking[] = {"; taking: p/b 25 %; waiting",
                                         "; taking: p/c 28 %, p/b 25 %; waiting"};

    fill_up(lows[_i], "0\n");
    room_tree_write(tree, "p", "memory.max", "943718400\n"); /* 900 MiB */
    harness_begin(
        "Cgroup \"p/*\"\nSystem false\n<Alert>\nBefore 0\nRoomBelow 40\nTopTakers 2\n</Alert>");
    headroom_pass(10);
    room_tree_memory(tree, "p/c", 260, 0);
    room_tree_memory(tree, "p/b", 120, 0);
    room_tree_memory(tree, "p", 850, 0);
    for (unsigned i = 0; i < 6; i++)
        headroom_pass(10);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 1), taking[_i]);
}
END_TEST

/* So many are protected as a whole, and one that has less isn't. It is read of 32. */
START_TEST(reads_of_a_number_of_groups_what_is_protected)
{
    static const unsigned counts[] = {31, 32};
    static const char *const taking[] = {"; taking: p/z 10 MiB; waiting", "memory.max); waiting"};
    char path[32], limit[32];

    room_tree_add_group(tree, "p");
    room_tree_add_group(tree, "p/z");
    room_tree_memory(tree, "p/z", 10, 0);
    room_tree_write(tree, "p/z", "memory.low", "0\n");
    room_tree_write(tree, "p/z", "memory.min", "0\n");
    for (unsigned i = 0; i < counts[_i]; i++) {
        snprintf(path, sizeof(path), "p/g%u", i);
        room_tree_add_group(tree, path);
        room_tree_memory(tree, path, 20, 0);
        room_tree_write(tree, path, "memory.low", "max\n");
        room_tree_write(tree, path, "memory.min", "0\n");
    }
    room_tree_memory(tree, "p", 20 * counts[_i] + 10, 0);
    snprintf(limit, sizeof(limit), "%llu\n", (20 * counts[_i] + 15) * MIB);
    room_tree_write(tree, "p", "memory.max", limit);
    tree_write(tree, "proc/meminfo",
               "MemTotal: 9024000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\nRoomBelow 50\n</Alert>");
    for (unsigned i = 0; i < 7; i++)
        headroom_pass(10);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 1), taking[_i]);
}
END_TEST

/* Three groups in p use 1.8 of the 2 CPUs that it may have. */
static void add_users(const char *const weights[3])
{
    char text[32];

    room_tree_add_group(tree, "p");
    for (size_t i = 0; i < 3; i++) {
        room_tree_add_group(tree, leaking[1 + i]);
        if (weights[i] != NULL) {
            snprintf(text, sizeof(text), "%s\n", weights[i]);
            room_tree_write(tree, leaking[1 + i], "cpu.weight", text);
        }
    }
}

static void use_cpus(unsigned s)
{
    static const uint64_t used_us[3] = {1000000, 600000, 200000}; /* a second */

    for (size_t i = 0; i < 3; i++)
        room_tree_cpu(tree, leaking[1 + i], used_us[i] * s, 0, 0, 0);
}

static const struct {
    const char *weights[3], *taking;
} shares[] = {
    {{"100", "100", "100"}, "; taking: p/a 1 CPU; waiting"},
    {{"1000", "100", "100"}, "; taking: p/b 0.6 CPUs, p/c 0.2 CPUs; waiting"},
    {{"100", "1000", "1000"}, "; taking: p/a 1 CPU; waiting"},
    {{"500", "350", "150"}, "; taking: p/a 1 CPU, p/b 0.6 CPUs, p/c 0.2 CPUs; waiting"},
    {{"1000", "100", NULL}, "; taking: p/a 1 CPU, p/b 0.6 CPUs, p/c 0.2 CPUs; waiting"},
};

/* Those that use more than their weight is due; all, where none does, or a weight isn't
 * known. */
START_TEST(names_who_uses_more_than_its_share)
{
    add_users(shares[_i].weights);
    room_tree_write(tree, "p", "cpu.max", "200000 100000\n");
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\n</Alert>");
    for (unsigned s = 0; s <= 80; s += 10) { /* while they are throttled */
        use_cpus(s);
        room_tree_cpu(tree, "p", 1800000ull * s, 10 * s, 5 * s, 100000ull * s);
        headroom_pass(10);
    }
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 1), shares[_i].taking);
}
END_TEST

static const struct {
    const char *cpus, *taking;
} cpusets[] = {
    {"0-1\n", "cpu: trouble now in p/c: waits 90 % of the time; taking: p/a 1 CPU; waiting"},
    {"1\n", "cpu: trouble now in p/c: waits 90 % of the time (CPU 1); taking: p/a 1 CPU, p/b 0.6 "
            "CPUs, p/c 0.2 CPUs; waiting"},
};

/* Until that is notified, while both CPUs are busy for so much of the time. */
static void keep_third_waiting(unsigned stall_pct, unsigned busy_pct)
{
    for (unsigned s = 0; s <= 80; s += 10) {
        use_cpus(s);
        room_tree_machine(tree, busy_pct * s / 100, busy_pct * s / 100, 0);
        tree_pressure(tree, "p/c", "cpu", 10000ull * stall_pct * s, 0);
        headroom_pass(10);
    }
}

/* The third, which has to wait, has a share of the machine's two CPUs; of the one of its cpuset,
 * which the others needn't use, none is known. */
START_TEST(names_who_uses_most_where_a_cpuset_is_smaller)
{
    static const char *const weights[3] = {"100", "100", "100"};

    add_users(weights);
    room_tree_write(tree, "p", "cpu.weight", "100\n");
    room_tree_write(tree, "p/c", "cpuset.cpus.effective", cpusets[_i].cpus);
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\n</Alert>");
    keep_third_waiting(90, 90);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 1), cpusets[_i].taking);
}
END_TEST

static const struct {
    const char *allowed, *cpuset, *needs;
} pinned[] = {
    {"1", "0-1\n", ": needs 0.2 CPUs of 0.22 CPUs (CPU 1); taking"},
    {"0-1", "0-1\n", ": needs 0.2 CPUs of 0.22 CPUs (the machine); taking"},
    {NULL, "0-1\n", ": needs 0.2 CPUs of 0.22 CPUs; taking"}, /* has ended */
    {NULL, "0\n", ": needs 0.2 CPUs of 0.21 CPUs (CPU 0); taking"},
    {"0-1", "0\n", ": needs 0.2 CPUs of 0.21 CPUs (CPU 0); taking"},
};

/* By an affinity, or a cpuset; what the machine's other CPUs have is nothing for its tasks. */
START_TEST(says_on_which_cpus_its_tasks_may_run)
{
    static const char *const weights[3] = {"100", "100", "100"};

    add_users(weights);
    room_tree_write(tree, "p/c", "cpuset.cpus.effective", pinned[_i].cpuset);
    tree_write(tree, TREE_CGROUPS "/p/c/cgroup.procs", "4711\n");
    if (pinned[_i].allowed != NULL) {
        tree_write(tree, "proc/4711/task/4711/comm", "c\n");
        tree_write(tree, "proc/4711/status", "Name:\tc\nCpus_allowed_list:\t%s\nMems:\t0\n",
                   pinned[_i].allowed);
    }
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\n</Alert>");
    keep_third_waiting(39, 50);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 1), pinned[_i].needs);
}
END_TEST

#define TAKEN "host.example/psi-p_c/derive-cpu_taken_"

/* What the psi plugin has of the CPUs that the third waited for, in milliseconds a second. */
static const struct {
    double by_b_ms, by_itself_ms, by_kworker_ms, by_other_ms;
    const char *taking;
} taken[] = {
    /* it waits for itself, too, which isn't said of those that wait */
    {675, 135, 63, 27, "; taking: p/b 75 %, itself 15 %, kworker 7 %; waiting: p/c 7"},
    {0, 0, 0, 450, "; taking: other 100 %; waiting"},
    {449, NAN, 0, 0, "; taking: p/a 1 CPU; waiting"},
    {0, 0, 0, 0, "; taking: p/a 1 CPU; waiting"},
};

/* Of all of the test. */
static void set_taken(const char *name, double us)
{
    fake_cache_set(name, us);
    fake_cache_set_time(name, TIME_T_TO_CDTIME_T(4000000000));
}

/* That the first used most of them elsewhere is another matter. Without these values, or if they
 * are of less than half of its wait, as of groups above others, whoever uses most is named. */
START_TEST(names_who_had_the_cpus_that_it_waited_for)
{
    static const char *const weights[3] = {"100", "100", "100"};

    add_users(weights);
    room_tree_write(tree, "p", "cpu.weight", "100\n");
    set_taken(TAKEN "by_p_b_us", 1e3 * taken[_i].by_b_ms);
    set_taken(TAKEN "by_itself_us", 1e3 * taken[_i].by_itself_ms);
    set_taken(TAKEN "by_kworker_us", 1e3 * taken[_i].by_kworker_ms);
    set_taken(TAKEN "by_other_us", 1e3 * taken[_i].by_other_ms);
    set_taken(TAKEN "unattributed_us", 0);
    set_taken(TAKEN "by_p_b", 1e9); /* others */
    set_taken("host.example/psi-p_c/derive-cpu_some_us", 1e9);
    set_taken("host.example/psi-p_c2/derive-cpu_taken_by_p_a_us", 1e9);
    set_taken("other.example/psi-p_c/derive-cpu_taken_by_p_a_us", 1e9);
    harness_begin("Cgroup \"p/*\"\nSystem false\n<Alert>\n</Alert>");
    keep_third_waiting(90, 90);
    headroom_assert_says(headroom_await_notice(NOTIF_WARNING, 1), taken[_i].taking);
    fake_cache_forget();
}
END_TEST

/* --- Who waits ------------------------------------------------------------------------------- */

static const struct {
    const char *options;
    bool has_pressure;
    const char *waiting;
} waiters[] = {
    {"Cgroup \"*\"\nSystem false", true, "; waiting: none yet"},
    {"Cgroup \"*\"\nSystem false", false, "; waiting: not known"}, /* of b */
    {"Cgroup \"none\"", true, "; waiting: not known"},
    {"System true", true, NULL}, /* no group is measured */
};

START_TEST(says_what_is_known_of_who_waits)
{
    char options[128];

    room_tree_add_group(tree, "b");
    if (!waiters[_i].has_pressure)
        tree_remove_pressure(tree, "b", "memory");
    tree_write(tree, "proc/meminfo",
               "MemTotal: 1024000 kB\nMemAvailable: 51200 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    snprintf(options, sizeof(options), "%s\n<Alert>\nRoomBelow 50\n</Alert>", waiters[_i].options);
    harness_begin(options);
    for (int i = 0; i < 7; i++)
        headroom_pass(10);
    const notification_t *notice = headroom_await_notice(NOTIF_WARNING, 1);
    if (waiters[_i].waiting != NULL)
        headroom_assert_says(notice, waiters[_i].waiting);
    else
        ck_assert_ptr_null(strstr(notice->message, "waiting"));
}
END_TEST

/* --- Many at once ------------------------------------------------------------------------------
 */

#define GROUP_COUNT 40

static size_t sort_count;

static int compare_by(const void *left, const void *right, void *compare)
{
    return (*(int (**)(const void *, const void *))compare)(left, right);
}

/* Takes the place of libc's. */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    sort_count++;
    qsort_r(base, count, size, compare_by, (void *)&compare);
}

START_TEST(groups_are_ranked_once_an_interval)
{
    char path[32];

    for (unsigned i = 0; i < GROUP_COUNT; i++) {
        snprintf(path, sizeof(path), "g%u", i);
        room_tree_add_group(tree, path);
        room_tree_write(tree, path, "memory.max", "129024000\n"); /* 123 MiB, 120 are used */
    }
    harness_begin("Cgroup \"g*\"\nSystem false\n<Alert>\nRoomBelow 20\n</Alert>");
    for (unsigned i = 0; i < 6; i++) {
        sort_count = 0;
        headroom_pass(10);
    }
    headroom_await_notice(NOTIF_WARNING, GROUP_COUNT);
    ck_assert_uint_ge(sort_count, 2);
    ck_assert_uint_le(sort_count, 4); /* who takes and who waits, by path and amount */
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("headroom");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, headroom_set_up, headroom_tear_down);
    tcase_add_test(tests, notifies_of_trouble_to_come_once);
    tcase_add_test(tests, says_when_at_the_soonest_and_the_latest);
    tcase_add_test(tests, a_working_set_that_ends_is_no_growth);
    tcase_add_test(tests, notifies_of_little_room_that_lasts);
    tcase_add_test(tests, the_machine_lacks_no_cpu_that_idles);
    tcase_add_test(tests, notifies_of_little_room_by_io);
    tcase_add_test(tests, ends_the_alarm_of_a_group_that_is_gone);
    tcase_add_test(tests, a_group_that_ended_begins_again);
    tcase_add_loop_test(tests, names_who_has_most_beyond_its_protection, 0, COUNT(protections));
    tcase_add_loop_test(tests, caches_are_protected_and_swapped_memory_is_not, 0, COUNT(kept));
    tcase_add_test(tests, a_group_above_without_protection_lends_none);
    tcase_add_loop_test(tests, protected_growth_takes_nothing, 0, 2);
    tcase_add_loop_test(tests, reads_of_a_number_of_groups_what_is_protected, 0, 2);
    tcase_add_loop_test(tests, names_who_uses_more_than_its_share, 0, COUNT(shares));
    tcase_add_loop_test(tests, names_who_uses_most_where_a_cpuset_is_smaller, 0, COUNT(cpusets));
    tcase_add_loop_test(tests, says_on_which_cpus_its_tasks_may_run, 0, COUNT(pinned));
    tcase_add_loop_test(tests, names_who_had_the_cpus_that_it_waited_for, 0, COUNT(taken));
    tcase_add_loop_test(tests, says_what_is_known_of_who_waits, 0, COUNT(waiters));
    tcase_add_test(tests, groups_are_ranked_once_an_interval);
    return run_suite("headroom_alert", tests);
}
