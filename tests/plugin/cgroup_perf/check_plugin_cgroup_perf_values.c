/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_values.c - values of the machine. Those of cgroups
 * are tested by check_plugin_cgroup_perf_groups.c, options and messages by _options.c and
 * _problems.c.
 */
#include "plugin/cgroup_perf/cgroup_perf_harness.h"

#include <malloc.h>
#include <sched.h>
#include <time.h>

#include "support/suite.h"

#define CYCLES       "\"cpu/cpu-cycles/\""
#define INSTRUCTIONS "\"cpu/instructions/\""
#define REFERENCES   "\"cpu/cache-references/\""
#define MISSES       "\"cpu/cache-misses/\""

/* --- Identifiers ---------------------------------------------------------- */

/* All series of the machine; for each perf-E there is also percent-E-running. */
static const struct {
    const char *options, *events, *ratios;
} named[] = {
    {"", "task-clock context-switches cpu-migrations page-faults", ""},
    {"Event \"task-clock\"", "task-clock", ""},
    {"event \"task-clock:u\"", "task-clock:u", ""},
    {"Event \"msr/tsc/\"", "msr_tsc", ""},
    {"Event \"cpu/event=0x3/\"", "cpu_event=0x3", ""},
    {"Event \"cpu/event=0x3,name=switches/\"", "switches", ""},
    {"Event " CYCLES " " INSTRUCTIONS, "cpu_cpu-cycles cpu_instructions", "ipc"},
    {"Event " INSTRUCTIONS " " CYCLES, "cpu_cpu-cycles cpu_instructions", "ipc"},
    {"Event \"cpu/cpu-cycles/u\" \"cpu/instructions/:u\"", "cpu_cpu-cycles:u cpu_instructions:u",
     "ipc-u"},
    {"Event \"cpu/cpu-cycles/k\" \"cpu/instructions/k\"", "cpu_cpu-cycles:k cpu_instructions:k",
     "ipc-k"},
    {"Event \"cpu/cpu-cycles/uk\" " INSTRUCTIONS, "cpu_cpu-cycles:uk cpu_instructions", "ipc"},
    {"Event \"cpu/cpu-cycles/H\" \"cpu/instructions/H\"", "cpu_cpu-cycles:H cpu_instructions:H",
     "ipc-H"},
    {"Event \"cpu/cpu-cycles/H\" " INSTRUCTIONS, "cpu_cpu-cycles:H cpu_instructions", ""},
    {"Event \"cpu/cpu-cycles/u\" " INSTRUCTIONS, "cpu_cpu-cycles:u cpu_instructions", ""},
    {"Event " CYCLES " \"cpu/cpu-cycles/u\" " INSTRUCTIONS " \"cpu/instructions/u\"",
     "cpu_cpu-cycles cpu_cpu-cycles:u cpu_instructions cpu_instructions:u", "ipc ipc-u"},
    {"Event " REFERENCES " " MISSES, "cpu_cache-references cpu_cache-misses",
     "cache_ratio-cpu_cache-misses"},
    {"Event \"cpu/LLC-loads/\" \"cpu/LLC-load-misses/\" " MISSES " " REFERENCES,
     "cpu_LLC-loads cpu_LLC-load-misses cpu_cache-misses cpu_cache-references",
     "cache_ratio-cpu_LLC-load-misses cache_ratio-cpu_cache-misses"},
    {"Event \"cpu/LLC-loads/\" " MISSES, "cpu_LLC-loads cpu_cache-misses", ""},
    /* no ratio across two lines, one of several, and no duplicates */
    {"Event " CYCLES "\nEvent " INSTRUCTIONS, "cpu_cpu-cycles cpu_instructions", ""},
    {"Event " CYCLES "\nEvent \"task-clock\" " CYCLES " " INSTRUCTIONS,
     "cpu_cpu-cycles task-clock cpu_instructions", "ipc"},
    {"Event " CYCLES " " INSTRUCTIONS "\nEvent " CYCLES " " INSTRUCTIONS,
     "cpu_cpu-cycles cpu_instructions", "ipc"},
    {"Event \"task-clock\" \"task-clock\"", "task-clock", ""},
};

