/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_walk.c - how the BPF programs split a wait by the slices of its CPU:
 * known slices, and known sums of interrupts, of steal and of throttled time, which no kernel at
 * hand has at will.
 */
#include "collectors/blame/fake_bpf.h"

#include "blame/walk.bpf.h"
#include "support/suite.h"

enum { WEB = BLAME_FIRST_GROUP, BACKUP, CRON }; /* WEB waits */

static struct ring ring;
static struct walk kept_walks[WALK_COUNT];
static struct {
    struct blame_key key;
    __u64 ns;
} kept_cells[16];
static size_t cell_count, cell_room;
static struct blame_status kept_status;
static struct walk walk; /* what is to be split */

static void *bpf_map_lookup_elem(void *map, const void *key)
{
    if (map == &rings)
        return &ring;
    if (map == &status)
        return &kept_status;
    if (map == &walks)
        return &kept_walks[*(const __u32 *)key];
    ck_assert_ptr_eq(map, &cells);
    for (size_t i = 0; i < cell_count; i++)
        if (memcmp(&kept_cells[i].key, key, sizeof(kept_cells[i].key)) == 0)
            return &kept_cells[i].ns;
    return NULL;
}

static long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
    ck_assert(map == &cells && flags == BPF_NOEXIST);
    if (cell_count == cell_room)
        return -1;
    memcpy(&kept_cells[cell_count].key, key, sizeof(kept_cells[cell_count].key));
    kept_cells[cell_count++].ns = *(const __u64 *)value;
    return 0;
}

static void set_up(void)
{
    memset(&ring, 0, sizeof(ring));
    cell_count = 0;
    cell_room = sizeof(kept_cells) / sizeof(kept_cells[0]);
    kept_status = (struct blame_status){0};
    fake_has_loop = true;
}

/* A slice, and the CPU's sums when it began. */
static void add(__u64 begin, __u32 taker, __u64 irq, __u64 steal)
{
    ring.slices[ring.count++ & RING_MASK] =
        (struct slice){.begin = begin, .irq = irq, .steal = steal, .taker = taker};
}

static void wait_for(__u64 queued, __u64 end)
{
    walk = (struct walk){.queued = queued, .end = end, .queued_known = true, .waiter = WEB};
}

static void split(void)
{
    kept_walks[WALK_ENDED] = walk;
    walk_back(WALK_ENDED);
}

static __u64 sum_of(__u32 taker)
{
    const struct blame_key key = {.waiter = WEB, .taker = taker};
    const __u64 *ns = bpf_map_lookup_elem(&cells, &key);

    return ns != NULL ? *ns : 0;
}

static __u64 sum_of_all(void)
{
    __u64 ns = 0;

    for (size_t i = 0; i < cell_count; i++)
        ns += kept_cells[i].ns;
    return ns;
}

/* --- Who ran --------------------------------------------------------------- */

START_TEST(test_each_has_what_it_ran_of_the_wait)
{
    add(0, CRON, 0, 0);
    add(20, BACKUP, 0, 0);
    add(100, WEB, 0, 0);
    add(130, BLAME_KWORKER, 0, 0);
    add(131, CRON, 0, 0);
    wait_for(50, 200);
    split();
    ck_assert_uint_eq(sum_of(BACKUP), 50);
    ck_assert_uint_eq(sum_of(WEB), 30);
    ck_assert_uint_eq(sum_of(BLAME_KWORKER), 1);
    ck_assert_uint_eq(sum_of(CRON), 69);
    ck_assert_uint_eq(sum_of_all(), 150);
}
END_TEST

/* That its waits are measured doesn't make it another taker. */
START_TEST(test_a_group_is_one_whether_it_is_measured_or_not)
{
    add(0, BACKUP | BLAME_MEASURED, 0, 0);
    add(40, BACKUP, 0, 0);
    wait_for(0, 100);
    split();
    ck_assert_uint_eq(sum_of(BACKUP), 100);
}
END_TEST

START_TEST(test_what_is_not_known_is_in_no_cell)
{
    add(30, BLAME_TOTAL, 0, 0);
    add(50, BACKUP, 0, 0);
    wait_for(10, 80);
    split();
    ck_assert_uint_eq(sum_of(BACKUP), 30);
    ck_assert_uint_eq(sum_of_all(), 30);
}
END_TEST

