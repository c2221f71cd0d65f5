/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_problems.c - obstacles to counting: each is logged
 * once, with its remedy, and the rest is counted.
 */
#include "plugin/cgroup_perf/cgroup_perf_harness.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "support/suite.h"

#define INTERVALS 5

/* Reads several times, to detect messages that are repeated each interval. */
static void read_some(void)
{
    for (int i = 0; i < INTERVALS; i++) {
        harness_sleep(1);
        harness_read();
    }
}

static int configure(const char *options)
{
    char text[1024];

    snprintf(text, sizeof(text), "<Plugin cgroup_perf>\nRoot \"%s\"\n%s\n</Plugin>\n",
             tree_path(tree), options);
    return fake_configure(text);
}

/* --- Events that can't be counted ----------------------------------------- */

START_TEST(names_an_unknown_event_and_the_nearest)
{
    perf_begin("Event \"page-faults\" \"task-clok\" \"cpu/instrutcions/\"\nEvent \"cs\"");
    read_some();
    harness_assert_count("cgroup_perf-system/perf-page-faults", 1);
    harness_assert_count("cgroup_perf-system/perf-cs", 1);
    harness_assert_count("*", 4);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "event \"task-clok\" can't be counted: "), 1);
    ck_assert_uint_eq(fake_logs(LOG_ERR, ". Similar names: task-clock"), 1);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "event \"cpu/instrutcions/\" can't be counted: "), 1);
    ck_assert_uint_eq(fake_logs(LOG_ERR, ". Similar names: cpu/instructions/"), 1);
    harness_assert_logs(2, "Similar names");
}
END_TEST

/* The running time is published for the line's other event, but not for this one. */
START_TEST(reports_once_that_nothing_counts_an_event)
{
    perf_begin("Event \"nothing/any/\" \"task-clock\"\nEvent \"cs\"");
    read_some();
    harness_assert_count("*nothing*", 0);
    harness_assert_count("*/perf-*", 2);
    harness_assert_count("*/percent-*", 2);
    ck_assert_uint_eq(fake_logs(LOG_NOTICE, "nothing/any/ can't be counted: no PMU"), 1);
    harness_assert_logs(1, "hypervisor");
}
END_TEST

START_TEST(names_all_events_that_nothing_counts)
{
    perf_begin("Event \"nothing/any/\"\nEvent \"task-clock\" \"nothing/any/u\"");
    read_some();
    harness_assert_count("*", 2);
    harness_assert_logs(1, "cgroup_perf: nothing/any/, nothing/any/u can't be counted");
}
END_TEST

START_TEST(reports_once_if_nothing_at_all_can_be_counted)
{
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    perf_begin("Event \"nothing/any/\"\nCgroup \"*\"");
    read_some();
    harness_assert_count("*", 0);
    ck_assert_uint_eq(perf_descriptors(), 0);
    harness_assert_logs(1, "nothing/any/ can't be counted");
}
END_TEST

START_TEST(reports_cgroups_if_only_they_are_counted)
{
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    perf_begin("System false\nEvent \"nothing/any/\" \"cs\"\nCgroup \"*\"");
    read_some();
    harness_assert_count("cgroup_perf-a/perf-cs", 1);
    harness_assert_logs(1, "nothing/any/ can't be counted");
}
END_TEST

/* So many events that the list is cut, at a comma. */
START_TEST(cuts_a_long_list_of_events_off)
{
    char options[4096] = "Event";

    for (int i = 0; i < 32; i++)
        snprintf(options + strlen(options), sizeof(options) - strlen(options),
                 " \"nothing/any,name=a_long_name_of_an_event_%d/\"", i);
    perf_begin(options);
    read_some();
    ck_assert_uint_eq(fake_logs(LOG_NOTICE, "event_0/, nothing/any"), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "event_31/"), 0);
    harness_assert_logs(1, "/, ... can't be counted: ");
}
END_TEST

/* The msr PMU can't distinguish user mode from the kernel. */
START_TEST(reports_once_that_the_kernel_refuses_an_event)
{
    harness_begin_live("Event \"msr/tsc/u\" \"task-clock\"\nCounting \"descriptors\"");
    read_some();
    harness_assert_count("*", 2);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "the kernel refuses to count msr/tsc/u for the machine"),
                      1);
    harness_assert_logs(1, "modifier");
}
END_TEST

