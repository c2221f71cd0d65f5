/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_bpf.c - the option Counting: by BPF, and by
 * descriptors where that can't be. The cgroups are the kernel's, made for each test.
 */
#include "plugin/cgroup_perf/cgroup_perf_harness.h"

#include <errno.h>
#include <glob.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "support/suite.h"

#define BPF "Counting \"bpf\"\nEvent \"task-clock\" \"page-faults\"\nCgroup \"**\"\n"

#define MS 1e6 /* in nanoseconds */

static void await_group(const char *group)
{
    char pattern[64];

    snprintf(pattern, sizeof(pattern), "cgroup_perf-%s/perf-task-clock", group);
    perf_read_until(pattern, 1);
}

START_TEST(counts_groups_and_what_is_below)
{
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    struct perf_worker worker = perf_start("a/b"), own = perf_start("a");
    harness_begin(BPF);
    await_group("a");
    await_group("a_b");
    for (int i = 0; i < 3; i++) {
        const double a = perf_of("a", "perf-page-faults"), b = perf_of("a_b", "perf-page-faults");
        const double clock = perf_of("a_b", "perf-task-clock");
        perf_work(&worker, 3000, 40);
        harness_read();
        const double faults = perf_of("a_b", "perf-page-faults") - b;
        ck_assert_double_ge(faults, 3000);
        ck_assert_double_le(faults, 3600);
        ck_assert_double_eq(perf_of("a", "perf-page-faults") - a, faults);
        ck_assert_double_ge(perf_of("a_b", "perf-task-clock") - clock, 39 * MS);
        ck_assert_double_le(perf_of("a", "perf-task-clock"), perf_of_system("perf-task-clock"));
        ck_assert_double_eq(perf_of("a", "percent-page-faults-running"), 100);
        ck_assert_double_eq(perf_of_system("percent-page-faults-running"), 100);
    }
    ck_assert_uint_eq(perf_descriptors(), 0);
    perf_end(&worker);
    perf_end(&own);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(publishes_what_a_group_did_last)
{
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    harness_begin(BPF "System false\nReportRunning false");
    await_group("a");
    double faults = perf_of("a", "perf-page-faults");
    perf_work(&worker, 3000, 0);
    perf_end(&worker);
    groups_remove(groups, "a");
    harness_read();
    ck_assert_double_ge(perf_of("a", "perf-page-faults"), faults + 3000);
    harness_read();
    harness_assert_count("*", 0);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(neither_grows_nor_leaks_while_groups_come_and_go)
{
    groups_make(groups, "keep");
    struct perf_worker keep = perf_start("keep");
    harness_begin(BPF "MaxCgroups 2");
    await_group("keep");
    perf_let_groups_come_and_go();
    perf_end(&keep);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- By both -------------------------------------------------------------- */

#define OF_PACKAGE "Event \"package/energy/\"\n"

/* One event that BPF can't count leaves the other lines to it. */
START_TEST(counts_one_line_by_descriptors)
{
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    /* As the kernel does with an event of a package. */
    perf_make_fail(SYS_perf_event_open, EINVAL, 4, PERF_FLAG_PID_CGROUP);
    harness_begin(BPF OF_PACKAGE);
    await_group("a");
    ck_assert_uint_eq(
        fake_logs(LOG_INFO,
                  "cgroup_perf: the Event line with \"package/energy/\" is counted by descriptors, "
                  "and the others by BPF, as that event counts for the whole machine: it takes 1 "
                  "for the machine, and 0 for each cgroup."),
        1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "package/energy/ can be counted for the whole machine "
                                             "only, not for cgroups"),
                      1);
    harness_assert_logs(2, "package/energy/");
    for (int i = 0; i < 3; i++) {
        const double faults = perf_of("a", "perf-page-faults");
        const double energy = perf_of_system("perf-package_energy");
        perf_work(&worker, 3000, 10);
        harness_read();
        ck_assert_double_ge(perf_of("a", "perf-page-faults") - faults, 3000);
        ck_assert_double_gt(perf_of_system("perf-package_energy"), energy);
        harness_assert_count("cgroup_perf-a/perf-package_energy", 0);
        ck_assert_uint_eq(perf_descriptors(), 1);
    }
    perf_end(&worker);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(uses_descriptors_where_bpf_is_not_permitted)
{
    groups_make(groups, "a");
    struct perf_worker worker = perf_start("a");
    perf_make_fail(SYS_bpf, EPERM, -1, 0);
    harness_begin(BPF);
    await_group("a");
    ck_assert_uint_eq(perf_descriptors(), 2 * 2 * perf_cpus());
    perf_end(&worker);
    harness_assert_logs(1,
                        "warning: cgroup_perf: can't count by BPF (Counting), so descriptors are "
                        "used: no permission to load BPF programs, though collectd has CAP_BPF and "
                        "CAP_PERFMON: allow bpf(2) in what forbids it");
}
END_TEST

/* --- Chosen by the plugin ------------------------------------------------- */

#define AUTO "Event \"task-clock\" \"page-faults\"\nCgroup \"**\"\n"

START_TEST(chooses_bpf_where_there_are_too_few_descriptors)
{
    char options[128], expected[128];

    groups_make(groups, "a");
    groups_make(groups, "b");
    struct perf_worker a = perf_start("a"), b = perf_start("b");
    snprintf(options, sizeof(options), AUTO "MaxFiles %zu", 3 * 2 * perf_cpus() - 1);
    harness_begin(options);
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("*/perf-task-clock", 3);
        ck_assert_uint_eq(perf_descriptors(), 0);
    }
    perf_end(&a);
    perf_end(&b);
    snprintf(
        expected, sizeof(expected),
        "info: cgroup_perf: counting by BPF (Counting \"auto\"): descriptors would be %zu, but "
        "no more than %zu are allowed.",
        3 * 2 * perf_cpus(), 3 * 2 * perf_cpus() - 1);
    harness_assert_logs(1, expected);
}
END_TEST

static void log_before_and_after(size_t files, char before[160], char after[160])
{
    snprintf(before, 160,
             "info: cgroup_perf: counting by descriptors (Counting \"auto\"): %zu are enough",
             files);
    snprintf(
        after, 160,
        "info: cgroup_perf: counting by BPF from now on (Counting \"auto\"): descriptors would "
        "be %zu, but no more than %zu are allowed.",
        files / 2 * 3, files);
}

/* Totals go on: neither back nor ahead by more than what was done. Then that stays. */
START_TEST(changes_to_bpf_when_descriptors_become_too_few)
{
    const size_t files = 2 * 2 * perf_cpus();
    char options[128], before[160], after[160];

    groups_make(groups, "a");
    groups_make(groups, "b");
    struct perf_worker a = perf_start("a");
    log_before_and_after(files, before, after);
    snprintf(options, sizeof(options), AUTO "MaxFiles %zu", files);
    harness_begin(options);
    await_group("a");
    harness_assert_logs(1, before);
    ck_assert_uint_eq(perf_descriptors(), files);
    const double faults = perf_of("a", "perf-page-faults");
    const double clock = perf_of("a", "perf-task-clock");
    perf_work(&a, 3000, 20);
    struct perf_worker b = perf_start("b");
    await_group("b");
    perf_work(&a, 3000, 20);
    harness_read();
    ck_assert_double_ge(perf_of("a", "perf-page-faults") - faults, 6000);
    ck_assert_double_le(perf_of("a", "perf-page-faults") - faults, 7200);
    ck_assert_double_ge(perf_of("a", "perf-task-clock") - clock, 39 * MS);
    ck_assert_uint_eq(perf_descriptors(), 0);
    harness_assert_logs(1, after);
    perf_end(&b);
    for (int i = 0; i < 3; i++)
        harness_read(); /* as few groups as before */
    ck_assert_uint_eq(perf_descriptors(), 0);
    perf_end(&a);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Of the line that BPF can't count, too; here the kernel counts it in cgroups. */
START_TEST(goes_on_with_one_line_by_descriptors)
{
    const size_t files = 2 * (2 * perf_cpus() + 1);
    char options[128];

    groups_make(groups, "a");
    groups_make(groups, "b");
    struct perf_worker a = perf_start("a");
    snprintf(options, sizeof(options), AUTO OF_PACKAGE "MaxFiles %zu", files);
    harness_begin(options);
    await_group("a");
    ck_assert_uint_eq(perf_descriptors(), files);
    const double faults = perf_of("a", "perf-page-faults");
    const double energy = perf_of_system("perf-package_energy");
    perf_work(&a, 3000, 20);
    struct perf_worker b = perf_start("b");
    await_group("b");
    harness_read();
    ck_assert_double_ge(perf_of("a", "perf-page-faults") - faults, 3000);
    ck_assert_double_le(perf_of("a", "perf-page-faults") - faults, 3600);
    ck_assert_double_gt(perf_of_system("perf-package_energy"), energy);
    ck_assert_uint_eq(perf_descriptors(), 3);
    perf_end(&a);
    perf_end(&b);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "counting by BPF from now on (Counting \"auto\")"), 1);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "the Event line with \"package/energy/\" is counted by"),
                      1);
    ck_assert_uint_eq(fake_logs(0, "file descriptors"), 0);
}
END_TEST

