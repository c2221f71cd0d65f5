/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_conflicts_live.c - the osnoise tracer on the running kernel: other users of
 * tracers, CPUs that go offline and online, dangerous settings, and machines where it can't be
 * used.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/osnoise/osnoise_live.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"

#define OTHER "headroom-test"
#define CPU1  "/sys/devices/system/cpu/cpu1/online"

static void assert_reason(const char *part)
{
    ck_assert_msg(strstr(live.reason.text, part) != NULL, "no \"%s\" in \"%s\"", part,
                  live.reason.text);
    /* "cause: remedy" */
    ck_assert_msg(strstr(live.reason.text, ": ") != NULL, "%s", live.reason.text);
}

/* Reads until a CPU has samples. */
static bool hear(unsigned cpu)
{
    for (int i = 0; i < 100; i++) {
        live_sleep_ms(100);
        live_read();
        if (live_cpu(cpu)->sample_count > 0)
            return true;
    }
    return false;
}

/* --- Other users ---------------------------------------------------------- */

static const char *const tracers[] = {"timerlat", "osnoise"};
static const enum hr_osnoise_mode modes[] = {HR_OSNOISE_WORKLOAD, HR_OSNOISE_TIMERLAT};

START_TEST(waits_for_the_one_that_was_there_first)
{
    char during[LIVE_LISTING], after[LIVE_LISTING];

    live_set("osnoise/cpus", "1");
    live_set("osnoise/runtime_us", "100000");
    live_list(live.before);
    live_instance_make(OTHER, tracers[_i]);
    live_list(during);
    live_open();
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -EBUSY);
    assert_reason(OTHER);
    assert_reason(tracers[_i]);
    live_list(after);
    ck_assert_str_eq(during, after);
    live_instance_remove(OTHER);
    live_begin();
    live_end();
}
END_TEST

START_TEST(begins_beside_functions_that_an_instance_traces)
{
    live_instance_make(OTHER, "nop");
    live_set("instances/" OTHER "/set_ftrace_filter", "schedule");
    live_set("instances/" OTHER "/current_tracer", "function");
    live.options.mode = modes[_i];
    live.options.timerlat = hr_osnoise_defaults.timerlat;
    live_begin();
    ck_assert(hear(0));
    live_end();
    ck_assert(live_has_word("instances/" OTHER "/current_tracer", "function"));
    live_instance_remove(OTHER);
}
END_TEST

/* The defaults would have the workload take their CPUs whole. */
START_TEST(keeps_the_settings_for_those_that_joined)
{
    live_begin();
    live_instance_make(OTHER, "osnoise");
    live_sleep_ms(300);
    live_read();
    ck_assert_int_eq(hr_osnoise_end(live.osnoise, &live.reason), -EBUSY);
    assert_reason(OTHER);
    ck_assert(live_has_word("osnoise/runtime_us", "100000"));
    ck_assert(live_has_word("osnoise/period_us", "200000"));
    ck_assert_uint_eq(live_count_workers(), 2);
    ck_assert_int_eq(hr_osnoise_recover(live.root, LIVE_STATE_PATH, &live.reason), -EBUSY);
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -EBUSY);
    ck_assert(live_has_word("osnoise/runtime_us", "100000"));

    live_instance_remove(OTHER);
    if (_i == 0) {
        ck_assert_msg(hr_osnoise_recover(live.root, LIVE_STATE_PATH, &live.reason) == 0, "%s",
                      live.reason.text);
        live_assert_restored();
    }
    live_begin();
    live_end();
}
END_TEST

START_TEST(attaches_to_no_tracer)
{
    live.options.mode = HR_OSNOISE_ATTACH;
    live_open();
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -EAGAIN);
    assert_reason("no program runs the osnoise tracer");
}
END_TEST

/* Reads until a CPU has samples, or sources where the kernel has samples for the other alone. */
static bool hear_attached(unsigned cpu)
{
    for (int i = 0; i < 100; i++) {
        live_sleep_ms(100);
        live_read();
        if (live_cpu(cpu)->sample_count > 0)
            return true;
        for (size_t s = 0; live.reading.lacks_samples && s < live.reading.source_count; s++)
            if (live.reading.sources[s].cpu == cpu)
                return true;
    }
    return false;
}

/* How the other leaves. */
static void leave_by_nop(void)
{
    live_set("instances/" OTHER "/current_tracer", "nop");
}

static void leave_by_removal(void)
{
    ck_assert_int_eq(rmdir("/sys/kernel/tracing/instances/" OTHER), 0);
}

static void (*const leavings[])(void) = {leave_by_nop, leave_by_removal};

