/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_open.c - opening counters: events that the kernel refuses, removed
 * cgroups, lack of memory; on the fake kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/perf/perf_harness.h"

START_TEST(refuses_bad_options)
{
    static struct hr_perf_event event;
    static struct hr_perf_event *const many[HR_PERF_GROUP_MAX + 1] = {&event};
    const struct hr_perf_event_group empty[] = {{many, 1}, {many, 0}};
    const struct hr_perf_event_group large[] = {{many, HR_PERF_GROUP_MAX + 1}};
    struct hr_perf_options options = {.groups = empty};
    struct hr_perf *opened = NULL;

    ck_assert_int_eq(hr_perf_open(root, &options, &opened), -EINVAL);
    options.group_count = 2;
    ck_assert_int_eq(hr_perf_open(root, &options, &opened), -EINVAL);
    options.groups = large;
    options.group_count = 1;
    ck_assert_int_eq(hr_perf_open(root, &options, &opened), -EINVAL);
    ck_assert_ptr_null(opened);
    hr_perf_close(NULL);
    hr_perf_target_close(NULL);
}
END_TEST

/* --- Events that can't be counted ----------------------------------------- */

static const int no_such_event[] = {-ENOENT, -EOPNOTSUPP, -EINVAL, -EACCES, -ENODEV};

/* _i: index of the missing event, which may be the leader. */
START_TEST(leaves_out_what_is_not_supported)
{
    const uint64_t config = (uint64_t)_i % 3 + 1;
    const int error = no_such_event[_i / 3];

    fake_perf_refuse((struct fake_refusal){.error = error, .of_config = true, .config = config});
    open_perf("123 4");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 0), -ECANCELED);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 6);
    const uint64_t leader = config == 1 ? 2 : 1;
    for (uint64_t i = 1; i <= 3; i++)
        if (i != config)
            fake_perf_add_count(FAKE_MACHINE, 1, i, i * 10);
    add_counted(FAKE_MACHINE, 1, leader, 0, HR_NS_PER_S);
    unsigned opens = fake_perf_log().opens;
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().opens, opens); /* not retried each time */
    for (uint64_t i = 1; i <= 3; i++) {
        ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, i - 1), i == config ? error : 0);
        if (i == config)
            assert_absent(target, 0, i - 1, 0);
        else
            assert_value(target, 0, i - 1, i * 10, i * 10);
    }
    assert_value(target, 1, 0, 0, 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), -ECANCELED);
}
END_TEST

static const int too_large[] = {-EINVAL, -ENOSPC};

START_TEST(refuses_a_group_that_is_too_large)
{
    fake_perf_refuse((struct fake_refusal){.error = too_large[_i], .group_size = 3});
    open_perf("1234 56 7");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, i), -E2BIG);
        assert_absent(target, 0, i, 0);
    }
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 1), 0);
    ck_assert_uint_eq(fake_perf_log().open, 6);
    add_counted(FAKE_MACHINE, 0, 5, 8, HR_NS_PER_S);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 1, 0, 8, 8);
    assert_value(target, 2, 0, 0, 0);
}
END_TEST

/* An event that can't be counted at all isn't reported as one too many. */
START_TEST(distinguishes_too_many_from_impossible)
{
    fake_perf_refuse((struct fake_refusal){.error = -ENOENT, .of_config = true, .config = 2});
    fake_perf_refuse((struct fake_refusal){.error = -EINVAL, .of_config = true, .config = 3});
    fake_perf_refuse((struct fake_refusal){.error = -EINVAL, .group_size = 3});
    open_perf("12345 6");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 0), -E2BIG);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 1), -ENOENT);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 2), -EINVAL);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 3), -E2BIG);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 4), -E2BIG);
    ck_assert_uint_eq(fake_perf_log().open, 2);
}
END_TEST

