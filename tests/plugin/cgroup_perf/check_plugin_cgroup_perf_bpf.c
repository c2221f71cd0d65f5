/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_bpf.c - the option Counting: by BPF, and by
 * descriptors where that can't be. The cgroups are the kernel's, made for each test.
 */
#include "plugin/cgroup_perf/cgroup_perf_harness.h"

#include <errno.h>
#include <linux/bpf.h>
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
                        "used: no permission to load BPF programs: add CAP_BPF and CAP_PERFMON "
                        "to collectd's service, or run collectd as root.");
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
    tcase_add_test(tests, uses_descriptors_where_bpf_is_not_permitted);
    return run_suite("plugin cgroup_perf bpf", tests);
}
