/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_plugin_osnoise_problems.c - what the plugin osnoise logs of problems: once, with a
 * remedy, and when they are over.
 */
#include "support/fake_collectd.h"

#include <errno.h>

#include "headroom/clock.h"
#include "osnoise/problems.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct osnoise_problems problems;

static void begin(enum hr_osnoise_mode mode, uint64_t max_single_ns)
{
    const struct hr_osnoise_options options = {.mode = mode, .max_single_ns = max_single_ns};

    osnoise_problems_init(&problems, &options);
}

static void set_up(void)
{
    fake_start_parts();
    begin(HR_OSNOISE_WORKLOAD, 50000);
}

static void tear_down(void)
{
    ck_assert_uint_eq(fake_truncations(), 0);
    fake_stop();
}

/* Asserts that this was said since the last time, and no more; NULL: nothing. */
static void assert_said(const char *line)
{
    const char *said = fake_log(0);

    ck_assert_msg(fake_logs(0, NULL) == (line != NULL), "%zu lines: %s", fake_logs(0, NULL),
                  said != NULL ? said : "");
    if (line != NULL)
        ck_assert_str_eq(said, line);
    fake_forget_logs();
}

static void read_cpus(const struct hr_osnoise_cpu *cpus, size_t count)
{
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = HR_NS_PER_S, .cpus = cpus, .cpu_count = count};

    osnoise_problems_log_reading(&problems, &reading);
}

/* --- Runs ----------------------------------------------------------------- */

static const struct {
    int error;
    const char *severity;
} severities[] = {
    {-EAGAIN, "notice"}, {-EBUSY, "warning"}, {-ECANCELED, "warning"}, {-ENXIO, "warning"},
    {-EACCES, "error"},  {-ENOENT, "error"},  {-EOPNOTSUPP, "error"},
};

START_TEST(reports_that_nothing_is_measured)
{
    struct hr_reason reason = {.error = severities[_i].error, .text = "it is so: change it"};
    char line[256];

    snprintf(line, sizeof(line),
             "%s: osnoise: noise is not measured: it is so: change it. Retrying in 10 s.",
             severities[_i].severity);
    for (int i = 0; i < 3; i++)
        osnoise_problems_log_stopped(&problems, &reason, 10 * HR_NS_PER_S);
    assert_said(line);
    strcpy(reason.text, "it is otherwise"); /* the same error, another cause */
    osnoise_problems_log_stopped(&problems, &reason, 20 * HR_NS_PER_S);
    ck_assert_uint_eq(fake_logs(0, "it is otherwise. Retrying in 20 s."), 1);
    fake_forget_logs();
    osnoise_problems_log_running(&problems);
    osnoise_problems_log_running(&problems);
    assert_said("info: osnoise: noise is being measured now.");
}
END_TEST

START_TEST(says_nothing_of_a_run_that_begins_well)
{
    osnoise_problems_log_running(&problems);
    assert_said(NULL);
}
END_TEST

/* --- Readings ------------------------------------------------------------- */

START_TEST(lists_cpus_without_samples)
{
    struct hr_osnoise_cpu cpus[6];

    for (unsigned i = 0; i < COUNT(cpus); i++)
        cpus[i] = (struct hr_osnoise_cpu){.cpu = 2 + i};
    read_cpus(cpus, COUNT(cpus));
    assert_said(NULL);
    cpus[1].state = HR_OSNOISE_CPU_OFFLINE;
    for (int i = 0; i < 3; i++)
        read_cpus(cpus, COUNT(cpus));
    assert_said("warning: osnoise: CPU 3 is offline: no values until it is online again.");
    cpus[2].state = HR_OSNOISE_CPU_OFFLINE;
    cpus[0].state = cpus[4].state = HR_OSNOISE_CPU_SILENT;
    for (int i = 0; i < 3; i++)
        read_cpus(cpus, COUNT(cpus));
    assert_said("warning: osnoise: CPUs 3-4 are offline: no values until they are online again; no "
                "samples come from CPUs 2,6: check dmesg for \"could not start sampling thread\", "
                "and whether other tasks leave no time to the thread osnoise/N there.");
    for (unsigned i = 0; i < COUNT(cpus); i++)
        cpus[i].state = HR_OSNOISE_CPU_FINE;
    for (int i = 0; i < 3; i++)
        read_cpus(cpus, COUNT(cpus));
    assert_said("info: osnoise: samples come from all CPUs.");
}
END_TEST

/* Which CPUs are measured is the other's choice: the kernel has nothing to say of it. */
START_TEST(does_not_send_to_dmesg_for_what_another_measures)
{
    const struct hr_osnoise_cpu cpus[] = {{.cpu = 2, .state = HR_OSNOISE_CPU_SILENT}, {.cpu = 3}};

    begin(HR_OSNOISE_ATTACH, 0);
    read_cpus(cpus, COUNT(cpus));
    assert_said(
        "warning: osnoise: no samples come from CPU 2: check whether the other program still "
        "measures there, and whether other tasks leave no time to the thread osnoise/N there.");
}
END_TEST

