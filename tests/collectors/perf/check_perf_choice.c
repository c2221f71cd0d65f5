/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_choice.c - whether events are counted by descriptors or by BPF: what
 * descriptors would take on the fake kernel, and what is chosen.
 */
#include "headroom/perf_choice.h"

#include <errno.h>
#include <string.h>

#include "collectors/perf/perf_harness.h"
#include "perf/internal.h"

#define LIMIT 700 /* below what a limit of 1,024 open files allows */

static const struct {
    struct hr_perf_need need;
    enum hr_perf_counting counting;
    bool fits;
    const char *why;
} choices[] = {
    {{0, 0, false}, HR_PERF_DESCRIPTORS, true, "nothing can be counted now"},
    {{168, 8192, false},
     HR_PERF_DESCRIPTORS,
     true,
     "168 are enough, and no events of a PMU would have to take turns"},
    {{8192, 8192, false}, HR_PERF_DESCRIPTORS, true, "8192 are enough"},
    {{8193, 8192, false},
     HR_PERF_BPF,
     false,
     "descriptors would be 8193, but no more than 8192 are allowed"},
    {{168, 8192, true},
     HR_PERF_BPF,
     true,
     "by descriptors, a cgroup and what it is in would each take counters of the PMU"},
    {{8193, 8192, true}, HR_PERF_BPF, false, "descriptors would be 8193"},
    {{4000000000, 3999999999, false}, HR_PERF_BPF, false, "3999999999 are allowed"},
};

START_TEST(chooses)
{
    struct hr_perf_choice choice;

    hr_perf_choose(&choices[_i].need, &choice);
    ck_assert_int_eq(choice.counting, choices[_i].counting);
    ck_assert_int_eq(choice.fits, choices[_i].fits);
    ck_assert_msg(strstr(choice.why, choices[_i].why) != NULL, "%s", choice.why);
}
END_TEST

/* Events 1 and 2 are a PMU's, 3 to 6 software events, 7 is a PMU's that counts for the machine. */
static void set_up_events(void)
{
    set_up();
    for (uint64_t config = 3; config <= 6; config++)
        count_on(config, PERF_TYPE_SOFTWARE, "0-255");
    count_for_the_machine(7);
    perf_options.max_files = LIMIT;
}

static const struct {
    unsigned cpus;
    const char *events;
    struct hr_perf_demand demand;
    const char *release;
    struct hr_perf_need need;
    enum hr_perf_counting counting;
} machines[] = {
    {256, "3456", {true, 1000, true}, RIGHT_RELEASE, {1025024, LIMIT, false}, HR_PERF_BPF},
    {2, "3456", {true, 20, true}, RIGHT_RELEASE, {168, LIMIT, false}, HR_PERF_DESCRIPTORS},
    {2, "3456", {false, 20, true}, RIGHT_RELEASE, {160, LIMIT, false}, HR_PERF_DESCRIPTORS},
    {2, "3456", {true, 0, false}, RIGHT_RELEASE, {8, LIMIT, false}, HR_PERF_DESCRIPTORS},
    {2, "12 3", {true, 20, true}, RIGHT_RELEASE, {126, LIMIT, true}, HR_PERF_BPF},
    {2, "12 3", {false, 20, false}, RIGHT_RELEASE, {120, LIMIT, false}, HR_PERF_DESCRIPTORS},
    /* Each cgroup has a clock with the events of a PMU. */
    {2, "12 3", {true, 20, true}, WRONG_RELEASE, {166, LIMIT, true}, HR_PERF_BPF},
    /* That of the machine isn't counted in cgroups. */
    {2, "3 7", {true, 20, true}, WRONG_RELEASE, {44, LIMIT, false}, HR_PERF_DESCRIPTORS},
};

START_TEST(knows_what_descriptors_take)
{
    struct hr_perf_choice choice;

    add_cpus(machines[_i].cpus);
    set_release(machines[_i].release);
    open_perf(machines[_i].events);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    const struct hr_perf_need need = hr_perf_find_need(perf, &machines[_i].demand);
    ck_assert_uint_eq(need.files, machines[_i].need.files);
    ck_assert_uint_eq(need.limit, machines[_i].need.limit);
    ck_assert_int_eq(need.turns, machines[_i].need.turns);
    hr_perf_choose(&need, &choice);
    ck_assert_int_eq(choice.counting, machines[_i].counting);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 0);
}
END_TEST

static struct hr_perf_need find_need(const char *events)
{
    const struct hr_perf_demand demand = {.system = true, .groups = 20, .nested = true};

    open_perf(events);
    ck_assert_int_eq(hr_perf_read(perf), 0);
    return hr_perf_find_need(perf, &demand);
}

