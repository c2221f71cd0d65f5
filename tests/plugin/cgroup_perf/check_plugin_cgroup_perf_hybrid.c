/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_hybrid.c - ratios of machines with two kinds of
 * cores, where generic events are of two PMUs: of the whole machine, and of each CPU. By the PMUs
 * of such machines, and a fake of the kernel's perf events.
 */
#include "cgroup_perf/events.h"

#include <check.h>

#include "cgroup_perf/values.h"
#include "collectors/perf/fake_perf.h"
#include "collectors/perf_event/event_source.h"
#include "headroom/root.h"
#include "support/fake_collectd.h"
#include "support/suite.h"
#include "support/tree.h"

#define SECOND UINT64_C(1000000000)

/* Two CPUs of one kind, and one of another. */
static const struct machine {
    const char *pmus, *online;
    struct {
        unsigned number;
        uint64_t type; /* of the PMU */
    } cpus[3];
} machines[] = {
    {"6.1-x86-alder-lake-hybrid", "0-1,16", {{0, 4}, {1, 4}, {16, 10}}},
    {"6.1-arm-big-little", "0-1,4", {{0, 8}, {1, 8}, {4, 9}}},
};

/* The events, in two lines, and what they count within an interval. The sums are those of the
 * ratios, whose average would be another. */
static const char *const lines[2][2] = {{"cycles", "instructions"},
                                        {"cache-references", "cache-misses"}};
static const uint64_t configs[2][2] = {
    {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES},
};
static const uint64_t counts[3][2][2] = {
    {{4000, 12000}, {400, 40}},
    {{2000, 8000}, {100, 60}},
    {{2000, 1000}, {500, 400}},
};

static struct tree *tree;
static struct hr_root *root;
static struct perf_events events;
static struct hr_perf *perf;
static struct hr_perf_target *target;
static const char *removed; /* of the tree, before events are looked up */

/* --- Fixture -------------------------------------------------------------- */

static void set_up(void)
{
    tree = tree_new();
    tree_write(tree, "proc/sys/kernel/osrelease", "7.3.0\n");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    fake_perf_reset();
    fake_start_parts();
    memset(&events, 0, sizeof(events));
}

static void tear_down(void)
{
    hr_perf_target_close(target);
    hr_perf_close(perf);
    perf_events_end(&events);
    ck_assert_uint_eq(fake_rejections(), 0);
    fake_stop();
    fake_perf_reset();
    hr_root_close(root);
    tree_free(tree);
}

static void add_line(const char *const line[2])
{
    oconfig_value_t values[2];
    char key[] = "Event";
    const oconfig_item_t item = {.key = key, .values = values, .values_num = 2};

    for (int i = 0; i < 2; i++)
        values[i] = (oconfig_value_t){.type = OCONFIG_TYPE_STRING,
                                      .value.string = (char *)(uintptr_t)line[i]};
    ck_assert_int_eq(perf_events_option(&events, &item), 0);
}

static void read_machine(void)
{
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_int_eq(hr_perf_target_read(target), 0);
}

/* @param atoms  the CPUs of the PMU "cpu_atom"; NULL: as on that machine. */
static void open_machine_with(const struct machine *machine, const char *atoms)
{
    char path[64];

    event_source_add(tree, machine->pmus,
                     atoms != NULL ? EVENT_SOURCE_DIRECTORIES : EVENT_SOURCE_LINKS);
    if (removed != NULL)
        tree_remove(tree, removed);
    if (atoms != NULL)
        tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "%s", atoms);
    tree_write(tree, "sys/devices/system/cpu/online", "%s\n", machine->online);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/topology",
                 machine->cpus[i].number);
        tree_add_directory(tree, path);
    }
    for (int i = 0; i < 2; i++)
        add_line(lines[i]);
    ck_assert_int_eq(perf_events_look_up(&events, root), removed != NULL ? 2 : 0);
    const struct hr_perf_options options = {.groups = events.groups,
                                            .group_count = events.group_count,
                                            .slice_ns = UINT64_MAX,
                                            .calls = &fake_perf_calls};
    ck_assert_int_eq(hr_perf_open(root, &options, &perf), 0);
    ck_assert_int_eq(hr_perf_target_open_system(perf, &target), 0);
    read_machine();
}

