/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_bpf_counting.c - counting by BPF, on the fake programs and the fake
 * kernel: the tree of groups, slots, CPUs and events that come and go, and failures.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/release.h"
#include "collectors/perf/fake_bpf.h"
#include "collectors/perf/perf_harness.h"
#include "perf/bpf_refusal.h"

#define TIME HR_NS_PER_S
#define SOME UINT64_C(10), TIME, TIME

static void set_up_count(void)
{
    set_up();
    tree_write(tree, "sys/devices/system/cpu/possible", "0-1\n");
    fake_bpf_reset(2);
    perf_options.bpf_calls = &fake_bpf_calls;
    perf_options.max_targets = 8;
}

static void tear_down_count(void)
{
    close_perf();
    fake_bpf_reset(2);
    tear_down();
}

static void open_count(const char *events)
{
    struct hr_reason reason = {.text = ""};

    ck_assert_msg(open_perf_bpf(events, &reason) == 0, "%s", reason.text);
}

/* A group that is selected. */
static struct hr_perf_target *open_selected(const char *path)
{
    struct hr_perf_target *target = open_cgroup(path);

    ck_assert_int_eq(hr_perf_target_read(target), 0);
    return target;
}

/* What a group did itself, on CPU 0. */
static void add(const char *path, uint64_t count)
{
    fake_bpf_add(path != NULL ? id_of(path) : FAKE_REST, 0, 0, count, TIME, TIME);
}

/* --- The tree ------------------------------------------------------------- */

START_TEST(a_group_counts_what_is_below)
{
    open_count("1");
    struct hr_perf_target *machine = open_machine(), *a = open_selected("a");
    struct hr_perf_target *b = open_selected("a/x/b"), *other = open_selected("ab");
    add(NULL, 1000);
    add("a", 200);
    add("a/x/b", 30);
    add("ab", 4);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    ck_assert_int_eq(hr_perf_target_read(other), 0);
    assert_value(machine, 0, 0, 1234, 1234);
    assert_value(a, 0, 0, 230, 230);
    assert_value(b, 0, 0, 30, 30);
    assert_value(other, 0, 0, 4, 4);
    assert_cpu_value(a, 0, 0, 0, 230, 230);
    assert_cpu_value(a, 1, 0, 0, 0, 0);
    ck_assert_uint_eq(hr_perf_target_value(a, 0, 0).enabled_ns, 2 * TIME);
    ck_assert_uint_eq(hr_perf_target_value(machine, 0, 0).enabled_ns, 4 * TIME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 230, 0);
}
END_TEST

START_TEST(groups_come_and_go_in_any_order)
{
    open_count("1");
    struct hr_perf_target *deepest = open_selected("a/b/c");
    struct hr_perf_target *a = open_selected("a"), *machine = open_machine();
    add("a/b/c", 1);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 1, 1);
    struct hr_perf_target *between = open_selected("a/b");
    add("a/b/c", 20);
    ck_assert_int_eq(read_target(between), 0);
    assert_value(between, 0, 0, 20, 20);
    close_target(a);
    add("a/b/c", 300);
    close_target(between);
    add("a/b/c", 4000);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(deepest), 0);
    assert_value(machine, 0, 0, 4321, 4321);
    assert_value(deepest, 0, 0, 4321, 4321);
    close_target(machine);
    add("a/b/c", 50000);
    ck_assert_int_eq(read_target(deepest), 0);
    assert_value(deepest, 0, 0, 54321, 50000);
    machine = open_machine();
    ck_assert_int_eq(read_target(machine), 0);
    assert_value(machine, 0, 0, 0, 0);
}
END_TEST

START_TEST(scales_where_events_take_turns)
{
    open_count("12 3");
    struct hr_perf_target *a = open_selected("a");
    fake_bpf_add(id_of("a"), 0, 0, 100, 2 * TIME, TIME);
    fake_bpf_add(id_of("a"), 0, 1, 7, 2 * TIME, TIME);
    fake_bpf_add(id_of("a"), 0, 2, 50, 2 * TIME, 0); /* it had no turn, */
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 200, 200);
    assert_value(a, 0, 1, 14, 14);
    assert_absent(a, 1, 0, 0);
    fake_bpf_add(id_of("a"), 0, 2, 50, 2 * TIME, 2 * TIME); /* which is made up for */
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 1, 0, 200, 200);
    assert_value(a, 0, 0, 200, 0);
}
END_TEST

