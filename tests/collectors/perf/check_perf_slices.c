/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_slices.c - counters that are opened and closed over several intervals,
 * on fake kernels whose calls take time of a stopped clock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/perf/perf_harness.h"
#include "headroom/descriptor.h"
#include "perf/internal.h"

/* So many are opened in a slice at least; CPUs so that a target takes more than one slice. */
#define AT_LEAST 256
#define CPUS     400

size_t __wrap_hr_descriptor_share(enum hr_keep what);

size_t __wrap_hr_descriptor_share(__attribute__((unused)) enum hr_keep what)
{
    return SIZE_MAX / 2;
}

/* --- Calls that take time ------------------------------------------------- */

static struct hr_perf_calls slow_calls;

/* So long that a slice ends at the least number of descriptors. */
static int open_slowly(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                       unsigned long flags)
{
    advance_clock(HR_NS_PER_MS);
    return fake_perf_calls.open(attr, pid, cpu, group_fd, flags);
}

static void close_slowly(int fd)
{
    advance_clock(HR_NS_PER_MS);
    fake_perf_calls.close(fd);
}

static void open_slow_perf(const char *events)
{
    slow_calls = fake_perf_calls;
    slow_calls.open = open_slowly;
    add_cpus(CPUS);
    stop_clock();
    set_groups(events);
    perf_options.calls = &slow_calls;
    ck_assert_int_eq(hr_perf_open(root, &perf_options, &perf), 0);
}

static size_t open_of(const char *path)
{
    const uint64_t target = path != NULL ? id_of(path) : FAKE_MACHINE;
    size_t count = 0;

    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        count += fake_perf_open_on(target, cpu);
    return count;
}

START_TEST(values_begin_when_a_target_is_whole)
{
    open_slow_perf("1");
    struct hr_perf_target *machine = open_machine(), *a = open_cgroup("a");
    ck_assert_int_eq(read_target(machine), -EINPROGRESS);
    ck_assert_int_eq(hr_perf_target_read(a), -EINPROGRESS);
    ck_assert_uint_eq(open_of(NULL), AT_LEAST);
    ck_assert_uint_eq(open_of("a"), 0);
    assert_absent(machine, 0, 0, 0);
    assert_absent(a, 0, 0, 0);
    add_counted(FAKE_MACHINE, 0, 1, 10, HR_NS_PER_S);

    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), -EINPROGRESS);
    assert_value(machine, 0, 0, 10, 10);
    assert_cpu_value(machine, 0, 0, 0, 10, 10);
    ck_assert_uint_eq(open_of("a"), 2 * AT_LEAST - CPUS);
    add_counted(id_of("a"), 0, 1, 3, HR_NS_PER_S);

    ck_assert_int_eq(read_target(a), -EINPROGRESS);
    assert_absent(a, 0, 0, 3);
    ck_assert(!hr_perf_target_cpu_value(a, 0, 0, 0).counted);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 3, 0);
    ck_assert_uint_eq(fake_perf_log().open, 2 * CPUS);
    ck_assert_uint_eq(hr_perf_files(perf).open, 2 * CPUS);
}
END_TEST

/* As it may be closed for a while, and many cgroups may wait. */
START_TEST(the_machine_goes_before_what_waits)
{
    open_slow_perf("1");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), -EINPROGRESS);
    ck_assert_int_eq(hr_perf_target_read(b), -EINPROGRESS);
    struct hr_perf_target *machine = open_machine();
    ck_assert_int_eq(hr_perf_target_read(machine), -EINPROGRESS);
    ck_assert_uint_eq(open_of("a"), AT_LEAST);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_eq(open_of(NULL), AT_LEAST);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_eq(open_of(NULL), CPUS);
    ck_assert_uint_eq(open_of("a"), AT_LEAST + 2 * AT_LEAST - CPUS);
    ck_assert_int_eq(hr_perf_target_read(machine), 0);
    ck_assert_int_eq(read_target(a), 0);
    /* Cgroups in the order of coming, though this one is read first. */
    struct hr_perf_target *c = open_cgroup("c");
    close_target(a);
    ck_assert_int_eq(hr_perf_target_read(c), -EINPROGRESS);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_eq(open_of("b"), CPUS);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    ck_assert_int_eq(read_target(c), -EINPROGRESS);
    ck_assert_int_eq(read_target(c), 0);
}
END_TEST