/* Its workload ends with it, however late we read. */
START_TEST(leaves_with_the_one_it_is_attached_to)
{
    live_set("osnoise/runtime_us", "100000");
    live_instance_make(OTHER, "osnoise");
    live.options.mode = HR_OSNOISE_ATTACH;
    live.options.by_source = true;
    int descriptors = count_descriptors();
    live_begin();
    ck_assert(hear_attached(0));
    ck_assert_uint_eq(live.reading.cpu_count, 2);

    /* One that goes on is as good. */
    live_instance_make("headroom-test-2", "osnoise");
    leavings[_i]();
    live_read();
    ck_assert_uint_eq(live_count_workers(), 2);
    live_instance_remove("headroom-test-2");
    ck_assert_uint_eq(live_count_workers(), 0);
    ck_assert_int_eq(hr_osnoise_read(live.osnoise, &live.reading, &live.reason), -EAGAIN);
    ck_assert_int_eq(count_descriptors(), descriptors);
    if (_i == 0)
        leave_by_removal();
    live_set("osnoise/runtime_us", "1000000");
}
END_TEST

/* One that runs it without an instance of its own. */
START_TEST(attaches_to_the_top)
{
    live_set("osnoise/cpus", "1");
    live_set("osnoise/runtime_us", "100000");
    live_set("current_tracer", "osnoise");
    live.options.mode = HR_OSNOISE_ATTACH;
    live.options.by_source = true;
    live.options.cpus = (struct hr_cpu_choice){0};
    live_begin();
    ck_assert(hear_attached(1));
    ck_assert_uint_eq(live.reading.cpu_count, 1);
    live_set("current_tracer", "nop");
    ck_assert_uint_eq(live_count_workers(), 0);
    ck_assert_int_eq(hr_osnoise_read(live.osnoise, &live.reading, &live.reason), -EAGAIN);
    live_set("osnoise/runtime_us", "1000000");
    live_set("osnoise/cpus", "0-1");
}
END_TEST

/* --- CPUs that come and go ------------------------------------------------ */

START_TEST(goes_on_when_a_cpu_goes_and_comes)
{
    live_begin();
    ck_assert(hear(1));
    live_set(CPU1, "0");
    live_sleep_ms(100);
    live_read(); /* with what it has had before */
    for (int i = 0; i < 4; i++) {
        live_sleep_ms(200);
        live_read();
        ck_assert_int_eq(live_cpu(1)->state, HR_OSNOISE_CPU_OFFLINE);
        ck_assert_uint_eq(live_cpu(1)->sample_count, 0);
        ck_assert_int_eq(live_cpu(0)->state, HR_OSNOISE_CPU_FINE);
    }
    ck_assert(hear(0));
    live_set(CPU1, "1");
    ck_assert(hear(1));
    ck_assert_int_eq(live_cpu(1)->state, HR_OSNOISE_CPU_FINE);
}
END_TEST

START_TEST(begins_with_a_cpu_offline)
{
    live_set(CPU1, "0");
    live_begin();
    ck_assert(hear(0));
    ck_assert_int_eq(live_cpu(1)->state, HR_OSNOISE_CPU_OFFLINE);
    live_set(CPU1, "1");
    ck_assert(hear(1));
}
END_TEST

static void assert_no_spike(void)
{
    for (size_t i = 0; i < live.reading.source_count; i++)
        ck_assert_msg(live.reading.sources[i].duration_ns <= live.since_ns + 200000000,
                      "CPU %u: %s had %" PRIu64 " of %" PRIu64 " ns", live.reading.sources[i].cpu,
                      live.reading.sources[i].name, live.reading.sources[i].duration_ns,
                      live.since_ns);
}

/* What ran on it before it went isn't said to have run until it came. */
START_TEST(has_no_spike_when_a_cpu_comes)
{
    bool has_any = false;

    live.options.mode = HR_OSNOISE_SOURCES;
    live_begin();
    live_sleep_ms(300);
    live_read();
    live_set(CPU1, "0");
    live_sleep_ms(1500);
    live_read();
    ck_assert_int_eq(live_cpu(1)->state, HR_OSNOISE_CPU_OFFLINE);
    live_set(CPU1, "1");
    for (int i = 0; i < 6 || (!has_any && i < 100); i++) {
        live_sleep_ms(200);
        live_read();
        assert_no_spike();
        for (size_t j = 0; j < live.reading.source_count; j++)
            has_any |= live.reading.sources[j].cpu == 1;
    }
    ck_assert(has_any);
}
END_TEST

/* --- Dangerous settings --------------------------------------------------- */