/* The kernel refuses such an event with PERF_FLAG_PID_CGROUP. */
START_TEST(reports_that_an_event_is_of_the_whole_machine)
{
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    perf_make_fail(SYS_perf_event_open, EINVAL, 4, PERF_FLAG_PID_CGROUP);
    perf_begin("Event \"package/energy/\"\nCgroup \"*\"");
    read_some();
    harness_assert_count("cgroup_perf-system/*", 2);
    harness_assert_count("cgroup_perf-a/*", 0);
    ck_assert_uint_eq(
        fake_logs(LOG_WARNING, "package/energy/ can be counted for the whole machine"), 1);
    harness_assert_logs(1, "not for cgroups");
}
END_TEST

START_TEST(reports_what_is_refused_of_cgroups_only)
{
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    perf_make_fail(SYS_perf_event_open, EINVAL, 4, PERF_FLAG_PID_CGROUP);
    perf_begin("Event \"task-clock\" \"cs\"\nCgroup \"*\"");
    read_some();
    harness_assert_count("cgroup_perf-system/*", 4);
    harness_assert_count("cgroup_perf-a/*", 0);
    harness_assert_logs(1, "the kernel refuses to count task-clock, cs for cgroups: Invalid");
}
END_TEST

/* --- Permission ----------------------------------------------------------- */

/* Drops the capability for counting, or takes it back. */
static void permit(bool permitted)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    const unsigned admin = 1U << CAP_SYS_ADMIN, perfmon = 1U << (CAP_PERFMON - 32);

    ck_assert_int_eq(syscall(SYS_capget, &header, data), 0);
    if (permitted) {
        data[0].effective = data[0].permitted;
        data[1].effective = data[1].permitted;
    } else {
        data[0].effective &= ~admin;
        data[1].effective &= ~perfmon;
    }
    ck_assert_int_eq(syscall(SYS_capset, &header, data), 0);
}

START_TEST(reports_once_that_permission_is_missing)
{
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    perf_begin("Event \"task-clock\" \"cs\"\nEvent \"nothing/any/\"\nCgroup \"*\"");
    permit(false);
    read_some();
    permit(true);
    harness_assert_count("*", 0);
    ck_assert_uint_eq(perf_descriptors(), 0);
    /* Without permission the kernel doesn't report whether anything counts the last event. */
    ck_assert_uint_eq(fake_logs(LOG_ERR, "no permission to count task-clock, cs, nothing/any/:"),
                      1);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "CAP_PERFMON"), 1);
    harness_assert_logs(1, "kernel.perf_event_paranoid, which is 2, to 0.");
}
END_TEST

/* The default of Debian's kernels, which then require CAP_SYS_ADMIN. */
START_TEST(reports_a_level_that_makes_the_capability_useless)
{
    tree_write(tree, "proc/sys/kernel/perf_event_paranoid", "3\n");
    perf_begin("");
    permit(false);
    harness_read();
    permit(true);
    harness_assert_logs(1, "(CAP_SYS_ADMIN before Linux 5.8), and lower sysctl "
                           "kernel.perf_event_paranoid, which is 3, to 2 for CAP_PERFMON to be "
                           "enough, or 0. Retrying");
}
END_TEST

START_TEST(does_without_the_level_if_it_is_not_known)
{
    tree_remove(tree, "proc/sys/kernel/perf_event_paranoid");
    perf_begin("");
    permit(false);
    harness_read();
    permit(true);
    harness_assert_logs(1, "sysctl kernel.perf_event_paranoid to 0.");
}
END_TEST

/* --- Required events ------------------------------------------------------ */

static const struct {
    const char *options, *expected;
} required[] = {
    {"Event \"task-clock\" \"task-clok\"", "event \"task-clok\" can't be counted"},
    {"Event \"task-clok\"", "event \"task-clok\" can't be counted"},
    {"Event \"task-clock\"\nEvent \"nothing/any/\"", "nothing/any/ can't be counted: no PMU"},
    {"MaxFiles 1\nEvent \"task-clock\" \"cs\"", "the machine is not counted"},
};

