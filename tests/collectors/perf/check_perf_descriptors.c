/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_descriptors.c - limits of descriptors, and CPUs that go offline and
 * come online, on the fake kernel.
 */
#include <errno.h>
#include <sys/resource.h>

#include "collectors/perf/perf_harness.h"

/* --- Descriptors ---------------------------------------------------------- */

START_TEST(keeps_to_max_files)
{
    perf_options.max_files = 8;
    open_perf("12 3");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), 0);
    unsigned opens = fake_perf_log().opens;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(read_target(b), -EMFILE);
    ck_assert_uint_eq(fake_perf_log().opens, opens); /* the limit was known before */
    struct hr_perf_files files = hr_perf_files(perf);
    ck_assert_uint_eq(files.open, 6);
    ck_assert_uint_eq(files.wanted, 12);
    ck_assert_uint_eq(files.limit, 8);
    ck_assert_uint_eq(files.of_group, 6);
    ck_assert_uint_eq(files.of_system, 0); /* it wasn't counted */
    ck_assert_int_eq(files.limited_by, HR_PERF_BY_OPTION);
    assert_absent(b, 0, 0, 0);
    hr_perf_target_pause(a);
    ck_assert_int_eq(read_target(b), 0); /* at once */
    ck_assert_int_eq(read_target(a), -EMFILE);
    close_target(a);
    files = hr_perf_files(perf);
    ck_assert_uint_eq(files.open, 6);
    ck_assert_uint_eq(files.wanted, 6);
}
END_TEST

/* Two targets that fit until a CPU is added: the first that is read gets the descriptors. */
START_TEST(keeps_to_max_files_with_more_cpus)
{
    perf_options.max_files = 5;
    open_perf("1");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(read_target(b), 0);
    add_counted(id_of("b"), 0, 1, 7, HR_NS_PER_S);
    add_cpus(3);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), -EMFILE);
    ck_assert_uint_eq(fake_perf_open_on(id_of("b"), 0), 0);
    assert_value(b, 0, 0, 7, 7);
    struct hr_perf_files files = hr_perf_files(perf);
    ck_assert_uint_eq(files.open, 3);
    ck_assert_uint_eq(files.wanted, 6);
    ck_assert_uint_eq(files.limit, 5);
    ck_assert_int_eq(files.limited_by, HR_PERF_BY_OPTION);
    ck_assert_int_eq(hr_perf_target_read(b), -EMFILE);
    assert_absent(b, 0, 0, 7);
    set_online("0-1");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0); /* no shortage was recorded */
    assert_value(b, 0, 0, 7, 0);
}
END_TEST

static void limit_files(rlim_t soft, rlim_t hard)
{
    struct rlimit limit = {soft, hard};

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static const struct {
    rlim_t limit;
    size_t max_files;
    int status;
    size_t expected;
    enum hr_perf_limit limited_by;
} limits[] = {
    /* 9 events on 30 CPUs: 270 descriptors. A quarter is left to others, ... */
    {360, 0, 0, 270, HR_PERF_BY_RLIMIT},
    {359, 0, -EMFILE, 264, HR_PERF_BY_RLIMIT},
    {2000, 270, 0, 270, HR_PERF_BY_OPTION},
    {2000, 269, -EMFILE, 269, HR_PERF_BY_OPTION},
    {2047, 0, 0, 1530, HR_PERF_BY_RLIMIT},
    /* ... and of larger limits, the numbers of select(2), too. */
    {2048, 0, 0, 768, HR_PERF_BY_RLIMIT},
    {9216, 0, 0, 6144, HR_PERF_BY_RLIMIT},
    {9216, 6145, 0, 6144, HR_PERF_BY_RLIMIT},
    {9216, 6144, 0, 6144, HR_PERF_BY_OPTION},
};

START_TEST(keeps_to_its_share_of_the_limit)
{
    add_cpus(30);
    perf_options.max_files = limits[_i].max_files;
    open_perf("123456789");
    struct hr_perf_target *target = open_machine();
    limit_files(limits[_i].limit, limits[_i].limit);
    ck_assert_int_eq(read_target(target), limits[_i].status);
    struct hr_perf_files files = hr_perf_files(perf);
    ck_assert_uint_eq(files.limit, limits[_i].expected);
    ck_assert_int_eq(files.limited_by, limits[_i].limited_by);
    ck_assert_uint_eq(files.wanted, 270);
    ck_assert_uint_eq(files.open, limits[_i].status == 0 ? 270 : 0);
    ck_assert_uint_eq(fake_perf_log().open, files.open);
}
END_TEST

/* Another part of the process changes the limit. */
START_TEST(follows_the_limit)
{
    limit_files(64, 4096);
    add_cpus(20);
    open_perf("12");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(read_target(b), -EMFILE);
    limit_files(4096, 4096);
    ck_assert_int_eq(read_target(b), 0); /* at once */
    limit_files(64, 4096);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 80);
}
END_TEST

