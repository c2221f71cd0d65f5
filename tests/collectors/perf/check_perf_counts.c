/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_counts.c - scaling and summing the kernel's readings, on the fake
 * kernel. Failures of opening are tested by check_perf_open.c.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/perf/perf_harness.h"
#include "support/descriptor_shortage.h"

/* --- One event on one CPU ------------------------------------------------- */

#define STEPS    5
#define HALF     ((uint64_t)1 << 63)
#define G(n)     (HR_NS_PER_S * (n))
#define BOTH(ns) ns, ns

/* Readings of the kernel, cumulative: enabled, running, count; and the expected total. */
#define GIVES(...) __VA_ARGS__, true
#define LACKS(...) __VA_ARGS__, false /* there is a total, but it isn't up to date */

static const struct {
    const char *what;
    struct {
        uint64_t enabled_ns, running_ns, count, total;
        bool counted;
    } steps[STEPS];
    size_t count;
} readings[] = {
    {"all the time",
     {{GIVES(BOTH(G(1)), 10, 10)}, {GIVES(BOTH(G(2)), 30, 30)}, {GIVES(BOTH(G(3)), 30, 30)}},
     3},
    {"half of the time", {{GIVES(G(2), G(1), 10, 20)}, {GIVES(G(4), G(2), 15, 30)}}, 2},
    {"a ratio that moves",
     /* Scaled by the cumulative times, the total would be 1000, 1100, 1050, 1100. */
     {{GIVES(G(10), G(1), 100, 1000)},
      {GIVES(G(11), G(2), 200, 1100)},
      {GIVES(G(20), G(4), 210, 1145)},
      {GIVES(G(21), G(5), 260, 1195)}},
     4},
    {"no turn, made up for later",
     {{GIVES(BOTH(G(1)), 100, 100)},
      {LACKS(G(2), G(1), 100, 100)},
      {LACKS(G(3), G(1), 100, 100)},
      {GIVES(G(5), G(2), 150, 300)},
      {GIVES(G(6), G(3), 160, 310)}},
     5},
    {"no turn for long, made up for a minute",
     {{GIVES(BOTH(G(1)), 100, 100)},
      {LACKS(G(51), G(1), 100, 100)},
      {LACKS(G(1001), G(1), 100, 100)},
      {GIVES(G(1011), G(2), 110, 700)},
      {GIVES(G(1012), G(3), 115, 705)}},
     5},
    {"no turn for almost a minute",
     {{GIVES(BOTH(G(1)), 100, 100)},
      {LACKS(G(51), G(1), 100, 100)},
      {GIVES(G(61), G(2), 110, 700)}},
     3},
    {"an interval that is longer",
     {{GIVES(BOTH(G(1)), 100, 100)}, {GIVES(G(301), G(2), 110, 3100)}},
     2},
    {"times that stand still, though it counts",
     {{GIVES(BOTH(G(1)), 100, 100)},
      {GIVES(BOTH(G(1)), 150, 150)},
      {GIVES(BOTH(G(1)), 170, 170)},
      {GIVES(G(3), G(2), 180, 190)}},
     4},
    {"counts from the beginning without any time",
     {{GIVES(0, 0, 40, 40)}, {GIVES(0, 0, 50, 50)}, {GIVES(BOTH(G(1)), 60, 60)}},
     3},
    {"a turn that was noticed late, and didn't run since",
     {{GIVES(BOTH(G(1)), 100, 100)},
      {LACKS(G(2), G(1), 150, 100)},
      {GIVES(G(2), G(1), 150, 100)},
      {GIVES(G(3), G(2), 200, 300)}},
     4},
    {"a turn that was noticed late: the count is ahead of its time",
     {{GIVES(BOTH(G(1)), 100, 100)}, {LACKS(G(2), G(1), 150, 100)}, {GIVES(G(3), G(2), 200, 300)}},
     3},
    {"didn't run",
     {{GIVES(BOTH(G(1)), 100, 100)}, {GIVES(BOTH(G(1)), 100, 100)}, {GIVES(BOTH(G(2)), 120, 120)}},
     3},
    {"didn't run at first",
     {{GIVES(0, 0, 0, 0)}, {GIVES(0, 0, 0, 0)}, {GIVES(BOTH(G(1)), 5, 5)}},
     3},
    {"never on a counter", {{LACKS(G(1), 0, 0, 0)}, {LACKS(G(2), 0, 0, 0)}}, 2},
    {"not on a counter, and didn't run since", {{LACKS(G(1), 0, 0, 0)}, {LACKS(G(1), 0, 0, 0)}}, 2},
    {"value times time is more than 64 bits",
     {{GIVES(G(10), G(5), UINT64_C(1000000000000000), UINT64_C(2000000000000000))}},
     1},
    {"more than can be represented",
     {{GIVES(G(1), 1, HALF - 1, UINT64_MAX)}, {GIVES(G(2), G(1), HALF, 0)}},
     2},
    {"the counter begins again",
     {{GIVES(BOTH(G(1)), HALF - 1, HALF - 1)},
      {GIVES(BOTH(G(2)), UINT64_MAX - 9, UINT64_MAX - 9)},
      {GIVES(BOTH(G(3)), 20, 20)}},
     3},
    {"the counter goes back",
     {{GIVES(BOTH(G(1)), 1000, 1000)},
      {GIVES(BOTH(G(2)), 900, 1000)},
      {GIVES(BOTH(G(3)), 950, 1000)},
      {GIVES(BOTH(G(4)), 1050, 1050)}},
     4},
    {"both times go back",
     {{GIVES(BOTH(G(2)), 100, 100)}, {GIVES(BOTH(G(1)), 110, 100)}, {GIVES(BOTH(G(3)), 150, 150)}},
     3},
    {"the time that it should have counted goes back",
     {{GIVES(G(2), G(1), 100, 200)}, {GIVES(G(1), G(2), 150, 250)}},
     2},
    {"the time that it counted goes back",
     {{GIVES(G(2), G(2), 100, 100)}, {LACKS(G(4), G(1), 100, 100)}, {GIVES(G(6), G(4), 200, 300)}},
     3},
    {"longer than it should have",
     {{GIVES(G(10), G(10) + 7, 50, 50)}, {GIVES(G(20), G(20) + 9, 60, 60)}},
     2},
    {"rounded", {{GIVES(3, 2, 1, 2)}, {GIVES(6, 4, 2, 4)}, {GIVES(10, 7, 3, 5)}}, 3},
};