START_TEST(refuses_to_start_without_what_is_required)
{
    char options[256];

    snprintf(options, sizeof(options), "%s\nRequireEvents true", required[_i].options);
    ck_assert_int_ne(configure(options), 0);
    ck_assert_msg(fake_logs(0, required[_i].expected) == 1, "no %s in: %s", required[_i].expected,
                  fake_log(0));
    ck_assert_uint_eq(fake_logs(LOG_ERR, "RequireEvents is true"), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
    ck_assert_uint_eq(perf_descriptors(), 0);
}
END_TEST

START_TEST(starts_with_what_is_required)
{
    perf_begin("RequireEvents true\nEvent \"task-clock\" \"cs\"\nEvent \"package/energy/\"");
    read_some();
    harness_assert_count("*", 6);
    harness_assert_logs(0, NULL);
}
END_TEST

/* A later block may add an unknown event. */
START_TEST(refuses_a_second_block_without_what_is_required)
{
    ck_assert_int_eq(configure("RequireEvents true\nEvent \"task-clock\""), 0);
    ck_assert_int_ne(configure("Event \"task-clok\""), 0);
    ck_assert_uint_eq(fake_logs(LOG_ERR, "task-clok"), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
}
END_TEST

START_TEST(looks_a_second_block_up_though_nothing_is_required_any_more)
{
    ck_assert_int_eq(configure("RequireEvents true\nEvent \"task-clock\""), 0);
    ck_assert_int_eq(configure("RequireEvents false\nEvent \"cs\" \"task-clok\"\n"
                               "Counting \"descriptors\""),
                     0);
    ck_assert_int_eq(fake_init(), 0);
    harness_read();
    harness_assert_count("*", 2);
    harness_assert_logs(1, "task-clok");
}
END_TEST

/* --- CPUs ----------------------------------------------------------------- */

#define ONLINE "sys/devices/system/cpu/online"

/* Nothing is logged about PMUs then. */
START_TEST(waits_for_the_cpus)
{
    tree_rename(tree, ONLINE, "kept");
    perf_begin("Event \"task-clock\"");
    read_some();
    harness_assert_count("*", 0);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "No such file"), 1);
    harness_assert_logs(1, "so nothing is counted");
    tree_rename(tree, "kept", ONLINE);
    harness_read();
    harness_assert_count("*", 1);
    harness_assert_logs(1, "info: cgroup_perf: can read again which CPUs are online.");
}
END_TEST

/* What descriptors would take isn't known before. */
START_TEST(chooses_once_the_cpus_are_known)
{
    tree_rename(tree, ONLINE, "kept");
    harness_begin("Event \"task-clock\"");
    read_some();
    harness_assert_count("*", 0);
    harness_assert_logs(1, "so nothing is counted");
    tree_rename(tree, "kept", ONLINE);
    read_some();
    ck_assert_uint_eq(fake_logs(LOG_INFO, "counting by descriptors (Counting \"auto\"): "), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
}
END_TEST

START_TEST(requires_the_cpus)
{
    tree_remove(tree, ONLINE);
    ck_assert_int_ne(configure("RequireEvents true\nEvent \"task-clock\""), 0);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "so nothing is counted"), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
}
END_TEST

START_TEST(goes_on_with_the_cpus_that_it_knows)
{
    tree_write(tree, "kept", "0\n");
    tree_rename(tree, ONLINE, "before");
    tree_rename(tree, "kept", ONLINE);
    perf_begin("Event \"task-clock\"\nReportPerCPU true");
    read_some();
    harness_assert_count("*", 4);
    if (_i == 0)
        tree_rename(tree, ONLINE, "kept");
    else
        tree_write(tree, ONLINE, "0-?\n");
    read_some();
    harness_assert_count("*", 4);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, _i == 0 ? "No such file" : "isn't understood"), 1);
    harness_assert_logs(1, "so those known before are counted");
    if (_i == 0)
        tree_rename(tree, "kept", ONLINE);
    else
        tree_write(tree, ONLINE, "0\n");
    read_some();
    harness_assert_count("*", 4);
    harness_assert_logs(1, "can read again");
}
END_TEST

/* --- Descriptors ---------------------------------------------------------- */

START_TEST(reports_once_that_the_machine_takes_more_files_than_it_may)
{
    char options[128], expected[64];

    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    snprintf(options, sizeof(options), "Event \"task-clock\" \"cs\"\nMaxFiles %zu\nCgroup \"%s\"",
             2 * perf_cpus() - 1, _i == 0 ? "none" : "*");
    perf_begin(options);
    read_some();
    harness_assert_count("*", 0);
    ck_assert_uint_eq(perf_descriptors(), 0);
    snprintf(expected, sizeof(expected), "%s not counted",
             _i == 0 ? ": the machine is" : ": the machine and 1 cgroup are");
    ck_assert_msg(fake_logs(LOG_WARNING, expected) == 1, "no %s in: %s", expected, fake_log(0));
    snprintf(expected, sizeof(expected), " %zu in all", (size_t)(_i + 1) * 2 * perf_cpus());
    ck_assert_msg(fake_logs(LOG_WARNING, expected) == 1, "no %s in: %s", expected, fake_log(0));
    snprintf(expected, sizeof(expected), "MaxFiles is %zu", 2 * perf_cpus() - 1);
    harness_assert_logs(1, expected);
}
END_TEST