/* A CPU adds the running time before the others: see count.bpf.c. */
START_TEST(takes_no_turns_from_a_reading_amid_an_addition)
{
    open_count("1");
    struct hr_perf_target *a = open_selected("a");
    fake_bpf_add(id_of("a"), 0, 0, 100, TIME, TIME + TIME / 8);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 100, 100);
    fake_bpf_add(id_of("a"), 0, 0, 100, TIME, TIME - TIME / 8);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 200, 100);
    ck_assert_uint_eq(hr_perf_target_value(a, 0, 0).running_ns, TIME);
}
END_TEST

/* --- Slots ---------------------------------------------------------------- */

START_TEST(keeps_what_a_group_did_last)
{
    open_count("1");
    struct hr_perf_target *machine = open_machine(), *a = open_selected("a");
    struct hr_perf_target *b = open_selected("a/b");
    ck_assert_int_eq(read_target(b), 0);
    const uint64_t id = id_of("a/b");
    add("a/b", 5);
    hr_perf_target_pause(b);
    assert_value(b, 0, 0, 5, 5);
    ck_assert_uint_eq(fake_bpf_log().selected, 1);
    fake_bpf_add_late(id, 1, 0, 70, TIME); /* a CPU was about to */
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    assert_value(machine, 0, 0, 75, 75);
    assert_value(a, 0, 0, 75, 75);
    assert_value(b, 0, 0, 5, 0);
    add("a/b", 1);
    ck_assert_int_eq(read_target(b), 0);
    assert_value(b, 0, 0, 6, 1);
}
END_TEST

/* What a CPU adds late to a group that has ended is the machine's, and not the next group's.
 * @return that one, b. */
static struct hr_perf_target *expect_late_apart(uint64_t ended, struct hr_perf_target *machine)
{
    struct hr_perf_target *b = open_selected("b");

    fake_bpf_add_late(ended, 0, 0, 5, TIME);
    add("b", 10);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_int_eq(hr_perf_target_read(machine), 0);
    assert_value(b, 0, 0, 10, 10);
    assert_value(machine, 0, 0, 15, 15);
    return b;
}

START_TEST(uses_no_slot_again_that_a_cpu_may_add_to)
{
    perf_options.max_targets = 2;
    open_count("1");
    struct hr_perf_target *a = open_selected("a"), *machine = open_machine();
    const uint64_t id = id_of("a");
    hr_perf_target_pause(a);
    hr_perf_target_pause(expect_late_apart(id, machine));
    ck_assert_int_eq(read_target(a), 0); /* in the slot that it had */
    add("a", 1);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 1, 1);
}
END_TEST

/* A CPU that is held up amid an addition, by a hypervisor, may end it after a reading. */
START_TEST(uses_no_slot_again_in_the_interval_after)
{
    open_count("1");
    struct hr_perf_target *a = open_selected("a"), *machine = open_machine();
    const uint64_t id = id_of("a");
    hr_perf_target_pause(a);
    ck_assert_int_eq(read_target(machine), 0);
    expect_late_apart(id, machine);
}
END_TEST

START_TEST(a_thousand_groups_that_ended_leave_no_slot)
{
    perf_options.max_targets = 2;
    open_count("1");
    struct hr_perf_target *machine = open_machine(), *lasting = open_selected("a");
    struct hr_perf_target *target = open_selected("a/b");
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(hr_perf_target_read(target), 0);
        add("a/b", 1);
        hr_perf_target_pause(target);
    }
    close_target(target);
    ck_assert_uint_eq(fake_bpf_log().selected, 1);
    ck_assert_int_eq(read_target(lasting), 0);
    ck_assert_int_eq(hr_perf_target_read(machine), 0);
    ck_assert_uint_eq(hr_perf_target_value(lasting, 0, 0).total, 1000);
    ck_assert_uint_eq(hr_perf_target_value(machine, 0, 0).total, 1000);
}
END_TEST