START_TEST(makes_totals_of_readings)
{
    uint64_t total = 0;

    set_online("0");
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 0, 0);
    for (size_t i = 0; i < readings[_i].count; i++) {
        const __typeof__(readings[_i].steps[0]) *step = &readings[_i].steps[i];
        fake_perf_set_times(FAKE_MACHINE, 0, 1, step->enabled_ns, step->running_ns);
        fake_perf_set_count(FAKE_MACHINE, 0, 1, step->count);
        ck_assert_int_eq(read_target(target), 0);
        struct hr_perf_value value = hr_perf_target_value(target, 0, 0);
        ck_assert_msg(value.counted == step->counted, "%s, reading %zu", readings[_i].what, i);
        ck_assert_msg(value.total == step->total, "%s, reading %zu: %llu", readings[_i].what, i,
                      (unsigned long long)value.total);
        ck_assert_uint_eq(value.delta, value.total - total);
        ck_assert_uint_le(value.running_ns, value.enabled_ns);
        total = value.total;
    }
}
END_TEST

/* Turns of any length: the total never decreases, and stays near the true count. */
START_TEST(stays_near_the_truth)
{
    uint64_t enabled = 0, running = 0, seen = 0, truth = 0, total = 0;

    set_online("0");
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    srand(4711 + (unsigned)_i);
    for (int i = 0; i < 2000; i++) {
        uint64_t time = (uint64_t)rand() % 1000000 + 1;
        uint64_t turn = rand() % 4 == 0 ? 0 : (uint64_t)rand() % time + 1;
        enabled += time;
        running += turn;
        seen += turn * 3;
        truth += time * 3;
        fake_perf_set_times(FAKE_MACHINE, 0, 1, enabled, running);
        fake_perf_set_count(FAKE_MACHINE, 0, 1, seen);
        ck_assert_int_eq(read_target(target), 0);
        struct hr_perf_value value = hr_perf_target_value(target, 0, 0);
        ck_assert_int_eq(value.counted, turn > 0);
        ck_assert_uint_ge(value.total, total);
        ck_assert_uint_eq(value.delta, value.total - total);
        total = value.total;
        if (turn > 0) /* rounding, each time */
            ck_assert_uint_le(total > truth ? total - truth : truth - total, (uint64_t)i + 1);
    }
}
END_TEST

