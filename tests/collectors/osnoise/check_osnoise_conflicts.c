/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_conflicts.c - runs of the osnoise tracer beside other programs that use
 * it, or change its settings. Over a stand-in for tracefs.
 */
#include "collectors/osnoise/run_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fake_tracefs.h"
#include "support/suite.h"

/* Another program runs the tracer, on a kernel whose samples are events. */
static void begin_leader(void)
{
    fake_tracefs_add_sample_event();
    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
}

/* --- Locks ---------------------------------------------------------------- */

static bool forks_when_locked;
static pid_t forked;
static char tracer_when_unlocked[32];

/* Takes the place of libc's. */
int flock(int fd, int operation)
{
    int status = (int)syscall(SYS_flock, fd, operation);
    char link[64], path[512] = "";

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof(path) - 1) < 0)
        return status;
    if (operation == LOCK_UN && strstr(path, "/tracing_on") != NULL)
        snprintf(tracer_when_unlocked, sizeof(tracer_when_unlocked), "%s",
                 instance_file("current_tracer"));
    if (forks_when_locked && forked == 0 && (forked = fork()) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return status;
}

static void assert_tracer_unlocked(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/" FAKE_TRACEFS "/osnoise", tree_path(tree));
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(lock, 0);
    ck_assert_int_eq(flock(lock, LOCK_EX | LOCK_NB), 0);
    close(lock);
}

/* Its lock can't be tried, as its file can't be opened. */
static void hide_from_judging(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/" FAKE_TRACEFS "/instances/%s/tracing_on", tree_path(tree),
             name);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("tracing_on", path), 0);
}

/* --- A tracer that runs already ------------------------------------------- */

static const enum hr_osnoise_mode modes[] = {HR_OSNOISE_WORKLOAD, HR_OSNOISE_SOURCES,
                                             HR_OSNOISE_TIMERLAT};

START_TEST(others_come_first)
{
    static const struct {
        const char *instance, *tracer, *expected;
    } rows[] = {
        {"rtla_timerlat", "timerlat", "the trace instance rtla_timerlat runs the timerlat tracer"},
        {"rtla_top", "osnoise", "use the attach mode"},
        {"headroom_osnoise_1", "osnoise", "that goes on, maybe in a container: wait until"},
        {NULL, "function", "the top-level trace instance runs the function tracer"},
    };
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");
    char file[128] = "current_tracer";

    if (rows[_i].instance != NULL) {
        fake_tracefs_add_instance(rows[_i].instance);
        snprintf(file, sizeof(file), "instances/%s/current_tracer", rows[_i].instance);
    }
    fake_tracefs_set(file, "%s\n", rows[_i].tracer);
    const int lock = _i == 2 ? lock_instance(rows[_i].instance) : -1;
    open_run(&options);
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, rows[_i].expected);
    ck_assert_str_eq(fake_tracefs_log(), ""); /* nothing was even tried */

    fake_tracefs_set(file, "nop\n");
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
    if (lock >= 0) {
        close(lock);
        fake_tracefs_remove_instance(rows[_i].instance);
    }
}
END_TEST

/* It has no setting in common with ours; those of the other tracers of functions are in the way. */
START_TEST(functions_traced_in_an_instance_arent_in_the_way)
{
    struct hr_osnoise_options options = options_of(modes[_i], "1");

    fake_tracefs_add_instance("other");
    fake_tracefs_set("instances/other/current_tracer", "function_graph\n");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, "the trace instance other runs the function_graph tracer");

    fake_tracefs_set("instances/other/current_tracer", "function\n");
    ck_assert_msg(hr_osnoise_begin(osnoise, &reason) == 0, "%s", reason.text);
    read_run();
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
    ck_assert_str_eq(fake_tracefs_get("instances/other/current_tracer"), "function\n");
}
END_TEST

/* By its name and its lock it is known whether the run of a state file goes on: so no other may
 * have it, as that of another container, whose process has the same PID. */
START_TEST(no_name_is_used_twice)
{
    char first[sizeof(instance)];

    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    snprintf(first, sizeof(first), "%s", instance);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
    find_instance(getpid());
    ck_assert_str_ne(instance, first);
}
END_TEST