/* Without any PMU; not retried each time. */
START_TEST(reports_when_nothing_can_be_counted)
{
    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse((struct fake_refusal){.error = -ENOENT});
    open_perf("12 3");
    struct hr_perf_target *target = open_cgroup("a");
    ck_assert_int_eq(read_target(target), -ENODATA);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 1), -ENOENT);
    unsigned opens = fake_perf_log().opens;
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(read_target(target), -ENODATA);
    ck_assert_uint_eq(fake_perf_log().opens, opens);
    assert_absent(target, 0, 0, 0);
    wait_for_retry();
    ck_assert_int_eq(read_target(target), -ENODATA);
    ck_assert_uint_eq(fake_perf_log().opens, opens + 2 * 3); /* in the cgroup, and outside of it */
}
END_TEST

static const int privileges[] = {-EACCES, -EPERM};

START_TEST(recovers_when_permission_is_given)
{
    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse((struct fake_refusal){.error = privileges[_i]});
    open_perf("1");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), -ENODATA);
    ck_assert_int_eq(read_target(b), -ENODATA);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), privileges[_i]);
    fake_perf_allow();
    ck_assert_int_eq(read_target(a), -ENODATA);
    wait_for_retry();
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), 0);
    add_counted(id_of("a"), 0, 1, 5, 10);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 5, 5);
}
END_TEST

/* Events that are counted keep their counts when others become countable. */
START_TEST(adds_what_can_be_counted_later)
{
    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse((struct fake_refusal){.error = -EACCES, .of_config = true, .config = 2});
    open_perf("12");
    struct hr_perf_target *target = open_machine(), *other = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 0, 1, 5, 10);
    ck_assert_int_eq(read_target(target), 0);
    wait_for_retry();
    add_counted(FAKE_MACHINE, 0, 1, 3, 10);
    ck_assert_int_eq(read_target(target), 0); /* retried, in vain */
    assert_value(target, 0, 0, 8, 3);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 0), 1);
    fake_perf_allow();
    wait_for_retry();
    add_counted(FAKE_MACHINE, 0, 1, 4, 10);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 12, 4);
    assert_value(target, 0, 1, 0, 0);
    ck_assert_uint_eq(hr_perf_target_value(target, 0, 0).running_ns, 10);
    ck_assert_uint_eq(fake_perf_log().open, 4);
    ck_assert_uint_eq(hr_perf_files(perf).open, 4);
    fake_perf_add_count(FAKE_MACHINE, 0, 2, 9);
    add_counted(FAKE_MACHINE, 0, 1, 2, 10);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 14, 2);
    assert_value(target, 0, 1, 9, 9);
    ck_assert_int_eq(read_target(other), 0);
    ck_assert_uint_eq(fake_perf_log().open, 8);
}
END_TEST

/* An event that can no longer be counted has no value, and its last delta is dropped. */
START_TEST(drops_what_can_be_counted_no_more)
{
    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse((struct fake_refusal){.error = -EACCES, .of_config = true, .config = 3});
    open_perf("12 3");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    fake_perf_add_count(FAKE_MACHINE, 0, 2, 9);
    add_counted(FAKE_MACHINE, 0, 1, 5, 10);
    fake_perf_refuse((struct fake_refusal){.error = -ENOENT, .of_config = true, .config = 2});
    wait_for_retry();
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 5, 5);
    assert_absent(target, 0, 1, 9);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 5, 0);
    assert_absent(target, 0, 1, 9); /* not 18 */
}
END_TEST

START_TEST(closes_all_when_enabling_fails)
{
    perf_options.retry_ns = RETRY_NS;
    open_perf("12 3");
    struct hr_perf_target *target = open_machine();
    fake_perf_refuse_enabling(-EIO);
    ck_assert_int_eq(read_target(target), -EIO);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_int_eq(read_target(target), -EIO);
    wait_for_retry();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 6);
}
END_TEST

