/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_change.c - from descriptors to BPF while targets are counted, on the
 * fake programs and the fake kernel: totals go on, and nothing changes where BPF can't.
 */
#include <errno.h>
#include <string.h>

#include "collectors/perf/fake_bpf.h"
#include "collectors/perf/perf_harness.h"

#define TIME HR_NS_PER_S

static void set_up_change(void)
{
    set_up();
    tree_write(tree, "sys/devices/system/cpu/possible", "0-1\n");
    fake_bpf_reset(2);
    perf_options.bpf_calls = &fake_bpf_calls;
    perf_options.max_targets = 8;
}

static void tear_down_change(void)
{
    close_perf();
    fake_bpf_reset(2);
    tear_down();
}

static struct hr_perf_target *open_read(const char *path)
{
    struct hr_perf_target *target = path != NULL ? open_cgroup(path) : open_machine();

    ck_assert_int_eq(read_target(target), 0);
    return target;
}

static void change(void)
{
    struct hr_reason reason = {.text = ""};

    ck_assert_msg(hr_perf_change_to_bpf(perf, &reason) == 0, "%s", reason.text);
}

/* What is counted next, of the one event: by descriptors, or by BPF, at a switch. */
static void count(const char *path, unsigned cpu, uint64_t count)
{
    add_counted(path != NULL ? id_of(path) : FAKE_MACHINE, cpu, 1, count, TIME);
}

static void count_by_bpf(const char *path, unsigned cpu, uint64_t count)
{
    fake_bpf_add(path != NULL ? id_of(path) : FAKE_REST, cpu, 0, count, TIME, TIME);
}

/* --- Totals --------------------------------------------------------------- */

START_TEST(totals_go_on)
{
    open_perf("1");
    struct hr_perf_target *b = open_read("a/b"), *machine = open_read(NULL), *a = open_read("a");
    count(NULL, 0, 1000);
    count("a", 0, 100);
    count("a/b", 0, 10);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    count(NULL, 1, 2000); /* since the last read */
    count("a", 1, 200);
    change();
    count_by_bpf(NULL, 0, 4000);
    count_by_bpf("a", 0, 400);
    count_by_bpf("a/b", 0, 40);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    assert_value(machine, 0, 0, 7440, 4440);
    assert_value(a, 0, 0, 740, 440);
    assert_value(b, 0, 0, 50, 40);
    assert_cpu_value(a, 0, 0, 0, 540, 440);
    assert_cpu_value(a, 1, 0, 0, 200, 0);
    ck_assert_uint_eq(hr_perf_target_value(a, 0, 0).enabled_ns, 2 * TIME);
    ck_assert_uint_eq(hr_perf_target_value(a, 0, 0).running_ns, 2 * TIME);
}
END_TEST

START_TEST(leaves_no_descriptor)
{
    open_perf("12 3");
    struct hr_perf_target *machine = open_read(NULL);
    open_read("a");
    ck_assert_uint_eq(fake_perf_log().open, 2 * 2 * 3);
    change();
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 0);
    const unsigned opens = fake_perf_log().opens;
    change(); /* which it is already */
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_perf_log().opens, opens);
}
END_TEST

START_TEST(goes_on_with_many_changes_of_groups)
{
    open_perf("1");
    struct hr_perf_target *b = open_read("a/b/c"), *ended = open_read("ended");
    count("ended", 0, 3);
    close_target(ended);
    change();
    struct hr_perf_target *a = open_read("a"), *machine = open_read(NULL);
    count_by_bpf("a/b/c", 1, 20);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    ck_assert_int_eq(hr_perf_target_read(machine), 0);
    assert_value(a, 0, 0, 20, 20);
    assert_value(b, 0, 0, 20, 20);
    assert_value(machine, 0, 0, 20, 20);
}
END_TEST

/* What they have counted would be extrapolated by the clock's time, which sums don't have. */
START_TEST(goes_on_without_clocks)
{
    set_release(WRONG_RELEASE);
    open_perf("12");
    struct hr_perf_target *a = open_read("a");
    ck_assert_uint_eq(fake_perf_clocks_on(id_of("a"), 0), 1);
    add_counted(id_of("a"), 0, 1, 50, TIME);
    fake_perf_add_clock(id_of("a"), 0, 1, TIME / 2);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 100, 100);
    change();
    fake_bpf_add(id_of("a"), 0, 0, 7, TIME, TIME);
    fake_bpf_add(id_of("a"), 0, 1, 3, TIME, TIME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 107, 7);
    assert_value(a, 0, 1, 3, 3);
    fake_bpf_add(id_of("a"), 0, 0, 10, 2 * TIME, TIME); /* turns are shown as ever */
    fake_bpf_add(id_of("a"), 0, 1, 5, 2 * TIME, TIME);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 127, 20);
}
END_TEST