START_TEST(leaves_out_groups_beyond_the_limit)
{
    perf_options.max_targets = 1;
    open_count("1");
    struct hr_perf_target *a = open_selected("a"), *b = open_selected("b"), *c = open_cgroup("c");
    ck_assert_int_eq(read_target(c), -ENOSPC);
    ck_assert(!hr_perf_target_value(c, 0, 0).counted);
    close_target(a);
    ck_assert_int_eq(hr_perf_target_read(c), 0);
    ck_assert(hr_perf_target_value(c, 0, 0).counted);
    ck_assert_int_eq(read_target(b), 0);
}
END_TEST

/* Groups that sleep cost no reading, whatever their number. */
START_TEST(reads_only_what_was_added_to)
{
    open_count("1");
    struct hr_perf_target *a = open_selected("a"), *b = open_selected("b"), *c = open_selected("c");
    ck_assert_int_eq(read_target(a), 0);
    const size_t before = fake_bpf_log().slots_read;
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_uint_eq(fake_bpf_log().slots_read, before);
    add("b", 5);
    ck_assert_int_eq(read_target(b), 0);
    assert_value(b, 0, 0, 5, 5);
    ck_assert_uint_eq(fake_bpf_log().slots_read, before + 1);
    add("a", 1);
    add("c", 2);
    add("c", 20);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    ck_assert_int_eq(hr_perf_target_read(c), 0);
    assert_value(a, 0, 0, 1, 1);
    assert_value(b, 0, 0, 5, 0);
    assert_value(c, 0, 0, 22, 22);
    ck_assert_uint_eq(fake_bpf_log().slots_read, before + 3);
}
END_TEST

/* On a CPU on which a group didn't run it has counted nothing, whatever it did on others. */
START_TEST(reads_only_the_cpus_that_added)
{
    open_count("1");
    struct hr_perf_target *a = open_selected("a");
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        const size_t before = fake_bpf_log().slots_read;
        fake_bpf_add(id_of("a"), cpu, 0, SOME);
        ck_assert_int_eq(read_target(a), 0);
        ck_assert_uint_eq(fake_bpf_log().slots_read, before + 1);
        assert_value(a, 0, 0, 10 * (cpu + 1), 10);
        assert_cpu_value(a, cpu, 0, 0, 10, 10);
        assert_cpu_value(a, 1 - cpu, 0, 0, 10 * cpu, 0);
    }
}
END_TEST

/* --- CPUs ----------------------------------------------------------------- */

START_TEST(flushes_busy_cpus_only)
{
    open_count("1");
    struct hr_perf_target *a = open_selected("a");
    fake_bpf_set_idle(1, true);
    const size_t flushes = fake_bpf_log().flushes;
    fake_bpf_add_by_flush(id_of("a"), 0, 0, 10, TIME);
    fake_bpf_add_by_flush(id_of("a"), 1, 0, 500, TIME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 10, 10);
    ck_assert_uint_eq(fake_bpf_log().flushes, flushes + 1);
    fake_bpf_set_idle(1, false);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 510, 500);
    set_online("0");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_uint_eq(fake_bpf_log().flushes, flushes + 4);
}
END_TEST

START_TEST(opens_the_events_of_a_cpu_again_that_comes_back)
{
    open_count("12");
    struct hr_perf_target *a = open_selected("a");
    ck_assert_uint_eq(fake_bpf_log().events, 4);
    fake_bpf_add(id_of("a"), 1, 0, SOME);
    set_online("0");
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 10, 10);
    ck_assert_uint_eq(fake_bpf_log().events, 4);
    assert_cpu_value(a, 1, 0, 0, 10, 10); /* what it counted before it went */
    ck_assert_int_eq(read_target(a), 0);
    ck_assert(!hr_perf_target_cpu_value(a, 1, 0, 0).counted);
    set_online("0-1");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_uint_eq(fake_bpf_log().events, 6);
    fake_bpf_add(id_of("a"), 1, 0, SOME);
    renew_cpu(1); /* it was away between two reads */
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 20, 10);
    ck_assert_uint_eq(fake_bpf_log().events, 8);
}
END_TEST