static void open_machine(const struct machine *machine)
{
    open_machine_with(machine, NULL);
}

/* @return whether anything has changed. */
static bool update(void)
{
    bool changed;

    ck_assert_int_eq(perf_events_update(&events, root, &changed), 0);
    return changed;
}

static void count_on(const struct machine *machine, int cpu)
{
    const unsigned number = machine->cpus[cpu].number;
    const uint64_t pmu = machine->cpus[cpu].type << 32;

    for (int line = 0; line < 2; line++) {
        for (int e = 0; e < 2; e++)
            fake_perf_add_count(FAKE_MACHINE, number, pmu | configs[line][e], counts[cpu][line][e]);
        fake_perf_add_times(FAKE_MACHINE, number, pmu | configs[line][0], SECOND, SECOND);
    }
}

/* --- Ratios --------------------------------------------------------------- */

static void submit(void)
{
    static time_t time = 1000000000;
    const struct submission submission = {
        .plugin = "cgroup_perf", .instance = "system", .time = TIME_T_TO_CDTIME_T(time++)};
    const struct perf_values_options publishing = {.per_cpu = true, .running = true};

    perf_events_name_ratios(&events, perf);
    perf_values_submit(&submission, &events, target, &publishing);
}

static void assert_ratio(const char *name, double expected)
{
    char identifier[128];

    snprintf(identifier, sizeof(identifier), "cgroup_perf-system/%s", name);
    const struct fake_value *value = fake_find(identifier);
    ck_assert_msg(value != NULL, "there is no %s", identifier);
    ck_assert_double_eq_tol(value->number, expected, 1e-9);
}

static void assert_cpu_ratios(unsigned cpu, double ipc, double misses)
{
    char name[64];

    snprintf(name, sizeof(name), "ipc-cpu%u", cpu);
    assert_ratio(name, ipc);
    snprintf(name, sizeof(name), "cache_ratio-cache-misses-cpu%u", cpu);
    assert_ratio(name, misses);
}

START_TEST(ratios_are_those_of_the_sums_of_all_cores)
{
    const struct machine *machine = &machines[_i];

    open_machine(machine);
    for (int cpu = 0; cpu < 3; cpu++)
        count_on(machine, cpu);
    read_machine();
    submit();
    assert_ratio("perf-cycles", 8000);
    assert_ratio("ipc", 21000.0 / 8000);
    assert_ratio("cache_ratio-cache-misses", 100.0 * 500 / 1000);
    assert_cpu_ratios(machine->cpus[0].number, 3, 10);
    assert_cpu_ratios(machine->cpus[1].number, 4, 60);
    assert_cpu_ratios(machine->cpus[2].number, 0.5, 80);
    ck_assert_uint_eq(fake_count("*/ipc*") + fake_count("*/cache_ratio*"), 8);
}
END_TEST

/* Where one kind of core lacks an event, it is not counted on the other alone: that would be a
 * ratio of events of different cores. */
START_TEST(an_event_that_some_cores_lack_makes_no_ratio)
{
    const struct machine *machine = &machines[_i];
    const uint64_t pmu = machine->cpus[2].type << 32;

    for (int plain = 0; plain < 2; plain++) /* the kernel's older name of it is tried, too */
        fake_perf_refuse((struct fake_refusal){.error = -ENOENT,
                                               .on_cpu = true,
                                               .cpu = (int)machine->cpus[2].number,
                                               .of_config = true,
                                               .config = (plain ? 0 : pmu) | configs[0][1]});
    open_machine(machine);
    submit();
    ck_assert_uint_eq(fake_count("*/ipc*"), 0);
    ck_assert_uint_eq(fake_count("*/perf-instructions*"), 0);
    ck_assert_ptr_nonnull(fake_find("cgroup_perf-system/perf-cycles"));
}
END_TEST

