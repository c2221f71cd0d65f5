/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_exceptions.c - groups of events that BPF programs can't read, counted
 * by descriptors beside others that are counted by BPF, on the fake programs and the fake kernel.
 */
#include <errno.h>
#include <string.h>

#include "collectors/perf/fake_bpf.h"
#include "collectors/perf/perf_harness.h"
#include "headroom/perf_choice.h"

#define TIME HR_NS_PER_S

static void set_up_exceptions(void)
{
    set_up();
    tree_write(tree, "sys/devices/system/cpu/possible", "0-1\n");
    fake_bpf_reset(2);
    perf_options.bpf_calls = &fake_bpf_calls;
    perf_options.max_targets = 8;
    perf_options.retry_ns = RETRY_NS;
}

static void tear_down_exceptions(void)
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

/* What is counted next, by descriptors, of the event with this config, which leads its group; or by
 * BPF, at a switch, of the event with this number. */
static void count(const char *path, unsigned cpu, uint64_t config, uint64_t count)
{
    add_counted(path != NULL ? id_of(path) : FAKE_MACHINE, cpu, config, count, TIME);
}

static void count_by_bpf(const char *path, unsigned cpu, size_t event, uint64_t count)
{
    fake_bpf_add(path != NULL ? id_of(path) : FAKE_REST, cpu, event, count, TIME, TIME);
}

static void assert_exception(size_t group, const char *text)
{
    const struct hr_perf_event *event = hr_perf_exception(perf, group);

    ck_assert_msg((event == NULL) == (text == NULL), "%s", event != NULL ? event->text : "none");
    if (text != NULL)
        ck_assert_str_eq(event->text, text);
}

/* --- Which ---------------------------------------------------------------- */

/* @param how  setting the event fails, or programs can't read it: on one CPU. */
static void make_unreadable(int how, size_t event)
{
    if (how == 0)
        fake_bpf_make_unreadable(event);
    else
        fake_bpf_misread(1, event);
}

START_TEST(counts_the_other_lines_by_bpf)
{
    make_unreadable(_i, 1);
    open_count("1 2 3");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a"), *b = open_read("a/b");
    assert_exception(0, NULL);
    assert_exception(1, "event-2");
    assert_exception(2, NULL);
    ck_assert_uint_eq(fake_bpf_count_set(), 2 * 2); /* none that isn't used takes a counter */
    ck_assert_uint_eq(fake_perf_log().open, 3 * 2);
    ck_assert_uint_eq(fake_perf_open_on(id_of("a"), 1), 1);
    count_by_bpf("a/b", 0, 0, 10);
    count_by_bpf(NULL, 1, 2, 7);
    count("a/b", 1, 2, 300);
    count("a", 1, 2, 3000);
    count(NULL, 0, 2, 30000);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    assert_value(machine, 0, 0, 10, 10);
    assert_value(machine, 1, 0, 30000, 30000);
    assert_value(machine, 2, 0, 7, 7);
    assert_value(a, 0, 0, 10, 10);
    assert_value(a, 1, 0, 3000, 3000);
    assert_cpu_value(a, 1, 1, 0, 3000, 3000);
    assert_value(b, 1, 0, 300, 300);
    assert_value(b, 2, 0, 0, 0);
    ck_assert_int_eq(read_target(b), 0);
    assert_value(b, 0, 0, 10, 0);
    assert_value(b, 1, 0, 300, 0);
}
END_TEST

static void make_uncountable_in_cgroups(uint64_t config)
{
    count_for_the_machine(config);
    fake_perf_refuse((struct fake_refusal){
        .error = -EINVAL, .in_cgroups = true, .of_config = true, .config = config});
}

