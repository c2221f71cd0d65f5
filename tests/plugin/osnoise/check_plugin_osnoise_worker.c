/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_plugin_osnoise_worker.c - the thread of the plugin osnoise: when it begins, reads,
 * retries and ends.
 */
#include "support/fake_collectd.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "headroom/osnoise_pause.h"
#include "headroom/root.h"
#include "headroom/state_file.h"
#include "osnoise/worker.h"
#include "plugin/osnoise/fake_osnoise.h"
#include "support/frozen_clock.h"
#include "support/suite.h"
#include "support/tree.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct tree *tree;
static struct hr_root *root;
static char state_path[PATH_MAX];
static struct hr_osnoise_options osnoise;
static struct osnoise_values *values;
static struct osnoise_worker *worker;

static void set_up(void)
{
    const struct osnoise_values_options options = {.has_samples = true};

    fake_start_parts();
    fake_osnoise_reset();
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    snprintf(state_path, sizeof(state_path), "%s/state", tree_path(tree));
    osnoise = (struct hr_osnoise_options){.mode = HR_OSNOISE_WORKLOAD, .state_path = state_path};
    hr_cpu_set_add(&osnoise.cpus.list, 3);
    values = osnoise_values_new(&options);
    ck_assert_ptr_nonnull(values);
}

static void stop(void)
{
    osnoise_worker_stop(worker);
    worker = NULL;
}

static void tear_down(void)
{
    stop();
    frozen_ns = 0;
    osnoise_values_free(values);
    ck_assert(!fake_osnoise_runs());
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_CLOSE),
                      fake_osnoise_count(FAKE_OSNOISE_OPEN));
    fake_stop();
    hr_root_close(root);
    tree_free(tree);
}

static void start_reading(uint64_t read_ms, uint64_t retry_ms, uint64_t max_retry_ms)
{
    const struct osnoise_worker_options options = {
        .root = root,
        .osnoise = &osnoise,
        .values = values,
        .rule = {.max_single_ns = 50000, .quiet_ns = HR_NS_PER_MS, .severity = NOTIF_WARNING},
        .read_ns = read_ms * HR_NS_PER_MS,
        .retry_ns = retry_ms * HR_NS_PER_MS,
        .max_retry_ns = max_retry_ms * HR_NS_PER_MS,
    };
    struct hr_reason reason;

    ck_assert_int_eq(osnoise_worker_start(&options, &worker, &reason), 0);
}

/* @param alarms  lines. */
static void leave_open(const char *alarms)
{
    char boot_id[HR_BOOT_ID_LENGTH + 1];

    ck_assert_int_eq(hr_boot_id_read(boot_id), 0);
    tree_write(tree, "state.alarms", "headroom's open alarms of noise 1\nboot %s\n%send\n", boot_id,
               alarms);
}

static void start(uint64_t retry_ms, uint64_t max_retry_ms)
{
    start_reading(5, retry_ms, max_retry_ms);
}

/* Generous, as the machine may be busy. */
static void await(enum fake_osnoise_call call, size_t count)
{
    for (int i = 0; i < 10000 && fake_osnoise_count(call) < count; i++)
        usleep(5000);
    ck_assert_msg(fake_osnoise_count(call) >= count, "call %d came %zu times", call,
                  fake_osnoise_count(call));
}

static void await_log(size_t count, const char *containing)
{
    for (int i = 0; i < 10000 && fake_logs(0, containing) < count; i++)
        usleep(5000);
    ck_assert_msg(fake_logs(0, containing) == count, "%zu times %s", fake_logs(0, containing),
                  containing);
}

START_TEST(reads_until_it_is_stopped)
{
    const struct hr_osnoise_cpu cpus[] = {
        {.cpu = 3, .sample_count = 1, .runtime_us = 10, .noise_us = 1}};
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = HR_NS_PER_MS, .cpus = cpus, .cpu_count = 1};

    for (int i = 0; i < 3; i++)
        fake_osnoise_read(&reading);
    start(10000, 600000);
    await(FAKE_OSNOISE_READ, 5);
    fake_read();
    osnoise_values_publish(values);
    ck_assert_double_eq(fake_find("osnoise-cpu3/derive-runtime_us")->number, 30);
    ck_assert(fake_osnoise_runs());
    stop();
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_BEGIN), 1);
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_END), 1);
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_CLOSE), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
}
END_TEST

/* However long the wait. */
START_TEST(stops_at_once_while_it_waits)
{
    fake_osnoise_return(FAKE_OSNOISE_BEGIN, -EBUSY, "timerlat is at work: end it");
    start(3600000, 3600000);
    await_log(1, "warning: osnoise: noise is not measured: timerlat is at work: end it. Retrying "
                 "in 3600 s.");
    stop();
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_BEGIN), 1);
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_READ), 0);
    ck_assert_uint_eq(fake_logs(0, NULL), 1);
}
END_TEST