START_TEST(reports_how_long_it_counted)
{
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    fake_perf_set_times(FAKE_MACHINE, 0, 1, 100, 50);
    fake_perf_set_times(FAKE_MACHINE, 1, 1, 100, 25);
    ck_assert_int_eq(read_target(target), 0);
    fake_perf_set_times(FAKE_MACHINE, 0, 1, 200, 50);
    fake_perf_set_times(FAKE_MACHINE, 1, 1, 200, 65);
    ck_assert_int_eq(read_target(target), 0);
    struct hr_perf_value value = hr_perf_target_value(target, 0, 0);
    ck_assert(value.counted);
    ck_assert_uint_eq(value.enabled_ns, 200);
    ck_assert_uint_eq(value.running_ns, 40);
    value = hr_perf_target_cpu_value(target, 0, 0, 0);
    ck_assert(!value.counted);
    ck_assert_uint_eq(value.enabled_ns, 100);
    ck_assert_uint_eq(value.running_ns, 0);
    value = hr_perf_target_cpu_value(target, 1, 0, 0);
    ck_assert(value.counted);
    ck_assert_uint_eq(value.running_ns, 40);
}
END_TEST

/* Two events of a cgroup, the first of software: in the first interval the kernel says that they
 * ran for half of it. */
static struct hr_perf_target *read_half_of_the_time(uint32_t second_type)
{
    set_online("0");
    count_on(1, PERF_TYPE_SOFTWARE, "0");
    count_on(2, second_type, "0");
    open_perf("12");
    struct hr_perf_target *target = open_cgroup("a");
    ck_assert_int_eq(read_target(target), 0);
    fake_perf_set_times(id_of("a"), 0, 1, G(2), G(1));
    fake_perf_set_count(id_of("a"), 0, 1, 10);
    fake_perf_set_count(id_of("a"), 0, 2, 20);
    ck_assert_int_eq(read_target(target), 0);
    return target;
}

/* As seen on Linux 6.18 of a cgroup's task-clock, whose count was right. */
START_TEST(takes_no_turns_of_events_that_use_no_counter)
{
    struct hr_perf_target *target = read_half_of_the_time(PERF_TYPE_TRACEPOINT);

    assert_value(target, 0, 0, 10, 10);
    assert_value(target, 0, 1, 20, 20);
    ck_assert_uint_eq(hr_perf_target_value(target, 0, 0).running_ns, G(2));
    fake_perf_set_times(id_of("a"), 0, 1, G(3), G(1));
    fake_perf_set_count(id_of("a"), 0, 1, 15);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 15, 5);
    assert_value(target, 0, 1, 20, 0);
    ck_assert_uint_eq(hr_perf_target_value(target, 0, 1).running_ns, G(1));
}
END_TEST

START_TEST(scales_events_of_no_counter_with_those_of_one)
{
    struct hr_perf_target *target = read_half_of_the_time(PERF_TYPE_HARDWARE);

    assert_value(target, 0, 0, 20, 20);
    assert_value(target, 0, 1, 40, 40);
}
END_TEST

