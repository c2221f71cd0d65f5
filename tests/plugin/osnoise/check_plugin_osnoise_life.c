/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_plugin_osnoise_life.c - the plugin osnoise in the stand-in daemon, over a stand-in
 * for tracefs: start and stop, what it leaves behind, and what it publishes of a kernel's records
 * and tables.
 */
#include "plugin/osnoise/life_harness.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>

#include "support/fake_tracefs.h"
#include "support/suite.h"

/* --- Values --------------------------------------------------------------- */

/* As page.text in the fixture has it. */
START_TEST(publishes_what_the_kernel_recorded)
{
    static const struct {
        const char *series;
        double number;
    } expected[] = {
        {"percent-available", 100.0 * (51615 - 23727) / 51615},
        {"duration-max_single", 2177e-6},
        {"duration-max_period", 23727e-6},
        {"derive-runtime_us", 51615},
        {"derive-noise_us", 23727},
        {"total_operations-hw", 13},
        {"total_operations-nmi", 0},
        {"total_operations-irq", 51},
        {"total_operations-softirq", 2},
        {"total_operations-thread", 11},
        {"total_operations-lost", 4417},
        {"derive-thread_new_line_us", 392695},
        {"derive-thread_a___hitcount__1_us", 378837},
        {"total_values-noise_8388us", 3},
        {"total_values-noise_16us", 327},
    };
    char identifier[128];

    harness_begin(WORKLOAD "Sources 2\nHistogram true\n<Alert>\nMaxSingle 0.002\n</Alert>");
    await_run(getpid());
    set_recorded_tables();
    add_recorded_page();
    await_value("osnoise-cpu1/derive-runtime_us");
    for (size_t i = 0; i < COUNT(expected); i++) {
        snprintf(identifier, sizeof(identifier), "osnoise-cpu1/%s", expected[i].series);
        ck_assert_msg(fabs(harness_number(identifier) - expected[i].number) < 1e-9, "%s is %g",
                      identifier, harness_number(identifier));
    }
    harness_assert_count("osnoise-cpu1/derive-*_*_us", 2);
    harness_assert_count("osnoise-cpu1/derive-other_us", 1);
    harness_assert_count("osnoise-cpu1/total_values-noise_[0-9]*us", 10);
    harness_assert_count("*", fake_count("osnoise-cpu1/*"));
    await_notification();
    ck_assert_str_eq(fake_notification(0)->message,
                     "noise of 2178 us on CPU 1, above 2000 us: thread a } hitcount: 1[81] 1943 "
                     "us, irq local_timer[236] 157 us (3 times); 77 us unexplained");
    await_value("osnoise-cpu1/total_operations-lost");
    harness_assert_count("*", 1); /* no period ended since */
    harness_assert_logs(1, "4417 records of CPU 1 were overwritten before they were read");
}
END_TEST

/* At one go, as it is being read. */
static void set_online(const char *cpus)
{
    char from[PATH_MAX], to[PATH_MAX];

    tree_write(tree, "online", "%s", cpus);
    snprintf(from, sizeof(from), "%s/online", tree_path(tree));
    snprintf(to, sizeof(to), "%s/sys/devices/system/cpu/online", tree_path(tree));
    ck_assert_int_eq(rename(from, to), 0);
}

START_TEST(publishes_nothing_of_a_cpu_that_is_offline)
{
    harness_begin("CPUs \"0-1\"\n" PERIOD);
    await_run(getpid());
    await_value("osnoise-cpu1/total_operations-lost");
    set_online("0\n");
    await_log(1, "warning: osnoise: CPU 1 is offline: no values until it is online again.");
    set_online("0-1\n");
    await_log(1, "info: osnoise: samples come from all CPUs.");
    add_recorded_page();
    await_value("osnoise-cpu1/derive-runtime_us");
    await_log(1, LOST);
    ck_assert_uint_eq(fake_logs(0, NULL), 3);
}
END_TEST

/* --- Life ----------------------------------------------------------------- */

START_TEST(sets_and_restores)
{
    harness_begin("CPUs 1\nPeriod 500\nRuntime 0.02\nThreshold 0.000005\n" WITHOUT_THREADS);
    await_run(getpid());
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "1\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/period_us"), "500000000\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "20000\n");
    ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "5\n");
    ck_assert(tree_has(STATE));
    ck_assert_int_eq(fake_init(), 0); /* collectd may call again */
    ck_assert_uint_eq(fake_read_callbacks(), 1);
    ck_assert_int_eq(fake_shutdown(), 0);
    assert_restored(NULL);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(keeps_its_state_where_it_is_configured)
{
    char options[PATH_MAX + 128];

    snprintf(options, sizeof(options), WORKLOAD "StateFile \"%s/other\"", tree_path(tree));
    harness_begin(options);
    await_run(getpid());
    ck_assert(tree_has("other"));
    ck_assert(!tree_has(STATE));
    ck_assert_int_eq(fake_shutdown(), 0);
    ck_assert(!tree_has("other"));
}
END_TEST