START_TEST(tries_again_and_says_so_once)
{
    for (int i = 0; i < 5; i++)
        fake_osnoise_return(FAKE_OSNOISE_BEGIN, -EBUSY, "timerlat is at work: end it");
    start(20, 600000);
    await(FAKE_OSNOISE_READ, 2);
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_BEGIN), 6);
    for (size_t i = 1; i < 6; i++)
        ck_assert_uint_ge(fake_osnoise_time_ms(FAKE_OSNOISE_BEGIN, i) -
                              fake_osnoise_time_ms(FAKE_OSNOISE_BEGIN, i - 1) + 1,
                          20);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "timerlat is at work"), 1);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "noise is being measured now"), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2);
}
END_TEST

/* The more often the tracer is taken away, the longer we back off. */
START_TEST(waits_longer_when_runs_are_cancelled)
{
    static const uint64_t least_ms[] = {500, 1000, 2000};

    for (size_t i = 0; i <= COUNT(least_ms); i++)
        fake_osnoise_return(FAKE_OSNOISE_READ, -ECANCELED, "somebody changed period_us");
    start(500, 3600000); /* the limit is far above what a busy machine makes of a read */
    await(FAKE_OSNOISE_BEGIN, COUNT(least_ms) + 1);
    for (size_t i = 0; i < COUNT(least_ms); i++)
        ck_assert_uint_ge(fake_osnoise_time_ms(FAKE_OSNOISE_BEGIN, i + 1) -
                              fake_osnoise_time_ms(FAKE_OSNOISE_READ, i) + 1,
                          least_ms[i]);
    await_log(1, "period_us. Retrying in 0.5 s.");
    await_log(1, "period_us. Retrying in 4 s.");
}
END_TEST

/* By a clock that stands still, so that no run is long. */
START_TEST(waits_no_longer_than_the_limit)
{
    for (int i = 0; i < 2; i++)
        fake_osnoise_return(FAKE_OSNOISE_READ, -ECANCELED, "somebody changed period_us");
    frozen_ns = hr_clock_ns();
    start(500, 600);
    await_log(1, "period_us. Retrying in 0.5 s.");
    await_log(1, "period_us. Retrying in 0.6 s.");
}
END_TEST

/* A long run forgets that; with a limit below the first read, each is long. */
START_TEST(waits_no_longer_after_a_long_run)
{
    for (int i = 0; i < 4; i++)
        fake_osnoise_return(FAKE_OSNOISE_READ, -ECANCELED, "somebody changed period_us");
    start_reading(10, 2, 4);
    await(FAKE_OSNOISE_BEGIN, 5);
    await_log(4, "period_us. Retrying in 0.002 s.");
}
END_TEST

START_TEST(takes_the_end_of_another_for_no_fault)
{
    for (int i = 0; i < 3; i++)
        fake_osnoise_return(FAKE_OSNOISE_READ, -EAGAIN, "nobody runs the tracer: start it");
    start(10, 600000);
    await(FAKE_OSNOISE_BEGIN, 4);
    await_log(3, "notice: osnoise: noise is not measured: nobody runs the tracer: start it. "
                 "Retrying in 0.01 s.");
}
END_TEST

/* One that read at the beginning of a period would find itself in the noise. */
START_TEST(reads_when_the_kernel_does_not_look)
{
    osnoise.period_us = 400000;
    osnoise.runtime_us = 200000;
    start_reading(3600000, 3600000, 3600000);
    await(FAKE_OSNOISE_READ, 1);
    ck_assert_uint_ge(fake_osnoise_time_ms(FAKE_OSNOISE_READ, 0) -
                          fake_osnoise_time_ms(FAKE_OSNOISE_BEGIN, 0) + 1,
                      300);
    usleep(20000);
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_READ), 1);
}
END_TEST

/* A period of an hour, or none, as where there is no workload. */
START_TEST(reads_early_of_a_long_period)
{
    osnoise.period_us = _i * UINT64_C(3600000000);
    osnoise.runtime_us = _i * UINT64_C(1000);
    start_reading(100, 3600000, 3600000);
    await(FAKE_OSNOISE_READ, 3);
    ck_assert_uint_ge(fake_osnoise_time_ms(FAKE_OSNOISE_READ, 0) -
                          fake_osnoise_time_ms(FAKE_OSNOISE_BEGIN, 0) + 1,
                      50);
}
END_TEST