/* Cores of the other kind come online. What was counted before stays. */
START_TEST(counts_on_cores_that_come_online)
{
    const struct machine *machine = &machines[0];
    struct machine at_first = *machine;

    at_first.online = "0-1";
    open_machine_with(&at_first, "17\n");
    count_on(machine, 0);
    read_machine();
    ck_assert(!update());
    tree_write(tree, "sys/devices/system/cpu/online", "%s\n", machine->online);
    tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "16-17\n");
    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert(update());
    hr_perf_update_events(perf);
    ck_assert_int_eq(hr_perf_target_read(target), 0);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "cgroup_perf: other CPUs count \"cycles\" now, so "
                                          "counters are opened again."),
                      1);
    count_on(machine, 1);
    count_on(machine, 2);
    read_machine();
    submit();
    assert_ratio("perf-cycles", 8000);
    assert_ratio("ipc", 9000.0 / 4000);
    ck_assert(!update());
}
END_TEST

/* A module is loaded that has a PMU. What was counted before stays. */
START_TEST(counts_events_of_a_pmu_that_comes)
{
    static const char *const late[2] = {"power/energy-pkg/", "power/energy-ram,name=memory/"};
    const struct machine *machine = &machines[0];

    add_line(late);
    removed = EVENT_SOURCE "/power";
    open_machine_with(machine, "16-23\n");
    ck_assert_uint_eq(fake_logs(LOG_ERR, "event \"power/energy-pkg/\" can't be counted"), 1);
    ck_assert_uint_eq(events.known_count, 4);
    count_on(machine, 0);
    read_machine();
    submit();
    ck_assert_uint_eq(fake_count("*/perf-*"), 4 * 4);
    event_source_add(tree, machine->pmus, EVENT_SOURCE_DIRECTORIES);
    tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "16-23\n");
    ck_assert(update());
    ck_assert_uint_eq(events.known_count, 6);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "cgroup_perf: event \"power/energy-pkg/\" is known now, "
                                          "and counted from now on."),
                      1);
    hr_perf_update_events(perf);
    read_machine();
    fake_perf_add_count(FAKE_MACHINE, 0, 2, 70);
    fake_perf_add_count(FAKE_MACHINE, 0, 3, 8);
    fake_perf_add_times(FAKE_MACHINE, 0, 2, SECOND, SECOND);
    count_on(machine, 1);
    read_machine();
    submit();
    assert_ratio("perf-power_energy-pkg", 70);
    assert_ratio("perf-memory", 8);
    assert_ratio("percent-memory-running", 100);
    assert_ratio("perf-cycles", 6000);
    ck_assert(!update());
}
END_TEST

/* Two events that aren't known, and have names of their own until they are. */
static const struct {
    const char *late[2], *warning, *series;
    double value;
} same_names[] = {
    {{"power/energy-pkg,name=cycles/", "power/energy-ram,name=memory/"},
     "event \"power/energy-pkg,name=cycles/\" is not published, as perf-cycles is already "
     "\"cycles\".",
     "perf-cycles",
     4000},
    {{"power/energy-pkg,name=energy/", "power/energy-ram,name=energy/"},
     "event \"power/energy-ram,name=energy/\" is not published, as perf-energy is already "
     "\"power/energy-pkg,name=energy/\".",
     "perf-energy",
     70},
};

START_TEST(an_event_that_comes_has_no_name_of_another_one)
{
    const struct machine *machine = &machines[0];

    add_line(same_names[_i].late);
    removed = EVENT_SOURCE "/power";
    open_machine_with(machine, "16-23\n");
    event_source_add(tree, machine->pmus, EVENT_SOURCE_DIRECTORIES);
    tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "16-23\n");
    ck_assert(update());
    ck_assert_uint_eq(fake_logs(LOG_WARNING, same_names[_i].warning), 1);
    hr_perf_update_events(perf);
    read_machine();
    fake_perf_add_count(FAKE_MACHINE, 0, 2, 70);
    fake_perf_add_times(FAKE_MACHINE, 0, 2, SECOND, SECOND);
    count_on(machine, 0);
    read_machine();
    submit();
    assert_ratio(same_names[_i].series, same_names[_i].value);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("plugin cgroup_perf hybrid");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, ratios_are_those_of_the_sums_of_all_cores, 0, 2);
    tcase_add_loop_test(tests, an_event_that_some_cores_lack_makes_no_ratio, 0, 2);
    tcase_add_test(tests, counts_on_cores_that_come_online);
    tcase_add_test(tests, counts_events_of_a_pmu_that_comes);
    tcase_add_loop_test(tests, an_event_that_comes_has_no_name_of_another_one, 0, 2);
    return run_suite("plugin cgroup_perf hybrid", tests);
}