static size_t assert_published(const char *format, const char *names, int type)
{
    char copy[512], identifier[256], *rest = copy;
    size_t count = 0;

    snprintf(copy, sizeof(copy), "%s", names);
    for (const char *name; (name = strsep(&rest, " ")) != NULL;) {
        if (*name == '\0')
            continue;
        int used = snprintf(identifier, sizeof(identifier), "cgroup_perf-system/");
        snprintf(identifier + used, sizeof(identifier) - (size_t)used, format, name);
        const struct fake_value *value = fake_find(identifier);
        ck_assert_msg(value != NULL, "%s wasn't published", identifier);
        ck_assert_int_eq(value->type, type);
        harness_assert_count(identifier, 1);
        count++;
    }
    return count;
}

START_TEST(names_what_it_publishes)
{
    perf_begin(named[_i].options);
    harness_read();
    /* New counters have a total of 0, and no share yet. */
    harness_assert_count("*", assert_published("perf-%s", named[_i].events, DS_TYPE_DERIVE));
    perf_touch(100);
    harness_read();
    size_t count = assert_published("perf-%s", named[_i].events, DS_TYPE_DERIVE) +
                   assert_published("percent-%s-running", named[_i].events, DS_TYPE_GAUGE) +
                   assert_published("%s", named[_i].ratios, DS_TYPE_GAUGE);
    harness_assert_count("*", count);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "is configured more than once"), fake_logs(0, NULL));
}
END_TEST

/* "ipc" is that of the first line that can be counted. */
START_TEST(reserves_no_name_for_what_cannot_be_counted)
{
    tree_write(tree, "sys/bus/event_source/devices/nothing/cpus", "0-%zu\n", perf_cpus() - 1);
    tree_write(tree, "sys/bus/event_source/devices/nothing/events/cpu-cycles", "event=0x0\n");
    tree_write(tree, "sys/bus/event_source/devices/nothing/events/instructions", "event=0x1\n");
    perf_begin("Event \"nothing/cpu-cycles/\" \"nothing/instructions/\"\nEvent " CYCLES
               " " INSTRUCTIONS "\nEvent \"cpu/event=0x3/\" " CYCLES " " INSTRUCTIONS);
    harness_read();
    perf_touch(100);
    harness_read();
    harness_assert_count("*/ipc", 1);
    harness_assert_count("*/ipc*", 1);
    ck_assert_uint_eq(fake_logs(LOG_NOTICE, "no PMU of this machine supports that"), 1);
}
END_TEST

START_TEST(leaves_shares_out_if_asked)
{
    perf_begin("Event " CYCLES " " INSTRUCTIONS "\nReportRunning false\nReportPerCPU true");
    harness_read();
    harness_read();
    harness_assert_count("*/percent-*", 0);
    harness_assert_count("*/perf-*", 2 + 2 * perf_cpus());
    harness_assert_count("*/ipc*", 1 + perf_cpus());
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(says_that_an_event_comes_twice)
{
    perf_begin("Event \"task-clock\"\nEvent \"page-faults\" \"task-clock\"");
    ck_assert_uint_eq(fake_logs(LOG_INFO, "event \"task-clock\""), 1);
    harness_assert_logs(1, "more than once");
}
END_TEST

/* The second is not published, as the two would be indistinguishable. */
START_TEST(warns_of_two_events_of_one_name)
{
    perf_begin("Event \"cpu/event=0x3,name=both/\" \"cpu/event=0x2,name=both/\"");
    harness_read();
    harness_assert_count("*/perf-both", 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "\"cpu/event=0x2,name=both/\""), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "\"cpu/event=0x3,name=both/\""), 1);
    harness_assert_logs(1, "name=");
}
END_TEST