START_TEST(closes_what_was_opened_where_descriptors_run_out)
{
    open_slow_perf("1");
    struct hr_perf_target *a = open_cgroup("a");
    fake_perf_refuse(
        (struct fake_refusal){.error = -EMFILE, .in_cgroups = true, .after = AT_LEAST + 20});
    ck_assert_int_eq(read_target(a), -EINPROGRESS);
    ck_assert_uint_eq(hr_perf_files(perf).open, CPUS);
    ck_assert_int_eq(read_target(a), -EMFILE);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, CPUS);
    assert_absent(a, 0, 0, 0);
    fake_perf_allow();
    advance_clock(100 * HR_NS_PER_S);
    ck_assert_int_eq(read_target(a), -EINPROGRESS);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 0, 0);
}
END_TEST

/* _i: what happens to it meanwhile. */
START_TEST(a_target_that_waits_may_go)
{
    open_slow_perf("1");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), -EINPROGRESS);
    ck_assert_int_eq(hr_perf_target_read(b), -EINPROGRESS);
    add_counted(id_of("a"), 0, 1, 10, HR_NS_PER_S);
    if (_i == 0) {
        close_target(a);
    } else if (_i == 1) {
        hr_perf_target_pause(a);
        assert_absent(a, 0, 0, 10);
    } else {
        tree_remove_group(tree, "a");
        ck_assert_int_eq(read_target(a), -ENODEV);
        assert_absent(a, 0, 0, 10);
    }
    ck_assert_uint_eq(hr_perf_files(perf).open, _i == 2 ? CPUS : 0);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_eq(open_of("b"), CPUS);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    ck_assert_uint_eq(fake_perf_log().open, CPUS);
}
END_TEST

/* Counters that were opened before count on, but not what can be counted since then. */
START_TEST(an_event_that_can_be_counted_now_has_no_values_before_it_is_open)
{
    open_slow_perf("1 2");
    fake_perf_refuse((struct fake_refusal){.error = -ENODEV, .of_config = true, .config = 2});
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    for (int i = 0; i < 4; i++) {
        hr_perf_read(perf);
        hr_perf_target_read(a);
        hr_perf_target_read(b);
    }
    assert_value(b, 0, 0, 0, 0);
    assert_absent(b, 1, 0, 0);
    fake_perf_allow();
    advance_clock(100 * HR_NS_PER_S);
    ck_assert_int_eq(read_target(a), -EINPROGRESS);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), 0);
    assert_absent(a, 1, 0, 0);
    add_counted(id_of("b"), 0, 1, 10, HR_NS_PER_S);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    assert_value(b, 0, 0, 10, 10);
    assert_absent(b, 1, 0, 0);
    ck_assert(!hr_perf_target_cpu_value(b, 0, 1, 0).counted);
    for (int i = 0; i < 20 && open_of("b") < 2 * CPUS; i++) {
        assert_absent(b, 1, 0, 0);
        ck_assert_int_eq(hr_perf_read(perf), 0);
        hr_perf_target_read(a);
        hr_perf_target_read(b);
    }
    assert_value(b, 1, 0, 0, 0);
}
END_TEST

static void refuse_second_event(void)
{
    fake_perf_refuse((struct fake_refusal){.error = -ENODEV, .of_config = true, .config = 2});
}

/* Reads them all, in this order, until each is whole. */
static void open_all(struct hr_perf_target **all, size_t count)
{
    size_t whole = 0;

    for (int i = 0; i < 40 && whole < count; i++) {
        ck_assert_int_eq(hr_perf_read(perf), 0);
        whole = 0;
        for (size_t t = 0; t < count; t++)
            whole += hr_perf_target_read(all[t]) == 0;
    }
    ck_assert_uint_eq(whole, count);
}

/* Whose turn is between two readings: that is when its counters are closed. */
START_TEST(loses_nothing_of_what_is_opened_again)
{
    open_slow_perf("1 2");
    refuse_second_event();
    struct hr_perf_target *all[] = {open_cgroup("a"), open_cgroup("b")};
    uint64_t total = 0;

    open_all(all, 2);
    fake_perf_allow();
    advance_clock(100 * HR_NS_PER_S);
    for (int i = 0; i < 20 && open_of("b") < 2 * CPUS; i++) {
        if (fake_perf_open_on(id_of("b"), 0) > 0) {
            add_counted(id_of("b"), 0, 1, 1000, HR_NS_PER_S);
            total += 1000;
        }
        ck_assert_int_eq(hr_perf_read(perf), 0);
        hr_perf_target_read(all[0]);
        hr_perf_target_read(all[1]);
        ck_assert_uint_eq(hr_perf_target_value(all[1], 0, 0).total, total);
    }
    ck_assert_uint_eq(open_of("b"), 2 * CPUS);
}
END_TEST