static const int shortages[] = {-EMFILE, -ENFILE};

/* Descriptors run out below the limit, at each call in turn. */
START_TEST(leaves_nothing_when_descriptors_run_out)
{
    const unsigned call = (unsigned)_i / 2;
    const int error = shortages[_i % 2];

    perf_options.retry_ns = RETRY_NS;
    open_perf("12 3");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), 0);
    fake_perf_refuse((struct fake_refusal){.error = error, .after = call, .count = 1});
    ck_assert_int_eq(read_target(b), error);
    struct hr_perf_files files = hr_perf_files(perf);
    ck_assert_uint_eq(fake_perf_log().open, 6);
    ck_assert_uint_eq(files.open, 6);
    ck_assert_uint_eq(files.wanted, 12);
    unsigned opens = fake_perf_log().opens;
    ck_assert_int_eq(read_target(b), -EMFILE);
    ck_assert_uint_eq(fake_perf_log().opens, opens); /* not retried yet */
    ck_assert_uint_eq(hr_perf_files(perf).limit, 6);
    ck_assert_int_eq(hr_perf_files(perf).limited_by, HR_PERF_BY_OTHERS);
    wait_for_retry();
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 12);
}
END_TEST

/* A shortage while probing says nothing about the events. */
START_TEST(concludes_nothing_from_a_shortage)
{
    static const int errors[] = {-EMFILE, -ENFILE, -ENOMEM};

    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse(
        (struct fake_refusal){.error = errors[_i / 3], .after = (unsigned)_i % 3, .count = 1});
    open_perf("12 3");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), errors[_i / 3]);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 0), -ECANCELED);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    wait_for_retry();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 0), 0);
}
END_TEST

/* A target keeps counting when probing for more events fails for a shortage. */
START_TEST(goes_on_when_trying_fails)
{
    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse((struct fake_refusal){.error = -EACCES, .of_config = true, .config = 2});
    open_perf("1 2");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 0, 1, 5, HR_NS_PER_S);
    wait_for_retry();
    fake_perf_allow();
    fake_perf_refuse((struct fake_refusal){.error = -EMFILE, .count = 1});
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 5, 5);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 0), 1);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 0), 2);
    assert_value(target, 0, 0, 5, 0);
}
END_TEST

START_TEST(keeps_totals_while_memory_is_short)
{
    perf_options.retry_ns = RETRY_NS;
    open_perf("12");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 0, 1, 5, HR_NS_PER_S);
    fake_perf_refuse((struct fake_refusal){.error = -ENOMEM, .on_cpu = true, .cpu = 2});
    add_cpus(3);
    ck_assert_int_eq(read_target(target), -ENOMEM);
    assert_value(target, 0, 0, 5, 5);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    fake_perf_allow();
    ck_assert_int_eq(read_target(target), -ENOMEM);
    assert_absent(target, 0, 0, 5);
    wait_for_retry();
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 5, 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 6);
}
END_TEST

/* --- CPUs ----------------------------------------------------------------- */