START_TEST(reports_how_long_a_group_starves)
{
    open_perf("1 2");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(hr_perf_target_starved_ns(target, 1), 0);
    for (unsigned i = 1; i <= 3; i++) {
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            fake_perf_add_times(FAKE_MACHINE, cpu, 1, G(1), G(1));
            fake_perf_add_times(FAKE_MACHINE, cpu, 2, G(1), 0);
        }
        ck_assert_int_eq(read_target(target), 0);
        ck_assert_uint_eq(hr_perf_target_starved_ns(target, 0), 0);
        ck_assert_uint_eq(hr_perf_target_starved_ns(target, 1), i * G(2));
        assert_absent(target, 1, 0, 0);
    }
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(hr_perf_target_starved_ns(target, 1), G(6));
    fake_perf_add_times(FAKE_MACHINE, 1, 2, 10, 5);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(hr_perf_target_starved_ns(target, 1), 0);
}
END_TEST

START_TEST(no_group_starves_after_a_pause)
{
    open_perf("1");
    struct hr_perf_target *target = open_cgroup("a");
    ck_assert_int_eq(read_target(target), 0);
    fake_perf_add_times(id_of("a"), 0, 1, G(1), 0);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(hr_perf_target_starved_ns(target, 0), G(1));
    hr_perf_target_pause(target);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(hr_perf_target_starved_ns(target, 0), 0);
}
END_TEST

/* --- Groups, CPUs, targets ------------------------------------------------ */

/* Each event has a different count on each CPU, so that a mix-up would be noticed. */
START_TEST(distinguishes_events_and_cpus)
{
    static const struct {
        size_t group, event;
        uint64_t leader;
    } where[] = {{0, 0, 3}, {0, 1, 3}, {0, 2, 3}, {1, 0, 2}, {2, 0, 4}, {2, 1, 4}};
    static const uint64_t config[] = {3, 1, 7, 2, 4, 9};

    open_perf("317 2 49");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 12);
    for (unsigned round = 1; round <= 3; round++) {
        for (unsigned cpu = 0; cpu < 2; cpu++)
            for (size_t i = 0; i < 6; i++)
                fake_perf_add_count(FAKE_MACHINE, cpu, config[i], (cpu + 1) * (i + 1) * 100);
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            fake_perf_add_times(FAKE_MACHINE, cpu, 3, 100, 100);
            fake_perf_add_times(FAKE_MACHINE, cpu, 2, 100, 50);
            fake_perf_add_times(FAKE_MACHINE, cpu, 4, 100, 25);
        }
        ck_assert_int_eq(read_target(target), 0);
        for (size_t i = 0; i < 6; i++) {
            uint64_t each = (i + 1) * 100 * (UINT64_C(1) << where[i].group);
            assert_value(target, where[i].group, where[i].event, 3 * each * round, 3 * each);
            assert_cpu_value(target, 0, where[i].group, where[i].event, each * round, each);
            assert_cpu_value(target, 1, where[i].group, where[i].event, 2 * each * round, 2 * each);
        }
    }
}
END_TEST

/* The same event in several groups; the largest possible group. */
START_TEST(takes_groups_of_any_size)
{
    char text[HR_PERF_GROUP_MAX + 3];

    memset(text, '1', sizeof(text));
    text[HR_PERF_GROUP_MAX] = ' ';
    text[HR_PERF_GROUP_MAX + 2] = '\0';
    set_online("0");
    open_perf(text);
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, HR_PERF_GROUP_MAX + 1);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, HR_PERF_GROUP_MAX - 1, 0, 0);
}
END_TEST