/* --- Its end, and others --------------------------------------------------- */

START_TEST(reports_what_it_cannot_restore)
{
    fake_osnoise_return(FAKE_OSNOISE_END, -EBUSY, "rtla uses the tracer: end it");
    start(10000, 600000);
    await(FAKE_OSNOISE_READ, 1);
    stop();
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "not all settings of the tracer are restored: rtla"),
                      1);
    ck_assert_uint_eq(fake_logs(0, NULL), 1);
}
END_TEST

START_TEST(reports_why_it_cannot_start)
{
    const struct osnoise_worker_options options = {.values = values};
    struct hr_reason reason;

    fake_osnoise_return(FAKE_OSNOISE_OPEN, -EINVAL, "no such thing");
    ck_assert_int_eq(osnoise_worker_start(&options, &worker, &reason), -EINVAL);
    ck_assert_str_eq(reason.text, "no such thing");
    ck_assert_ptr_null(worker);
    fake_osnoise_reset();
}
END_TEST

/* What notifies may take the plugin's values: no lock is held. */
static void publish_meanwhile(__attribute__((unused)) const notification_t *notice, void *context)
{
    osnoise_values_publish(context);
}

START_TEST(notifies_without_a_lock)
{
    static const struct hr_osnoise_cpu cpus[] = {{.cpu = 3, .sample_count = 1}};
    static const struct hr_osnoise_single_noise single_noise = {
        .cpu = 3, .duration_ns = 60000, .parts_are_all = true};
    const struct hr_osnoise_reading reading = {.elapsed_ns = HR_NS_PER_MS,
                                               .cpus = cpus,
                                               .cpu_count = 1,
                                               .single_noises = &single_noise,
                                               .single_noise_count = 1};
    const struct hr_osnoise_reading quiet = {
        .elapsed_ns = HR_NS_PER_MS, .cpus = cpus, .cpu_count = 1};

    fake_on_notification(publish_meanwhile, values);
    fake_osnoise_read(&reading);
    fake_osnoise_read(&quiet);
    start(10000, 600000);
    await(FAKE_OSNOISE_READ, 3);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_int_eq(fake_notification(0)->severity, NOTIF_WARNING);
    ck_assert_int_eq(fake_notification(1)->severity, NOTIF_OKAY);
    stop();
}
END_TEST

/* What stopped tracing is in the last reading. */
START_TEST(notifies_of_what_ended_a_run)
{
    static const struct hr_osnoise_cpu cpus[] = {{.cpu = 3, .single_count = 1}};
    static const struct hr_osnoise_single_noise single_noise = {
        .cpu = 3, .duration_ns = 60000, .parts_are_all = true};
    const struct hr_osnoise_reading reading = {.elapsed_ns = HR_NS_PER_MS,
                                               .cpus = cpus,
                                               .cpu_count = 1,
                                               .single_noises = &single_noise,
                                               .single_noise_count = 1};

    fake_osnoise_read_last(&reading, -ECANCELED);
    start(10000, 600000);
    await(FAKE_OSNOISE_READ, 1);
    stop();
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_int_eq(fake_notification(0)->severity, NOTIF_WARNING);
}
END_TEST

static void await_notification(const char *message)
{
    for (int i = 0; i < 10000 && fake_notifications() == 0; i++)
        usleep(5000);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_str_eq(fake_notification(0)->message, message);
}

/* Also while nothing can be measured, or alerts aren't wanted any more. */
START_TEST(ends_alarms_of_the_run_before)
{
    static const struct hr_osnoise_cpu cpus[] = {{.cpu = 3}};
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = HR_NS_PER_MS, .cpus = cpus, .cpu_count = 1};

    leave_open(_i == 0 ? "3\topen\tcpu3\n7\topen\tcpu7\n" : "7\topen\tcpu7\n");
    if (_i == 1) {
        const struct osnoise_worker_options options = {
            .root = root, .osnoise = &osnoise, .values = values, .read_ns = HR_NS_PER_MS};
        struct hr_reason reason;
        fake_osnoise_read(&reading);
        ck_assert_int_eq(osnoise_worker_start(&options, &worker, &reason), 0);
        await_notification("max_single: no longer watched: <Alert> is no longer configured");
    } else {
        fake_osnoise_return(FAKE_OSNOISE_BEGIN, -EBUSY, "timerlat is at work: end it");
        start(3600000, 3600000);
        await_notification("max_single: no longer watched: it is no longer measured");
    }
    stop();
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