/* SOFT_LIMIT events per CPU, which is more than three quarters of that limit. */
#define SOFT_LIMIT 96

static void begin_with_many_events(void)
{
    char options[8192] = "ReportRunning false";

    for (int i = 0; i < SOFT_LIMIT; i++)
        snprintf(options + strlen(options), sizeof(options) - strlen(options),
                 "%s \"cpu/event=0x3,name=e%d/\"", i % 16 == 0 ? "\nEvent" : "", i);
    perf_begin(options);
}

static void limit_files(rlim_t soft, rlim_t hard)
{
    const struct rlimit limit = {soft, hard};

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(raises_the_limit_of_open_files_and_reports_it_once)
{
    struct rlimit limit;
    char expected[128];

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit_files(SOFT_LIMIT, limit.rlim_max);
    begin_with_many_events();
    read_some();
    harness_assert_count("*", SOFT_LIMIT);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_uint_gt(limit.rlim_cur, SOFT_LIMIT * perf_cpus());
    snprintf(expected, sizeof(expected),
             "info: cgroup_perf: raised the limit of open files of collectd from %d to %zu",
             SOFT_LIMIT, (size_t)limit.rlim_cur);
    harness_assert_logs(1, expected);
}
END_TEST

START_TEST(reports_once_that_the_limit_of_open_files_is_too_low)
{
    char expected[64];

    limit_files(SOFT_LIMIT, SOFT_LIMIT);
    begin_with_many_events();
    read_some();
    harness_assert_count("*", 0);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "the machine is not counted"), 1);
    ck_assert_uint_eq(
        fake_logs(LOG_WARNING, "LimitNOFILE= of collectd's service (ulimit -n) allows them 72, "),
        1);
    snprintf(expected, sizeof(expected), "need %zu in all", SOFT_LIMIT * perf_cpus());
    harness_assert_logs(1, expected);
}
END_TEST

/* Below the limit, but the kernel has no more descriptors. Retried at each interval. */
START_TEST(reports_once_that_the_kernel_has_no_more_files)
{
    perf_begin("Event \"task-clock\"");
    perf_make_fail(SYS_perf_event_open, _i == 0 ? ENFILE : EMFILE, -1, 0);
    read_some();
    harness_assert_count("*", 0);
    harness_assert_logs(1, "the machine is not counted, as file descriptors ran out");
}
END_TEST

/* The first opening, of the machine, probes the events. */
START_TEST(reports_once_that_the_machine_cannot_be_counted)
{
    perf_begin("Event \"task-clock\"");
    perf_make_fail(SYS_perf_event_open, _i == 0 ? ENOMEM : EBUSY, -1, 0);
    read_some();
    harness_assert_count("*", 0);
    if (_i == 0)
        harness_assert_logs(1, "warning: cgroup_perf: the machine can't be counted: Cannot alloc");
    else
        harness_assert_logs(1, "refuses to count task-clock for the machine: Device or resource");
}
END_TEST

/* As KVM's guests may have the PMU to themselves. */
static const struct {
    const char *event;
    unsigned error;
    const char *logged;
} beside_guests[] = {
    {"nothing/any/H", EOPNOTSUPP,
     "no PMU of this machine supports that; most virtual machines have"},
    {"nothing/any/", EOPNOTSUPP,
     "no PMU of this machine supports that, or virtual machines that run have the PMU to "
     "themselves: then count the host alone, by the modifier :H (Event). Retrying every minute."},
    {"nothing/any/G", EOPNOTSUPP,
     "virtual machines that run have the PMU to themselves: then what they do can't be counted, so "
     "remove these events (Event). Retrying every minute."},
    {"nothing/any/", EBUSY, "the kernel refuses to count nothing/any/ for the machine: Device or"},
    {"nothing/any/G", EBUSY,
     "the kernel refuses to count nothing/any/G for the machine: Device or"},
};

