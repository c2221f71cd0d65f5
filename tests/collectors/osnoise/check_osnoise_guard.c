/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_guard.c - the process that stops the tracer once this one has ended. Over a
 * stand-in for tracefs.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "osnoise/guard.h"
#include "support/fake_tracefs.h"
#include "support/suite.h"

#define TRACER "instances/ours/current_tracer"

static struct tree *tree;
static struct hr_tracefs tracefs;

static void set_up(void)
{
    char path[512];

    tree = tree_new();
    fake_tracefs_begin(tree, 1);
    fake_tracefs_add_instance("ours");
    fake_tracefs_set(TRACER, "osnoise\n");
    snprintf(path, sizeof(path), "%s/" FAKE_TRACEFS, tree_path(tree));
    tracefs.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(tracefs.fd, 0);
    /* Guards whose parents were killed are reaped here. */
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

static void tear_down(void)
{
    hr_tracefs_close(&tracefs);
    fake_tracefs_end();
    tree_free(tree);
}

static void wait_for_all(void)
{
    while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR)
        ;
    ck_assert_int_eq(errno, ECHILD);
}

/* Starts a guard, sends it signals as a service's end or a terminal does, and is killed. */
static void start_and_be_killed(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};
    struct hr_osnoise_guard guard;

    if (hr_osnoise_guard_start(&tracefs, "ours", &guard) < 0)
        _exit(1);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        kill(guard.pid, signals[i]);
    raise(SIGKILL);
}

START_TEST(stops_the_tracer_of_one_that_is_killed)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        start_and_be_killed();
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    wait_for_all();
    ck_assert_str_eq(fake_tracefs_get(TRACER), "nop\n");
}
END_TEST

START_TEST(leaves_it_when_it_is_ended)
{
    struct hr_osnoise_guard guard;

    ck_assert_int_eq(hr_osnoise_guard_start(&tracefs, "ours", &guard), 0);
    hr_osnoise_guard_end(&guard);
    ck_assert_int_eq(guard.fd, -1);
    ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_str_eq(fake_tracefs_get(TRACER), "osnoise\n");
    hr_osnoise_guard_end(&guard); /* twice is no harm */
}
END_TEST

START_TEST(outlives_none_that_was_killed_itself)
{
    struct hr_osnoise_guard guard;

    ck_assert_int_eq(hr_osnoise_guard_start(&tracefs, "ours", &guard), 0);
    kill(guard.pid, SIGKILL);
    wait_for_all();
    hr_osnoise_guard_end(&guard);
    ck_assert_int_eq(guard.fd, -1);
}
END_TEST

/* Who reads this process's output waits until all have closed it; and a file of an instance keeps
 * that from being removed, at once, as when the tracer can't start. */
START_TEST(keeps_no_file_of_others_open)
{
    struct hr_osnoise_guard guard;
    char byte;
    int fds[2];

    ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
    ck_assert_int_eq(hr_osnoise_guard_start(&tracefs, "ours", &guard), 0);
    close(fds[1]);
    ck_assert_int_eq(read(fds[0], &byte, 1), 0);
    close(fds[0]);
    hr_osnoise_guard_end(&guard);
}
END_TEST

START_TEST(an_instance_that_is_gone_is_no_work)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        start_and_be_killed();
    fake_tracefs_remove_instance("ours");
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    wait_for_all();
    ck_assert(!fake_tracefs_has("instances/ours"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise guard");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, stops_the_tracer_of_one_that_is_killed);
    tcase_add_test(tests, leaves_it_when_it_is_ended);
    tcase_add_test(tests, outlives_none_that_was_killed_itself);
    tcase_add_test(tests, keeps_no_file_of_others_open);
    tcase_add_test(tests, an_instance_that_is_gone_is_no_work);
    return run_suite("osnoise guard", tests);
}