/* They are counted for the machine alone, and keep no line from cgroups. */
START_TEST(leaves_counters_of_the_whole_machine_to_descriptors)
{
    count_on(3, 9, "0");
    make_uncountable_in_cgroups(3);
    open_count("12 3 45");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a");
    assert_exception(0, NULL);
    assert_exception(1, "event-3");
    ck_assert_uint_eq(hr_perf_group_file_count(perf, HR_PERF_SYSTEM, 1), 1);
    ck_assert_uint_eq(hr_perf_group_file_count(perf, HR_PERF_CGROUP, 1), 0);
    ck_assert_uint_eq(fake_bpf_count_set(), 2 * 4);
    ck_assert_uint_eq(fake_perf_log().open, 1);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 1);
    for (size_t event = 0; event < 4; event++)
        count_by_bpf("a", 0, event, 10 + event);
    count(NULL, 0, 3, 500);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(machine, 1, 0, 500, 500);
    assert_value(machine, 2, 1, 13, 13);
    assert_value(a, 0, 0, 10, 10);
    assert_value(a, 0, 1, 11, 11);
    assert_absent(a, 1, 0, 0);
    assert_value(a, 2, 0, 12, 12);
    assert_value(a, 2, 1, 13, 13);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), -EINVAL);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 2, 0), 0);
}
END_TEST

/* As without exceptions: nothing is opened or read for them. */
START_TEST(groups_that_sleep_cost_nothing_where_descriptors_count_nothing_of_them)
{
    make_uncountable_in_cgroups(2);
    open_count("1 2");
    struct hr_perf_target *a = open_read("a"), *b = open_read("b");
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    const struct fake_perf_log before = fake_perf_log();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(read_target(a), 0);
        ck_assert_int_eq(hr_perf_target_read(b), 0);
    }
    ck_assert_uint_eq(fake_perf_log().opens, before.opens);
    ck_assert_uint_eq(fake_perf_log().reads, before.reads);
    assert_value(b, 0, 0, 0, 0);
}
END_TEST

/* --- Descriptors ---------------------------------------------------------- */

START_TEST(takes_descriptors_of_exceptions_only)
{
    const struct hr_perf_demand demand = {.system = true, .groups = 3, .nested = true};

    perf_options.max_files = 5;
    fake_bpf_make_unreadable(2);
    open_count("12 3");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(b), -EMFILE);
    const struct hr_perf_files files = hr_perf_files(perf);
    ck_assert_uint_eq(files.open, 4);
    ck_assert_uint_eq(files.wanted, 6);
    ck_assert_uint_eq(files.limit, 5);
    ck_assert_uint_eq(files.of_system, 2);
    ck_assert_uint_eq(files.of_group, 2);
    ck_assert_uint_eq(hr_perf_find_need(perf, &demand).files, 8);
    count_by_bpf("b", 0, 0, 5); /* for which there is no lack */
    count_by_bpf("b", 0, 1, 6);
    ck_assert_int_eq(read_target(b), -EMFILE);
    assert_value(b, 0, 0, 5, 5);
    assert_value(b, 0, 1, 6, 6);
    assert_absent(b, 1, 0, 0);
    close_target(a);
    ck_assert_int_eq(read_target(b), 0);
    count("b", 0, 3, 70);
    ck_assert_int_eq(read_target(b), 0);
    ck_assert_int_eq(hr_perf_target_read(machine), 0);
    assert_value(b, 0, 0, 5, 0);
    assert_value(b, 1, 0, 70, 70);
}
END_TEST

START_TEST(counts_in_cgroups_what_these_allow)
{
    fake_perf_refuse((struct fake_refusal){
        .error = -EOPNOTSUPP, .in_cgroups = true, .of_config = true, .config = 2});
    fake_bpf_make_unreadable(1);
    open_count("1 2");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a");
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), -EOPNOTSUPP);
    count_by_bpf("a", 0, 0, 5);
    count(NULL, 0, 2, 6);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(a, 0, 0, 5, 5);
    assert_absent(a, 1, 0, 0);
    assert_value(machine, 1, 0, 6, 6);
    fake_perf_allow();
    wait_for_retry();
    ck_assert_int_eq(read_target(a), 0);
    count("a", 1, 2, 7);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 1, 0, 7, 7);
    assert_value(a, 0, 0, 5, 0);
}
END_TEST

START_TEST(says_why_descriptors_fail_and_counts_the_rest)
{
    fake_bpf_make_unreadable(1);
    open_count("1 2");
    struct hr_perf_target *a = open_read("a");
    fake_perf_refuse((struct fake_refusal){.error = -EBUSY, .in_cgroups = true});
    struct hr_perf_target *b = open_cgroup("b");
    ck_assert_int_eq(read_target(b), -EBUSY);
    count_by_bpf("b", 0, 0, 5);
    ck_assert_int_eq(read_target(b), -EBUSY);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(b, 0, 0, 5, 5);
    assert_absent(b, 1, 0, 0);
}
END_TEST