START_TEST(advises_what_to_do_beside_virtual_machines_once)
{
    char option[64];

    snprintf(option, sizeof(option), "Event \"%s\"", beside_guests[_i].event);
    perf_begin(option);
    perf_make_fail(SYS_perf_event_open, beside_guests[_i].error, -1, 0);
    read_some();
    harness_assert_count("*", 0);
    harness_assert_logs(1, beside_guests[_i].logged);
}
END_TEST

START_TEST(reports_once_that_groups_cannot_be_counted)
{
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "a");
    if (_i == 1)
        groups_start_sleeper(groups, "b");
    perf_begin("Event \"cs\"\nCgroup \"*\"");
    perf_make_fail(SYS_perf_event_open, ENOMEM, 4, PERF_FLAG_PID_CGROUP);
    read_some();
    harness_assert_count("cgroup_perf-system/perf-cs", 1);
    harness_assert_count("cgroup_perf-system/*", fake_count("*"));
    ck_assert_uint_eq(fake_logs(LOG_WARNING, _i == 0 ? ": 1 cgroup (such as a) can't be counted: "
                                                     : ": 2 cgroups (such as "),
                      1);
    harness_assert_logs(1, "Cannot allocate memory");
}
END_TEST

/* Whether the kernel has the PMU msr, which refuses modifiers. */
static bool has_msr(void)
{
    return access("/sys/bus/event_source/devices/msr/events/tsc", R_OK) == 0;
}

/* Whether counting needs a capability here. */
static bool is_paranoid(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    int level = 0;

    if (file == NULL || fscanf(file, "%d", &level) != 1)
        level = 0;
    if (file != NULL)
        fclose(file);
    return level > 0;
}

int main(void)
{
    const char *obstacle = perf_obstacle(true);
    TCase *tests = tcase_create("problems");

    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, perf_set_up_with_groups, perf_tear_down_with_groups);
    tcase_add_test(tests, names_an_unknown_event_and_the_nearest);
    tcase_add_test(tests, reports_once_that_nothing_counts_an_event);
    tcase_add_test(tests, names_all_events_that_nothing_counts);
    tcase_add_test(tests, reports_once_if_nothing_at_all_can_be_counted);
    tcase_add_test(tests, reports_cgroups_if_only_they_are_counted);
    tcase_add_test(tests, cuts_a_long_list_of_events_off);
    if (has_msr())
        tcase_add_test(tests, reports_once_that_the_kernel_refuses_an_event);
    else
        puts("# without an event that is refused: there is no PMU msr");
    if (is_paranoid()) {
        tcase_add_test(tests, reports_once_that_permission_is_missing);
        tcase_add_test(tests, reports_a_level_that_makes_the_capability_useless);
        tcase_add_test(tests, does_without_the_level_if_it_is_not_known);
    } else {
        puts("# without permission missing: kernel.perf_event_paranoid gives it to all");
    }
    tcase_add_loop_test(tests, refuses_to_start_without_what_is_required, 0, COUNT(required));
    tcase_add_test(tests, starts_with_what_is_required);
    tcase_add_test(tests, refuses_a_second_block_without_what_is_required);
    tcase_add_test(tests, looks_a_second_block_up_though_nothing_is_required_any_more);
    tcase_add_test(tests, waits_for_the_cpus);
    tcase_add_test(tests, chooses_once_the_cpus_are_known);
    tcase_add_test(tests, requires_the_cpus);
    tcase_add_loop_test(tests, goes_on_with_the_cpus_that_it_knows, 0, 2);
    tcase_add_loop_test(tests, reports_once_that_the_machine_takes_more_files_than_it_may, 0, 2);
    tcase_add_test(tests, reports_that_an_event_is_of_the_whole_machine);
    tcase_add_test(tests, reports_what_is_refused_of_cgroups_only);
    tcase_add_test(tests, raises_the_limit_of_open_files_and_reports_it_once);
    tcase_add_test(tests, reports_once_that_the_limit_of_open_files_is_too_low);
    tcase_add_loop_test(tests, reports_once_that_the_kernel_has_no_more_files, 0, 2);
    tcase_add_loop_test(tests, advises_what_to_do_beside_virtual_machines_once, 0,
                        COUNT(beside_guests));
    tcase_add_loop_test(tests, reports_once_that_the_machine_cannot_be_counted, 0, 2);
    tcase_add_loop_test(tests, reports_once_that_groups_cannot_be_counted, 0, 2);
    return run_isolated_suite("plugin cgroup_perf problems", tests);
}