/* Where one slice is enough for that, no interval lacks a value. */
START_TEST(an_interval_is_whole_in_which_counters_are_opened_again)
{
    open_slow_perf("1 2");
    set_online("0-59");
    refuse_second_event();
    struct hr_perf_target *all[] = {open_cgroup("a"), open_cgroup("b"), open_cgroup("c"),
                                    open_cgroup("d")};
    struct hr_perf_target *last = all[3];

    open_all(all, 4);
    add_counted(id_of("d"), 0, 1, 10, HR_NS_PER_S);
    fake_perf_allow();
    advance_clock(100 * HR_NS_PER_S);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    for (int t = 0; t < 4; t++)
        hr_perf_target_read(all[t]);
    assert_value(last, 0, 0, 10, 10);
    ck_assert_uint_eq(open_of("d"), 60); /* it waits */
    add_counted(id_of("d"), 0, 1, 700, HR_NS_PER_S);
    ck_assert_int_eq(read_target(last), 0);
    ck_assert_uint_eq(open_of("d"), 2 * 60);
    assert_value(last, 0, 0, 710, 700);
    ck_assert_uint_eq(hr_perf_target_value(last, 0, 0).running_ns, HR_NS_PER_S);
    add_counted(id_of("d"), 0, 1, 5, HR_NS_PER_S);
    ck_assert_int_eq(read_target(last), 0);
    assert_value(last, 0, 0, 715, 5);
}
END_TEST

START_TEST(what_failed_before_a_pause_is_tried_after_it)
{
    open_slow_perf("1");
    struct hr_perf_target *a = open_cgroup("a");
    fake_perf_refuse(
        (struct fake_refusal){.error = -EMFILE, .in_cgroups = true, .after = AT_LEAST + 20});
    ck_assert_int_eq(read_target(a), -EINPROGRESS);
    ck_assert_int_eq(hr_perf_read(perf), 0); /* it fails now */
    ck_assert_uint_eq(fake_perf_log().open, 0);
    hr_perf_target_pause(a);
    fake_perf_allow();
    advance_clock(100 * HR_NS_PER_S);
    ck_assert_int_eq(read_target(a), -EINPROGRESS);
    ck_assert_int_eq(read_target(a), 0);
}
END_TEST

/* Where CPUs come online, what is counted already goes on. */
START_TEST(counts_on_while_cpus_are_added)
{
    open_slow_perf("1");
    set_online("0-9");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    set_online("0-399");
    add_counted(id_of("b"), 0, 1, 10, HR_NS_PER_S);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    assert_value(b, 0, 0, 10, 10);
    ck_assert_uint_eq(open_of("a"), 10 + AT_LEAST);
    ck_assert_uint_eq(open_of("b"), 10);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(read_target(a), 0);
        ck_assert_int_eq(hr_perf_target_read(b), 0);
        assert_value(a, 0, 0, 0, 0);
    }
    ck_assert_uint_eq(fake_perf_log().open, 2 * CPUS);
}
END_TEST

/* --- A busy machine ------------------------------------------------------- */

static const struct {
    uint64_t wall_ms, others_us; /* for how long others run meanwhile, at each call */
    size_t opened;               /* in the first slice, of two targets */
} busy[] = {
    {1000, 400, 2 * CPUS}, /* within 1 s: 800 calls of 35 us of CPU time */
    {1000, 4000, AT_LEAST},
    {300, 400, 2 * CPUS - 110}, /* 300 ms are 690 calls of 435 us; the last one begins before */
    {0, 400, AT_LEAST},
};
static uint64_t others_ns;

static int open_beside_others(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                              unsigned long flags)
{
    advance_clock(35 * HR_NS_PER_US);
    let_others_run(others_ns);
    return fake_perf_calls.open(attr, pid, cpu, group_fd, flags);
}

/* What opening costs is CPU time: that others have the CPU doesn't make more slices of it, as long
 * as it takes no longer than it may by the clock. */
