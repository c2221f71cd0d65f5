/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_cpus.c - counting on some of the CPUs: no call names one that is left
 * out, by descriptors and by BPF; on the fake kernel and the fake programs.
 */
#include <errno.h>
#include <string.h>

#include "collectors/perf/fake_bpf.h"
#include "collectors/perf/perf_harness.h"
#include "headroom/perf_choice.h"

#define TIME HR_NS_PER_S

#define CPU "sys/devices/system/cpu/"

static void set_up_cpus(void)
{
    set_up();
    add_cpus(4);
    tree_write(tree, CPU "possible", "0-3\n");
    fake_bpf_reset(4);
    perf_options.bpf_calls = &fake_bpf_calls;
    perf_options.max_targets = 8;
}

static void tear_down_cpus(void)
{
    close_perf();
    fake_bpf_reset(4);
    tear_down();
}

static void leave_alone(unsigned cpu)
{
    fake_perf_leave_alone(cpu);
    fake_bpf_leave_alone(cpu);
}

static void choose(const char *text)
{
    ck_assert_int_eq(hr_cpu_choice_parse(text, &perf_options.cpus), 0);
}

static void open_count(const char *events)
{
    struct hr_reason reason = {.text = ""};

    ck_assert_msg(open_perf_bpf(events, &reason) == 0, "%s", reason.text);
}

/* Of four CPUs, 2 and 3 are left out. */
static const struct {
    const char *isolated, *nohz_full, *text;
} choices[] = {
    {"\n", "(null)\n", "0-1"},   {"2\n", "3\n", "!isolated"},
    {"0-1\n", "\n", "isolated"}, {"2-3\n", "  (null)\n", "!isolated"},
    {"\n", "0-1\n", "isolated"},
};

#define CHOICE_COUNT (int)(sizeof(choices) / sizeof(choices[0]))

static void choose_two(int choice)
{
    tree_write(tree, CPU "isolated", "%s", choices[choice].isolated);
    tree_write(tree, CPU "nohz_full", "%s", choices[choice].nohz_full);
    choose(choices[choice].text);
    leave_alone(2);
    leave_alone(3);
}

START_TEST(opens_nothing_on_cpus_that_are_left_out)
{
    unsigned cpu;

    choose_two(_i);
    open_perf("12 3");
    struct hr_perf_target *machine = open_machine(), *a = open_cgroup("a");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_uint_eq(hr_perf_cpu_count(perf), 2);
    ck_assert_uint_eq(fake_perf_log().open, 2 * 2 * 3);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 2 * 2 * 3);
    ck_assert_uint_eq(hr_perf_files(perf).of_group, 2 * 3);
    add_counted(FAKE_MACHINE, 0, 1, 10, TIME);
    add_counted(FAKE_MACHINE, 1, 1, 5, TIME);
    ck_assert_int_eq(read_target(machine), 0);
    assert_value(machine, 0, 0, 15, 15);
    ck_assert(hr_perf_target_cpu(machine, 1, &cpu));
    ck_assert_uint_eq(cpu, 1);
    ck_assert(!hr_perf_target_cpu(machine, 2, &cpu));
    /* The group becomes empty, and full again. */
    hr_perf_target_pause(a);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 0, 0);
}
END_TEST

START_TEST(follows_cpus_that_come_and_go)
{
    choose("1-2");
    leave_alone(0);
    leave_alone(3);
    set_online("0-1");
    open_perf("1");
    struct hr_perf_target *machine = open_machine();
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_perf_log().open, 1);
    set_online("0-3");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_perf_log().open, 2);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 2), 1);
    add_counted(FAKE_MACHINE, 2, 1, 7, TIME);
    const unsigned opens = fake_perf_log().opens;
    renew_cpu(3); /* it was away between two reads, which doesn't matter */
    ck_assert_int_eq(read_target(machine), 0);
    assert_value(machine, 0, 0, 7, 7);
    ck_assert_uint_eq(fake_perf_log().opens, opens);
    set_online("0,2");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_perf_log().open, 1);
    set_online("0,3"); /* none is left that is chosen */
    ck_assert_int_eq(read_target(machine), -ENODATA);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_eq(hr_perf_cpu_count(perf), 0);
    ck_assert_int_eq(read_target(machine), -ENODATA);
    assert_absent(machine, 0, 0, 7);
    set_online("0-3");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_perf_log().open, 2);
    assert_value(machine, 0, 0, 7, 0);
}
END_TEST