/* Whether it goes on isn't known. */
START_TEST(one_that_cant_be_judged)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");

    fake_tracefs_add_instance("headroom_osnoise_1");
    fake_tracefs_set("instances/headroom_osnoise_1/current_tracer", "osnoise\n");
    hide_from_judging("headroom_osnoise_1");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, "headroom_osnoise_1 runs the osnoise tracer: wait until it has ended, or "
                          "use the attach mode");
}
END_TEST

START_TEST(attaching_changes_nothing)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_ATTACH, "");

    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EAGAIN);
    assert_reason(-EAGAIN, "no program runs the osnoise tracer");
    assert_restored();

    begin_leader();
    fake_tracefs_set("osnoise/cpus", "2-3\n");
    snprintf(settings_before, sizeof(settings_before), "%s", list_settings());
    ck_assert_msg(hr_osnoise_begin(osnoise, &reason) == 0, "%s", reason.text);
    find_instance(getpid());
    ck_assert_str_eq(list_settings(), settings_before);
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 2);
    ck_assert_uint_eq(reading.cpus[0].cpu, 2);
    ck_assert_str_eq(instance_file("current_tracer"), "nop\n"); /* it keeps no workload running */

    fake_tracefs_set("instances/rtla/current_tracer", "nop\n");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EAGAIN);
    assert_reason(-EAGAIN, "has ended");
    assert_restored();
}
END_TEST

START_TEST(attached_to_one_that_stops_or_changes_something)
{
    static const struct {
        const char *file, *text, *expected;
    } rows[] = {
        {"instances/rtla/tracing_on", "0\n", "has ended"},
        {"osnoise/cpus", "0\n", "cpus from 0-3 to 0: the run to attach to has new settings"},
        {"osnoise/runtime_us", "5000\n", "runtime_us from 1000000 to 5000"},
    };

    begin_leader();
    begin_mode(HR_OSNOISE_ATTACH, "");
    read_run();
    fake_tracefs_set(rows[_i].file, "%s", rows[_i].text);
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EAGAIN);
    assert_reason(-EAGAIN, rows[_i].expected);
    ck_assert(!fake_tracefs_has(instance));
    /* What was stopped isn't started again. */
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), _i == 0 ? -EAGAIN : 0);
}
END_TEST

/* It isn't what is attached to. */
START_TEST(attached_to_osnoise_whatever_is_set_for_timerlat)
{
    static const struct {
        const char *file, *text;
    } rows[] = {
        {"osnoise/timerlat_period_us", "2000\n"},
        {"osnoise/print_stack", "20\n"},
        {"osnoise/options", "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE "
                            "NO_OSNOISE_IRQ_DISABLE TIMERLAT_ALIGN \n"},
    };

    begin_leader();
    begin_mode(HR_OSNOISE_ATTACH, "");
    fake_tracefs_set(rows[_i].file, "%s", rows[_i].text);
    read_run();
    fake_tracefs_set("osnoise/options", "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP "
                                        "NO_OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE \n");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EAGAIN);
    assert_reason(-EAGAIN, "OSNOISE_IRQ_DISABLE from off to on");
}
END_TEST

/* The kernel counts the noise of all its CPUs, and drops what its tables have no room for. */
START_TEST(attached_to_one_that_measures_many_cpus)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_ATTACH, "1");

    options.by_source = true;
    tree_write(tree, "sys/devices/system/cpu/possible", "0-511\n");
    tree_write(tree, "sys/devices/system/cpu/online", "0-255\n");
    fake_tracefs_set("osnoise/cpus", "0-1023\n");
    begin_leader();
    begin_run(&options);
    const char *trigger = instance_file("events/osnoise/irq_noise/trigger");
    ck_assert_ptr_nonnull(strstr(trigger, "keys=common_cpu:vals=duration:size=1024 "));
    ck_assert_ptr_nonnull(strstr(trigger, "keys=common_cpu,desc:vals=duration:size=16384 "));
    ck_assert_str_eq(instance_file("tracing_cpumask"), "2\n");
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 1);
}
END_TEST

START_TEST(attaching_to_cpus_that_the_other_doesnt_measure)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_ATTACH, "0-1");

    begin_leader();
    fake_tracefs_set("osnoise/cpus", "1-3\n");
    begin_run(&options);
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 1);
    ck_assert_uint_eq(reading.cpus[0].cpu, 1);
    hr_osnoise_end(osnoise, NULL);

    fake_tracefs_set("osnoise/cpus", "2-3\n");
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -ENXIO);
    assert_reason(-ENXIO, "measures none of the CPUs");
}
END_TEST