/* Each second of 4096 CPUs without any pattern. */
START_TEST(shortens_long_lists)
{
    static struct hr_osnoise_cpu cpus[4096];

    srand(4711);
    for (unsigned i = 0; i < COUNT(cpus); i++)
        cpus[i] = (struct hr_osnoise_cpu){
            .cpu = i, .state = rand() % 2 == 0 ? HR_OSNOISE_CPU_OFFLINE : HR_OSNOISE_CPU_SILENT};
    read_cpus(cpus, COUNT(cpus));
    ck_assert_uint_eq(fake_logs(LOG_WARNING, " more are offline: no values"), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "no samples come from CPUs "), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "osnoise/N there."), 1);
}
END_TEST

START_TEST(reports_lost_records)
{
    struct hr_osnoise_cpu cpus[] = {{.cpu = 1, .lost_count = 60}, {.cpu = 2}, {.cpu = 3}};

    cpus[2].lost_count = 40;
    for (int i = 0; i < 5; i++)
        read_cpus(cpus, 3);
    assert_said("warning: osnoise: 100 records of CPUs 1,3 were overwritten before they were read: "
                "more interferes than the kernel's buffer holds until it is read, and values are "
                "too low. Raise BufferSize, set Causes false, or shorten Runtime.");
    cpus[0].lost_count = 160;
    read_cpus(cpus, 3);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "200 records"), 1);
    fake_forget_logs();
    cpus[0].lost_count = cpus[2].lost_count = 0;
    for (int i = 0; i < 59; i++)
        read_cpus(cpus, 3);
    assert_said(NULL);
    for (int i = 0; i < 100; i++)
        read_cpus(cpus, 3);
    assert_said("info: osnoise: no records lost for 60 s.");
}
END_TEST

/* A remedy must be one: what isn't configured can't be changed, and what is another's neither. */
static const struct {
    enum hr_osnoise_mode mode;
    uint64_t max_single_ns;
    const char *remedy;
} losses[] = {
    {HR_OSNOISE_WORKLOAD, 0, "too low. Lengthen Period, or raise BufferSize."},
    {HR_OSNOISE_HARDWARE, 0, "too low. Lengthen Period, or raise BufferSize."},
    {HR_OSNOISE_HARDWARE, 50000,
     "too low. Raise BufferSize, set Causes false, or shorten Runtime."},
    {HR_OSNOISE_ATTACH, 0, "too low. Raise BufferSize."},
    {HR_OSNOISE_ATTACH, 50000, "too low. Raise BufferSize, or set Causes false."},
};

START_TEST(advises_what_helps_against_losses)
{
    const struct hr_osnoise_cpu cpu = {.cpu = 1, .lost_count = 60};

    begin(losses[_i].mode, losses[_i].max_single_ns);
    read_cpus(&cpu, 1);
    ck_assert_msg(fake_logs(LOG_WARNING, losses[_i].remedy) == 1, "%s", fake_log(0));
}
END_TEST

START_TEST(reports_dropped_names)
{
    struct hr_osnoise_reading reading = {.dropped_count = 7};

    osnoise_problems_log_reading(&problems, &reading);
    osnoise_problems_log_reading(&problems, &reading);
    assert_said("warning: osnoise: 7 noises are counted in \"other\", not by name, as the kernel's "
                "table of names was full.");
}
END_TEST

START_TEST(hands_on_warnings)
{
    struct hr_osnoise_reading reading = {
        .warning = {.error = -EEXIST, .text = "stop_tracing_us is 100: set it 0"}};

    osnoise_problems_log_reading(&problems, &reading);
    osnoise_problems_log_reading(&problems, &reading);
    assert_said("warning: osnoise: stop_tracing_us is 100: set it 0.");
    reading.warning = (struct hr_reason){0};
    osnoise_problems_log_reading(&problems, &reading);
    osnoise_problems_log_reading(&problems, &reading);
    assert_said("info: osnoise: this no longer applies: \"stop_tracing_us is 100: set it 0\".");
}
END_TEST

START_TEST(reports_what_is_not_restored)
{
    const struct hr_reason reason = {.error = -EBUSY, .text = "rtla uses the tracer: end it"};

    osnoise_problems_log_unrestored(&problems, &reason);
    assert_said("warning: osnoise: not all settings of the tracer are restored: rtla uses the "
                "tracer: end it.");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("problems");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, reports_that_nothing_is_measured, 0, COUNT(severities));
    tcase_add_test(tests, says_nothing_of_a_run_that_begins_well);
    tcase_add_test(tests, lists_cpus_without_samples);
    tcase_add_test(tests, does_not_send_to_dmesg_for_what_another_measures);
    tcase_add_test(tests, shortens_long_lists);
    tcase_add_test(tests, reports_lost_records);
    tcase_add_loop_test(tests, advises_what_helps_against_losses, 0, COUNT(losses));
    tcase_add_test(tests, reports_dropped_names);
    tcase_add_test(tests, hands_on_warnings);
    tcase_add_test(tests, reports_what_is_not_restored);
    return run_suite("osnoise problems", tests);
}
