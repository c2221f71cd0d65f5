/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_restore_live.c - the osnoise tracer on the running kernel: whatever happens
 * to a run, afterwards the settings are those from before, or those that another program has set
 * meanwhile.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/osnoise/osnoise_live.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"

/* Settings different from all defaults. */
static void set_up(void)
{
    live_set_up();
    live_set("osnoise/cpus", "0");
    live_set("osnoise/runtime_us", "300000");
    live_set("osnoise/period_us", "500000");
    live_set("tracing_thresh", "7");
    live_set("osnoise/options", "OSNOISE_PREEMPT_DISABLE");
    live.options.max_single_ns = 1000000;
    live.options.causes = true;
    live_list(live.before);
}

static void assert_changed(void)
{
    char during[LIVE_LISTING];

    live_list(during);
    ck_assert_str_ne(live.before, during);
}

/* --- Runs that end as they should ----------------------------------------- */

static const enum hr_osnoise_mode modes[] = {HR_OSNOISE_WORKLOAD, HR_OSNOISE_HARDWARE,
                                             HR_OSNOISE_SOURCES};

START_TEST(restores_when_it_ends)
{
    live.options.mode = modes[_i];
    live.options.by_source = true;
    if (modes[_i] == HR_OSNOISE_SOURCES)
        live.options.max_single_ns = 0;
    live_begin();
    assert_changed();
    ck_assert_int_eq(live_count_workers() > 0, modes[_i] != HR_OSNOISE_SOURCES);
    ck_assert_int_eq(live_has_word("osnoise/options", "OSNOISE_PREEMPT_DISABLE"),
                     modes[_i] == HR_OSNOISE_SOURCES);
    live_sleep_ms(300);
    live_read();
    live_end();
    live_assert_restored();
    ck_assert_int_eq(hr_osnoise_read(live.osnoise, &live.reading, &live.reason), -EINVAL);
    live_begin();
    assert_changed();
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -EALREADY);
    /* and is closed without an end */
}
END_TEST

/* --- Runs that end in a crash --------------------------------------------- */

static void crash(void)
{
    int status;

    live_open();
    pid_t child = fork();
    if (child == 0) {
        if (hr_osnoise_begin(live.osnoise, &live.reason) == 0)
            raise(SIGKILL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WTERMSIG(status), SIGKILL);
    assert_changed();
    ck_assert_uint_eq(live_count_workers(), 2);
}

START_TEST(recovers_from_a_crash)
{
    crash();
    ck_assert_msg(hr_osnoise_recover(live.root, LIVE_STATE_PATH, &live.reason) == 0, "%s",
                  live.reason.text);
    live_assert_restored();
    ck_assert_int_eq(hr_osnoise_recover(live.root, LIVE_STATE_PATH, &live.reason), 0);
}
END_TEST

START_TEST(begins_after_a_crash)
{
    crash();
    live_begin();
    live_sleep_ms(300);
    live_read();
    live_end();
    live_assert_restored();
}
END_TEST

/* A setting that another program has changed since stays. */
START_TEST(recovers_around_what_was_changed_since)
{
    char expected[LIVE_LISTING], after[LIVE_LISTING];

    crash();
    live_set("tracing_thresh", "11");
    ck_assert_msg(hr_osnoise_recover(live.root, LIVE_STATE_PATH, &live.reason) == 0, "%s",
                  live.reason.text);
    live_list(after);
    live_set("tracing_thresh", "7");
    live_assert_restored();
    live_set("tracing_thresh", "11");
    live_list(expected);
    ck_assert_str_eq(expected, after);
    live_set("tracing_thresh", "7");
}
END_TEST

START_TEST(leaves_alone_whose_owner_is_alive)
{
    int ready[2], status;
    char during[LIVE_LISTING], after[LIVE_LISTING], who[32];

    ck_assert_int_eq(pipe(ready), 0);
    live_open();
    pid_t child = fork();
    if (child == 0) {
        close(ready[0]);
        status = hr_osnoise_begin(live.osnoise, &live.reason);
        if (status < 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &status, 1), 1);
    close(ready[0]);
    live_list(during);
    ck_assert_int_eq(hr_osnoise_recover(live.root, LIVE_STATE_PATH, &live.reason), -EBUSY);
    snprintf(who, sizeof(who), "process %d ", (int)child);
    ck_assert_msg(strstr(live.reason.text, who) != NULL, "%s", live.reason.text);
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -EBUSY);
    ck_assert_msg(strstr(live.reason.text, who) != NULL, "%s", live.reason.text);
    live_list(after);
    ck_assert_str_eq(during, after);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_eq(hr_osnoise_recover(live.root, LIVE_STATE_PATH, &live.reason), 0);
    live_assert_restored();
}
END_TEST

