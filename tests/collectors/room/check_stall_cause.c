/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_stall_cause.c - which causes are given for which change of the counters.
 */
#include <check.h>
#include <string.h>

#include "headroom/stall_cause.h"
#include "support/suite.h"

#define S 1000000

static struct hr_stall_counters before, after;
static struct hr_stall_causes causes;

static void set_up(void)
{
    memset(&before, 0, sizeof(before));
    memset(&after, 0, sizeof(after));
    strcpy(before.group, "kubepods/pod/main");
    strcpy(after.group, before.group);
    before.below.known = after.below.known = true;
}

/* In both reads a level has a limit of half a CPU; it was throttled meanwhile. */
static void throttle(size_t level, uint64_t count, uint64_t us)
{
    const struct hr_stall_cpu limit = {.quota_us = 50000, .period_us = 100000};

    before.level[level] = after.level[level] = (struct hr_stall_level){.known = true, .cpu = limit};
    after.level[level].cpu.throttled_count = count;
    after.level[level].cpu.throttled_us = us;
}

static void set_outside(uint64_t us)
{
    before.has_cpu_full = after.has_cpu_full = true;
    before.cpu_full_us = 7;
    after.cpu_full_us = 7 + us;
}

static void set_cpus(uint64_t busy_us, uint64_t steal_us, uint64_t irq_us)
{
    before.cpus = (struct hr_stall_machine_cpus){true, 5, 5, 5, 5};
    after.cpus = (struct hr_stall_machine_cpus){true, 5 + busy_us, 5 + steal_us, 5 + irq_us, 5};
}

static void attribute(enum hr_psi_resource resource, uint64_t stalled_us, uint64_t elapsed_us)
{
    memset(&causes, 0xff, sizeof(causes));
    hr_stall_attribute(&before, &after, resource, stalled_us, elapsed_us, &causes);
}

static void expect_stalled(size_t index, enum hr_stall_kind kind, uint64_t stalled_us)
{
    ck_assert_uint_lt(index, causes.count);
    ck_assert_int_eq(causes.list[index].kind, kind);
    ck_assert_uint_eq(causes.list[index].stalled_us, stalled_us);
    ck_assert_uint_eq(causes.list[index].event_count, 0);
}

START_TEST(nothing_known_is_no_cause)
{
    for (enum hr_psi_resource i = HR_PSI_CPU; i < HR_PSI_RESOURCE_COUNT; i++) {
        attribute(i, S, 2 * S);
        ck_assert_uint_eq(causes.count, 0);
    }
}
END_TEST