#define LONG                                                                                       \
    "a_name_that_goes_on_and_on_and_is_longer_than_what_collectd_takes_for_a_part_of_an_"          \
    "identifier_which_is_127_bytes_as_far_as_is_known_to_me"

/* They differ at the end, which is cut off. */
START_TEST(cuts_names_that_are_too_long)
{
    size_t count;

    perf_begin("Event \"cpu/event=0x2,name=" LONG "1/\" \"cpu/event=0x3,name=" LONG "2/\" "
               "\"cpu/event=0x3,name=" LONG "2/u\" \"cpu/cpu-cycles,name=" LONG "3/\" "
               "\"cpu/cache-references/\" \"cpu/cache-misses/\"\nReportPerCPU true");
    harness_read();
    harness_assert_count("*/perf-*", 6 * (1 + perf_cpus()));
    harness_read();
    harness_assert_count("*/percent-*", 6 * (1 + perf_cpus()));
    const struct fake_value *values = fake_values(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t other = 0; other < i; other++)
            ck_assert_str_ne(values[i].identifier, values[other].identifier);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Values --------------------------------------------------------------- */

/* The number of a CPU at the end of an identifier: "…-cpu3"; or -1. */
static int cpu_of(const char *identifier)
{
    const char *dash = strrchr(identifier, '-');
    int cpu, used = 0;

    if (dash == NULL)
        dash = strrchr(identifier, '/');
    return sscanf(dash, "-cpu%d%n", &cpu, &used) == 1 && dash[used] == '\0' ? cpu : -1;
}

/* The sum of a series over all CPUs; asserts that there is one for each CPU. */
static double sum_of_cpus(const char *identifier)
{
    size_t all, count = 0, length = strlen(identifier);
    const struct fake_value *values = fake_values(&all);
    double sum = 0;

    for (size_t i = 0; i < all; i++)
        if (strncmp(values[i].identifier, identifier, length) == 0 &&
            strncmp(values[i].identifier + length, "-cpu", 4) == 0) {
            ck_assert_int_ge(cpu_of(values[i].identifier), 0);
            sum += values[i].number;
            count++;
        }
    ck_assert_uint_eq(count, perf_cpus());
    return sum;
}

static void touch_on_each_cpu(void)
{
    cpu_set_t allowed, one;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (CPU_ISSET(cpu, &allowed) && sched_setaffinity(0, sizeof(one), &one) == 0)
            perf_touch(1000);
    }
    ck_assert_int_eq(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
}

START_TEST(publishes_each_cpu_if_asked)
{
    static const char *const totals[] = {"cpu_cpu-cycles", "cpu_instructions",
                                         "cpu_cache-references", "cpu_cache-misses"};
    char identifier[128];

    perf_begin("Event " CYCLES " " INSTRUCTIONS "\nEvent " REFERENCES " " MISSES
               "\nReportPerCPU true");
    harness_read();
    for (int i = 0; i < 3; i++) {
        touch_on_each_cpu();
        harness_read();
        harness_assert_count("*", 10 * (1 + perf_cpus()));
        for (size_t t = 0; t < COUNT(totals); t++) {
            snprintf(identifier, sizeof(identifier), "cgroup_perf-system/perf-%s", totals[t]);
            double total = harness_number(identifier);
            ck_assert_double_gt(total, 0);
            ck_assert_double_eq(sum_of_cpus(identifier), total);
            snprintf(identifier, sizeof(identifier), "cgroup_perf-system/percent-%s-running",
                     totals[t]);
            ck_assert_double_eq(sum_of_cpus(identifier), 100.0 * (double)perf_cpus());
        }
        ck_assert_double_eq_tol(sum_of_cpus("cgroup_perf-system/ipc"), (double)perf_cpus(), 0.1);
        sum_of_cpus("cgroup_perf-system/cache_ratio-cpu_cache-misses");
    }
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(makes_ratios)
{
    perf_begin("Event " CYCLES " " INSTRUCTIONS "\nEvent " REFERENCES " " MISSES
               " \"cpu/LLC-loads/\" \"cpu/LLC-load-misses/\"");
    harness_read();
    harness_assert_count("*/ipc*", 0);
    harness_assert_count("*/cache_ratio*", 0);
    for (int i = 0; i < 3; i++) {
        perf_touch(20000);
        harness_sleep(20);
        harness_read();
        ck_assert_double_eq_tol(perf_of_system("ipc"), 1, 0.02);
        ck_assert_double_eq(perf_of_system("cache_ratio-cpu_cache-misses"), 100);
        ck_assert_double_le(perf_of_system("cache_ratio-cpu_LLC-load-misses"), 5);
    }
    harness_assert_logs(0, NULL);
}
END_TEST

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* A clock on each CPU: values lie between the minimum and maximum of elapsed time. */
START_TEST(counts_what_happens)
{
    double total = 0, before[2] = {0}, faults = 0;

    perf_begin("Event " CYCLES " \"page-faults\"");
    for (int i = 0; i < 5; i++) {
        double now[2];
        perf_touch(3000);
        harness_sleep(50);
        now[0] = now_ns();
        harness_read();
        now[1] = now_ns();
        double grown = (perf_of_system("perf-cpu_cpu-cycles") - total) / (double)perf_cpus();
        double faulted = perf_of_system("perf-page-faults") - faults;
        if (i > 0) {
            ck_assert_double_ge(grown, 0.99 * (now[0] - before[1]));
            ck_assert_double_le(grown, 1.01 * (now[1] - before[0]));
            ck_assert_double_ge(faulted, 3000);
        }
        total += grown * (double)perf_cpus();
        faults += faulted;
        memcpy(before, now, sizeof(now));
    }
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(gives_all_values_of_a_read_one_time)
{
    size_t count;
    cdtime_t before = 0;

    perf_begin("Event " CYCLES " " INSTRUCTIONS "\nEvent \"task-clock\"\nReportPerCPU true");
    for (int i = 0; i < 3; i++) {
        harness_read();
        const struct fake_value *values = fake_values(&count);
        ck_assert_uint_gt(count, 0);
        for (size_t v = 0; v < count; v++)
            ck_assert(values[v].time == values[0].time);
        ck_assert(values[0].time > before);
        before = values[0].time;
    }
}
END_TEST

static void assert_sound_values(void)
{
    size_t count;
    const struct fake_value *values = fake_values(&count);

    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(!values[i].decreased, "%s went back", values[i].identifier);
        ck_assert_double_ge(values[i].number, 0);
        if (strstr(values[i].identifier, "/percent-") != NULL)
            ck_assert_double_le(values[i].number, 100);
    }
}

/* Memory is measured once all buffers have reached their size. */
START_TEST(neither_grows_nor_goes_back)
{
    size_t used = 0, open = 0;

    perf_begin("ReportPerCPU true\nEvent " CYCLES " " INSTRUCTIONS
               "\nEvent \"task-clock\" \"nothing/any/\" \"context-switches\"");
    for (int i = 0; i < 1500; i++) {
        harness_read();
        assert_sound_values();
        if (i == 100) {
            used = mallinfo2().uordblks;
            open = perf_descriptors();
        }
    }
    ck_assert_uint_eq(open, 4 * perf_cpus());
    ck_assert_uint_eq(perf_descriptors(), open);
    ck_assert_uint_le(mallinfo2().uordblks, used + 4096);
    harness_assert_logs(1, "nothing/any/");
}
END_TEST

/* The CPU that counts for a package goes offline, and another one is to. */
START_TEST(a_package_is_counted_on_by_another_cpu)
{
    perf_begin("Event \"package/energy/\" \"page-faults\"");
    harness_read();
    const double energy = perf_of_system("perf-package_energy");
    tree_write(tree, "sys/devices/system/cpu/online", "1\n");
    tree_write(tree, "sys/bus/event_source/devices/package/cpumask", "1\n");
    harness_read();
    harness_sleep(10);
    harness_read();
    ck_assert_double_gt(perf_of_system("perf-package_energy"), energy);
    ck_assert_uint_eq(perf_descriptors(), 2);
    harness_assert_logs(1,
                        "info: cgroup_perf: other CPUs count \"package/energy/\" now, so counters "
                        "are opened again.");
}
END_TEST

/* As long as it can't be read which, that is tried again each minute, and logged once. */
START_TEST(a_package_is_counted_on_when_its_cpus_can_be_read)
{
    perf_begin("Event \"package/energy/\" \"page-faults\"");
    harness_read();
    tree_write(tree, "sys/devices/system/cpu/online", "1\n");
    tree_write(tree, "sys/bus/event_source/devices/package/cpumask", "some\n");
    for (int i = 0; i < 20; i++)
        harness_read();
    harness_assert_logs(1, "warning: cgroup_perf: can't look up again which CPUs count the events, "
                           "so those known before are counted on: a file of a PMU isn't "
                           "understood. Retrying every minute.");
    tree_write(tree, "sys/bus/event_source/devices/package/cpumask", "1\n");
    for (int i = 0; i < 20; i++)
        harness_read();
    harness_assert_count("cgroup_perf-system/perf-package_energy", 1);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "cgroup_perf: other CPUs count \"package/energy/\""), 1);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "cgroup_perf: events can be looked up again."), 1);
    harness_assert_logs(2, "info: cgroup_perf: ");
}
END_TEST