/* Reading and publishing at once, for ThreadSanitizer. */
START_TEST(publishes_while_it_reads)
{
    static const struct hr_osnoise_cpu cpus[] = {
        {.cpu = 3, .sample_count = 1, .runtime_us = 10, .noise_us = 1}};
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = HR_NS_PER_MS, .cpus = cpus, .cpu_count = 1};
    double seen = 0;

    for (int i = 0; i < 40; i++)
        fake_osnoise_read(&reading);
    start(10000, 600000);
    while (fake_osnoise_count(FAKE_OSNOISE_READ) < 42) {
        fake_read();
        osnoise_values_publish(values);
        if (fake_find("osnoise-cpu3/derive-runtime_us") != NULL)
            seen = fake_find("osnoise-cpu3/derive-runtime_us")->number;
        usleep(1000);
    }
    fake_read();
    osnoise_values_publish(values);
    if (fake_find("osnoise-cpu3/derive-runtime_us") != NULL)
        seen = fake_find("osnoise-cpu3/derive-runtime_us")->number;
    ck_assert_double_eq(seen, 400);
}
END_TEST

/* --- Pauses --------------------------------------------------------------- */

static void write_pause(uint64_t seconds)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    tree_write(tree, HR_OSNOISE_PAUSE_PATH, "until %llu\n",
               ((unsigned long long)now.tv_sec + seconds) * 1000000000);
}

START_TEST(a_pause_ends_a_run_until_it_is_over)
{
    start(1000000, 1000000); /* a retry would be late */
    await(FAKE_OSNOISE_READ, 2);
    write_pause(600);
    await_log(1, "noise is not measured: headroom osnoise --pause leaves the tracer to others");
    ck_assert_uint_ge(fake_osnoise_count(FAKE_OSNOISE_END),
                      1); /* once more each time it is looked */
    ck_assert(!fake_osnoise_runs());
    usleep(50000); /* several times that it is looked */
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_BEGIN), 1);
    tree_remove(tree, HR_OSNOISE_PAUSE_PATH);
    await(FAKE_OSNOISE_BEGIN, 2);
    await_log(1, "noise is being measured now");
    ck_assert_uint_eq(fake_logs(0, "noise is not measured"), 1);
}
END_TEST

START_TEST(a_pause_that_lasts_at_the_start_is_kept)
{
    write_pause(600);
    start(1000000, 1000000);
    await_log(1, "headroom osnoise --pause leaves the tracer to others");
    ck_assert_uint_eq(fake_osnoise_count(FAKE_OSNOISE_BEGIN), 0);
    write_pause(0);
    await(FAKE_OSNOISE_BEGIN, 1);
}
END_TEST

/* Each time that a run ends, also without a pause. */
static void end_pause(__attribute__((unused)) void *context)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", tree_path(tree), HR_OSNOISE_PAUSE_PATH);
    unlink(path);
}

/* It may end while the run is being ended for it: the next doesn't wait as for a fault. */
START_TEST(a_pause_that_is_over_at_once_delays_nothing)
{
    fake_osnoise_on(FAKE_OSNOISE_END, end_pause, NULL);
    if (_i == 0)
        write_pause(600);
    start(1000000, 1000000);
    if (_i == 1) {
        await(FAKE_OSNOISE_READ, 2);
        write_pause(600);
        await_log(1, "noise is not measured");
    }
    await(FAKE_OSNOISE_BEGIN, _i == 0 ? 1 : 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("worker");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, reads_until_it_is_stopped);
    tcase_add_test(tests, stops_at_once_while_it_waits);
    tcase_add_test(tests, tries_again_and_says_so_once);
    tcase_add_test(tests, waits_longer_when_runs_are_cancelled);
    tcase_add_test(tests, waits_no_longer_than_the_limit);
    tcase_add_test(tests, waits_no_longer_after_a_long_run);
    tcase_add_test(tests, takes_the_end_of_another_for_no_fault);
    tcase_add_test(tests, reads_when_the_kernel_does_not_look);
    tcase_add_loop_test(tests, reads_early_of_a_long_period, 0, 2);
    tcase_add_test(tests, reports_what_it_cannot_restore);
    tcase_add_test(tests, reports_why_it_cannot_start);
    tcase_add_test(tests, notifies_without_a_lock);
    tcase_add_test(tests, notifies_of_what_ended_a_run);
    tcase_add_loop_test(tests, ends_alarms_of_the_run_before, 0, 2);
    tcase_add_test(tests, a_pause_ends_a_run_until_it_is_over);
    tcase_add_test(tests, a_pause_that_lasts_at_the_start_is_kept);
    tcase_add_loop_test(tests, a_pause_that_is_over_at_once_delays_nothing, 0, 2);
    tcase_add_test(tests, publishes_while_it_reads);
    return run_suite("osnoise worker", tests);
}