START_TEST(no_stall_has_no_cause)
{
    throttle(0, 10, S);
    attribute(HR_PSI_CPU, 0, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

START_TEST(its_own_limit_of_the_cpu)
{
    throttle(0, 20, 1180000);
    set_outside(1240000);
    attribute(HR_PSI_CPU, 1240000, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    expect_stalled(0, HR_STALL_OWN_LIMIT, 1180000);
    ck_assert_int_eq(causes.list[0].limit_kind, HR_STALL_CPU_MAX);
    ck_assert_double_eq(causes.list[0].limit, 0.5);
}
END_TEST

/* Throttled on four CPUs at once the kernel counts four times the time. */
START_TEST(a_limit_causes_no_more_than_its_periods_and_the_stall)
{
    throttle(0, 5, 4 * S);
    set_outside(S);
    attribute(HR_PSI_CPU, S, 2 * S);
    expect_stalled(0, HR_STALL_OWN_LIMIT, 500000);
    throttle(0, 50, 4 * S);
    attribute(HR_PSI_CPU, S, 2 * S);
    expect_stalled(0, HR_STALL_OWN_LIMIT, S);
    ck_assert_uint_eq(causes.count, 1);
}
END_TEST

START_TEST(the_limit_of_a_group_above)
{
    throttle(0, 0, 0);
    throttle(1, 20, 900000);
    throttle(2, 0, 0);
    set_outside(S);
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    expect_stalled(0, HR_STALL_ANCESTOR_LIMIT, 900000);
    ck_assert_str_eq(causes.list[0].group, "kubepods/pod");
    throttle(1, 0, 0);
    throttle(2, 20, 900000);
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_str_eq(causes.list[0].group, "kubepods");
}
END_TEST

START_TEST(without_full_pressure_a_limit_is_all_that_is_known)
{
    throttle(0, 3, 300000);
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    expect_stalled(0, HR_STALL_OWN_LIMIT, 300000);
}
END_TEST

START_TEST(neighbours_and_itself)
{
    throttle(0, 0, 0);
    set_outside(600000);
    set_cpus(4 * S, 0, 0);
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_uint_eq(causes.count, 2);
    expect_stalled(0, HR_STALL_NEIGHBOURS, 600000);
    expect_stalled(1, HR_STALL_ITSELF, 400000);
}
END_TEST

START_TEST(what_is_less_than_a_tenth_is_no_cause)
{
    set_outside(90000);
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    expect_stalled(0, HR_STALL_ITSELF, 910000);
}
END_TEST

/* Throttling that goes on is counted only when it ends. */
START_TEST(the_uncounted_rest_of_a_limit_is_not_the_neighbours)
{
    throttle(0, 4, 200000);
    set_outside(300000);
    attribute(HR_PSI_CPU, 300000, 500000);
    ck_assert_uint_eq(causes.count, 1);
    expect_stalled(0, HR_STALL_OWN_LIMIT, 200000);
}
END_TEST

START_TEST(hypervisor_and_interrupts_prolong_all_waits)
{
    set_outside(S);
    set_cpus(4 * S, 2 * S, S);
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_uint_eq(causes.count, 3);
    expect_stalled(0, HR_STALL_HYPERVISOR, 500000);
    expect_stalled(1, HR_STALL_INTERRUPTS, 250000);
    expect_stalled(2, HR_STALL_NEIGHBOURS, 250000);
}
END_TEST

START_TEST(the_hypervisor_takes_no_more_than_was_stolen)
{
    /* The machine is idle but for what was stolen; the group waits for something else. */
    set_cpus(120000, 110000, 0);
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    expect_stalled(0, HR_STALL_HYPERVISOR, 110000);
    set_cpus(100000, 90000, 0);
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

START_TEST(counters_that_began_again_say_nothing)
{
    throttle(0, 4, 400000);
    before.level[0].cpu.throttled_count = 100;
    before.level[0].cpu.throttled_us = 90000000;
    attribute(HR_PSI_CPU, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

START_TEST(limits_of_groups_below)
{
    set_outside(700000);
    before.below.limited_count = after.below.limited_count = 1;
    after.below.throttled_us = 600000;
    after.below.period_us = 100000;
    attribute(HR_PSI_CPU, 800000, S);
    ck_assert_uint_eq(causes.count, 1);
    expect_stalled(0, HR_STALL_LIMITS_BELOW, 600000);
    before.below.throttled_us = after.below.throttled_us; /* they weren't reached */
    attribute(HR_PSI_CPU, 800000, S);
    expect_stalled(0, HR_STALL_NEIGHBOURS, 700000);
}
END_TEST

START_TEST(where_limits_of_groups_below_are_unknown_neighbours_are_not_blamed)
{
    set_outside(700000);
    after.below.known = false;
    attribute(HR_PSI_CPU, 800000, S);
    ck_assert_uint_eq(causes.count, 0);
    after.below.known = true;
    after.below.limited_count = 1; /* new, or another */
    attribute(HR_PSI_CPU, 800000, S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

/* --- memory ------------------------------------------------------------------ */

static void set_memory(size_t level, uint64_t high_count, uint64_t max_count)
{
    before.level[level] = (struct hr_stall_level){
        .known = true,
        .memory = {.high_bytes = 128 << 20,
                   .max_bytes = 256 << 20,
                   .high_count = 5,
                   .max_count = 5},
    };
    after.level[level] = before.level[level];
    after.level[level].memory.high_count += high_count;
    after.level[level].memory.max_count += max_count;
}

static void set_reclaim(uint64_t count)
{
    before.has_reclaim = after.has_reclaim = true;
    after.direct_reclaim_count = count;
}

START_TEST(limits_of_memory)
{
    set_memory(0, 4, 12);
    set_memory(1, 0, 30);
    set_reclaim(0);
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 3);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_ANCESTOR_LIMIT);
    ck_assert_str_eq(causes.list[0].group, "kubepods/pod");
    ck_assert_uint_eq(causes.list[0].event_count, 30);
    ck_assert_int_eq(causes.list[1].kind, HR_STALL_OWN_LIMIT);
    ck_assert_int_eq(causes.list[1].limit_kind, HR_STALL_MEMORY_MAX);
    ck_assert_double_eq(causes.list[1].limit, 256 << 20);
    ck_assert_int_eq(causes.list[2].limit_kind, HR_STALL_MEMORY_HIGH);
    ck_assert_uint_eq(causes.list[2].event_count, 4);
}
END_TEST

static void set_kswapd(uint64_t pages)
{
    before.has_own_kswapd = after.has_own_kswapd = true;
    after.kswapd_page_count = pages;
    before.has_refaults = after.has_refaults = true;
    after.refault_count = pages;
}

START_TEST(the_machine_is_short_of_memory)
{
    set_memory(0, 0, 0);
    set_reclaim(50);
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_MACHINE_RECLAIM);
    ck_assert_uint_eq(causes.list[0].event_count, 50);
    set_kswapd(640);
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_uint_eq(causes.list[0].event_count, 20);
}
END_TEST

/* Both at once: what was taken from the group shows which it was. */
START_TEST(a_limit_while_the_machine_is_short_of_memory)
{
    set_reclaim(50000); /* of whichever group */
    set_kswapd(640);
    set_memory(0, 0, 201);
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_OWN_LIMIT);
    set_memory(0, 0, 5);
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 2);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_MACHINE_RECLAIM);
    ck_assert_int_eq(causes.list[1].kind, HR_STALL_OWN_LIMIT);
}
END_TEST

/* As of version 1: then the limit is all that is known. */
START_TEST(a_limit_where_the_group_has_no_count_of_its_own)
{
    set_reclaim(50000);
    before.has_refaults = after.has_refaults = true;
    after.refault_count = 70;
    set_memory(0, 0, 5);
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_OWN_LIMIT);
}
END_TEST

START_TEST(what_kswapd_reclaimed_is_read_again)
{
    set_memory(0, 0, 0);
    set_kswapd(640);
    after.refault_count = 0;
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
    after.refault_count = 9;
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_MACHINE_RECLAIM);
    after.kswapd_page_count = 0; /* reclaimed long ago, or by memory.reclaim */
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

START_TEST(limits_of_memory_below)
{
    set_memory(0, 0, 0);
    set_reclaim(50);
    before.below.limited_count = after.below.limited_count = 3;
    before.below.reached_count = 10;
    after.below.reached_count = 40;
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_LIMITS_BELOW);
    ck_assert_uint_eq(causes.list[0].event_count, 30);
    after.below.known = false;
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

/* kswapd keeps the page cache small, as ever, while a group reclaims for its limit. */
START_TEST(the_system_waits_for_limits_of_groups)
{
    before.group[0] = after.group[0] = '\0';
    set_reclaim(3);
    set_kswapd(1000);
    after.machine_page_count = 1000;
    after.limit_page_count = 1001;
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
    after.limit_page_count = 999;
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_MACHINE_RECLAIM);
}
END_TEST