/* As on a virtual machine, which has no PMU. */
START_TEST(passes_over_what_cannot_be_counted)
{
    fake_perf_refuse(
        (struct fake_refusal){.error = -ENOENT, .of_type = true, .type = PERF_TYPE_HARDWARE});
    const struct hr_perf_need need = find_need("12 3");
    ck_assert_uint_eq(need.files, 2 * 21);
    ck_assert(!need.turns);
}
END_TEST

START_TEST(takes_nothing_where_events_cannot_be_tried)
{
    fake_perf_refuse((struct fake_refusal){.error = -EMFILE});
    const struct hr_perf_need need = find_need("12 3");
    ck_assert_uint_eq(need.files, 0);
    ck_assert(!need.turns);
}
END_TEST

/* What is tried for the choice isn't what later targets find. */
START_TEST(leaves_counting_as_it_was)
{
    fake_perf_refuse((struct fake_refusal){
        .error = -ENOENT, .in_machine = true, .of_config = true, .config = 2});
    find_need("12 3");
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 1), -ECANCELED);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 1), -ECANCELED);
    struct hr_perf_target *group = open_cgroup("a");
    ck_assert_int_eq(read_target(group), 0);
    ck_assert_uint_eq(fake_perf_open_on(id_of("a"), 1), 3);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 1), -ECANCELED);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 1), 0);
}
END_TEST

/* While targets are counted, each event is known, and nothing is opened to find out. */
START_TEST(chooses_again_by_what_targets_have_found)
{
    const struct hr_perf_demand demands[] = {{true, 1, true}, {true, 200, true}, {false, 2, true}};
    const size_t files[] = {2 * 3 + 2 * 2, 2 * 3 + 200 * 2 * 2, 2 * 2 * 2};

    fake_perf_refuse((struct fake_refusal){
        .error = -EACCES, .in_cgroups = true, .of_config = true, .config = 2});
    open_perf("12 3");
    struct hr_perf_target *machine = open_machine(), *group = open_cgroup("a");
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_int_eq(hr_perf_target_read(group), 0);
    const struct fake_perf_log before = fake_perf_log();
    for (int i = 0; i < 3; i++) {
        const struct hr_perf_need need = hr_perf_find_need(perf, &demands[i]);
        ck_assert_uint_eq(need.files, files[i]);
        ck_assert(need.turns);
    }
    ck_assert_uint_eq(fake_perf_log().opens, before.opens);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 1), -EACCES);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 1), 0);
    ck_assert_int_eq(read_target(group), 0);
    ck_assert_uint_eq(fake_perf_log().opens, before.opens);
    ck_assert_uint_eq(fake_perf_log().closes, before.closes);
}
END_TEST

/* A target of only one scope was read so far. */
START_TEST(tries_what_no_target_has_found)
{
    const struct hr_perf_demand demand = {.system = true, .groups = 3, .nested = true};

    open_perf("12 3");
    struct hr_perf_target *machine = open_machine();
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(hr_perf_find_need(perf, &demand).files, 4 * 6);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 0, 1), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 1), -ECANCELED);
    ck_assert_int_eq(read_target(machine), 0);
    ck_assert_uint_eq(fake_perf_log().open, 6);
}
END_TEST

/* What is taken from the machine for cgroups says the same as the kernel would. */
START_TEST(counts_no_counter_of_the_machine_for_cgroups)
{
    open_perf("1 7");
    ck_assert_int_eq(read_target(open_machine()), 0);
    hr_perf_probe_cgroups_by_machine(perf);
    ck_assert_int_eq(status_of(HR_PERF_SYSTEM, 1, 0), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 0, 0), 0);
    ck_assert_int_eq(status_of(HR_PERF_CGROUP, 1, 0), -EINVAL);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf choice");

    tcase_add_checked_fixture(tests, set_up_events, tear_down);
    tcase_add_loop_test(tests, chooses, 0, sizeof(choices) / sizeof(choices[0]));
    tcase_add_loop_test(tests, knows_what_descriptors_take, 0,
                        sizeof(machines) / sizeof(machines[0]));
    tcase_add_test(tests, passes_over_what_cannot_be_counted);
    tcase_add_test(tests, takes_nothing_where_events_cannot_be_tried);
    tcase_add_test(tests, leaves_counting_as_it_was);
    tcase_add_test(tests, chooses_again_by_what_targets_have_found);
    tcase_add_test(tests, tries_what_no_target_has_found);
    tcase_add_test(tests, counts_no_counter_of_the_machine_for_cgroups);
    return run_suite("perf choice", tests);
}