/* Twice as many slices as a ring has, each of 1. */
START_TEST(test_what_a_ring_has_lost_is_in_no_cell)
{
    for (__u64 at = 0; at < 2 * BLAME_SLICES; at++)
        add(at, at % 2 == 0 ? BACKUP : CRON, 0, 0);
    wait_for(0, 2 * BLAME_SLICES);
    fake_has_loop = _i == 0;
    split();
    const __u64 walked = fake_has_loop ? BLAME_SLICES : SHORT_WALK;
    ck_assert_uint_eq(sum_of(BACKUP), walked / 2);
    ck_assert_uint_eq(sum_of(CRON), walked / 2);
    ck_assert_uint_eq(kept_walks[WALK_ENDED].steps, walked);
}
END_TEST

/* The CPU goes on while a wait that lasts is read. */
START_TEST(test_slices_that_are_newer_than_a_reading_are_passed_over)
{
    add(0, BACKUP, 0, 0);
    add(60, CRON, 0, 0);
    add(120, BACKUP, 0, 0);
    add(140, CRON, 0, 0);
    wait_for(10, 100);
    walk.lasts = 1;
    split();
    ck_assert_uint_eq(sum_of(BACKUP), 50);
    ck_assert_uint_eq(sum_of(CRON), 40);
    ck_assert_uint_eq(sum_of_all(), 90);
}
END_TEST

START_TEST(test_parts_that_have_no_room_are_known)
{
    add(0, BACKUP, 0, 0);
    add(60, CRON, 0, 0);
    wait_for(0, 100);
    cell_room = 1;
    split();
    ck_assert_uint_eq(sum_of(CRON), 40);
    ck_assert_uint_eq(kept_status.unsplit_ns, 60);
    ck_assert_uint_eq(kept_status.lost_ns, 0);
}
END_TEST

/* --- Interrupts and the hypervisor ------------------------------------------- */

/* From 40 on, with the sums when it was queued and at its end. */
static void wait_with_sums(void)
{
    add(0, BACKUP, 100, 1000);
    add(100, CRON, 110, 1020);
    wait_for(40, 200);
    walk.queued_irq = 104;
    walk.queued_steal = 1005;
    walk.irq = 113;
    walk.steal = 1060;
}

/* Of a slice that the wait has a part of, the sums by then say how much was in that part. */
START_TEST(test_interrupts_and_steal_are_taken_from_what_they_interrupt)
{
    wait_with_sums();
    split();
    ck_assert_uint_eq(sum_of(BACKUP), 60 - 6 - 15);
    ck_assert_uint_eq(sum_of(CRON), 100 - 3 - 40);
    ck_assert_uint_eq(sum_of(BLAME_INTERRUPTS), 9);
    ck_assert_uint_eq(sum_of(BLAME_STEAL), 55);
    ck_assert_uint_eq(sum_of_all(), 160);
}
END_TEST

START_TEST(test_sums_that_are_not_known_take_nothing)
{
    wait_with_sums();
    walk.queued_known = false;
    split();
    ck_assert_uint_eq(sum_of(BACKUP), 60);
    ck_assert_uint_eq(sum_of(BLAME_INTERRUPTS), 3);
    ck_assert_uint_eq(sum_of(BLAME_STEAL), 40);
    ck_assert_uint_eq(sum_of_all(), 160);
}
END_TEST

/* As where the clocks of two CPUs differ, or a hypervisor moves the machine. */
START_TEST(test_sums_that_are_impossible_take_nothing)
{
    add(0, BACKUP, 100, 1000);
    add(100, CRON, 90, 1000);
    wait_for(0, 200);
    walk.queued_irq = 100;
    walk.queued_steal = 1000;
    walk.irq = 90;
    walk.steal = 5000;
    split();
    ck_assert_uint_eq(sum_of(BACKUP), 100);
    ck_assert_uint_eq(sum_of(CRON), 100);
    ck_assert_uint_eq(sum_of_all(), 200);
}
END_TEST

/* --- Limits ------------------------------------------------------------------ */