/* --- Which are counted ---------------------------------------------------- */

START_TEST(counts_those_that_had_no_room)
{
    perf_options.max_files = 4;
    open_perf("1");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(b), -EMFILE);
    count("a", 0, 5);
    change();
    count_by_bpf("b", 0, 70); /* from now on, not from the next read on */
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_int_eq(hr_perf_target_read(machine), 0);
    assert_value(a, 0, 0, 5, 0);
    assert_value(b, 0, 0, 70, 70);
    assert_value(machine, 0, 0, 70, 70);
}
END_TEST

START_TEST(leaves_out_those_that_are_paused)
{
    open_perf("1");
    struct hr_perf_target *a = open_read("a"), *b = open_read("b");
    count("a", 0, 5);
    count("b", 0, 6);
    hr_perf_target_pause(b);
    change();
    ck_assert_uint_eq(fake_bpf_log().selected, 1);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 5, 0);
    ck_assert_int_eq(read_target(b), 0);
    count_by_bpf("b", 0, 10);
    ck_assert_int_eq(read_target(b), 0);
    assert_value(b, 0, 0, 16, 10);
}
END_TEST

/* What descriptors counted on a CPU that is offline by then was read before it went. */
START_TEST(goes_on_where_a_cpu_went)
{
    open_perf("1");
    struct hr_perf_target *a = open_read("a");
    count("a", 0, 1);
    count("a", 1, 20);
    ck_assert_int_eq(read_target(a), 0);
    set_online("0");
    fake_perf_take_cpu_away(1);
    ck_assert_int_eq(read_target(a), 0);
    change();
    ck_assert_uint_eq(fake_bpf_log().events, 1);
    fake_perf_bring_cpu_back(1);
    set_online("0-1");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_uint_eq(fake_bpf_log().events, 2);
    count_by_bpf("a", 1, 300);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 321, 300);
}
END_TEST

/* --- Failures ------------------------------------------------------------- */

static const struct {
    enum fake_bpf_call call;
    int error;
} refusals[] = {
    {FAKE_LOAD, -EPERM},      {FAKE_SELECT, -EPERM}, {FAKE_ATTACH, -EMFILE},
    {FAKE_SET_EVENT, -EBUSY}, {FAKE_FLUSH, -EPERM},
};

START_TEST(goes_on_by_descriptors_where_bpf_cant)
{
    struct hr_reason reason = {.text = ""};

    open_perf("1 2");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a");
    count("a", 0, 5);
    const struct fake_perf_log before = fake_perf_log();
    fake_bpf_refuse(refusals[_i].call, refusals[_i].error);
    ck_assert_int_eq(hr_perf_change_to_bpf(perf, &reason), refusals[_i].error);
    ck_assert_str_ne(reason.text, "");
    count("a", 0, 60);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_uint_eq(hr_perf_target_value(a, 0, 0).total, 65);
    ck_assert_uint_eq(fake_perf_log().open, before.open);
    /* What BPF opened is closed again. */
    ck_assert_uint_eq(fake_perf_log().opens - before.opens, fake_perf_log().closes - before.closes);
    ck_assert_uint_eq(hr_perf_files(perf).open, before.open);
    fake_bpf_refuse(refusals[_i].call, 0); /* and later it may succeed */
    change();
    count_by_bpf("a", 0, 700);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 765, 700);
}
END_TEST

START_TEST(refuses_version_1)
{
    struct hr_reason reason = {.text = ""};

    tree_write(tree, "proc/1/mounts",
               "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
               "cgroup /sys/fs/cgroup/perf cgroup rw,perf_event 0 0\n");
    tree_add_directory(tree, "sys/fs/cgroup/perf");
    open_perf("1");
    open_read(NULL);
    ck_assert_int_eq(hr_perf_change_to_bpf(perf, &reason), -EXDEV);
    ck_assert_msg(strstr(reason.text, "without perf_event in version 1") != NULL, "%s",
                  reason.text);
    ck_assert_uint_eq(fake_perf_log().open, 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf change");

    tcase_add_checked_fixture(tests, set_up_change, tear_down_change);
    tcase_add_test(tests, totals_go_on);
    tcase_add_test(tests, leaves_no_descriptor);
    tcase_add_test(tests, goes_on_with_many_changes_of_groups);
    tcase_add_test(tests, goes_on_without_clocks);
    tcase_add_test(tests, counts_those_that_had_no_room);
    tcase_add_test(tests, leaves_out_those_that_are_paused);
    tcase_add_test(tests, goes_on_where_a_cpu_went);
    tcase_add_loop_test(tests, goes_on_by_descriptors_where_bpf_cant, 0,
                        sizeof(refusals) / sizeof(refusals[0]));
    tcase_add_test(tests, refuses_version_1);
    return run_suite("perf change", tests);
}