/* It is logged for cgroups before, and for the machine as nothing else was tried for that. */
START_TEST(repeats_nothing_about_events_when_it_changes_to_bpf)
{
    const size_t files = perf_cpus();
    char options[128];

    groups_make(groups, "a");
    groups_make(groups, "b");
    struct perf_worker a = perf_start("a");
    snprintf(options, sizeof(options),
             "System false\nCgroup \"*\"\nEvent \"page-faults\" \"nothing/any/\"\nMaxFiles %zu",
             files);
    harness_begin(options);
    perf_read_until("cgroup_perf-a/perf-page-faults", 1);
    ck_assert_uint_eq(perf_descriptors(), files);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
    struct perf_worker b = perf_start("b");
    perf_read_until("cgroup_perf-b/perf-page-faults", 1);
    for (int i = 0; i < 3; i++)
        harness_read();
    ck_assert_uint_eq(perf_descriptors(), 0);
    perf_end(&a);
    perf_end(&b);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "counting by descriptors (Counting \"auto\")"), 1);
    ck_assert_uint_eq(fake_logs(LOG_NOTICE, "nothing/any/ can't be counted"), 1);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "counting by BPF from now on (Counting \"auto\")"), 1);
    ck_assert_msg(fake_logs(0, NULL) == 3, "%s", fake_log(0));
}
END_TEST