/* _i: what makes it worth trying at once. */
START_TEST(retries_later_a_cpu_that_failed)
{
    perf_options.retry_ns = RETRY_NS;
    open_count("1");
    struct hr_perf_target *a = open_selected("a");
    set_online("0");
    ck_assert_int_eq(read_target(a), 0);
    fake_perf_refuse((struct fake_refusal){.error = -EBUSY, .on_cpu = true, .cpu = 1});
    const unsigned opens = fake_perf_log().opens;
    set_online("0-1");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(read_target(a), -EBUSY);
    ck_assert_uint_eq(fake_perf_log().opens, opens + 1);
    wait_for_retry();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(read_target(a), -EBUSY);
    ck_assert_uint_eq(fake_perf_log().opens, opens + 2);
    fake_perf_allow();
    ck_assert_int_eq(read_target(a), -EBUSY);
    if (_i == 0)
        wait_for_retry();
    else
        renew_cpu(1);
    ck_assert_int_eq(read_target(a), 0);
    fake_bpf_add(id_of("a"), 1, 0, SOME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 10, 10);
}
END_TEST

START_TEST(knows_the_places_of_cpus)
{
    tree_write(tree, "sys/devices/system/cpu/possible", "0,3-4\n");
    fake_bpf_reset(3);
    set_online("0,4");
    add_cpu(4);
    open_count("1");
    struct hr_perf_target *a = open_selected("a");
    fake_bpf_add(id_of("a"), 0, 0, SOME);
    ck_assert_int_eq(read_target(a), 0);
    assert_cpu_value(a, 0, 0, 0, 10, 10);
    assert_cpu_value(a, 1, 0, 0, 0, 0);
}
END_TEST

START_TEST(counts_kinds_of_cores_on_their_cpus)
{
    count_on(1, 8, "0");
    count_on(2, 9, "1");
    open_count("1 2");
    struct hr_perf_target *a = open_selected("a");
    ck_assert_uint_eq(fake_bpf_log().events, 2);
    fake_bpf_add(id_of("a"), 0, 0, SOME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 10, 10);
    assert_value(a, 1, 0, 0, 0);
    fake_bpf_add(id_of("a"), 1, 1, SOME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 1, 0, 10, 10);
}
END_TEST

/* --- Events --------------------------------------------------------------- */

START_TEST(keeps_no_descriptor)
{
    open_count("12 3");
    struct hr_perf_target *machine = open_machine();
    open_selected("a");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_le(fake_perf_log().most, 2);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 0);
}
END_TEST

START_TEST(retries_events_that_are_refused)
{
    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse((struct fake_refusal){
        .error = -EACCES, .in_machine = true, .of_config = true, .config = 2});
    open_count("1 2");
    struct hr_perf_target *a = open_selected("a");
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), -EACCES);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), -EACCES);
    fake_bpf_add(id_of("a"), 0, 0, SOME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 10, 10);
    assert_absent(a, 1, 0, 0);
    fake_perf_allow();
    wait_for_retry();
    ck_assert_int_eq(read_target(a), 0);
    fake_bpf_add(id_of("a"), 0, 1, SOME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 10, 0);
    assert_value(a, 1, 0, 10, 10);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), 0);
}
END_TEST

START_TEST(says_that_nothing_can_be_counted)
{
    fake_perf_refuse((struct fake_refusal){.error = -ENOENT});
    open_count("1");
    struct hr_perf_target *machine = open_machine();
    ck_assert_int_eq(read_target(machine), -ENODATA);
    assert_absent(machine, 0, 0, 0);
}
END_TEST

/* As it is written in collectd-cgroup_perf(5): 24 bytes of each event, possible CPU and slot, 8 *
 * 5/4 and three more. */