/* 70 idle, 230 of others, the oldest of which is BACKUP's. */
static void add_beside_limit(void)
{
    add(0, BACKUP, 0, 0);
    add(100, BLAME_IDLE, 0, 0);
    add(170, CRON, 0, 0);
    wait_for(0, 300);
}

/* What was throttled is first what is idle, and then the oldest of what others ran. */
START_TEST(test_a_limit_takes_what_was_throttled)
{
    static const struct {
        __u64 throttled, idle, backup, cron;
    } cases[] = {
        {0, 70, 100, 130}, {30, 40, 100, 130}, {70, 0, 100, 130}, {120, 0, 50, 130},
        {200, 0, 0, 100},  {300, 0, 0, 0},     {900, 0, 0, 0},
    };

    add_beside_limit();
    walk.throttled = cases[_i].throttled;
    split();
    ck_assert_uint_eq(sum_of(BLAME_LIMIT), cases[_i].throttled < 300 ? cases[_i].throttled : 300);
    ck_assert_uint_eq(sum_of(BLAME_IDLE), cases[_i].idle);
    ck_assert_uint_eq(sum_of(BACKUP), cases[_i].backup);
    ck_assert_uint_eq(sum_of(CRON), cases[_i].cron);
    ck_assert_uint_eq(sum_of_all(), 300);
}
END_TEST

/* While it runs a group isn't throttled. */
START_TEST(test_a_limit_takes_nothing_that_the_group_itself_ran)
{
    add(0, BACKUP, 0, 0);
    add(100, WEB, 0, 0);
    add(150, CRON, 0, 0);
    wait_for(0, 200);
    walk.throttled = 120;
    split();
    ck_assert_uint_eq(sum_of(BLAME_LIMIT), 120);
    ck_assert_uint_eq(sum_of(WEB), 50);
    ck_assert_uint_eq(sum_of(BACKUP), 0);
    ck_assert_uint_eq(sum_of(CRON), 30);
}
END_TEST

/* As long ago as no slice is kept, as throttling begins while the group runs. */
START_TEST(test_a_limit_takes_what_is_older_than_all_slices)
{
    add(200, CRON, 0, 0);
    wait_for(0, 300);
    walk.throttled = 150;
    split();
    ck_assert_uint_eq(sum_of(BLAME_LIMIT), 150);
    ck_assert_uint_eq(sum_of(CRON), 100);
    ck_assert_uint_eq(sum_of_all(), 250);
}
END_TEST

/* Before Linux 6.6 it is known since when, and that nothing else keeps a task from an idle CPU;
 * what others ran since is the limit's or theirs. */
START_TEST(test_where_only_its_beginning_is_known_a_limit_takes_what_is_idle)
{
    add_beside_limit();
    walk.limited_from = 200;
    split();
    ck_assert_uint_eq(sum_of(BLAME_LIMIT), 70);
    ck_assert_uint_eq(sum_of(BACKUP), 100);
    ck_assert_uint_eq(sum_of(CRON), 30);
    ck_assert_uint_eq(sum_of_all(), 200);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("blame_walk");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, test_each_has_what_it_ran_of_the_wait);
    tcase_add_test(tests, test_a_group_is_one_whether_it_is_measured_or_not);
    tcase_add_test(tests, test_what_is_not_known_is_in_no_cell);
    tcase_add_loop_test(tests, test_what_a_ring_has_lost_is_in_no_cell, 0, 2);
    tcase_add_test(tests, test_slices_that_are_newer_than_a_reading_are_passed_over);
    tcase_add_test(tests, test_parts_that_have_no_room_are_known);
    tcase_add_test(tests, test_interrupts_and_steal_are_taken_from_what_they_interrupt);
    tcase_add_test(tests, test_sums_that_are_not_known_take_nothing);
    tcase_add_test(tests, test_sums_that_are_impossible_take_nothing);
    tcase_add_loop_test(tests, test_a_limit_takes_what_was_throttled, 0, 7);
    tcase_add_test(tests, test_a_limit_takes_nothing_that_the_group_itself_ran);
    tcase_add_test(tests, test_a_limit_takes_what_is_older_than_all_slices);
    tcase_add_test(tests, test_where_only_its_beginning_is_known_a_limit_takes_what_is_idle);
    return run_suite("blame_walk", tests);
}