/* Of those that are left out, too: events of their package may be counted on another one then. */
START_TEST(notices_each_change)
{
    choose("0-1");
    open_perf("1");
    ck_assert_int_eq(hr_perf_read(perf), 0);
    unsigned changes = hr_perf_cpu_changes(perf);
    static const char *const online[] = {"0-2", "0-1", "0-1,3", "0,3", "0-3"};
    for (size_t i = 0; i < sizeof(online) / sizeof(online[0]); i++) {
        ck_assert_int_eq(hr_perf_read(perf), 0);
        ck_assert_uint_eq(hr_perf_cpu_changes(perf), changes);
        set_online(online[i]);
        ck_assert_int_eq(hr_perf_read(perf), 0);
        ck_assert_uint_ne(hr_perf_cpu_changes(perf), changes);
        changes = hr_perf_cpu_changes(perf);
    }
}
END_TEST

/* It isn't known then whether events can be counted. */
START_TEST(tries_nothing_without_a_cpu)
{
    choose("isolated");
    open_perf("1");
    struct hr_perf_target *machine = open_machine(), *a = open_cgroup("a");
    ck_assert_int_eq(read_target(machine), -ENODATA);
    ck_assert_int_eq(hr_perf_target_read(a), -ENODATA);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 0), -ECANCELED);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), -ECANCELED);
    assert_absent(machine, 0, 0, 0);
    ck_assert_uint_eq(fake_perf_log().opens, 0);
}
END_TEST

START_TEST(tells_what_only_cpus_count_that_are_left_out)
{
    count_on(2, 8, "2-3");
    count_on(3, 9, "7"); /* it isn't online */
    choose("0-1");
    leave_alone(2);
    open_perf("1 2 3");
    struct hr_perf_target *machine = open_machine();
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 0), 0);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), -EADDRNOTAVAIL);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 2, 0), -ENODEV);
    assert_value(machine, 0, 0, 0, 0);
    assert_absent(machine, 1, 0, 0);
}
END_TEST

START_TEST(needs_descriptors_on_chosen_cpus_only)
{
    const struct hr_perf_demand demand = {.system = true, .groups = 10};

    choose("0-2");
    leave_alone(3);
    open_perf("12 3");
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_uint_eq(hr_perf_find_need(perf, &demand).files, 11 * 3 * 3);
}
END_TEST

START_TEST(retries_where_isolated_cpus_are_not_understood)
{
    choose("!isolated");
    tree_write(tree, CPU "isolated", "some\n");
    leave_alone(3);
    open_perf("1");
    ck_assert_int_eq(hr_perf_read(perf), -EBADMSG);
    ck_assert_uint_eq(hr_perf_cpu_count(perf), 0);
    tree_write(tree, CPU "isolated", "3\n");
    struct hr_perf_target *machine = open_machine();
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_perf_log().open, 3);
}
END_TEST

/* --- By BPF --------------------------------------------------------------- */

START_TEST(neither_opens_nor_flushes_on_cpus_that_are_left_out)
{
    choose_two(_i);
    open_count("12");
    struct hr_perf_target *machine = open_machine(), *a = open_cgroup("a");
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_uint_eq(fake_bpf_log().events, 2 * 2);
    const size_t flushes = fake_bpf_log().flushes;
    fake_bpf_add(id_of("a"), 1, 0, 10, TIME, TIME);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(machine, 0, 0, 10, 10);
    assert_value(a, 0, 0, 10, 10);
    ck_assert_uint_eq(fake_bpf_log().flushes, flushes + 2);
    hr_perf_target_pause(a);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_uint_eq(fake_bpf_log().flushes, flushes + 4);
}
END_TEST

START_TEST(follows_cpus_that_come_and_go_by_bpf)
{
    choose("1-2");
    leave_alone(0);
    leave_alone(3);
    set_online("0-1");
    open_count("1");
    struct hr_perf_target *machine = open_machine();
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_bpf_log().events, 1);
    set_online("0-3");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_bpf_log().events, 2);
    fake_bpf_add(FAKE_REST, 2, 0, 7, TIME, TIME);
    set_online("0,3");
    const size_t flushes = fake_bpf_log().flushes;
    ck_assert_int_eq(read_target(machine), 0);
    assert_value(machine, 0, 0, 7, 7);
    ck_assert_uint_eq(fake_bpf_log().flushes, flushes);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf cpus");

    tcase_add_checked_fixture(tests, set_up_cpus, tear_down_cpus);
    tcase_add_loop_test(tests, opens_nothing_on_cpus_that_are_left_out, 0, CHOICE_COUNT);
    tcase_add_test(tests, follows_cpus_that_come_and_go);
    tcase_add_test(tests, notices_each_change);
    tcase_add_test(tests, tries_nothing_without_a_cpu);
    tcase_add_test(tests, tells_what_only_cpus_count_that_are_left_out);
    tcase_add_test(tests, needs_descriptors_on_chosen_cpus_only);
    tcase_add_test(tests, retries_where_isolated_cpus_are_not_understood);
    tcase_add_loop_test(tests, neither_opens_nor_flushes_on_cpus_that_are_left_out, 0,
                        CHOICE_COUNT);
    tcase_add_test(tests, follows_cpus_that_come_and_go_by_bpf);
    return run_suite("perf cpus", tests);
}