START_TEST(walks_cpus)
{
    unsigned cpu;

    add_cpu(5);
    set_online("0,5");
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert(!hr_perf_target_cpu(target, 0, &cpu));
    ck_assert_int_eq(read_target(target), 0);
    ck_assert(hr_perf_target_cpu(target, 0, &cpu));
    ck_assert_uint_eq(cpu, 0);
    ck_assert(hr_perf_target_cpu(target, 1, &cpu));
    ck_assert_uint_eq(cpu, 5);
    ck_assert(!hr_perf_target_cpu(target, 2, &cpu));
    add_counted(FAKE_MACHINE, 5, 1, 17, G(1));
    ck_assert_int_eq(read_target(target), 0);
    assert_cpu_value(target, 0, 0, 0, 0, 0);
    assert_cpu_value(target, 1, 0, 0, 17, 17);
}
END_TEST

START_TEST(distinguishes_targets)
{
    open_perf("1 2");
    struct hr_perf_target *machine = open_machine();
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("a/b");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_uint_eq(fake_perf_log().open, 12);
    add_counted(FAKE_MACHINE, 1, 2, 7, 10);
    add_counted(id_of("a"), 1, 2, 5, 10);
    add_counted(id_of("a/b"), 0, 1, 3, 10);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(read_target(b), 0);
    assert_value(machine, 1, 0, 7, 7);
    assert_value(machine, 0, 0, 0, 0);
    assert_value(a, 1, 0, 5, 5);
    assert_value(a, 0, 0, 0, 0);
    assert_value(b, 1, 0, 0, 0);
    assert_value(b, 0, 0, 3, 3);
    close_target(a);
    ck_assert_uint_eq(fake_perf_log().open, 8);
    ck_assert_uint_eq(hr_perf_files(perf).open, 8);
    ck_assert_int_eq(read_target(b), 0);
    assert_value(b, 0, 0, 3, 0);
}
END_TEST

/* --- Reading fails -------------------------------------------------------- */

/* Only the counts since the previous read are lost, and counting resumes. */
START_TEST(reopens_what_cannot_be_read)
{
    open_perf("12 3");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    fake_perf_add_count(FAKE_MACHINE, 0, 2, 50);
    add_counted(FAKE_MACHINE, 0, 1, 100, G(1));
    add_counted(FAKE_MACHINE, 1, 1, 1000, G(1));
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 0, 1, 100, G(1));
    add_counted(FAKE_MACHINE, 1, 1, 2000, G(1));
    fake_perf_break(FAKE_MACHINE, 0, 1, (enum fake_perf_trouble)_i);
    unsigned opens = fake_perf_log().opens;
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().opens, opens + 3); /* all of that CPU, and of no other */
    ck_assert_uint_eq(fake_perf_log().open, 6);
    ck_assert_uint_eq(hr_perf_files(perf).open, 6);
    assert_value(target, 0, 0, 3100, 2000);
    assert_value(target, 0, 1, 50, 0);
    add_counted(FAKE_MACHINE, 0, 1, 7, G(1));
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 3107, 7);
    assert_cpu_value(target, 0, 0, 0, 107, 7);
}
END_TEST

/* The other groups on that CPU are read once more before they are closed. */
START_TEST(keeps_the_counts_of_other_groups)
{
    open_perf("1 2");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 0, 2, 40, G(1));
    fake_perf_break(FAKE_MACHINE, 0, 1, FAKE_PERF_ENDED);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 1, 0, 40, 40);
    assert_cpu_value(target, 0, 1, 0, 40, 40);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 1, 0, 40, 0);
    assert_cpu_value(target, 0, 1, 0, 40, 0);
}
END_TEST

/* --- Pauses --------------------------------------------------------------- */

