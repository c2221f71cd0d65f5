/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_descriptors_live.c - the descriptors that the plugin psi keeps of
 * many groups, on the running kernel.
 */
#include "plugin/psi/live_harness.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/descriptor_shortage.h"

const char *const harness_plugin = "psi";

#define MANY 400

/* With the machine's limit of 1,024, which may be raised or not. */
static void begin_with_many_groups(rlim_t hard_limit)
{
    const struct rlimit limit = {1024, hard_limit};
    char name[16];

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "g%d", i);
        groups_make(groups, name);
        groups_start_sleeper(groups, name);
    }
    live_begin();
    harness_read();
    harness_assert_count("psi-live.*", MANY * FIRST);
    harness_read();
    harness_assert_count("psi-live.*", MANY * LATER);
}

/* @return the number that the next descriptor of any other plugin has. */
static int lowest_free(void)
{
    int fd = dup(STDOUT_FILENO);

    close(fd);
    return fd;
}

/* The number of descriptors from 1024 up. */
static int count_high(void)
{
    int count = 0;

    for (int fd = 1024; fd < 4096; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

START_TEST(leaves_low_descriptors_to_others)
{
    const int before = count_descriptors();

    begin_with_many_groups(4096);
    ck_assert_int_eq(count_high(), 3 + MANY * 4); /* three files and, of groups, a directory */
    ck_assert_int_lt(lowest_free(), before + 10);
    harness_assert_logs(1,
                        "info: psi: raised the limit of open files of collectd from 1024 to 4096");
}
END_TEST

START_TEST(leaves_a_quarter_of_a_fixed_limit)
{
    begin_with_many_groups(1024);
    ck_assert_int_ge(lowest_free(), 768);
    ck_assert_int_lt(lowest_free(), 768 + 10);
    harness_assert_logs(1, "too few file descriptors, so");
}
END_TEST

/* An operator may raise the limit of a service that runs (prlimit). */
START_TEST(reports_that_descriptors_suffice)
{
    const struct rlimit limit = {4096, 4096};

    begin_with_many_groups(1024);
    harness_assert_logs(1, "too few file descriptors, so");
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return; /* needs CAP_SYS_RESOURCE */
    harness_read();
    harness_read();
    ck_assert_uint_eq(fake_logs(LOG_INFO, "psi: all 1200 pressure files are kept open now."), 1);
    harness_assert_logs(1, NULL);
}
END_TEST

int main(void)
{
    TCase *tests = live_new_tests("descriptors live");

    tcase_add_test(tests, leaves_low_descriptors_to_others);
    tcase_add_test(tests, leaves_a_quarter_of_a_fixed_limit);
    tcase_add_test(tests, reports_that_descriptors_suffice);
    return live_run("plugin psi descriptors live", tests);
}
