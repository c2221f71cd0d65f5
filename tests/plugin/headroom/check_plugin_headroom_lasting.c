/* SPDX-License-Identifier: MIT */
/*
 * plugin/headroom/check_plugin_headroom_lasting.c - the plugin headroom neither grows nor keeps
 * more files open in 10,000 intervals, while groups come and go, their limits and loads change, and
 * alarms begin and end.
 */
#include "plugin/headroom/headroom_harness.h"

#include <malloc.h>

#include "support/descriptor_shortage.h"
#include "support/fake_cache.h"
#include "support/suite.h"

#define CYCLES    5
#define INTERVALS 2000 /* of a cycle */
#define CHANGES   20   /* each so many loads change, and a group comes, which goes with the next */

/* By so much the heap differs from one moment to another, as other threads have notifications and
 * files to write. A pointer that is lost in each interval is five times that, and what is kept of a
 * group whenever one goes forty times. */
#define SLACK_BYTES 65536

/* What uses up the memory, and the CPUs, of a group for a part of the cycle. */
static void set_load(unsigned interval)
{
    const unsigned long long total = interval;

    room_tree_memory(tree, "p/a", interval % INTERVALS > INTERVALS / 2 ? 190 : 80, 5);
    room_tree_cpu(tree, "p/a", 5000000 * total, 100 * interval, 50 * interval, 5000000 * total);
    tree_pressure(tree, "p/a", "cpu", 3000000 * total, 0);
    tree_pressure(tree, "p/a", "memory", 20000 * total, 0);
    room_tree_write(tree, "p", "memory.high", interval % 100 < 50 ? "max\n" : "943718400\n");
}

/* Two take turns, as the stand-in remembers all series that there were. */
static void let_come_and_go(unsigned interval)
{
    static const char *const names[] = {"p/0", "p/1"};
    const unsigned turn = interval / CHANGES;

    room_tree_add_group(tree, names[turn % 2]);
    if (turn > 0)
        tree_remove_group(tree, names[(turn + 1) % 2]);
}

/* An alarm by memory begins and ends. */
static void run_cycle(unsigned cycle)
{
    for (unsigned i = cycle * INTERVALS; i < (cycle + 1) * INTERVALS; i++) {
        if (i % CHANGES == 0) {
            let_come_and_go(i);
            set_load(i);
        }
        headroom_pass(10);
    }
    room_tree_memory(tree, "p/a", 80, 5);
    for (unsigned i = 0; i < 10; i++)
        headroom_pass(10);
    headroom_await_notice(NOTIF_OKAY, 1);
    fake_forget_notifications();
}

START_TEST(nothing_grows_in_10000_intervals)
{
    room_tree_add_group(tree, "p");
    room_tree_write(tree, "p", "memory.max", "1048576000\n");
    room_tree_add_group(tree, "p/a");
    room_tree_write(tree, "p/a", "memory.max", "209715200\n");
    room_tree_write(tree, "p/a", "cpu.max", "50000 100000\n");
    fake_cache_set("host.example/wss-p_a/memory-referenced-10s", 10. * MIB);
    fake_cache_set("host.example/wss-p_a/memory-referenced-60s", 10. * MIB);
    harness_begin("Cgroup \"p/*\"\n<Alert>\nRoomBelow 15\n</Alert>");
    run_cycle(0);
    const size_t used = mallinfo2().uordblks;
    const int open = count_descriptors();
    for (unsigned cycle = 1; cycle <= CYCLES; cycle++)
        run_cycle(cycle);
    /* A thread that writes a state file may have it open. */
    for (int i = 0; i < 5000 && count_descriptors() > open; i++)
        harness_sleep(10);
    ck_assert_int_le(count_descriptors(), open);
    ck_assert_uint_le(mallinfo2().uordblks, used + SLACK_BYTES);
    frozen_ns = BEGUN_NS; /* Check can't count to so many microseconds */
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("headroom");

    tcase_add_checked_fixture(tests, headroom_set_up, headroom_tear_down);
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, nothing_grows_in_10000_intervals);
    return run_suite("headroom_lasting", tests);
}