START_TEST(pauses_and_goes_on)
{
    fake_bpf_make_unreadable(1);
    open_count("1 2");
    struct hr_perf_target *a = open_read("a");
    count_by_bpf("a", 0, 0, 5);
    count("a", 1, 2, 60);
    hr_perf_target_pause(a);
    assert_value(a, 0, 0, 5, 5);
    assert_value(a, 1, 0, 60, 60);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 0);
    ck_assert_uint_eq(fake_bpf_log().selected, 0);
    ck_assert_int_eq(read_target(a), 0);
    count_by_bpf("a", 1, 0, 700);
    count("a", 0, 2, 8000);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 705, 700);
    assert_value(a, 1, 0, 8060, 8000);
}
END_TEST

/* --- From descriptors ----------------------------------------------------- */

/* Those of exceptions stay open: nothing of them is missed, or counted twice. */
START_TEST(totals_go_on)
{
    make_unreadable(_i, 0);
    open_perf("1 2");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a");
    for (uint64_t config = 1; config <= 2; config++) {
        count(NULL, 0, config, 1000 * config);
        count("a", 1, config, 10 * config);
    }
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    for (uint64_t config = 1; config <= 2; config++)
        count("a", 1, config, 100 * config); /* since the last read */
    change();
    assert_exception(0, "event-1");
    assert_exception(1, NULL);
    ck_assert_uint_eq(fake_perf_log().open, 2 * 2);
    ck_assert_uint_eq(hr_perf_files(perf).open, 4);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 4);
    const unsigned opens = fake_perf_log().opens;
    count("a", 0, 1, 5000);
    count_by_bpf("a", 0, 1, 6000);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_uint_eq(fake_perf_log().opens, opens);
    ck_assert_uint_eq(hr_perf_target_value(a, 0, 0).total, 5110);
    ck_assert_uint_eq(hr_perf_target_value(a, 1, 0).total, 6220);
    ck_assert_uint_eq(hr_perf_target_value(machine, 0, 0).total, 1000);
    ck_assert_uint_eq(hr_perf_target_value(machine, 1, 0).total, 8000);
}
END_TEST

START_TEST(leaves_all_as_it_was_where_bpf_fails)
{
    struct hr_reason reason = {.text = ""};

    fake_bpf_make_unreadable(0);
    open_perf("1 2");
    struct hr_perf_target *a = open_read("a");
    fake_bpf_refuse(FAKE_FLUSH, -EPERM);
    ck_assert_int_eq(hr_perf_change_to_bpf(perf, &reason), -EPERM);
    assert_exception(0, NULL);
    count("a", 0, 1, 5);
    count("a", 0, 2, 6);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 5, 5);
    assert_value(a, 1, 0, 6, 6);
    ck_assert_uint_eq(hr_perf_files(perf).open, 4);
    fake_bpf_refuse(FAKE_FLUSH, 0);
    change();
    assert_exception(0, "event-1");
    ck_assert_uint_eq(fake_perf_log().open, 2);
}
END_TEST

START_TEST(counts_those_that_had_no_room)
{
    perf_options.max_files = 4;
    fake_bpf_make_unreadable(1);
    open_perf("1 2");
    struct hr_perf_target *a = open_read("a"), *b = open_cgroup("b");
    ck_assert_int_eq(read_target(b), -EMFILE);
    change();
    ck_assert_int_eq(read_target(b), 0);
    count("b", 0, 2, 5);
    count_by_bpf("b", 0, 0, 6);
    ck_assert_int_eq(read_target(a), 0);
    ck_assert_int_eq(hr_perf_target_read(b), 0);
    assert_value(b, 1, 0, 5, 5);
    assert_value(b, 0, 0, 6, 6);
    ck_assert_uint_eq(hr_perf_files(perf).open, 4);
}
END_TEST

/* --- Found later ---------------------------------------------------------- */

