/* SPDX-License-Identifier: MIT */
/*
 * plugin/wss/check_plugin_wss_job.c - the plugin wss: when a target begins and is read, and what is
 * logged of it, over a stand-in for the collector.
 */
#include "wss/job.h"

#include <check.h>
#include <errno.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "plugin/wss/fake_wss.h"
#include "support/fake_collectd.h"
#include "support/frozen_clock.h"
#include "support/suite.h"
#include "wss/worker.h"

static uint64_t beginning_ns; /* a whole second */
static struct wss_job_context context;
static struct wss_job *job, *other;

static struct wss_target it = {
    .scope = HR_WSS_PROCESSES,
    .label = "it",
    .processes = {.by = HR_PROCESS_BY_PID, .pid = 42},
    .method = HR_WSS_REFERENCED,
};

static void set_up(void)
{
    fake_start_parts();
    fake_wss_reset();
    beginning_ns = (hr_clock_ns() / HR_NS_PER_S + 1) * HR_NS_PER_S;
    frozen_ns = beginning_ns;
    context = (struct wss_job_context){.interval_ns = 2 * HR_NS_PER_S, .values = wss_values_new()};
    wss_overlap_guard_init(&context.overlap_guard, NULL, true, false);
    job = other = NULL;
    it.logged_methods = 0;
    it.method = HR_WSS_REFERENCED;
}

static void tear_down(void)
{
    frozen_ns = 0;
    wss_job_free(job);
    wss_job_free(other);
    wss_values_free(context.values);
    fake_stop();
}

static struct wss_job *new_job(struct wss_target *target, uint64_t first_ns)
{
    struct wss_job *made = wss_job_new(&context, target, NULL, target->label, first_ns);

    ck_assert_ptr_nonnull(made);
    return made;
}

/* Runs a job, and lets the time pass until it is due again. */
static void run(struct wss_job *due)
{
    const uint64_t next_ns = wss_job_run(due);

    if (next_ns > frozen_ns)
        frozen_ns = next_ns;
}

/* A target measured by damon makes it come and go for one measured by clearing bits. */
START_TEST(warns_once_of_damon)
{
    fake_wss.method = HR_WSS_REFERENCED;
    job = new_job(&it, beginning_ns);
    for (int i = 0; i < 6; i++) {
        fake_wss.sample.damon_path = i % 2 == 0 ? "/sys/kernel/mm/damon" : NULL;
        run(job);
        run(job);
    }
    ck_assert_uint_eq(fake_wss.reads, 6);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "DAMON is at work"), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 1);
}
END_TEST

/* That they are held while the thread runs is what MaxScanTime is for. */
START_TEST(warns_of_locks_that_are_held_without_running)
{
    static const struct {
        uint64_t held_ms, cpu_ms;
        size_t logs;
    } locks[] = {{90, 1, 0}, {150, 100, 0}, {150, 10, 1}, {290, 10, 1}, {300, 10, 2}, {0, 0, 2}};

    fake_wss.method = HR_WSS_REFERENCED;
    job = new_job(&it, beginning_ns);
    for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
        fake_wss.sample.worst_lock =
            (struct hr_wss_lock){.held_ns = locks[i].held_ms * HR_NS_PER_MS,
                                 .cpu_ns = locks[i].cpu_ms * HR_NS_PER_MS,
                                 .pid = 423,
                                 .name = "mysqld"};
        run(job);
        run(job);
        ck_assert_uint_eq(
            fake_logs(LOG_WARNING, "the memory map of mysqld[423] was locked for up to "),
            locks[i].logs);
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING,
                                "locked for up to 150 ms, in which the referenced method ran "
                                "for 10 ms: "),
                      1);
}
END_TEST