/* --- io ---------------------------------------------------------------------- */

/* A list of one device. */
static struct hr_stall_devices one_device(uint64_t read_bytes, uint64_t limit)
{
    struct hr_stall_devices devices = {.count = 1,
                                       .list = {{.major = 8, .minor = 16, .done = {read_bytes}}}};

    for (int i = 0; i < HR_STALL_IO_COUNT; i++)
        devices.list[0].limit[i] = HR_STALL_NO_LIMIT;
    devices.list[0].limit[HR_STALL_READ_BYTES] = limit;
    return devices;
}

static void set_io(size_t level, uint64_t read_bytes, uint64_t limit)
{
    before.level[level] = after.level[level] = (struct hr_stall_level){.known = true};
    before.level[level].io = one_device(100, limit);
    after.level[level].io = one_device(100 + read_bytes, limit);
}

static uint64_t grown_by(enum hr_stall_io io)
{
    return after.level[0].io.list[0].done[io] - before.level[0].io.list[0].done[io];
}

/* A request of 4 KiB each, of which all groups together have so many, and how long they took. */
static void set_machine_io(uint64_t read_bytes, uint64_t request_ms)
{
    before.has_machine_io = after.has_machine_io = true;
    before.machine_io = one_device(9, HR_STALL_NO_LIMIT);
    after.machine_io = one_device(9 + read_bytes, HR_STALL_NO_LIMIT);
    after.machine_io.list[0].done[HR_STALL_READS] = read_bytes / 4096;
    after.machine_io.list[0].request_ms = request_ms;
    after.level[0].io.list[0].done[HR_STALL_READS] = grown_by(HR_STALL_READ_BYTES) / 4096;
}