#define PMUS "sys/bus/event_source/devices/"

/* The type of a PMU of this machine that counts its event 0 of each CPU; 0: there is none. */
static unsigned find_pmu(void)
{
    unsigned type = 0;
    glob_t found;

    glob("/" PMUS "msr/type", 0, NULL, &found);
    glob("/" PMUS "armv8_pmuv3*/type", GLOB_APPEND, NULL, &found);
    FILE *file = found.gl_pathc > 0 ? fopen(found.gl_pathv[0], "r") : NULL;
    if (file != NULL) {
        if (fscanf(file, "%u", &type) != 1)
            type = 0;
        fclose(file);
    }
    globfree(&found);
    return type;
}

/* Makes the tree's PMU "msr" the machine's. */
static void use_pmu(void)
{
    tree_write(tree, PMUS "msr/type", "%u\n", find_pmu());
}

/* Whether a task is in several of what is counted. */
static const struct {
    const char *options;
    bool turns;
} pmu_options[] = {
    {"Cgroup \"a\"\n", true},
    {"System false\nCgroup \"a\" \"a/b\"\n", true},
    {"System false\nCgroup \"a/b\" \"c\"\n", false},
    {"System true\n", false},
};

START_TEST(chooses_bpf_where_events_of_a_pmu_would_take_turns)
{
    char options[128];

    use_pmu();
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    groups_make(groups, "c");
    struct perf_worker b = perf_start("a/b"), c = perf_start("c");
    snprintf(options, sizeof(options), "Event \"msr/tsc/\"\n%s", pmu_options[_i].options);
    harness_begin(options);
    harness_read();
    ck_assert_uint_eq(perf_descriptors() == 0, pmu_options[_i].turns);
    perf_end(&b);
    perf_end(&c);
    harness_assert_logs(1, pmu_options[_i].turns
                               ? "info: cgroup_perf: counting by BPF (Counting \"auto\"): by "
                                 "descriptors, a cgroup and what it is in would each take counters "
                                 "of the PMU."
                               : "info: cgroup_perf: counting by descriptors (Counting \"auto\")");
}
END_TEST