/* Of the methods whose readings share a file. */
START_TEST(begins_at_a_whole_second)
{
    const uint64_t first_ns = beginning_ns + 300 * HR_NS_PER_MS;

    fake_wss.ends_windows = true;
    it.method = fake_wss.method = HR_WSS_LRU_GEN;
    frozen_ns = first_ns;
    job = new_job(&it, first_ns);
    ck_assert_uint_eq(wss_job_run(job), beginning_ns + HR_NS_PER_S);
    ck_assert_uint_eq(fake_wss.begins, 0);
    for (uint64_t second = 1; second < 9; second += 2) {
        frozen_ns = beginning_ns + second * HR_NS_PER_S + 50 * HR_NS_PER_MS; /* a little late */
        ck_assert_uint_eq(wss_job_run(job), beginning_ns + (second + 2) * HR_NS_PER_S);
        frozen_ns = beginning_ns + (second + 2) * HR_NS_PER_S;
        ck_assert_uint_le(wss_job_run(job), frozen_ns); /* the next begins at once */
    }
    ck_assert_uint_eq(fake_wss.reads, 4);
    ck_assert_uint_eq(fake_wss.begins, 4);
}
END_TEST

/* At 1.5 s no other target is ever due at the same time, but none loses time. */
START_TEST(keeps_an_interval_that_is_no_whole_number)
{
    context.interval_ns = 3 * HR_NS_PER_S / 2;
    fake_wss.ends_windows = true;
    it.method = fake_wss.method = HR_WSS_LRU_GEN;
    job = new_job(&it, beginning_ns);
    while (frozen_ns < beginning_ns + 60 * HR_NS_PER_S)
        run(job);
    ck_assert_uint_ge(fake_wss.reads, 38);
    ck_assert_uint_le(fake_wss.reads, 40);
}
END_TEST

static struct wss_target by_name = {
    .scope = HR_WSS_PROCESSES,
    .label = "named",
    .processes = {.by = HR_PROCESS_BY_NAME, .text = "named"},
    .method = HR_WSS_REFERENCED,
};

/* @return when the interval that a time is in began: intervals begin where all jobs know. */
static uint64_t interval_begin_ns(uint64_t at_ns)
{
    return at_ns / context.interval_ns * context.interval_ns;
}

/* One reading of all processes' names serves all targets by name that are due together. */
START_TEST(begins_with_all_others_by_name)
{
    const uint64_t next_ns = interval_begin_ns(beginning_ns) + context.interval_ns;

    frozen_ns = next_ns - 700 * HR_NS_PER_MS;
    job = new_job(&by_name, frozen_ns);
    ck_assert_uint_eq(wss_job_run(job), next_ns);
    ck_assert_uint_eq(fake_wss.begins, 0);
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t at_ns = next_ns + i * context.interval_ns;
        frozen_ns = at_ns + 70 * HR_NS_PER_MS; /* after some others */
        ck_assert_uint_eq(wss_job_run(job), at_ns + context.interval_ns);
        frozen_ns = at_ns + context.interval_ns;
        ck_assert_uint_le(wss_job_run(job), frozen_ns); /* the next begins at once */
    }
    ck_assert_uint_eq(fake_wss.reads, 4);
    ck_assert_uint_eq(fake_wss.begins, 4);
}
END_TEST

START_TEST(looks_at_each_interval_for_processes_of_a_name)
{
    const uint64_t next_ns = interval_begin_ns(beginning_ns) + context.interval_ns;

    fake_wss.begin_status = -ESRCH;
    job = new_job(&by_name, next_ns);
    for (uint64_t i = 0; i < 4; i++) {
        frozen_ns = next_ns + i * context.interval_ns + 70 * HR_NS_PER_MS;
        ck_assert_uint_eq(wss_job_run(job), next_ns + (i + 1) * context.interval_ns);
        ck_assert_uint_eq(fake_wss.begins, i + 1);
    }
}
END_TEST

static struct wss_target by_damon = {
    .scope = HR_WSS_PROCESSES,
    .label = "other",
    .processes = {.by = HR_PROCESS_BY_PID, .pid = 43},
    .method = HR_WSS_DAMON,
};

START_TEST(reports_a_method_that_replaced_another)
{
    it.method = HR_WSS_AUTO;
    fake_wss.method = HR_WSS_REFERENCED;
    fake_wss.replacement = HR_WSS_DAMON;
    job = new_job(&it, beginning_ns);
    for (int i = 0; i < 5; i++)
        run(job);
    ck_assert_uint_eq(fake_wss.begins, 3);
    ck_assert_uint_eq(fake_logs(LOG_INFO, "it is measured with the damon method now, as with the "
                                          "referenced method scanning takes too long"),
                      1);
    ck_assert_uint_eq(fake_logs(0, NULL), 2); /* and the one that it began with */
}
END_TEST