START_TEST(limits_of_io)
{
    set_io(0, 2000000, 1000000);
    set_machine_io(90000000, 4000);
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_OWN_LIMIT);
    ck_assert_int_eq(causes.list[0].limit_kind, HR_STALL_IO_MAX);
    ck_assert_int_eq(causes.list[0].io, HR_STALL_READ_BYTES);
    ck_assert_uint_eq(causes.list[0].device_minor, 16);
    ck_assert_double_eq(causes.list[0].limit, 1000000);
    set_io(0, 500000, HR_STALL_NO_LIMIT);
    set_io(1, 2000000, 1000000);
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_ANCESTOR_LIMIT);
}
END_TEST

/* It has read so many bytes again since; its limit, and that of the group above, was reached so
 * many times. */
static void set_rereads(uint64_t refault_bytes, uint64_t own_count, uint64_t above_count)
{
    const struct hr_stall_memory limited = {
        .high_bytes = HR_STALL_NO_LIMIT, .max_bytes = 64 << 20, .max_count = 100};
    const struct hr_stall_memory unlimited = {.high_bytes = HR_STALL_NO_LIMIT,
                                              .max_bytes = HR_STALL_NO_LIMIT};

    before.rereads = (struct hr_stall_rereads){.known = true, .version = 1};
    before.rereads.refault_bytes = 9 << 20;
    before.rereads.own_bytes = before.rereads.machine_bytes = 5 << 20;
    before.rereads.memory[0] = before.rereads.memory[1] = limited;
    before.rereads.memory[2] = unlimited;
    after.rereads = before.rereads;
    after.rereads.refault_bytes += refault_bytes;
    after.rereads.memory[0].max_count += own_count;
    after.rereads.memory[1].max_count += above_count;
    after.rereads.memory[2].max_count = 1000;
}

/* Half of what it reads and writes is read again, by the group's own numbers, or those of the
 * machine; more than that is. */
START_TEST(io_for_lack_of_memory)
{
    for (int is_own = 0; is_own < 2; is_own++) {
        const uint64_t moved = 40000000;
        set_rereads(moved / 2, 30, 0);
        if (is_own)
            after.rereads.own_bytes += moved;
        after.rereads.machine_bytes += (is_own ? 5 : 1) * moved;
        attribute(HR_PSI_IO, S, 2 * S);
        ck_assert_uint_eq(causes.count, 1);
        ck_assert_int_eq(causes.list[0].kind, HR_STALL_OWN_LIMIT);
        ck_assert_int_eq(causes.list[0].limit_kind, HR_STALL_MEMORY_MAX);
        ck_assert_int_eq(causes.list[0].version, 1);
        ck_assert_uint_eq(causes.list[0].event_count, 30);
        ck_assert_double_eq(causes.list[0].limit, 64 << 20);
        after.rereads.refault_bytes--;
        attribute(HR_PSI_IO, S, 2 * S);
        ck_assert_uint_eq(causes.count, 0);
    }
}
END_TEST

START_TEST(io_for_the_limit_of_memory_that_was_reached)
{
    set_rereads(40000000, 0, 30);
    after.rereads.own_bytes += 40000000;
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_ANCESTOR_LIMIT);
    set_rereads(40000000, 0, 0); /* none was: then it isn't known */
    after.rereads.own_bytes += 40000000;
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
    set_rereads(40000000, 30, 0);
    after.rereads.own_bytes += 40000000;
    after.rereads.known = false;
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
    set_rereads(40000000, 30, 0); /* beside a limit of I/O that is used up */
    after.rereads.own_bytes += 40000000;
    set_io(0, 2000000, 1000000);
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].limit_kind, HR_STALL_IO_MAX);
}
END_TEST