/* Where a CPU comes whose events can't be read. What BPF has counted is kept. */
START_TEST(goes_on_by_descriptors)
{
    fake_bpf_misread(1, 0);
    set_online("0");
    open_count("1 2");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a");
    assert_exception(0, NULL);
    count_by_bpf("a", 0, 0, 10);
    count_by_bpf("a", 0, 1, 20);
    ck_assert_int_eq(read_target(a), 0);
    count_by_bpf("a", 0, 0, 100); /* since the last read */
    set_online("0-1");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_exception(0, "event-1");
    ck_assert_uint_eq(fake_bpf_count_set(), 2);
    ck_assert_uint_eq(fake_perf_log().open, 4);
    ck_assert_uint_eq(hr_perf_target_value(a, 0, 0).total, 110);
    ck_assert_uint_eq(hr_perf_target_value(machine, 0, 0).total, 110);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), 0);
    count("a", 1, 1, 3000);
    count(NULL, 1, 1, 4000);
    count_by_bpf("a", 1, 1, 500);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(a, 0, 0, 3110, 3000);
    assert_value(a, 1, 0, 520, 500);
    assert_value(machine, 0, 0, 4110, 4000);
    assert_value(machine, 1, 0, 520, 500);
}
END_TEST

START_TEST(goes_on_where_an_event_is_permitted_that_cannot_be_read)
{
    fake_perf_refuse((struct fake_refusal){.error = -EACCES, .of_config = true, .config = 2});
    fake_bpf_make_unreadable(1);
    open_count("1 2 3");
    struct hr_perf_target *a = open_read("a");
    assert_exception(1, NULL);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), -EACCES);
    fake_perf_allow();
    wait_for_retry();
    ck_assert_int_eq(read_target(a), 0);
    assert_exception(1, "event-2");
    count("a", 0, 2, 5);
    count_by_bpf("a", 0, 2, 6);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 1, 0, 5, 5);
    assert_value(a, 2, 0, 6, 6);
}
END_TEST

/* --- CPUs ----------------------------------------------------------------- */

START_TEST(follows_cpus_that_go_and_come)
{
    fake_bpf_make_unreadable(1);
    open_count("1 2");
    struct hr_perf_target *a = open_read("a");
    count("a", 1, 2, 5);
    count_by_bpf("a", 1, 0, 6);
    set_online("0");
    fake_perf_take_cpu_away(1);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 6, 6);
    assert_value(a, 1, 0, 5, 5);
    ck_assert_uint_eq(fake_perf_log().open, 1);
    fake_perf_bring_cpu_back(1);
    set_online("0-1");
    ck_assert_int_eq(read_target(a), 0);
    count("a", 1, 2, 70);
    count_by_bpf("a", 1, 0, 80);
    ck_assert_int_eq(read_target(a), 0);
    assert_value(a, 0, 0, 86, 80);
    assert_value(a, 1, 0, 75, 70);
}
END_TEST

/* Of kinds of cores, and packages: what other CPUs count is counted there, no more where they
 * don't. _i: by descriptors alone, or by both. */
START_TEST(follows_events_that_other_cpus_count)
{
    count_on(1, 8, "0");
    count_on(2, 9, "0");
    make_uncountable_in_cgroups(2);
    if (_i == 0)
        open_perf("1 2 3");
    else
        open_count("1 2 3");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a");
    count(NULL, 0, 2, 5);
    if (_i == 0)
        count("a", 0, 1, 10);
    else
        count_by_bpf("a", 0, 0, 10);
    move_to(1, "0-1");
    move_to(2, "1");
    ck_assert_int_eq(hr_perf_read(perf), 0);
    hr_perf_update_events(perf);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), 0);
    for (int i = 0; i < 2; i++) { /* by BPF at the next reading */
        ck_assert_int_eq(hr_perf_target_read(machine), 0);
        ck_assert_int_eq(hr_perf_target_read(a), 0);
        ck_assert_int_eq(hr_perf_read(perf), 0);
    }
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 0), _i == 0 ? 2 : 0);
    ck_assert_uint_eq(fake_perf_open_on(FAKE_MACHINE, 1), _i == 0 ? 3 : 1);
    ck_assert_uint_eq(fake_bpf_count_set(), _i == 0 ? 0 : 4);
    const unsigned opens = fake_perf_log().opens;
    count(NULL, 1, 2, 60);
    if (_i == 0)
        count("a", 1, 1, 700);
    else
        count_by_bpf("a", 1, 0, 700);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(machine, 1, 0, 65, 60);
    assert_value(a, 0, 0, 710, 700);
    ck_assert_uint_eq(fake_perf_log().opens, opens);
}
END_TEST