START_TEST(warns_of_a_limit_that_stops_tracing)
{
    live.options.max_single_ns = 1000 * live.options.threshold_us;
    live_begin();
    live_read();
    ck_assert_int_eq(live.reading.warning.error, 0);
    live_end();
    /* Not meanwhile: until the period ends the kernel takes it for 0, which all noise is above. */
    live_set("osnoise/stop_tracing_us", "60000000");
    live_begin();
    live_sleep_ms(300);
    live_read();
    ck_assert_int_ne(live.reading.warning.error, 0);
    ck_assert_ptr_nonnull(strstr(live.reading.warning.text, "stop_tracing_us"));
    /* A limit that is crossed ends the run, with the cause, and the noise is in the reading. */
    live_set("osnoise/stop_tracing_us", "1");
    int status = 0;
    for (int i = 0; i < 100 && status == 0; i++) {
        live_sleep_ms(100);
        status = hr_osnoise_read(live.osnoise, &live.reading, &live.reason);
    }
    ck_assert_int_eq(status, -ECANCELED);
    assert_reason("stop_tracing_us");
    ck_assert_uint_gt(live.reading.single_noise_count, 0);
    ck_assert_uint_gt(live.reading.single_noises[0].duration_ns, live.options.max_single_ns);
    live_set("osnoise/stop_tracing_us", "0");
    live_assert_restored();
}
END_TEST

START_TEST(does_not_begin_where_noise_means_panic)
{
    live_set("osnoise/stop_tracing_us", "60000000");
    live_set("osnoise/options", "PANIC_ON_STOP");
    live_open();
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -EBUSY);
    assert_reason("PANIC_ON_STOP");
    live_set("osnoise/stop_tracing_us", "0");
    live_begin();
    live_read();
    ck_assert_int_ne(live.reading.warning.error, 0);
    ck_assert_ptr_nonnull(strstr(live.reading.warning.text, "PANIC_ON_STOP"));
    live_end();
    live_set("osnoise/options", "NO_PANIC_ON_STOP");
}
END_TEST

/* --- Machines where it can't be used -------------------------------------- */

/* What can't be undone is done in a child. */
static void assert_in_child(void (*child_main)(void))
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        child_main();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static void expect(int error, const char *part)
{
    int begun = hr_osnoise_begin(live.osnoise, &live.reason);

    if (begun == error && strstr(live.reason.text, part) != NULL &&
        strstr(live.reason.text, ": ") != NULL &&
        hr_osnoise_probe(live.root, live.options.mode, &live.reason) == error)
        return;
    printf("# begin: %d: %s\n", begun, live.reason.text);
    fflush(stdout);
    _exit(1);
}

static void try_without_rights(void)
{
    if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
        _exit(2);
    expect(-EACCES, "as root");
}

static void try_without_tracefs(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        _exit(2);
    umount2("/sys/kernel/debug/tracing", MNT_DETACH);
    if (umount2("/sys/kernel/debug", MNT_DETACH) < 0 ||
        umount2("/sys/kernel/tracing", MNT_DETACH) < 0)
        _exit(3);
    /* The root that is open still leads to what is mounted outside. */
    hr_osnoise_close(live.osnoise);
    live.osnoise = NULL;
    hr_root_close(live.root);
    if (hr_root_open("/", &live.root) < 0)
        _exit(4);
    live_open();
    expect(-ENOENT, "mount");
}

START_TEST(reports_missing_rights)
{
    live.options.mode = _i == 0 ? HR_OSNOISE_WORKLOAD : HR_OSNOISE_SOURCES;
    live_open();
    assert_in_child(try_without_rights);
}
END_TEST

START_TEST(reports_a_missing_tracefs)
{
    live_open();
    assert_in_child(try_without_tracefs);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise trouble live");

    if (!live_can_run(HR_OSNOISE_WORKLOAD))
        return 0;
    tcase_add_checked_fixture(tests, live_set_up, live_tear_down);
    tcase_add_loop_test(tests, waits_for_the_one_that_was_there_first, 0, 2);
    tcase_add_loop_test(tests, begins_beside_functions_that_an_instance_traces, 0, 2);
    tcase_add_loop_test(tests, keeps_the_settings_for_those_that_joined, 0, 2);
    tcase_add_test(tests, attaches_to_no_tracer);
    tcase_add_loop_test(tests, leaves_with_the_one_it_is_attached_to, 0, 2);
    tcase_add_test(tests, attaches_to_the_top);
    tcase_add_test(tests, goes_on_when_a_cpu_goes_and_comes);
    tcase_add_test(tests, begins_with_a_cpu_offline);
    tcase_add_test(tests, has_no_spike_when_a_cpu_comes);
    tcase_add_test(tests, warns_of_a_limit_that_stops_tracing);
    tcase_add_test(tests, does_not_begin_where_noise_means_panic);
    tcase_add_loop_test(tests, reports_missing_rights, 0, 2);
    tcase_add_test(tests, reports_a_missing_tracefs);
    tcase_set_timeout(tests, 60);
    return run_suite("osnoise trouble live", tests);
}