START_TEST(attaching_without_samples_needs_something_to_count)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_ATTACH, "");

    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EOPNOTSUPP);
    assert_reason(-EOPNOTSUPP, "need Linux 6.15 or later: count noise by its source");
    assert_restored();
    hr_osnoise_close(osnoise);

    options.by_source = _i == 0;
    options.histogram = _i == 1;
    options.max_single_ns = _i == 2 ? 50000 : 0;
    begin_run(&options);
    read_run();
    ck_assert(reading.lacks_samples);
    ck_assert_str_eq(instance_file("current_tracer"), "nop\n");
}
END_TEST

/* --- What was left behind ------------------------------------------------- */

/* Of a run that was killed, whose state file went with its container. */
static void leave_behind(const char *name)
{
    char file[128];

    fake_tracefs_add_instance(name);
    snprintf(file, sizeof(file), "instances/%s/current_tracer", name);
    fake_tracefs_set(file, "osnoise\n");
    fake_tracefs_set("osnoise/options", "OSNOISE_WORKLOAD NO_PANIC_ON_STOP "
                                        "NO_OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE \n");
}

static void begin_after_it(void)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
}

static void remove_it(void)
{
    ck_assert_int_eq(hr_osnoise_remove_left_behind(root, NULL, &reason), 0);
}

static void (*const removals[])(void) = {begin_after_it, remove_it};

START_TEST(an_instance_that_was_left_behind_is_removed)
{
    leave_behind("headroom_osnoise_7");
    removals[_i]();
    ck_assert(!fake_tracefs_has("instances/headroom_osnoise_7"));
    ck_assert_ptr_nonnull(strstr(fake_tracefs_get("osnoise/options"), "NO_OSNOISE_IRQ_DISABLE"));
}
END_TEST

static void fail_to_begin(void)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");

    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    hr_osnoise_close(osnoise);
    osnoise = NULL;
}

static void fail_to_remove(void)
{
    ck_assert_int_eq(hr_osnoise_remove_left_behind(root, NULL, &reason), -EBUSY);
    assert_reason(-EBUSY,
                  "the trace instance rtla_hwnoise runs the osnoise tracer with interrupts");
    assert_reason(-EBUSY, "end it, then headroom osnoise --restore");
}

static void (*const failures[])(void) = {fail_to_begin, fail_to_remove};

/* One that runs now may want them. Once it has ended they are switched on again, which the instance
 * is a reminder of. */
START_TEST(interrupts_stay_off_for_a_run_of_others)
{
    leave_behind("headroom_osnoise_7");
    fake_tracefs_add_instance("rtla_hwnoise");
    fake_tracefs_set("instances/rtla_hwnoise/current_tracer", "osnoise\n");
    failures[_i]();
    ck_assert(fake_tracefs_has("instances/headroom_osnoise_7"));
    ck_assert_ptr_null(strstr(fake_tracefs_get("osnoise/options"), "NO_OSNOISE_IRQ_DISABLE"));
    ck_assert_str_eq(fake_tracefs_get("instances/rtla_hwnoise/current_tracer"), "osnoise\n");

    fake_tracefs_remove_instance("rtla_hwnoise");
    removals[_i]();
    ck_assert(!fake_tracefs_has("instances/headroom_osnoise_7"));
    ck_assert_ptr_nonnull(strstr(fake_tracefs_get("osnoise/options"), "NO_OSNOISE_IRQ_DISABLE"));
}
END_TEST

/* Others that were left behind are no run of others. */
START_TEST(all_that_were_left_behind_are_removed)
{
    leave_behind("headroom_osnoise_7");
    leave_behind("headroom_osnoise_8");
    ck_assert_int_eq(hr_osnoise_remove_left_behind(root, NULL, &reason), 0);
    ck_assert(!fake_tracefs_has("instances/headroom_osnoise_7"));
    ck_assert(!fake_tracefs_has("instances/headroom_osnoise_8"));
    ck_assert_ptr_nonnull(strstr(fake_tracefs_get("osnoise/options"), "NO_OSNOISE_IRQ_DISABLE"));
}
END_TEST