/* collectd is in its BaseDir by then. */
START_TEST(keeps_its_state_where_it_is)
{
    int before = open(".", O_RDONLY | O_DIRECTORY);

    fake_set_base_dir("relative");
    ck_assert_int_eq(chdir(tree_path(tree)), 0);
    harness_begin(WORKLOAD);
    await_run(getpid());
    ck_assert(tree_has(STATE));
    ck_assert_int_eq(fchdir(before), 0);
    close(before);
    ck_assert_int_eq(fake_shutdown(), 0);
    assert_restored(NULL);
}
END_TEST

static const char *const without_cpus[] = {"", "Mode \"hwnoise\"\nSources 3"};

START_TEST(does_nothing_without_cpus)
{
    char text[PATH_MAX + 128];

    fake_tracefs_log();
    snprintf(text, sizeof(text), "<Plugin osnoise>\nRoot \"%s\"\n%s\n</Plugin>\n", tree_path(tree),
             without_cpus[_i]);
    ck_assert_int_eq(fake_configure(text), 0);
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 0);
    ck_assert_int_eq(fake_shutdown(), 0);
    ck_assert_str_eq(fake_tracefs_log(), "");
    assert_restored(NULL);
    harness_assert_logs(1,
                        "warning: osnoise: the workload isn't started, as option CPUs is missing");
}
END_TEST

/* A process that runs the plugin, and is killed. */
static pid_t leave_behind(void)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        harness_begin("CPUs 1\nPeriod 0.5\nRuntime 0.02\nThreshold 0.000005");
        await_run(getpid());
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert(tree_has(STATE));
    ck_assert_str_eq(fake_tracefs_get("osnoise/period_us"), "500000\n");
    ck_assert_str_eq(fake_tracefs_get(in_instance_of(pid, "current_tracer")), "osnoise\n");
    return pid;
}

/* Even if nothing is measured any more. */
START_TEST(restores_what_a_killed_one_left_behind)
{
    char text[PATH_MAX + 128];

    leave_behind();
    snprintf(text, sizeof(text), "<Plugin osnoise>\nRoot \"%s\"\n</Plugin>\n", tree_path(tree));
    ck_assert_int_eq(fake_configure(text), 0);
    ck_assert_int_eq(fake_init(), 0);
    assert_restored(NULL);
    harness_assert_logs(1, "the workload isn't started");
}
END_TEST