/* --- Runs that don't begin ------------------------------------------------ */

START_TEST(restores_when_it_cannot_begin)
{
    live.options.state_path = "/run/headroom-test-nowhere/osnoise";
    live_open();
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -ENOENT);
    ck_assert_msg(strstr(live.reason.text, "headroom-test-nowhere") != NULL, "%s",
                  live.reason.text);
    live_assert_restored();
}
END_TEST

static void limit_descriptors(rlim_t count)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = count;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Each descriptor more gets it further. */
START_TEST(restores_wherever_it_fails)
{
    const int used = count_descriptors();
    int status = -EMFILE, failure_count = 0;

    live.options.by_source = live.options.histogram = true;
    live_open();
    for (int count = used; status < 0 && count < used + 32; count++) {
        limit_descriptors((rlim_t)count);
        status = hr_osnoise_begin(live.osnoise, &live.reason);
        limit_descriptors(1024);
        if (status == 0)
            break;
        ck_assert_str_ne(live.reason.text, "");
        live_assert_restored();
        ck_assert_int_eq(count_descriptors(), used);
        failure_count++;
    }
    printf("# begins with %d descriptors\n", failure_count);
    fflush(stdout);
    ck_assert_int_eq(status, 0);
    ck_assert_int_ge(failure_count, 2);
}
END_TEST

/* The tracer is started last; that fails beside timerlat, whose user isn't visible here. */
START_TEST(restores_when_the_last_step_fails)
{
    static const char file[] = "/run/headroom-test-nop";
    static const char hidden[] = "/sys/kernel/tracing/instances/headroom-test/current_tracer";
    char during[LIVE_LISTING], after[LIVE_LISTING];

    live_instance_make("headroom-test", "timerlat");
    FILE *nop = fopen(file, "w");
    ck_assert(nop != NULL && fputs("nop\n", nop) >= 0 && fclose(nop) == 0);
    ck_assert_int_eq(mount(file, hidden, NULL, MS_BIND, NULL), 0);
    live_list(during);
    live_open();
    int status = hr_osnoise_begin(live.osnoise, &live.reason);
    live_list(after);
    umount2(hidden, MNT_DETACH);
    unlink(file);
    live_instance_remove("headroom-test");
    ck_assert_int_eq(status, -EBUSY);
    ck_assert_msg(strstr(live.reason.text, "timerlat") != NULL, "%s", live.reason.text);
    ck_assert_str_eq(during, after);
}
END_TEST

START_TEST(restores_when_none_of_the_cpus_is_there)
{
    live_choose_cpus("7");
    live_open();
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -ENXIO);
    live_assert_restored();
}
END_TEST

/* --- Settings that another program changes -------------------------------- */

static const struct {
    const char *file, *text; /* what is changed: in our instance if the file is in none */
    const char *name;        /* what the reason says of it */
    const char *back;        /* as it was before; NULL: it isn't a setting */
} changes[] = {
    {"osnoise/cpus", "1", "cpus", "0"},
    {"osnoise/period_us", "700000", "period_us", "500000"},
    {"osnoise/runtime_us", "60000", "runtime_us", "300000"},
    {"tracing_thresh", "33", "tracing_thresh", "7"},
    {"osnoise/options", "NO_OSNOISE_WORKLOAD", "OSNOISE_WORKLOAD", "OSNOISE_WORKLOAD"},
    {"osnoise/options", "OSNOISE_IRQ_DISABLE", "OSNOISE_IRQ_DISABLE", "NO_OSNOISE_IRQ_DISABLE"},
};