/* With the first reason of those that aren't. */
START_TEST(one_that_stays_keeps_no_other)
{
    fake_tracefs_add_instance("headroom_osnoise_6");
    hide_from_judging("headroom_osnoise_6");
    leave_behind("headroom_osnoise_7");
    leave_behind("headroom_osnoise_8");
    fake_tracefs_fail("instances/headroom_osnoise_8", _i == 0 ? 0 : EBUSY);
    ck_assert_int_eq(hr_osnoise_remove_left_behind(root, NULL, &reason), _i == 0 ? -ELOOP : -EBUSY);
    assert_reason(_i == 0 ? -ELOOP : -EBUSY,
                  _i == 0 ? "whether the run of" : "remove the trace instance headroom_osnoise_8");
    ck_assert(!fake_tracefs_has("instances/headroom_osnoise_7"));
    ck_assert(fake_tracefs_has("instances/headroom_osnoise_6"));
    ck_assert_ptr_nonnull(strstr(fake_tracefs_get("osnoise/options"), "NO_OSNOISE_IRQ_DISABLE"));
}
END_TEST

START_TEST(one_with_an_open_file_is_left_as_it_is)
{
    char path[512];

    leave_behind("headroom_osnoise_7");
    snprintf(path, sizeof(path), "%s/" FAKE_TRACEFS "/instances/headroom_osnoise_7/trace",
             tree_path(tree));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_remove_left_behind(root, NULL, &reason), -EBUSY);
    assert_reason(-EBUSY, "end the program that has files of");
    ck_assert_str_eq(fake_tracefs_get("instances/headroom_osnoise_7/tracing_on"), "1\n");
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, "left behind by a run");
    close(fd);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
}
END_TEST

/* A run was killed, and so was a later one, in a container, that had removed its instance and taken
 * over its settings. */
START_TEST(one_that_was_left_behind_keeps_no_settings)
{
    char text[2048];

    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    FILE *file = fopen(state_path, "re");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    tree_write(tree, "osnoise.state", "%s", text);
    fake_tracefs_set("osnoise/runtime_us", "10000\n");
    fake_tracefs_add_instance("headroom_osnoise_7");
    fake_tracefs_set("instances/headroom_osnoise_7/current_tracer", "osnoise\n");
    ck_assert_msg(hr_osnoise_begin(osnoise, &reason) == 0, "%s", reason.text);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

static void note_instance(const char *name, bool is_alive, void *context)
{
    char *notes = context;

    snprintf(notes + strlen(notes), 256 - strlen(notes), "%s %s\n", name,
             is_alive ? "alive" : "left");
}

START_TEST(all_runs_are_visited)
{
    char notes[256] = "", expected[256];
    const struct hr_osnoise_visitor visitor = {note_instance, notes};

    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_add_instance("rtla_osnoise_top");
    fake_tracefs_add_instance("headroom_osnoise_x");
    snprintf(expected, sizeof(expected), "%s alive\n", strchr(instance, '/') + 1);
    ck_assert_int_eq(hr_osnoise_visit(root, &visitor, &reason), 0);
    ck_assert_str_eq(notes, expected);
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_remove_left_behind(root, NULL, &reason), 0);
    ck_assert_str_eq(fake_tracefs_log(), "");
    read_run();

    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    fake_tracefs_add_instance("headroom_osnoise_7_1");
    notes[0] = '\0';
    ck_assert_int_eq(hr_osnoise_visit(root, &visitor, &reason), 0);
    ck_assert_str_eq(notes, "headroom_osnoise_7_1 left\n");
    ck_assert(fake_tracefs_has("instances/headroom_osnoise_7_1"));
}
END_TEST

/* Another process is just restoring, or beginning. */
START_TEST(none_begins_while_another_restores)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");
    char path[512];

    snprintf(path, sizeof(path), "%s/" FAKE_TRACEFS "/osnoise", tree_path(tree));
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(lock, LOCK_EX | LOCK_NB), 0);
    open_run(&options);
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, "just beginning or ending: wait");
    ck_assert_str_eq(fake_tracefs_log(), "");
    close(lock);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
}
END_TEST

/* Its workload ends in any case. */
START_TEST(one_that_ends_while_another_restores)
{
    char path[512];

    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    snprintf(path, sizeof(path), "%s/" FAKE_TRACEFS "/osnoise", tree_path(tree));
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(lock, LOCK_EX | LOCK_NB), 0);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), -EBUSY);
    ck_assert(!fake_tracefs_has(instance));
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");
    close(lock);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