START_TEST(knows_what_memory_the_programs_take)
{
    size_t bytes = 0;

    set_groups("12 3");
    ck_assert_int_eq(hr_perf_bpf_memory(root, &perf_options, &bytes), 0);
    ck_assert_uint_eq(bytes, 24 * 3 * 2 * (10 + 3));
    count_for_the_machine(2); /* whose line descriptors count */
    ck_assert_int_eq(hr_perf_bpf_memory(root, &perf_options, &bytes), 0);
    ck_assert_uint_eq(bytes, 24 * 1 * 2 * (10 + 3));
    tree_remove(tree, "sys/devices/system/cpu/possible");
    ck_assert_int_eq(hr_perf_bpf_memory(root, &perf_options, &bytes), -ENOENT);
}
END_TEST

/* --- Failures ------------------------------------------------------------- */

START_TEST(loses_nothing_where_reading_fails)
{
    open_count("1");
    struct hr_perf_target *a = open_selected("a");
    add("a", 5);
    fake_bpf_refuse(FAKE_FLUSH, -EPERM);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(read_target(a), -EPERM);
        ck_assert(!hr_perf_target_value(a, 0, 0).counted);
    }
    fake_bpf_refuse(FAKE_FLUSH, 0);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 5, 5);
    struct hr_perf_target *b = open_cgroup("b");
    fake_bpf_refuse(FAKE_SELECT, -EPERM);
    ck_assert_int_eq(read_target(b), -EPERM);
    fake_bpf_refuse(FAKE_SELECT, 0);
    ck_assert_int_eq(read_target(b), 0);
}
END_TEST

static const struct {
    enum fake_bpf_call call;
    int error, status;
    const char *text;
} refusals[] = {
    {FAKE_LOAD, -ENOPKG, -ENOPKG, "it was built without BPF"},
    {FAKE_LOAD, -ENOSYS, -EOPNOTSUPP, "it needs Linux 5.14"},
    {FAKE_LOAD, -EPERM, -EPERM, "no permission to load BPF programs"},
    {FAKE_LOAD, -EACCES, -EACCES, "no permission to load BPF programs"},
    {FAKE_LOAD, -EINVAL, -EOPNOTSUPP, "it needs Linux 5.14"},
    {FAKE_LOAD, -ENOMEM, -ENOMEM, "too little memory"},
    {FAKE_LOAD, -E2BIG, -E2BIG, "too little memory"},
    {FAKE_LOAD, -ENOEXEC, -ENOEXEC, "a 64-bit machine"},
    {FAKE_LOAD, -ENXIO, -ENXIO, "of another machine"},
    {FAKE_ATTACH, -EMFILE, -EMFILE, "LimitNOFILE="},
    {FAKE_SET_EVENT, -EOPNOTSUPP, -EOPNOTSUPP,
     "each line has an event that BPF programs can't read, such as \"event-2\""},
    {FAKE_FLUSH, -EINVAL, -EOPNOTSUPP, "it needs Linux 5.14"},
    {FAKE_FLUSH, -EFAULT, -EFAULT, "refuses the BPF programs (Bad address)"},
};

START_TEST(says_why_it_cant_count)
{
    struct hr_reason reason = {.text = ""};

    fake_bpf_refuse(refusals[_i].call, refusals[_i].error);
    ck_assert_int_eq(open_perf_bpf("23", &reason), refusals[_i].status);
    ck_assert_int_eq(reason.error, refusals[_i].status);
    ck_assert_msg(strstr(reason.text, refusals[_i].text) != NULL, "%s", reason.text);
    ck_assert_uint_eq(fake_perf_log().open, 0);
}
END_TEST

static const struct {
    bool is_capable;
    struct hr_release release;
    const char *text;
} obstacles[] = {
    {false, {5, 10, 0}, "programs: add CAP_BPF and CAP_PERFMON to collectd's service, or run "},
    {false, {6, 12, 0}, "programs: add CAP_BPF and CAP_PERFMON to collectd's service, or run "},
    {true, {4, 18, 0}, "set LimitMEMLOCK=infinity in collectd's service (ulimit -l)"},
    {true, {5, 10, 250}, "set LimitMEMLOCK=infinity in collectd's service (ulimit -l)"},
    {true, {5, 11, 0}, "though collectd has CAP_BPF and CAP_PERFMON: allow bpf(2) in what "},
    {true, {6, 2, 0}, "though collectd has CAP_BPF and CAP_PERFMON: allow bpf(2) in what "},
};