/* Only one target can have damon: the method that is about to begin counts, not the one before. */
START_TEST(compares_the_method_that_replaces_another)
{
    fake_wss.method = fake_wss.replacement = HR_WSS_DAMON;
    other = new_job(&by_damon, beginning_ns);
    run(other);
    it.method = HR_WSS_AUTO;
    fake_wss.method = HR_WSS_REFERENCED;
    job = new_job(&it, beginning_ns);
    run(job);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "it is not measured: "), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "only one target, which is other"), 1);
    ck_assert_uint_eq(fake_logs(0, "method now"), 0);
}
END_TEST

START_TEST(reports_what_cannot_be_read)
{
    fake_wss.method = HR_WSS_REFERENCED;
    fake_wss.read_status = -EBUSY;
    job = new_job(&it, beginning_ns);
    run(job);
    run(job);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "it is not measured: it can't be read."), 1);
}
END_TEST

/* A reading that the end of collectd interrupts fails as if another program had interfered. */
START_TEST(reports_nothing_of_its_own_interruption)
{
    static struct wss_target system_target = {.scope = HR_WSS_SYSTEM,
                                              .label = "system",
                                              .method = HR_WSS_DAMON,
                                              .window_count = 1,
                                              .windows_ms = {1}};
    static struct wss_targets targets = {.blocks = &system_target, .block_count = 1};
    const struct wss_worker_options options = {.selection = selection_new("wss", NULL),
                                               .targets = &targets,
                                               .values = context.values,
                                               .interval_ns = HR_NS_PER_S};
    struct wss_worker *worker;

    frozen_ns = 0;
    fake_wss.method = HR_WSS_DAMON;
    fake_wss.blocks = true;
    ck_assert_int_eq(wss_worker_start(&options, &worker), 0);
    while (!fake_wss.is_reading)
        usleep(1000);
    wss_worker_stop(worker);
    ck_assert(fake_wss.is_interrupted);
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
    selection_free(options.selection);
}
END_TEST

/* Once a second the kernel prints what all of them read, after the windows of all have ended. */
START_TEST(ends_all_windows_that_are_due_before_it_reads)
{
    static struct wss_target both[] = {
        {.scope = HR_WSS_PROCESSES, .label = "a", .processes.pid = 42, .method = HR_WSS_LRU_GEN},
        {.scope = HR_WSS_PROCESSES, .label = "b", .processes.pid = 43, .method = HR_WSS_LRU_GEN}};
    static struct wss_targets targets = {.blocks = both, .block_count = 2};
    const struct wss_worker_options options = {.selection = selection_new("wss", NULL),
                                               .targets = &targets,
                                               .values = context.values,
                                               .interval_ns = 20 * HR_NS_PER_MS};
    struct wss_worker *worker;

    fake_wss.method = HR_WSS_LRU_GEN;
    fake_wss.ends_windows = true;
    ck_assert_int_eq(wss_worker_start(&options, &worker), 0);
    /* The second begins an interval later than the first, which is read then. */
    for (size_t i = 0; i < 3; i++) {
        while (fake_wss.begins < 2 * i + 1)
            usleep(1000);
        frozen_ns += options.interval_ns;
    }
    while (fake_wss.reads < 5)
        usleep(1000);
    wss_worker_stop(worker);
    ck_assert_uint_eq(fake_wss.most_ended, 2);
    ck_assert_uint_eq(fake_wss.ended, 0);
    selection_free(options.selection);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("job");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, warns_once_of_damon);
    tcase_add_test(tests, warns_of_locks_that_are_held_without_running);
    tcase_add_test(tests, begins_at_a_whole_second);
    tcase_add_test(tests, keeps_an_interval_that_is_no_whole_number);
    tcase_add_test(tests, begins_with_all_others_by_name);
    tcase_add_test(tests, looks_at_each_interval_for_processes_of_a_name);
    tcase_add_test(tests, reports_a_method_that_replaced_another);
    tcase_add_test(tests, compares_the_method_that_replaces_another);
    tcase_add_test(tests, reports_what_cannot_be_read);
    tcase_add_test(tests, ends_all_windows_that_are_due_before_it_reads);
    tcase_add_test(tests, reports_nothing_of_its_own_interruption);
    return run_suite("plugin wss job", tests);
}