START_TEST(pauses_and_resumes)
{
    open_perf("1");
    struct hr_perf_target *other = open_machine(), *target = open_cgroup("a");
    const uint64_t id = id_of("a");
    ck_assert_int_eq(read_target(other), 0);
    ck_assert_int_eq(read_target(target), 0);
    add_counted(id, 0, 1, 10, G(1));
    ck_assert_int_eq(read_target(target), 0);
    add_counted(id, 1, 1, 5, G(1));
    hr_perf_target_pause(target); /* counts since the last read aren't lost */
    assert_value(target, 0, 0, 15, 5);
    ck_assert_uint_eq(fake_perf_log().open, 2);
    ck_assert_uint_eq(hr_perf_files(perf).open, 2);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 2);
    hr_perf_target_pause(target);
    ck_assert_uint_eq(hr_perf_files(perf).open, 2);
    assert_absent(target, 0, 0, 15);

    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 4);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 4);
    assert_value(target, 0, 0, 15, 0);
    add_counted(id, 0, 1, 3, G(1));
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 18, 3);
}
END_TEST

START_TEST(pauses_what_was_never_read)
{
    open_perf("1");
    struct hr_perf_target *target = open_cgroup("a");
    hr_perf_target_pause(target);
    ck_assert_uint_eq(fake_perf_log().opens, 0);
    assert_absent(target, 0, 0, 0);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 0, 0);
}
END_TEST

/* --- Cost ----------------------------------------------------------------- */

START_TEST(takes_nothing_in_10000_intervals)
{
    open_perf("12 3");
    struct hr_perf_target *machine = open_machine(), *target = open_cgroup("a");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(read_target(target), 0);
    const struct fake_perf_log before = fake_perf_log();
    const size_t heap = mallinfo2().uordblks;
    const int descriptors = count_descriptors();
    for (int i = 0; i < 10000; i++) {
        ck_assert_int_eq(read_target(machine), 0);
        ck_assert_int_eq(hr_perf_target_read(target), 0);
    }
    ck_assert_uint_eq(mallinfo2().uordblks, heap);
    ck_assert_int_eq(count_descriptors(), descriptors);
    const struct fake_perf_log after = fake_perf_log();
    ck_assert_uint_eq(after.opens, before.opens);
    ck_assert_uint_eq(after.closes, before.closes);
    ck_assert_uint_eq(after.enables, before.enables);
    ck_assert_uint_eq(after.reads - before.reads, 10000 * 8); /* targets, groups, CPUs */
}
END_TEST

/* Opening takes a call for each event, target and CPU, probing one for each event and scope. */
START_TEST(opens_no_more_than_it_takes)
{
    open_perf("12 3");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_uint_eq(fake_perf_log().opens, 3 + 6);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_uint_eq(fake_perf_log().opens, 3 + 12);
    ck_assert_uint_eq(fake_perf_log().enables, 4); /* a single event is opened enabled */
    ck_assert_uint_eq(fake_perf_log().most, 12);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, makes_totals_of_readings, 0, sizeof(readings) / sizeof(readings[0]));
    tcase_add_loop_test(tests, stays_near_the_truth, 0, 5);
    tcase_add_test(tests, reports_how_long_it_counted);
    tcase_add_test(tests, takes_no_turns_of_events_that_use_no_counter);
    tcase_add_test(tests, scales_events_of_no_counter_with_those_of_one);
    tcase_add_test(tests, reports_how_long_a_group_starves);
    tcase_add_test(tests, no_group_starves_after_a_pause);
    tcase_add_test(tests, distinguishes_events_and_cpus);
    tcase_add_test(tests, takes_groups_of_any_size);
    tcase_add_test(tests, walks_cpus);
    tcase_add_test(tests, distinguishes_targets);
    tcase_add_loop_test(tests, reopens_what_cannot_be_read, FAKE_PERF_ENDED,
                        FAKE_PERF_MISCOUNT + 1);
    tcase_add_test(tests, keeps_the_counts_of_other_groups);
    tcase_add_test(tests, pauses_and_resumes);
    tcase_add_test(tests, pauses_what_was_never_read);
    tcase_add_test(tests, takes_nothing_in_10000_intervals);
    tcase_add_test(tests, opens_no_more_than_it_takes);
    tcase_set_timeout(tests, 30);
    return run_suite("perf", tests);
}