START_TEST(changes_to_bpf_when_events_of_a_pmu_would_take_turns)
{
    use_pmu();
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    struct perf_worker a = perf_start("a");
    harness_begin("Event \"msr/tsc/\"\nSystem false\nCgroup \"a\" \"a/b\"\n");
    perf_read_until("*/perf-msr_tsc", 1);
    ck_assert_uint_gt(perf_descriptors(), 0);
    harness_assert_logs(1, "info: cgroup_perf: counting by descriptors (Counting \"auto\")");
    struct perf_worker b = perf_start("a/b");
    perf_read_until("*/perf-msr_tsc", 2);
    harness_read();
    harness_assert_count("*/perf-msr_tsc", 2);
    ck_assert_uint_eq(perf_descriptors(), 0);
    perf_end(&a);
    perf_end(&b);
    harness_assert_logs(1, "info: cgroup_perf: counting by BPF from now on (Counting \"auto\"): by "
                           "descriptors, a cgroup and what it is in would each take counters of "
                           "the PMU.");
}
END_TEST

/* _i: whether there are enough descriptors, so that all is counted nevertheless. */
START_TEST(says_why_bpf_that_would_be_better_is_not_used)
{
    char options[128];

    if (_i == 1)
        use_pmu();
    groups_make(groups, "a");
    struct perf_worker a = perf_start("a");
    perf_make_fail(SYS_bpf, EPERM, -1, 0);
    snprintf(options, sizeof(options), "Event \"msr/tsc/\"\nCgroup \"a\"\nMaxFiles %zu",
             _i == 1 ? 8192 : 2 * perf_cpus() - 1);
    harness_begin(options);
    harness_read();
    harness_read();
    harness_assert_count("*/perf-msr_tsc", 1 + _i);
    perf_end(&a);
    ck_assert_uint_eq(
        fake_logs(_i == 1 ? LOG_INFO : LOG_WARNING,
                  "cgroup_perf: counting by descriptors (Counting \"auto\"), though "),
        1);
    ck_assert_uint_eq(fake_logs(0, ", as BPF can't be used: no permission to load BPF programs"),
                      1);
    ck_assert_uint_eq(fake_logs(0, NULL), _i == 1 ? 1 : 2);
}
END_TEST

static bool can_use_bpf(void)
{
    union bpf_attr attr = {
        .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    const long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

int main(void)
{
    const char *obstacle = perf_obstacle(true);
    TCase *tests = tcase_create("bpf");

    if (obstacle == NULL && getenv("HEADROOM_REQUIRE_ALL") == NULL && !can_use_bpf())
        obstacle = "BPF programs are not permitted";
    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, perf_set_up_with_groups, perf_tear_down_with_groups);
    tcase_add_test(tests, counts_groups_and_what_is_below);
    tcase_add_test(tests, publishes_what_a_group_did_last);
    tcase_add_test(tests, neither_grows_nor_leaks_while_groups_come_and_go);
    tcase_add_test(tests, counts_one_line_by_descriptors);
    tcase_add_test(tests, goes_on_with_one_line_by_descriptors);
    tcase_add_test(tests, uses_descriptors_where_bpf_is_not_permitted);
    tcase_add_test(tests, chooses_bpf_where_there_are_too_few_descriptors);
    tcase_add_test(tests, changes_to_bpf_when_descriptors_become_too_few);
    tcase_add_test(tests, repeats_nothing_about_events_when_it_changes_to_bpf);
    const bool has_pmu = find_pmu() != 0;
    if (has_pmu) {
        tcase_add_loop_test(tests, chooses_bpf_where_events_of_a_pmu_would_take_turns, 0,
                            COUNT(pmu_options));
        tcase_add_test(tests, changes_to_bpf_when_events_of_a_pmu_would_take_turns);
    } else
        puts("# without events of a PMU, which would take turns: there is neither msr nor one of "
             "arm64");
    tcase_add_loop_test(tests, says_why_bpf_that_would_be_better_is_not_used, 0, has_pmu ? 2 : 1);
    return run_isolated_suite("plugin cgroup_perf bpf", tests);
}