/* _i: the event turns out to be one of a package, or not. */
START_TEST(counts_an_event_that_was_not_known)
{
    make_unknown(2);
    open_count("1 2");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a");
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), -ENODEV);
    assert_absent(machine, 1, 0, 0);
    count_on(2, 9, "0");
    if (_i == 0)
        make_uncountable_in_cgroups(2);
    hr_perf_update_events(perf);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_exception(1, _i == 0 ? "event-2" : NULL);
    if (_i == 0)
        count(NULL, 0, 2, 5);
    else
        count_by_bpf(NULL, 0, 1, 5);
    count_by_bpf("a", 0, 0, 60);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(machine, 1, 0, 5, 5);
    assert_value(machine, 0, 0, 60, 60);
    assert_value(a, 0, 0, 60, 60);
}
END_TEST

/* As a plugin reads: the machine's line by descriptors, which is tried again, finds the event
 * before BPF has it open. */
START_TEST(counts_an_event_in_cgroups_that_the_machine_finds_first)
{
    make_unknown(2);
    count_on(3, 9, "0");
    make_uncountable_in_cgroups(3);
    open_count("1 2 3");
    struct hr_perf_target *machine = open_read(NULL), *a = open_read("a");
    count_by_bpf("a", 0, 0, 4);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    count_on(2, 8, "0-1");
    hr_perf_update_events(perf);
    ck_assert_int_eq(hr_perf_target_read(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), 0);
    assert_absent(machine, 1, 0, 0);
    assert_absent(a, 1, 0, 0);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    count_by_bpf("a", 0, 1, 50);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(a), 0);
    assert_value(machine, 1, 0, 50, 50);
    assert_value(a, 0, 0, 4, 0);
    assert_value(a, 1, 0, 50, 50);
}
END_TEST

/* --- None is left --------------------------------------------------------- */

START_TEST(refuses_bpf_where_each_line_is_an_exception)
{
    struct hr_reason reason = {.text = ""};

    count_for_the_machine(2);
    if (_i == 1)
        fake_bpf_make_unreadable(0);
    ck_assert_int_eq(open_perf_bpf(_i == 1 ? "1 2" : "12 2", &reason), -EOPNOTSUPP);
    ck_assert_str_eq(reason.text, _i == 1 ? "each line has an event that BPF programs can't read, "
                                            "such as \"event-1\""
                                          : "each line has an event that BPF programs can't read, "
                                            "such as \"event-2\", which counts for the whole "
                                            "machine");
    ck_assert_uint_eq(fake_perf_log().open, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf exceptions");

    tcase_add_checked_fixture(tests, set_up_exceptions, tear_down_exceptions);
    tcase_add_loop_test(tests, counts_the_other_lines_by_bpf, 0, 2);
    tcase_add_test(tests, leaves_counters_of_the_whole_machine_to_descriptors);
    tcase_add_test(tests, groups_that_sleep_cost_nothing_where_descriptors_count_nothing_of_them);
    tcase_add_test(tests, takes_descriptors_of_exceptions_only);
    tcase_add_test(tests, counts_in_cgroups_what_these_allow);
    tcase_add_test(tests, says_why_descriptors_fail_and_counts_the_rest);
    tcase_add_test(tests, pauses_and_goes_on);
    tcase_add_loop_test(tests, totals_go_on, 0, 2);
    tcase_add_test(tests, leaves_all_as_it_was_where_bpf_fails);
    tcase_add_test(tests, counts_those_that_had_no_room);
    tcase_add_test(tests, goes_on_by_descriptors);
    tcase_add_test(tests, goes_on_where_an_event_is_permitted_that_cannot_be_read);
    tcase_add_test(tests, follows_cpus_that_go_and_come);
    tcase_add_loop_test(tests, follows_events_that_other_cpus_count, 0, 2);
    tcase_add_loop_test(tests, counts_an_event_that_was_not_known, 0, 2);
    tcase_add_test(tests, counts_an_event_in_cgroups_that_the_machine_finds_first);
    tcase_add_loop_test(tests, refuses_bpf_where_each_line_is_an_exception, 0, 2);
    return run_suite("perf exceptions", tests);
}