/* @param _i  1: leaders report themselves alone once a CPU is gone; 0: others as zeros. */
START_TEST(follows_cpus_off_and_on)
{
    if (_i == 1)
        fake_perf_report_leaders_alone();
    open_perf("12 3");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 0, 1, 100, HR_NS_PER_S);
    add_counted(FAKE_MACHINE, 1, 1, 10, HR_NS_PER_S);
    fake_perf_add_count(FAKE_MACHINE, 1, 2, 50);
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 0, 1, 100, HR_NS_PER_S);
    add_counted(FAKE_MACHINE, 1, 1, 7, HR_NS_PER_S);
    fake_perf_add_count(FAKE_MACHINE, 1, 2, 4);
    fake_perf_take_cpu_away(1);
    set_online("0");
    ck_assert_int_eq(read_target(target), 0); /* its last counts are included */
    assert_value(target, 0, 0, 217, 107);
    assert_cpu_value(target, 1, 0, 0, 17, 7);
    assert_value(target, 0, 1, 54, 4); /* also of events that the leader no longer reports */
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 1), 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 3);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 3);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 217, 0);
    ck_assert(!hr_perf_target_cpu_value(target, 1, 0, 0).counted);

    renew_cpu(1);
    fake_perf_bring_cpu_back(1);
    set_online("0-1");
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 1), 3);
    ck_assert_uint_eq(hr_perf_files(perf).open, 6);
    assert_cpu_value(target, 1, 0, 0, 17, 0);
    add_counted(FAKE_MACHINE, 1, 1, 1, HR_NS_PER_S);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 218, 1);
    assert_cpu_value(target, 1, 0, 0, 18, 1);
}
END_TEST

START_TEST(has_no_values_of_an_idle_cpu_that_went)
{
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_int_eq(read_target(target), 0);
    assert_cpu_value(target, 1, 0, 0, 0, 0);
    fake_perf_take_cpu_away(1);
    set_online("0");
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert(!hr_perf_target_cpu_value(target, 1, 0, 0).counted);
}
END_TEST

/* As follows_cpus_off_and_on(), between the reading of which CPUs are online and that of the
 * counters. */
START_TEST(notices_a_cpu_that_goes_meanwhile)
{
    if (_i == 1)
        fake_perf_report_leaders_alone();
    open_perf("12");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 1, 1, 10, HR_NS_PER_S);
    fake_perf_add_count(FAKE_MACHINE, 1, 2, 50);
    ck_assert_int_eq(read_target(target), 0);
    add_counted(FAKE_MACHINE, 1, 1, 7, HR_NS_PER_S);
    fake_perf_add_count(FAKE_MACHINE, 1, 2, 4);
    fake_perf_take_cpu_away(1);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 17, 7);
    assert_value(target, 0, 1, 54, 4);
    set_online("0");
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 17, 0);
    assert_value(target, 0, 1, 54, 0);
}
END_TEST

/* The kernel has removed the CPU's events for good. */
START_TEST(notices_a_cpu_that_was_away_in_between)
{
    open_perf("12");
    struct hr_perf_target *a = open_cgroup("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(read_target(b), 0);
    add_counted(id_of("a"), 1, 1, 10, HR_NS_PER_S);
    unsigned opens = fake_perf_log().opens;
    renew_cpu(1);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_uint_eq(fake_perf_log().opens, opens + 4);
    assert_value(a, 0, 0, 10, 10);
    assert_cpu_value(a, 1, 0, 0, 10, 10);
    ck_assert_uint_eq(hr_perf_target_value(a, 0, 0).running_ns, HR_NS_PER_S);
    add_counted(id_of("a"), 1, 1, 2, HR_NS_PER_S);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 12, 2);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_uint_eq(fake_perf_log().opens, opens + 4);
    ck_assert_uint_eq(hr_perf_files(perf).open, 8);
}
END_TEST

/* Without topology, only a CPU that is offline at a read is noticed. */
START_TEST(gets_by_without_topology)
{
    tree_remove(tree, "sys/devices/system/cpu/cpu1/topology");
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    unsigned opens = fake_perf_log().opens;
    ck_assert_int_eq(read_target(target), 0);
    add_cpu(1);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().opens, opens);
    set_online("0");
    ck_assert_int_eq(read_target(target), 0);
    set_online("0-1");
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().opens, opens + 1);
}
END_TEST