#define CHANGE_COUNT (sizeof(changes) / sizeof(changes[0]))

START_TEST(gives_way_to_a_changed_setting)
{
    char after[LIVE_LISTING], expected[LIVE_LISTING];

    live_begin();
    live_sleep_ms(100);
    live_read();
    live_set(changes[_i].file, changes[_i].text);
    ck_assert_int_eq(hr_osnoise_read(live.osnoise, &live.reading, &live.reason), -ECANCELED);
    ck_assert_msg(strstr(live.reason.text, changes[_i].name) != NULL, "%s", live.reason.text);
    /* The run has ended; theirs stayed, and all others are back. */
    live_list(after);
    ck_assert_int_eq(hr_osnoise_read(live.osnoise, &live.reading, &live.reason), -EINVAL);
    live_set(changes[_i].file, changes[_i].back);
    live_assert_restored();
    live_set(changes[_i].file, changes[_i].text);
    live_list(expected);
    ck_assert_str_eq(expected, after);
    live_set(changes[_i].file, changes[_i].back);
}
END_TEST

/* A foreign PREEMPT_DISABLE is as before we came: what was put back, and what is theirs, are one.
 */
START_TEST(gives_way_to_disabled_preemption)
{
    live_begin();
    live_set("osnoise/options", "OSNOISE_PREEMPT_DISABLE");
    ck_assert_int_eq(hr_osnoise_read(live.osnoise, &live.reading, &live.reason), -ECANCELED);
    ck_assert_msg(strstr(live.reason.text, "OSNOISE_PREEMPT_DISABLE") != NULL, "%s",
                  live.reason.text);
    live_assert_restored();
}
END_TEST

/* The one instance that there is. */
static void find_instance(const char *file, char *path, size_t size)
{
    char during[LIVE_LISTING];

    live_list(during);
    const char *name = strstr(during, "\ninstances/");
    ck_assert_ptr_nonnull(name);
    snprintf(path, size, "%.*s/%s", (int)strcspn(name + 11, "/") + 10, name + 1, file);
}

START_TEST(gives_way_to_stopped_tracing)
{
    char path[256];

    live_begin();
    find_instance("tracing_on", path, sizeof(path));
    live_set(path, "0");
    ck_assert_int_eq(hr_osnoise_read(live.osnoise, &live.reading, &live.reason), -ECANCELED);
    ck_assert_str_ne(live.reason.text, "");
    live_assert_restored();
    live_begin();
    live_sleep_ms(100);
    live_read();
}
END_TEST

START_TEST(keeps_its_instance_from_others)
{
    char path[256];

    live_begin();
    find_instance("current_tracer", path, sizeof(path));
    ck_assert_int_eq(live_try(path, "nop"), -EBUSY);
    live_read();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise restore live");

    if (!live_can_run(HR_OSNOISE_WORKLOAD))
        return 0;
    tcase_add_checked_fixture(tests, set_up, live_tear_down);
    tcase_add_loop_test(tests, restores_when_it_ends, 0, sizeof(modes) / sizeof(modes[0]));
    tcase_add_test(tests, recovers_from_a_crash);
    tcase_add_test(tests, begins_after_a_crash);
    tcase_add_test(tests, recovers_around_what_was_changed_since);
    tcase_add_test(tests, leaves_alone_whose_owner_is_alive);
    tcase_add_test(tests, restores_when_it_cannot_begin);
    tcase_add_test(tests, restores_wherever_it_fails);
    tcase_add_test(tests, restores_when_the_last_step_fails);
    tcase_add_test(tests, restores_when_none_of_the_cpus_is_there);
    tcase_add_loop_test(tests, gives_way_to_a_changed_setting, 0, CHANGE_COUNT);
    tcase_add_test(tests, gives_way_to_disabled_preemption);
    tcase_add_test(tests, gives_way_to_stopped_tracing);
    tcase_add_test(tests, keeps_its_instance_from_others);
    tcase_set_timeout(tests, 60);
    return run_suite("osnoise restore live", tests);
}