/* An uncore PMU: on one CPU of each package, and not in cgroups. */
START_TEST(counts_whole_machine_events_on_their_cpus)
{
    unsigned cpu;

    count_on(2, 30, "1");
    fake_perf_refuse(
        (struct fake_refusal){.error = -EINVAL, .in_cgroups = true, .of_type = true, .type = 30});
    open_perf("1 2");
    struct hr_perf_target *machine = open_machine(), *target = open_cgroup("a");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 0), 1);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 1), 2);
    ck_assert_uint_eq(hr_perf_files(perf).open, 5);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), -EINVAL);
    add_counted(FAKE_MACHINE, 1, 2, 11, HR_NS_PER_S);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(machine, 1, 0, 11, 11);
    assert_absent(target, 1, 0, 0);
    ck_assert(hr_perf_target_cpu(machine, 0, &cpu));
    ck_assert_uint_eq(cpu, 0);
    assert_cpu_value(machine, 1, 1, 0, 11, 11);
    ck_assert(!hr_perf_target_cpu_value(machine, 0, 1, 0).counted); /* rather than 0 */
    set_online("0");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(read_target(machine), 0);
    assert_value(machine, 0, 0, 0, 0);
    assert_absent(machine, 1, 0, 11);
}
END_TEST

/* A counter that goes on counts from what it has, a new one from 0. */
START_TEST(leaves_counters_of_cgroups_open_where_those_of_a_package_move)
{
    count_on(2, 9, "0");
    count_for_the_machine(2);
    fake_perf_refuse((struct fake_refusal){
        .error = -EINVAL, .in_cgroups = true, .of_config = true, .config = 2});
    open_perf("1 2");
    struct hr_perf_target *machine = open_machine(), *a = open_cgroup("a");
    ck_assert_int_eq(read_target(a), 0);
    add_counted(id_of("a"), 0, 1, 1000, HR_NS_PER_S);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    move_to(2, "1");
    hr_perf_update_events(perf);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    fake_perf_set_count(id_of("a"), 0, 1, 1007);
    fake_perf_set_times(id_of("a"), 0, 1, 2 * HR_NS_PER_S, 2 * HR_NS_PER_S);
    add_counted(FAKE_MACHINE, 1, 2, 60, HR_NS_PER_S);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(a, 0, 0, 1007, 7);
    assert_value(machine, 1, 0, 60, 60);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), -EINVAL);
}
END_TEST

/* --- Hybrid machines ------------------------------------------------------ */

START_TEST(counts_on_each_kind_of_core)
{
    add_cpus(4);
    for (uint64_t config = 1; config <= 2; config++) {
        count_on(config, 4, "0-1");
        count_on(config, 10, "2-3");
    }
    open_perf("12");
    struct hr_perf_target *target = open_cgroup("a");
    const uint64_t id = id_of("a");
    ck_assert_int_eq(read_target(target), 0);
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        ck_assert_uint_eq(fake_perf_type(id, cpu, 1), cpu < 2 ? 4 : 10);
        ck_assert_uint_eq(fake_perf_type(id, cpu, 2), cpu < 2 ? 4 : 10);
        add_counted(id, cpu, 1, cpu + 1, HR_NS_PER_S);
    }
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 10, 10);
}
END_TEST

/* Older kernels on some machines support only the plain generic type, and use the CPU's PMU. */
START_TEST(does_without_extended_types)
{
    static const int errors[] = {-ENOENT, -EINVAL, -EOPNOTSUPP};

    for (uint64_t pmu = 4; pmu <= 10; pmu += 6) {
        count_on(1, (uint32_t)pmu, pmu == 4 ? "0" : "1");
        make_extended(1, (uint32_t)pmu);
        fake_perf_refuse(
            (struct fake_refusal){.error = errors[_i], .of_config = true, .config = pmu << 32 | 1});
    }
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 0, 1, 3, HR_NS_PER_S);
    add_counted(FAKE_MACHINE, 1, 1, 4, HR_NS_PER_S);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 7, 7);
}
END_TEST

