/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_live.c - the plugin psi on the running kernel, in cgroups made for
 * it: what a tree of files can't show.
 */
#include "plugin/psi/live_harness.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

const char *const harness_plugin = "psi";

/* So that the plugin has no limit to raise, and to report. */
static void raise_limit_of_files(void)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Reads until so many values of a group are published: the kernel signals a change of
 * cgroup.events a little later, at most every 10 ms. */
static void read_until(const char *pattern, size_t count)
{
    harness_read();
    for (int i = 0; i < 2000 && fake_count(pattern) != count; i++) {
        harness_sleep(10);
        harness_read();
    }
    harness_assert_count(pattern, count);
}

START_TEST(publishes_the_system)
{
    harness_begin_live("Resource \"cpu\" \"memory\" \"io\"");
    harness_read();
    harness_assert_count("*", 5);
    ck_assert_double_gt(harness_number("psi-system/total_time_in_ms-cpu-some"), 0);
    harness_read();
    harness_assert_count("*-some", 6);
    harness_assert_count("*-full", 4);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(follows_processes_in_and_out)
{
    groups_make(groups, "a");
    live_begin();
    harness_read();
    harness_assert_count("psi-live.*", 0);
    pid_t pid = groups_start_sleeper(groups, "a");
    read_until("psi-live.a/*", FIRST);
    harness_assert_count("psi-live.a/percent-*", 0);
    harness_read();
    harness_assert_count("psi-live.a/*", LATER);
    groups_end(groups, pid);
    read_until("psi-live.*", 0);
    harness_assert_logs(0, NULL);
}
END_TEST

/* What the read callback published of a group: the alerts' thread may publish what the group of
 * that name before it did last. */
struct published {
    pthread_t reader;
    size_t totals, others;
};

static void count_published(const struct fake_value *value, void *context)
{
    struct published *published = context;

    if (!pthread_equal(pthread_self(), published->reader) || strcmp(value->instance, "live.a") != 0)
        return;
    if (strstr(value->identifier, "/total_time_in_ms-") != NULL)
        published->totals++;
    else
        published->others++;
}

START_TEST(takes_a_group_made_again_for_another)
{
    struct published published = {.reader = pthread_self()};

    groups_make(groups, "a");
    pid_t pid = groups_start_sleeper(groups, "a");
    fake_on_dispatch(count_published, &published);
    live_begin();
    harness_read();
    harness_read();
    ck_assert_uint_eq(published.totals + published.others, FIRST + LATER);
    groups_end(groups, pid);
    groups_remove(groups, "a");
    groups_make(groups, "a");
    groups_start_sleeper(groups, "a");
    published.totals = published.others = 0;
    harness_read();
    ck_assert_uint_eq(published.totals, FIRST);
    ck_assert_uint_eq(published.others, 0);
    harness_read();
    ck_assert_uint_eq(published.totals + published.others, FIRST + LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

/* The system is read first. */
static void remove_group_b(const struct fake_value *value, void *context)
{
    pid_t *pid = context;

    if (*pid == 0 || strcmp(value->instance, "system") != 0)
        return;
    groups_end(groups, *pid);
    groups_remove(groups, "b");
    *pid = 0;
}

/* Its files are open the second time. */
START_TEST(gets_over_a_group_that_vanishes_before_it_is_read)
{
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "a");
    pid_t pid = groups_start_sleeper(groups, "b");
    live_begin();
    if (_i == 1)
        harness_read();
    fake_on_dispatch(remove_group_b, &pid);
    harness_read();
    ck_assert_int_eq(pid, 0);
    harness_assert_count("psi-live.a/*", _i == 1 ? LATER : FIRST);
    harness_assert_count("psi-live.b/*", 0);
    harness_read();
    harness_assert_count("psi-live.a/*", LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Switching off removes the files, also those that are open. */
START_TEST(reports_once_that_a_group_is_switched_off)
{
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "a");
    groups_start_sleeper(groups, "b");
    live_begin();
    harness_read();
    harness_assert_count("psi-live.*", 2 * FIRST);
    groups_write(groups, "b", "cgroup.pressure", "0");
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("psi-live.a/*", LATER);
        harness_assert_count("psi-live.b/*", 0);
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "cpu, memory, io"), 1);
    harness_assert_logs(1, "write 1 to cgroup.pressure");
}
END_TEST

int main(void)
{
    TCase *tests = live_new_tests("live");

    tcase_add_checked_fixture(tests, raise_limit_of_files, NULL);
    tcase_add_test(tests, publishes_the_system);
    tcase_add_test(tests, follows_processes_in_and_out);
    tcase_add_test(tests, takes_a_group_made_again_for_another);
    tcase_add_loop_test(tests, gets_over_a_group_that_vanishes_before_it_is_read, 0, 2);
    tcase_add_test(tests, reports_once_that_a_group_is_switched_off);
    return live_run("plugin live", tests);
}