START_TEST(io_of_others)
{
    set_io(0, 40000000, 100000000);
    set_machine_io(84000000, 4000);
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_NEIGHBOURS);
    set_machine_io(84000000, 900); /* the device was idle for most of the time */
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
    set_machine_io(76000000, 4000);
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
    set_io(0, 0, HR_STALL_NO_LIMIT);
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

/* In 0.4 of two seconds a group may have used up its limit, of which the average shows a fifth. */
START_TEST(io_in_bursts_may_be_the_limit)
{
    set_io(0, 40000000, 100000000);
    set_machine_io(90000000, 4000);
    attribute(HR_PSI_IO, 400000, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

START_TEST(large_pieces_of_io_use_up_a_limit)
{
    set_io(0, 1500000, 1000000);
    set_machine_io(90000000, 4000);
    after.level[0].io.list[0].done[HR_STALL_READS] = 3;
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_OWN_LIMIT);
    after.level[0].io.list[0].done[HR_STALL_READS] = 8; /* then not, and it isn't known */
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

START_TEST(limits_of_io_below_may_be_why)
{
    set_io(0, 40000000, HR_STALL_NO_LIMIT);
    set_machine_io(84000000, 4000);
    after.below.limited_count = 1;
    attribute(HR_PSI_IO, S, 2 * S);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

START_TEST(more_causes_than_there_is_room_for)
{
    for (size_t i = 0; i < HR_STALL_LEVELS; i++)
        set_memory(i, 100 + i, 200 + i);
    strcpy(after.group, "a/b/c/d/e/f/g/h");
    attribute(HR_PSI_MEMORY, S, 2 * S);
    ck_assert_uint_eq(causes.count, HR_STALL_CAUSES);
    for (size_t i = 0; i < HR_STALL_CAUSES; i++)
        ck_assert_uint_eq(causes.list[i].event_count, 200 + HR_STALL_LEVELS - 1 - i);
    ck_assert_str_eq(causes.list[0].group, "a");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cause");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, nothing_known_is_no_cause);
    tcase_add_test(tests, no_stall_has_no_cause);
    tcase_add_test(tests, its_own_limit_of_the_cpu);
    tcase_add_test(tests, a_limit_causes_no_more_than_its_periods_and_the_stall);
    tcase_add_test(tests, the_limit_of_a_group_above);
    tcase_add_test(tests, without_full_pressure_a_limit_is_all_that_is_known);
    tcase_add_test(tests, neighbours_and_itself);
    tcase_add_test(tests, what_is_less_than_a_tenth_is_no_cause);
    tcase_add_test(tests, the_uncounted_rest_of_a_limit_is_not_the_neighbours);
    tcase_add_test(tests, hypervisor_and_interrupts_prolong_all_waits);
    tcase_add_test(tests, the_hypervisor_takes_no_more_than_was_stolen);
    tcase_add_test(tests, counters_that_began_again_say_nothing);
    tcase_add_test(tests, limits_of_groups_below);
    tcase_add_test(tests, where_limits_of_groups_below_are_unknown_neighbours_are_not_blamed);
    tcase_add_test(tests, limits_of_memory);
    tcase_add_test(tests, the_machine_is_short_of_memory);
    tcase_add_test(tests, a_limit_while_the_machine_is_short_of_memory);
    tcase_add_test(tests, a_limit_where_the_group_has_no_count_of_its_own);
    tcase_add_test(tests, what_kswapd_reclaimed_is_read_again);
    tcase_add_test(tests, limits_of_memory_below);
    tcase_add_test(tests, the_system_waits_for_limits_of_groups);
    tcase_add_test(tests, limits_of_io);
    tcase_add_test(tests, io_for_lack_of_memory);
    tcase_add_test(tests, io_for_the_limit_of_memory_that_was_reached);
    tcase_add_test(tests, io_of_others);
    tcase_add_test(tests, io_in_bursts_may_be_the_limit);
    tcase_add_test(tests, large_pieces_of_io_use_up_a_limit);
    tcase_add_test(tests, limits_of_io_below_may_be_why);
    tcase_add_test(tests, more_causes_than_there_is_room_for);
    return run_suite("cause", tests);
}