/* A process that another thread forks meanwhile, without exec, has copies of the descriptors. */
START_TEST(locks_end_with_a_run_whoever_was_forked)
{
    forks_when_locked = true;
    begin_mode(_i == 0 ? HR_OSNOISE_WORKLOAD : HR_OSNOISE_SOURCES, "1");
    forks_when_locked = false;
    ck_assert_int_gt(forked, 0);
    assert_tracer_unlocked();
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_tracer_unlocked();
    kill(forked, SIGKILL);
    waitpid(forked, NULL, 0);
    assert_restored();
}
END_TEST

/* Stopping the tracer may take seconds, in which it would seem to be left behind. */
START_TEST(it_has_its_lock_until_its_tracer_is_stopped)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    tracer_when_unlocked[0] = '\0';
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert_str_eq(tracer_when_unlocked, "nop\n");
}
END_TEST

/* Then another run may have begun, with the same settings. */
START_TEST(what_another_has_restored_isnt_restored_again)
{
    begin_mode(HR_OSNOISE_HARDWARE, "1");
    fake_tracefs_add_instance("other");
    fake_tracefs_set("instances/other/current_tracer", "osnoise\n");
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), -EBUSY);
    fake_tracefs_set("instances/other/current_tracer", "nop\n");
    ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0);
    assert_restored();

    fake_tracefs_set("osnoise/runtime_us", "10000\n");
    fake_tracefs_set("osnoise/options", "OSNOISE_WORKLOAD NO_PANIC_ON_STOP "
                                        "NO_OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE \n");
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert_str_eq(fake_tracefs_log(), "");
}
END_TEST

/* --- Changes meanwhile ---------------------------------------------------- */

START_TEST(hazards_of_others)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_set("osnoise/stop_tracing_us", "50\n");
    read_run();
    ck_assert_ptr_nonnull(strstr(reading.warning.text, "stop_tracing_us"));

    fake_tracefs_set("osnoise/options", "OSNOISE_WORKLOAD PANIC_ON_STOP "
                                        "NO_OSNOISE_PREEMPT_DISABLE NO_OSNOISE_IRQ_DISABLE \n");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, "NO_PANIC_ON_STOP");
    ck_assert(!fake_tracefs_has(instance));
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, "NO_PANIC_ON_STOP");

    fake_tracefs_set("osnoise/stop_tracing_us", "0\n");
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
    read_run();
    ck_assert_ptr_nonnull(strstr(reading.warning.text, "PANIC_ON_STOP"));
}
END_TEST

START_TEST(a_foreign_change_ends_the_run_and_stays)
{
    static const struct {
        const char *file, *text, *expected;
    } rows[] = {
        {"osnoise/cpus", "0-3\n", "setting cpus from 1 to 0-3"},
        {"osnoise/period_us", "2000000\n", "period_us from 1000000 to 2000000"},
        {"osnoise/runtime_us", "20000\n", "runtime_us from 10000 to 20000"},
        {"tracing_thresh", "100\n", "tracing_thresh from 1 to 100"},
        {"osnoise/options",
         "OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE \n",
         "OSNOISE_IRQ_DISABLE from off to on"},
    };
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_set(rows[_i].file, "%s", rows[_i].text);
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, rows[_i].expected);
    ck_assert_str_eq(fake_tracefs_get(rows[_i].file), rows[_i].text);
    ck_assert(!fake_tracefs_has(instance));
    ck_assert_int_ne(access(state_path, F_OK), 0);
    if (strcmp(rows[_i].file, "tracing_thresh") != 0)
        ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "0\n"); /* the rest is restored */
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EINVAL);

    /* It begins again, on top of what is there now. */
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert_str_eq(fake_tracefs_get(rows[_i].file), rows[_i].text);
}
END_TEST

START_TEST(what_cant_be_put_back_is_reported_as_well)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_set("osnoise/period_us", "2000000\n");
    fake_tracefs_fail(instance, EBUSY);
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, "period_us from");
    assert_reason(-ECANCELED, "; and can't remove the trace instance headroom_osnoise_");
    fake_tracefs_fail(instance, 0);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert(!fake_tracefs_has(instance));
}
END_TEST

START_TEST(a_tracer_that_was_stopped)
{
    char file[128];

    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    snprintf(file, sizeof(file), "%s/%s", instance, _i == 0 ? "current_tracer" : "tracing_on");
    if (_i == 2)
        fake_tracefs_remove_instance(strchr(instance, '/') + 1);
    else
        fake_tracefs_set(file, "%s\n", _i == 0 ? "nop" : "0");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, _i == 2 ? "removed the trace instance" : "stopped the tracer");
    assert_restored();
}
END_TEST