START_TEST(a_slice_is_of_cpu_time)
{
    slow_calls = fake_perf_calls;
    slow_calls.open = open_beside_others;
    others_ns = busy[_i].others_us * HR_NS_PER_US;
    add_cpus(CPUS);
    stop_clock();
    set_groups("1");
    perf_options.calls = &slow_calls;
    perf_options.slice_wall_ns = busy[_i].wall_ms * HR_NS_PER_MS;
    ck_assert_int_eq(hr_perf_open(root, &perf_options, &perf), 0);
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(hr_perf_read(perf), 0);
    hr_perf_target_read(a);
    hr_perf_target_read(b);
    ck_assert_uint_eq(open_of("a") + open_of("b"), busy[_i].opened);
}
END_TEST

/* --- A thousand cgroups on 256 CPUs --------------------------------------- */

#define CGROUPS  1000
#define FEWER    200
#define MANY     256
#define OPEN_NS  (35 * HR_NS_PER_US) /* as measured */
#define CLOSE_NS (18 * HR_NS_PER_US)
#define READ_NS  UINT64_C(0) /* what reading takes isn't limited */

static struct {
    size_t opens, closes;
    uint64_t taken_ns;
    bool refuses; /* event 2 */
} quick;

static void take(uint64_t ns)
{
    quick.taken_ns += ns;
    advance_clock(ns);
}

/* All lines have one event. */
static int quick_open(struct perf_event_attr *attr, __attribute__((unused)) pid_t pid,
                      __attribute__((unused)) int cpu, __attribute__((unused)) int group_fd,
                      __attribute__((unused)) unsigned long flags)
{
    if (quick.refuses && attr->config == 2)
        return -EACCES;
    take(OPEN_NS);
    return (int)++quick.opens;
}

static ssize_t quick_read(__attribute__((unused)) int fd, void *buffer, size_t size)
{
    static const uint64_t idle[4] = {1};

    ck_assert_uint_ge(size, sizeof(idle));
    memcpy(buffer, idle, sizeof(idle));
    take(READ_NS);
    return sizeof(idle);
}

static int quick_enable(__attribute__((unused)) int fd)
{
    take(OPEN_NS);
    return 0;
}

static void quick_close(__attribute__((unused)) int fd)
{
    take(CLOSE_NS);
    quick.closes++;
}

static const struct hr_perf_calls quick_calls = {quick_open, quick_enable, quick_read, quick_close};

static struct hr_perf_target *many[CGROUPS];
static struct hr_cgroup_set *many_set;
static size_t many_count;

/* All targets are of one group, which makes no difference here. */
static void prepare_many(const char *events, size_t count)
{
    const char *path = "a";
    const struct hr_cgroup_options options = {.patterns = &path, .pattern_count = 1};

    add_cpus(MANY);
    stop_clock();
    set_groups(events);
    perf_options.calls = &quick_calls;
    ck_assert_int_eq(hr_perf_open(root, &perf_options, &perf), 0);
    tree_add_group(tree, path, true);
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &many_set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(many_set), 0);
    many_count = count;
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(
            hr_perf_target_open_cgroup(perf, hr_cgroup_set_next(many_set, NULL), &many[i]), 0);
}

/* @return how many are whole. */
static size_t read_many(size_t first)
{
    size_t whole = 0;

    for (size_t i = first; i < many_count; i++)
        whole += hr_perf_target_read(many[i]) == 0;
    return whole;
}

/* Opens all at once, however long that takes. */
static void open_many(const char *events, size_t count)
{
    prepare_many(events, count);
    const uint64_t max_ns = perf->slice.max_ns;
    perf->slice.max_ns = UINT64_MAX;
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_eq(read_many(0), count);
    perf->slice.max_ns = max_ns;
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_eq(read_many(0), count);
}

static void close_many(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        hr_perf_target_close(many[i]);
}

static void assert_soon(void)
{
    ck_assert_uint_le(quick.taken_ns, HR_NS_PER_S / 10);
    quick.taken_ns = 0;
}