START_TEST(begins_after_a_killed_one)
{
    pid_t pid = leave_behind();

    harness_begin("Mode \"sources\"");
    await_run(getpid());
    ck_assert(!fake_tracefs_has(in_instance_of(pid, "")));
    ck_assert_str_eq(fake_tracefs_get("osnoise/period_us"), "1000000\n");
    await_value("osnoise-cpu0/derive-other_us");
    ck_assert_int_eq(fake_shutdown(), 0);
    assert_restored(NULL);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Problems ------------------------------------------------------------- */

static void take_tracefs_away(void)
{
    fake_tracefs_end();
    tree_remove(tree, FAKE_TRACEFS);
}

static void take_tracer_away(void)
{
    fake_tracefs_set("available_tracers", "function nop\n");
}

static void start_timerlat(void)
{
    fake_tracefs_add_instance("theirs");
    fake_tracefs_set("instances/theirs/current_tracer", "timerlat\n");
}

static void start_osnoise(void)
{
    fake_tracefs_add_sample_event();
    fake_tracefs_add_instance("theirs");
    fake_tracefs_set("instances/theirs/current_tracer", "osnoise\n");
}

static void forbid_instances(void)
{
    fake_tracefs_fail("instances/headroom_osnoise_*", EPERM);
}

static void break_runtime(void)
{
    fake_tracefs_fail("osnoise/runtime_us", EIO);
}

static void take_base_away(void)
{
    fake_set_base_dir("/nowhere/at/all");
}

static void do_nothing(void)
{
}

static const struct {
    void (*prepare)(void);
    const char *options;
    const char *said[2]; /* severity, and a part of the reason */
} problems[] = {
    {take_tracefs_away, WORKLOAD, {"error: osnoise: noise is not measured: ", "tracefs"}},
    {take_tracer_away, WORKLOAD, {"error: osnoise: noise is not measured: ", "no osnoise tracer"}},
    {start_timerlat, WORKLOAD, {"warning: osnoise: noise is not measured: ", "timerlat"}},
    {start_osnoise, WORKLOAD, {"warning: osnoise: noise is not measured: ", "attach"}},
    {forbid_instances, WORKLOAD, {"error: osnoise: noise is not measured: ", "instance"}},
    {break_runtime, WORKLOAD, {"error: osnoise: noise is not measured: ", "runtime_us"}},
    {take_base_away,
     WORKLOAD,
     {"error: osnoise: noise is not measured: ", "/nowhere/at/all/" STATE}},
    {do_nothing, "CPUs 100", {"warning: osnoise: noise is not measured: ", "online"}},
    {do_nothing,
     "CPUs \"isolated\"",
     {"warning: osnoise: noise is not measured: ", "no CPU is isolated: boot the kernel with"}},
    {do_nothing,
     "Mode \"attach\"",
     {"notice: osnoise: noise is not measured: ", "no program runs the osnoise tracer"}},
};

START_TEST(reports_why_nothing_is_measured)
{
    problems[_i].prepare();
    harness_begin(problems[_i].options);
    await_log(1, problems[_i].said[0]);
    ck_assert_msg(fake_logs(0, problems[_i].said[1]) == 1, "no %s in: %s", problems[_i].said[1],
                  fake_log(0));
    for (int i = 0; i < 5; i++) {
        harness_read();
        harness_assert_count("*", 0);
        usleep(10000);
    }
    ck_assert_int_eq(fake_shutdown(), 0);
    if (fake_tracefs_has("instances/theirs"))
        fake_tracefs_remove_instance("theirs");
    if (fake_tracefs_has("instances"))
        assert_restored(NULL);
    harness_assert_logs(1, "Retrying in 10 s.");
}
END_TEST

/* It takes the time of one retry. */
START_TEST(begins_when_another_tracer_has_ended)
{
    start_timerlat();
    harness_begin(WORKLOAD);
    await_log(1, "timerlat");
    fake_tracefs_remove_instance("theirs");
    await_run(getpid());
    await_log(1, "info: osnoise: noise is being measured now.");
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
}
END_TEST

START_TEST(gives_way_to_a_changed_setting)
{
    harness_begin(WORKLOAD);
    await_run(getpid());
    await_value("osnoise-cpu1/total_operations-lost");
    fake_tracefs_set("osnoise/period_us", "123456\n");
    await_log(
        1, "warning: osnoise: noise is not measured: another program changed the tracer's setting "
           "period_us from 1000000000 to 123456");
    harness_read(); /* what came before */
    harness_read();
    harness_assert_count("*", 0);
    ck_assert_int_eq(fake_shutdown(), 0);
    ck_assert_str_eq(fake_tracefs_get("osnoise/period_us"), "123456\n");
    fake_tracefs_set("osnoise/runtime_us", "%s", original[2]); /* above the period it can't be */
    assert_restored("osnoise/period_us");
    harness_assert_logs(1, "Retrying in 10 s.");
}
END_TEST

START_TEST(reads_along_with_another)
{
    start_osnoise();
    fake_tracefs_set("osnoise/cpus", "1\n");
    fake_tracefs_set("osnoise/period_us", "1000000000\n"); /* see PERIOD */
    harness_begin("Mode \"attach\"");
    await_attached();
    add_recorded_page();
    await_value("osnoise-cpu1/derive-runtime_us");
    await_log(1, LOST);
    ck_assert_double_eq(harness_number("osnoise-cpu1/derive-runtime_us"), 51615);
    harness_assert_count("osnoise-cpu0/*", 0);
    fake_tracefs_remove_instance("theirs");
    await_log(1, "notice: osnoise: noise is not measured: ");
    ck_assert_int_eq(fake_shutdown(), 0);
    ck_assert_str_eq(fake_tracefs_get("osnoise/period_us"), "1000000000\n");
    fake_tracefs_set("osnoise/period_us", "%s", original[1]);
    assert_restored("osnoise/cpus");
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "1\n");
    ck_assert_uint_eq(fake_logs(LOG_NOTICE, "has ended. Retrying in 10 s."), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("life");

    tcase_set_timeout(tests, 90);
    add_life_fixture(tests);
    tcase_add_test(tests, publishes_what_the_kernel_recorded);
    tcase_add_test(tests, publishes_nothing_of_a_cpu_that_is_offline);
    tcase_add_test(tests, sets_and_restores);
    tcase_add_test(tests, keeps_its_state_where_it_is_configured);
    tcase_add_test(tests, keeps_its_state_where_it_is);
    tcase_add_loop_test(tests, does_nothing_without_cpus, 0, COUNT(without_cpus));
    tcase_add_test(tests, restores_what_a_killed_one_left_behind);
    tcase_add_test(tests, begins_after_a_killed_one);
    tcase_add_loop_test(tests, reports_why_nothing_is_measured, 0, COUNT(problems));
    tcase_add_test(tests, begins_when_another_tracer_has_ended);
    tcase_add_test(tests, gives_way_to_a_changed_setting);
    tcase_add_test(tests, reads_along_with_another);
    return run_suite("plugin osnoise", tests);
}