START_TEST(opens_on_new_cpus)
{
    unsigned cpu;

    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    for (unsigned i = 2; i < 7; i++)
        add_cpu(i);
    set_online("1,3-6"); /* and one goes offline */
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 5);
    add_counted(FAKE_MACHINE, 6, 1, 3, HR_NS_PER_S);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 3, 3);
    ck_assert(hr_perf_target_cpu(target, 5, &cpu));
    ck_assert_uint_eq(cpu, 6);
    assert_cpu_value(target, 5, 0, 0, 3, 3);
    set_online("0-6");
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 7);
    ck_assert(hr_perf_target_cpu(target, 0, &cpu));
    ck_assert_uint_eq(cpu, 0); /* indexes are stable */
    ck_assert(hr_perf_target_cpu(target, 6, &cpu));
    ck_assert_uint_eq(cpu, 2);
}
END_TEST

/* The CPU went offline, but is still listed as online. */
START_TEST(leaves_out_a_cpu_that_is_gone_already)
{
    open_perf("12");
    struct hr_perf_target *target = open_machine();
    fake_perf_take_cpu_away(1);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 0), 2);
    ck_assert_uint_eq(fake_perf_log().open, 2);
    set_online("0");
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 2);
    set_online("0-1");
    fake_perf_bring_cpu_back(1);
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 4);
}
END_TEST

/* The CPU that is probed. */
START_TEST(recovers_from_a_first_cpu_that_is_gone)
{
    perf_options.retry_ns = RETRY_NS;
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    fake_perf_take_cpu_away(0);
    ck_assert_int_eq(read_target(target), -ENODATA);
    set_online("1");
    wait_for_retry();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 1);
}
END_TEST

START_TEST(keeps_the_cpus_while_they_are_unknown)
{
    open_perf("1");
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
    set_online("nonsense");
    ck_assert_int_eq(hr_perf_read(perf), -EBADMSG);
    tree_remove(tree, "sys/devices/system/cpu/online");
    ck_assert_int_eq(hr_perf_read(perf), -ENOENT);
    add_counted(FAKE_MACHINE, 1, 1, 3, HR_NS_PER_S);
    ck_assert_int_eq(hr_perf_target_read(target), 0);
    assert_value(target, 0, 0, 3, 3);
    set_online("0-1");
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 2);
}
END_TEST

START_TEST(reports_a_machine_without_cpus)
{
    tree_remove(tree, "sys/devices");
    open_perf("1");
    ck_assert_int_eq(hr_perf_read(perf), -ENOENT);
    set_online("0");
    add_cpu(0);
    struct hr_perf_target *target = open_machine();
    ck_assert_int_eq(read_target(target), 0);
}
END_TEST

/* All is opened at once, also where the machine is busy. */
static void set_up_without_slices(void)
{
    set_up();
    perf_options.slice_ns = 1000 * HR_NS_PER_S;
}

int main(void)
{
    TCase *tests = tcase_create("perf_files");

    tcase_add_checked_fixture(tests, set_up_without_slices, tear_down);
    tcase_add_test(tests, keeps_to_max_files);
    tcase_add_test(tests, keeps_to_max_files_with_more_cpus);
    tcase_add_loop_test(tests, keeps_to_its_share_of_the_limit, 0,
                        sizeof(limits) / sizeof(limits[0]));
    tcase_add_test(tests, follows_the_limit);
    tcase_add_loop_test(tests, leaves_nothing_when_descriptors_run_out, 0, 12);
    tcase_add_loop_test(tests, concludes_nothing_from_a_shortage, 0, 9);
    tcase_add_test(tests, goes_on_when_trying_fails);
    tcase_add_test(tests, keeps_totals_while_memory_is_short);
    tcase_add_loop_test(tests, follows_cpus_off_and_on, 0, 2);
    tcase_add_test(tests, has_no_values_of_an_idle_cpu_that_went);
    tcase_add_loop_test(tests, notices_a_cpu_that_goes_meanwhile, 0, 2);
    tcase_add_test(tests, notices_a_cpu_that_was_away_in_between);
    tcase_add_test(tests, gets_by_without_topology);
    tcase_add_test(tests, opens_on_new_cpus);
    tcase_add_test(tests, leaves_out_a_cpu_that_is_gone_already);
    tcase_add_test(tests, recovers_from_a_first_cpu_that_is_gone);
    tcase_add_test(tests, keeps_the_cpus_while_they_are_unknown);
    tcase_add_test(tests, reports_a_machine_without_cpus);
    tcase_set_timeout(tests, 30);
    return run_isolated_suite("perf_files", tests);
}