/* Events that aren't known are looked up again when CPUs come or go, and each minute. */
START_TEST(an_event_that_was_not_known_is_counted_later)
{
    perf_begin("Event \"page-faults\"\nEvent \"late/any/\"");
    harness_read();
    harness_assert_logs(1, "error: cgroup_perf: event \"late/any/\" can't be counted");
    const double faults = perf_of_system("perf-page-faults");
    tree_write(tree, "sys/bus/event_source/devices/late/type", "1\n");
    tree_write(tree, "sys/bus/event_source/devices/late/events/any", "event=0x0\n");
    tree_write(tree, "sys/bus/event_source/devices/late/format/event", "config:0-63\n");
    tree_write(tree, "sys/devices/system/cpu/online", "1\n");
    harness_read();
    harness_sleep(10);
    harness_read();
    ck_assert_double_gt(perf_of_system("perf-late_any"), 0);
    ck_assert_double_ge(perf_of_system("perf-page-faults"), faults);
    harness_assert_logs(1, "info: cgroup_perf: event \"late/any/\" is known now, and counted from "
                           "now on.");
}
END_TEST

int main(void)
{
    const char *obstacle = perf_obstacle(false);
    TCase *tests = tcase_create("values");

    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, perf_set_up, perf_tear_down);
    tcase_add_loop_test(tests, names_what_it_publishes, 0, COUNT(named));
    tcase_add_test(tests, reserves_no_name_for_what_cannot_be_counted);
    tcase_add_test(tests, leaves_shares_out_if_asked);
    tcase_add_test(tests, says_that_an_event_comes_twice);
    tcase_add_test(tests, warns_of_two_events_of_one_name);
    tcase_add_test(tests, cuts_names_that_are_too_long);
    tcase_add_test(tests, publishes_each_cpu_if_asked);
    tcase_add_test(tests, makes_ratios);
    tcase_add_test(tests, counts_what_happens);
    tcase_add_test(tests, gives_all_values_of_a_read_one_time);
    tcase_add_test(tests, neither_grows_nor_goes_back);
    if (perf_cpus() > 1) {
        tcase_add_test(tests, a_package_is_counted_on_by_another_cpu);
        tcase_add_test(tests, a_package_is_counted_on_when_its_cpus_can_be_read);
        tcase_add_test(tests, an_event_that_was_not_known_is_counted_later);
    } else
        puts("# without a CPU that goes: there is only one");
    return run_suite("plugin cgroup_perf", tests);
}