/* Otherwise the sum would silently cover some of the CPUs only. */
START_TEST(refuses_what_a_kind_of_core_lacks)
{
    add_cpus(4);
    for (uint64_t config = 1; config <= 2; config++) {
        count_on(config, 4, "0-1");
        count_on(config, 10, "2-3");
    }
    fake_perf_refuse((struct fake_refusal){
        .error = -ENOENT, .of_type = true, .type = 10, .of_config = true, .config = 1});
    open_perf("12");
    struct hr_perf_target *target = open_cgroup("a");
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), -ENOENT);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 1), 0);
    for (unsigned cpu = 0; cpu < 4; cpu++)
        ck_assert_uint_eq(fake_perf_open_on(id_of("a"), cpu), 1);
    assert_absent(target, 0, 0, 0);
}
END_TEST

/* One kind of core has too few counters for the group. */
START_TEST(refuses_a_group_too_large_for_a_kind_of_core)
{
    add_cpus(4);
    for (uint64_t config = 1; config <= 3; config++) {
        count_on(config, 4, "0-1");
        count_on(config, 10, "2-3");
    }
    fake_perf_refuse(
        (struct fake_refusal){.error = -EINVAL, .of_type = true, .type = 10, .group_size = 2});
    open_perf("12 3");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 0), -E2BIG);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 1), -E2BIG);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), 0);
    ck_assert_uint_eq(fake_perf_log().open, 4);
}
END_TEST

/* A kind of core without an online CPU is ignored. */
START_TEST(refuses_what_no_online_cpu_has)
{
    count_on(2, 10, "2-3");
    open_perf("1 2");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), -ENODEV);
    assert_absent(target, 1, 0, 0);
    assert_value(target, 0, 0, 0, 0);
}
END_TEST

/* --- Removed groups ------------------------------------------------------- */

START_TEST(detects_a_removed_group)
{
    open_perf("1");
    struct hr_perf_target *target = open_cgroup("a"), *other = open_cgroup("b");
    ck_assert_int_eq(read_target(target), 0);
    add_counted(id_of("a"), 0, 1, 5, HR_NS_PER_S);
    const uint64_t id = id_of("a");
    tree_remove_group(tree, "a");
    ck_assert_int_eq(read_target(target), 0); /* open counters can still be read */
    assert_value(target, 0, 0, 5, 5);
    add_counted(id, 0, 1, 2, HR_NS_PER_S);
    renew_cpu(1);
    ck_assert_int_eq(read_target(target), -ENODEV);
    assert_value(target, 0, 0, 7, 2);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
    ck_assert_int_eq(read_target(target), -ENODEV);
    assert_absent(target, 0, 0, 7);
    ck_assert_int_eq(read_target(other), 0);
}
END_TEST

/* For example in a version 1 hierarchy: the events can be counted, but not there. */
START_TEST(reports_a_cgroup_without_the_controller)
{
    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse((struct fake_refusal){.error = -ENOENT, .in_cgroups = true});
    open_perf("12 3");
    struct hr_perf_target *target = open_cgroup("a"), *machine = open_machine();
    ck_assert_int_eq(read_target(target), -EXDEV);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0),
                     -ECANCELED); /* which says nothing about the events */
    ck_assert_int_eq(read_target(machine), 0);
    unsigned opens = fake_perf_log().opens;
    ck_assert_int_eq(read_target(target), -EXDEV);
    ck_assert_uint_eq(fake_perf_log().opens, opens);
    assert_absent(target, 0, 0, 0);
    fake_perf_allow();
    wait_for_retry();
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 0, 0);
    /* and one event, after probing */
    fake_perf_refuse((struct fake_refusal){.error = -ENOENT, .in_cgroups = true});
    ck_assert_int_eq(read_target(open_cgroup("b")), -EXDEV);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), 0);
}
END_TEST

static void remove_a(unsigned number)
{
    if (number == 4 + 3)
        tree_remove_group(tree, "a");
}

START_TEST(reports_a_group_removed_while_it_is_opened)
{
    open_perf("12");
    struct hr_perf_target *other = open_cgroup("b"), *target = open_cgroup("a");
    ck_assert_int_eq(read_target(other), 0);
    ck_assert_uint_eq(fake_perf_log().opens, 6);
    fake_perf_on_open(remove_a);
    close_target(other);
    ck_assert_int_eq(read_target(target), -ENODEV);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
}
END_TEST