START_TEST(one_that_has_joined_keeps_our_settings)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_add_instance("other");
    fake_tracefs_set("instances/other/current_tracer", "osnoise\n");
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY,
                  "the trace instance other runs the osnoise tracer with this run's settings");
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");
    ck_assert(!fake_tracefs_has(instance));
    ck_assert_int_eq(access(state_path, F_OK), 0);
    ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), -EBUSY);

    fake_tracefs_set("instances/other/current_tracer", "nop\n");
    if (_i == 0)
        ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0);
    else
        ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

/* A program that has joined a run of hwnoise goes on with its runtime and period, but not with
 * interrupts off; the same if the instance stays, as another program has its pipe open. */
START_TEST(interrupts_come_back_for_one_that_has_joined)
{
    char pipe[256];
    int fd = -1;

    begin_mode(HR_OSNOISE_HARDWARE, "1");
    fake_tracefs_add_instance("other");
    fake_tracefs_set("instances/other/current_tracer", "osnoise\n");
    if (_i == 1) {
        snprintf(pipe, sizeof(pipe), "%s/" FAKE_TRACEFS "/%s/per_cpu/cpu0/trace_pipe_raw",
                 tree_path(tree), instance);
        fd = open(pipe, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
    }
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, _i == 0 ? "the trace instance other runs the" : "a program reads it");
    ck_assert_ptr_nonnull(strstr(fake_tracefs_get("osnoise/options"), "NO_OSNOISE_IRQ_DISABLE"));
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");
    ck_assert_int_eq(access(state_path, F_OK), 0);
    if (fd >= 0)
        close(fd);
    fake_tracefs_set("instances/other/current_tracer", "nop\n");
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

int main(void)
{
    TCase *tests = new_run_tests("osnoise conflicts");

    tcase_add_loop_test(tests, others_come_first, 0, 4);
    tcase_add_loop_test(tests, functions_traced_in_an_instance_arent_in_the_way, 0, 3);
    tcase_add_test(tests, no_name_is_used_twice);
    tcase_add_test(tests, one_that_cant_be_judged);
    tcase_add_test(tests, attaching_changes_nothing);
    tcase_add_loop_test(tests, attached_to_one_that_stops_or_changes_something, 0, 3);
    tcase_add_loop_test(tests, attached_to_osnoise_whatever_is_set_for_timerlat, 0, 3);
    tcase_add_test(tests, attached_to_one_that_measures_many_cpus);
    tcase_add_test(tests, attaching_to_cpus_that_the_other_doesnt_measure);
    tcase_add_loop_test(tests, attaching_without_samples_needs_something_to_count, 0, 3);
    tcase_add_loop_test(tests, an_instance_that_was_left_behind_is_removed, 0, 2);
    tcase_add_loop_test(tests, interrupts_stay_off_for_a_run_of_others, 0, 2);
    tcase_add_test(tests, all_that_were_left_behind_are_removed);
    tcase_add_loop_test(tests, one_that_stays_keeps_no_other, 0, 2);
    tcase_add_test(tests, one_that_was_left_behind_keeps_no_settings);
    tcase_add_test(tests, one_with_an_open_file_is_left_as_it_is);
    tcase_add_test(tests, all_runs_are_visited);
    tcase_add_test(tests, none_begins_while_another_restores);
    tcase_add_test(tests, one_that_ends_while_another_restores);
    tcase_add_loop_test(tests, locks_end_with_a_run_whoever_was_forked, 0, 2);
    tcase_add_test(tests, it_has_its_lock_until_its_tracer_is_stopped);
    tcase_add_test(tests, what_another_has_restored_isnt_restored_again);
    tcase_add_test(tests, hazards_of_others);
    tcase_add_loop_test(tests, a_foreign_change_ends_the_run_and_stays, 0, 5);
    tcase_add_test(tests, what_cant_be_put_back_is_reported_as_well);
    tcase_add_loop_test(tests, a_tracer_that_was_stopped, 0, 3);
    tcase_add_loop_test(tests, one_that_has_joined_keeps_our_settings, 0, 2);
    tcase_add_loop_test(tests, interrupts_come_back_for_one_that_has_joined, 0, 2);
    return run_suite("osnoise conflicts", tests);
}