START_TEST(opens_for_no_more_than_a_tenth_of_a_second)
{
    prepare_many("1", CGROUPS);
    for (int round = 1; round <= 5; round++) {
        quick.taken_ns = 0;
        ck_assert_int_eq(hr_perf_read(perf), 0);
        const size_t whole = read_many(0);
        for (size_t i = 0; i < CGROUPS; i++)
            ck_assert(hr_perf_target_value(many[i], 0, 0).counted == (i < whole));
        ck_assert_uint_ge(quick.opens, (size_t)round * 2000);
        ck_assert_uint_eq(whole, (quick.opens - 1) / MANY); /* in their order; one was tried */
        assert_soon();
    }
    close_many(0, CGROUPS);
    hr_cgroup_set_close(many_set);
}
END_TEST

/* As at a start, when no value is late yet; the next one is as usual. */
START_TEST(opens_for_longer_once)
{
    prepare_many("1", CGROUPS);
    const size_t before = quick.opens;
    quick.taken_ns = 0;
    ck_assert_int_eq(hr_perf_read(perf), 0);
    hr_perf_lengthen_slice(perf, HR_NS_PER_S, HR_NS_PER_S);
    const size_t whole = read_many(0);
    ck_assert_uint_ge(quick.taken_ns, HR_NS_PER_S);
    ck_assert_uint_le(quick.taken_ns, HR_NS_PER_S + 4 * OPEN_NS);
    ck_assert_uint_eq(whole, (quick.opens - before - 1) / MANY);
    for (size_t i = 0; i < CGROUPS; i++)
        ck_assert(hr_perf_target_value(many[i], 0, 0).counted == (i < whole));
    quick.taken_ns = 0;
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_ge(read_many(0), whole + 7);
    assert_soon();
    /* It makes none shorter. */
    quick.taken_ns = 0;
    ck_assert_int_eq(hr_perf_read(perf), 0);
    hr_perf_lengthen_slice(perf, 1, 1);
    ck_assert_uint_ge(read_many(0), whole + 2 * 7);
    close_many(0, CGROUPS);
    hr_cgroup_set_close(many_set);
}
END_TEST

/* They are removed at once. */
START_TEST(closes_for_no_more_than_a_tenth_of_a_second)
{
    size_t before;

    open_many("1", CGROUPS);
    ck_assert_uint_eq(hr_perf_files(perf).open, CGROUPS * MANY);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    quick.taken_ns = 0;
    close_many(0, CGROUPS);
    assert_soon();
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 0);
    do {
        before = hr_perf_files(perf).open;
        ck_assert_uint_eq(before, quick.opens - quick.closes);
        ck_assert_int_eq(hr_perf_read(perf), 0);
        assert_soon();
        ck_assert_uint_le(hr_perf_files(perf).open, before > 4000 ? before - 4000 : 0);
    } while (hr_perf_files(perf).open > 0);
    ck_assert_uint_eq(quick.closes, quick.opens);
    hr_cgroup_set_close(many_set);
}
END_TEST

/* What was opened in the slice before takes no time from closing. */
START_TEST(closes_for_all_of_a_slice_where_nothing_is_opened)
{
    open_many("1", FEWER);
    perf->slice.spent_ns = perf->slice.max_ns; /* by opening */
    close_many(0, FEWER);
    const size_t waiting = perf->closing.count;
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_le(perf->closing.count, waiting - 4000);
    hr_cgroup_set_close(many_set);
}
END_TEST

/* Half of them are removed while the others' counters change: an event can be counted now. */
START_TEST(closes_and_opens_for_no_more_than_a_tenth_of_a_second)
{
    quick.refuses = true;
    open_many("1 2", FEWER);
    ck_assert_uint_eq(hr_perf_files(perf).open, FEWER * MANY);
    quick.refuses = false;
    advance_clock(100 * HR_NS_PER_S);
    quick.taken_ns = 0;
    ck_assert_int_eq(hr_perf_read(perf), 0);
    close_many(0, FEWER / 2);
    size_t opens = quick.opens, closes = quick.closes;
    for (int round = 0; round < 20; round++) {
        read_many(FEWER / 2);
        assert_soon();
        if (round > 0) { /* neither waits for the other */
            ck_assert_uint_ge(quick.opens, opens + 500);
            ck_assert_uint_ge(quick.closes, closes + 500);
        }
        ck_assert_uint_eq(hr_perf_files(perf).limited_by, HR_PERF_BY_RLIMIT);
        opens = quick.opens;
        closes = quick.closes;
        ck_assert_int_eq(hr_perf_read(perf), 0);
    }
    close_many(FEWER / 2, FEWER);
    hr_cgroup_set_close(many_set);
    hr_perf_close(perf);
    perf = NULL;
    ck_assert_uint_eq(quick.closes, quick.opens); /* also what waited to be closed */
}
END_TEST