static void remove_at_first(unsigned number)
{
    if (number == 1)
        tree_remove_group(tree, "a");
}

/* A group that is removed before or during probing says nothing about the events. */
START_TEST(concludes_nothing_from_a_removed_group)
{
    open_perf("1");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    if (_i == 0)
        tree_remove_group(tree, "a");
    else
        fake_perf_on_open(remove_at_first);
    ck_assert_int_eq(read_target(a), -ENODEV);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), -ECANCELED);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), 0);
    ck_assert_int_eq(read_target(a), -ENODEV);
}
END_TEST

/* --- Memory --------------------------------------------------------------- */

/* Number of the allocation that fails, from 1; 0: none. */
static unsigned failing;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static bool is_failing(void)
{
    return failing > 0 && --failing == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_failing() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return is_failing() ? NULL : __real_reallocarray(old, count, size);
}

/* Opens all, with one failing allocation. @return false if there were fewer allocations. */
static bool open_short_of_memory(unsigned number)
{
    struct hr_perf_target *target = NULL;
    struct hr_perf *opened = NULL;

    failing = number;
    int status = hr_perf_open(root, &perf_options, &opened);
    if (status == 0)
        status = hr_perf_target_open_system(opened, &target);
    if (status == 0)
        status = hr_perf_read(opened);
    if (status == 0)
        status = hr_perf_target_read(target);
    bool failed = failing == 0;
    ck_assert_int_eq(status, failed ? -ENOMEM : 0);
    ck_assert_uint_eq(fake_perf_log().open, failed ? 0 : 6);
    failing = 0;
    if (failed && target != NULL) { /* now there is memory */
        wait_for_retry();
        ck_assert_int_eq(hr_perf_read(opened), 0);
        ck_assert_int_eq(hr_perf_target_read(target), 0);
        ck_assert_uint_eq(fake_perf_log().open, 6);
    }
    hr_perf_target_close(target);
    hr_perf_close(opened);
    return failed;
}

START_TEST(gets_over_each_failed_allocation)
{
    unsigned number = 1;

    perf_options.retry_ns = RETRY_NS;
    set_groups("12 3");
    while (open_short_of_memory(number))
        number++;
    ck_assert_uint_ge(number, 10);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf_open");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, refuses_bad_options);
    tcase_add_loop_test(tests, leaves_out_what_is_not_supported, 0, 15);
    tcase_add_loop_test(tests, refuses_a_group_that_is_too_large, 0, 2);
    tcase_add_test(tests, distinguishes_too_many_from_impossible);
    tcase_add_test(tests, reports_when_nothing_can_be_counted);
    tcase_add_loop_test(tests, recovers_when_permission_is_given, 0, 2);
    tcase_add_test(tests, adds_what_can_be_counted_later);
    tcase_add_test(tests, drops_what_can_be_counted_no_more);
    tcase_add_test(tests, closes_all_when_enabling_fails);
    tcase_add_test(tests, counts_whole_machine_events_on_their_cpus);
    tcase_add_test(tests, leaves_counters_of_cgroups_open_where_those_of_a_package_move);
    tcase_add_test(tests, counts_on_each_kind_of_core);
    tcase_add_loop_test(tests, does_without_extended_types, 0, 3);
    tcase_add_test(tests, refuses_what_a_kind_of_core_lacks);
    tcase_add_test(tests, refuses_a_group_too_large_for_a_kind_of_core);
    tcase_add_test(tests, refuses_what_no_online_cpu_has);
    tcase_add_test(tests, detects_a_removed_group);
    tcase_add_test(tests, reports_a_cgroup_without_the_controller);
    tcase_add_test(tests, reports_a_group_removed_while_it_is_opened);
    tcase_add_loop_test(tests, concludes_nothing_from_a_removed_group, 0, 2);
    tcase_add_test(tests, gets_over_each_failed_allocation);
    tcase_set_timeout(tests, 30);
    return run_suite("perf_open", tests);
}