START_TEST(says_what_permission_is_missing)
{
    const enum hr_perf_bpf_obstacle obstacle =
        hr_perf_bpf_find_obstacle(obstacles[_i].is_capable, &obstacles[_i].release);
    struct hr_reason reason;

    ck_assert_int_eq(hr_perf_bpf_explain_for(-EPERM, obstacle, &reason), -EPERM);
    ck_assert_msg(strstr(reason.text, obstacles[_i].text) != NULL, "%s", reason.text);
    ck_assert_uint_lt(strlen(reason.text), sizeof(reason.text) - 1); /* nothing is cut off */
}
END_TEST

START_TEST(refuses_more_events_than_it_has_room_for)
{
    struct hr_reason reason = {.text = ""};

    ck_assert_int_eq(open_perf_bpf("123456789 123456789 123456789 123456789 123456789 123456789 "
                                   "123456789 12",
                                   &reason),
                     -E2BIG);
    ck_assert_str_eq(reason.text, "there are more than 64 events: remove some");
}
END_TEST

/* Its tasks have another group in cgroup2, by which BPF programs know them. */
START_TEST(refuses_version_1)
{
    struct hr_reason reason = {.text = ""};

    tree_write(tree, "proc/1/mounts",
               "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
               "cgroup /sys/fs/cgroup/perf cgroup rw,perf_event 0 0\n");
    tree_add_directory(tree, "sys/fs/cgroup/perf");
    ck_assert_int_eq(open_perf_bpf("1", &reason), -EXDEV);
    ck_assert_str_eq(reason.text, "it needs perf_event in cgroup2: mount that, and boot without "
                                  "perf_event in version 1");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf bpf counting");

    tcase_add_checked_fixture(tests, set_up_count, tear_down_count);
    tcase_add_test(tests, a_group_counts_what_is_below);
    tcase_add_test(tests, groups_come_and_go_in_any_order);
    tcase_add_test(tests, scales_where_events_take_turns);
    tcase_add_test(tests, takes_no_turns_from_a_reading_amid_an_addition);
    tcase_add_test(tests, keeps_what_a_group_did_last);
    tcase_add_test(tests, uses_no_slot_again_that_a_cpu_may_add_to);
    tcase_add_test(tests, uses_no_slot_again_in_the_interval_after);
    tcase_add_test(tests, a_thousand_groups_that_ended_leave_no_slot);
    tcase_add_test(tests, leaves_out_groups_beyond_the_limit);
    tcase_add_test(tests, reads_only_what_was_added_to);
    tcase_add_test(tests, reads_only_the_cpus_that_added);
    tcase_add_test(tests, flushes_busy_cpus_only);
    tcase_add_test(tests, opens_the_events_of_a_cpu_again_that_comes_back);
    tcase_add_loop_test(tests, retries_later_a_cpu_that_failed, 0, 2);
    tcase_add_test(tests, knows_the_places_of_cpus);
    tcase_add_test(tests, counts_kinds_of_cores_on_their_cpus);
    tcase_add_test(tests, keeps_no_descriptor);
    tcase_add_test(tests, retries_events_that_are_refused);
    tcase_add_test(tests, says_that_nothing_can_be_counted);
    tcase_add_test(tests, knows_what_memory_the_programs_take);
    tcase_add_test(tests, loses_nothing_where_reading_fails);
    tcase_add_loop_test(tests, says_why_it_cant_count, 0, sizeof(refusals) / sizeof(refusals[0]));
    tcase_add_loop_test(tests, says_what_permission_is_missing, 0,
                        sizeof(obstacles) / sizeof(obstacles[0]));
    tcase_add_test(tests, refuses_more_events_than_it_has_room_for);
    tcase_add_test(tests, refuses_version_1);
    return run_suite("perf bpf counting", tests);
}