/* Descriptors that wait to be closed are no lack of them. */
START_TEST(waits_for_descriptors_that_are_about_to_be_closed)
{
    perf_options.max_files = 2 * CPUS;
    perf_options.slice_ns = 1;
    open_slow_perf("1 2");
    slow_calls.close = close_slowly;
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    for (int i = 0; i < 6 && read_target(a) != 0; i++)
        continue;
    ck_assert_uint_eq(open_of("a"), 2 * CPUS);
    ck_assert_int_eq(read_target(b), -EMFILE);
    close_target(a);
    ck_assert_uint_eq(hr_perf_files(perf).open, 2 * CPUS - AT_LEAST);
    ck_assert_int_eq(hr_perf_target_read(b), -EINPROGRESS);
    ck_assert_int_eq(read_target(b), -EINPROGRESS);
    ck_assert_uint_eq(fake_perf_log().open, 2 * CPUS - 2 * AT_LEAST);
    for (int i = 0; i < 6 && read_target(b) != 0; i++)
        continue;
    ck_assert_uint_eq(open_of("b"), 2 * CPUS);
    ck_assert_uint_eq(fake_perf_log().open, 2 * CPUS);
    ck_assert_uint_eq(hr_perf_files(perf).open, 2 * CPUS);
}
END_TEST

/* What is counted already goes on meanwhile. */
START_TEST(counts_on_while_descriptors_wait_to_be_closed)
{
    perf_options.max_files = 2 * CPUS;
    perf_options.slice_ns = 1;
    open_slow_perf("1 2");
    slow_calls.close = close_slowly;
    set_online("0-99");
    struct hr_perf_target *all[] = {open_cgroup("a"), open_cgroup("b"), open_cgroup("c"),
                                    open_cgroup("d")};
    struct hr_perf_target *a = all[0];

    open_all(all, 4);
    ck_assert_uint_eq(hr_perf_files(perf).open, 2 * CPUS);
    for (int t = 1; t < 4; t++)
        close_target(all[t]);
    set_online("0-399");
    for (int i = 1; open_of("a") < 2 * CPUS; i++) {
        ck_assert_int_lt(i, 10);
        add_counted(id_of("a"), 0, 1, 10, HR_NS_PER_S);
        ck_assert_int_eq(read_target(a), 0);
        assert_value(a, 0, 0, 10 * (uint64_t)i, 10);
        if (i == 1)
            ck_assert_uint_eq(open_of("a"), 2 * 100);
    }
    ck_assert_uint_eq(hr_perf_files(perf).open, 2 * CPUS);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf slices");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, values_begin_when_a_target_is_whole);
    tcase_add_test(tests, the_machine_goes_before_what_waits);
    tcase_add_test(tests, closes_what_was_opened_where_descriptors_run_out);
    tcase_add_loop_test(tests, a_target_that_waits_may_go, 0, 3);
    tcase_add_test(tests, an_event_that_can_be_counted_now_has_no_values_before_it_is_open);
    tcase_add_test(tests, loses_nothing_of_what_is_opened_again);
    tcase_add_test(tests, an_interval_is_whole_in_which_counters_are_opened_again);
    tcase_add_test(tests, what_failed_before_a_pause_is_tried_after_it);
    tcase_add_test(tests, counts_on_while_cpus_are_added);
    tcase_add_loop_test(tests, a_slice_is_of_cpu_time, 0, sizeof(busy) / sizeof(busy[0]));
    tcase_add_test(tests, opens_for_no_more_than_a_tenth_of_a_second);
    tcase_add_test(tests, opens_for_longer_once);
    tcase_add_test(tests, closes_for_no_more_than_a_tenth_of_a_second);
    tcase_add_test(tests, closes_for_all_of_a_slice_where_nothing_is_opened);
    tcase_add_test(tests, closes_and_opens_for_no_more_than_a_tenth_of_a_second);
    tcase_add_test(tests, waits_for_descriptors_that_are_about_to_be_closed);
    tcase_add_test(tests, counts_on_while_descriptors_wait_to_be_closed);
    tcase_set_timeout(tests, 60);
    return run_suite("perf slices", tests);
}
