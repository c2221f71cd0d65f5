/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_damon_live.c - the damon method on the running kernel: programs with
 * known working sets. It must be the only user of DAMON while it runs; skipped where there is
 * another.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "memory/damon_sysfs.h"
#include "support/suite.h"
#include "support/tlb_flushers.h"
#include "support/toucher_process.h"

#define HOLD_MIB    128
#define TOUCHED_MIB 64

/* The allowed error: a region at each end of what is touched, of some 1000 in more than 128 MiB,
 * and the program's own text, stack and C library, of which parts of regions count as a whole. */
#define ALLOWANCE_MIB 8.0

static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_reason reason;
static struct hr_wss_sample sample;
static struct toucher toucher;

static uint64_t count_users(void)
{
    uint64_t count = UINT64_MAX;

    ck_assert_int_eq(hr_damon_read_count(root, &count), 0);
    return count;
}

static void set_up(void)
{
    wss = NULL;
    start_tlb_flushers();
    toucher = (struct toucher){.input = -1};
    ck_assert_int_eq(hr_root_open("/", &root), 0);
    ck_assert_uint_eq(count_users(), 0);
}

/* Whatever was measured, DAMON is left unused. */
static void tear_down(void)
{
    toucher_end(&toucher);
    hr_wss_close(wss);
    ck_assert_uint_eq(count_users(), 0);
    hr_root_close(root);
}

static void open_wss(enum hr_wss_scope scope)
{
    const struct hr_wss_options options = {
        .target = {.scope = scope, .processes = {.by = HR_PROCESS_BY_PID, .pid = toucher.pid}},
        .method = HR_WSS_DAMON,
    };

    ck_assert_msg(hr_wss_open(root, &options, &wss, &reason) == 0, "%s", reason.text);
    ck_assert_uint_eq(hr_wss_max_windows(wss), 1);
}

/* Reads after so long, at least the window. */
static double measure(double read_s, double window_s)
{
    uint64_t window_ns = (uint64_t)(window_s * 1e9);

    ck_assert_msg(hr_wss_begin(wss, window_ns, &reason) == 0, "%s", reason.text);
    usleep((useconds_t)(read_s * 1e6));
    ck_assert_msg(hr_wss_read(wss, window_ns, &sample, &reason) == 0, "%s", reason.text);
    double mib = (double)sample.referenced_bytes / TOUCHER_MIB;
    printf("# referenced %.1f MiB of %.1f, window %.3f s, scan %.3f s\n", mib,
           (double)sample.rss_bytes / TOUCHER_MIB, (double)sample.window_ns / 1e9,
           (double)sample.scan_ns / 1e9);
    fflush(stdout);
    return mib;
}

/* On the emulated machine everything must work; elsewhere what doesn't is skipped with its reason.
 */
static void cannot_try(const char *what)
{
    ck_assert_ptr_null(getenv("HEADROOM_EMULATED"));
    printf("# not tried: %s\n", what);
}

/* A page that stays in the TLB is found accessed too rarely, see tlb_flushers.h: a low reading is
 * repeated.
 */
static void assert_measured_late(double read_s, double window_s, double low_mib, double high_mib)
{
    double mib = measure(read_s, window_s);

    for (int i = 0; i < 8 && mib < low_mib; i++)
        mib = measure(read_s, window_s);
    ck_assert_double_ge(mib, low_mib);
    ck_assert_double_le(mib, high_mib);
}

static void assert_measured(double window_s, double low_mib, double high_mib)
{
    assert_measured_late(window_s, window_s, low_mib, high_mib);
}

static void assert_about(double window_s, double expected_mib)
{
    assert_measured(window_s, expected_mib - ALLOWANCE_MIB, expected_mib + ALLOWANCE_MIB);
}

static const struct {
    const char *kind;
    double expected_mib;
} kinds[] = {
    {"anon", TOUCHED_MIB}, {"huge", TOUCHED_MIB},   {"shared", TOUCHED_MIB},
    {"still", 0},          {"thread", TOUCHED_MIB},
};

START_TEST(knows_what_is_touched)
{
    toucher = toucher_start(-1, kinds[_i].kind, HOLD_MIB, TOUCHED_MIB, NULL);
    if (toucher.pid == 0) {
        cannot_try(kinds[_i].kind);
        return;
    }
    open_wss(HR_WSS_PROCESSES);
    for (int i = 0; i < (_i == 0 ? 2 : 1); i++) {
        assert_about(2, kinds[_i].expected_mib);
        ck_assert_uint_eq(sample.process_count, 1);
    }
    ck_assert_uint_eq(count_users(), 1);
}
END_TEST

static const double windows_s[] = {0.3, 6};

START_TEST(measures_short_and_long_windows)
{
    toucher = toucher_start(-1, "anon", HOLD_MIB, TOUCHED_MIB, NULL);
    open_wss(HR_WSS_PROCESSES);
    assert_about(windows_s[_i], TOUCHED_MIB);
    ck_assert_double_ge((double)sample.window_ns / 1e9, 0.94 * windows_s[_i]);
    ck_assert_double_le((double)sample.window_ns / 1e9, windows_s[_i]);
}
END_TEST

START_TEST(measures_several_processes)
{
    struct toucher others[3];
    const struct hr_wss_options options = {
        .target = {.scope = HR_WSS_PROCESSES,
                   .processes = {.by = HR_PROCESS_BY_NAME, .text = "toucher"}},
        .method = HR_WSS_DAMON,
    };

    for (int i = 0; i < 3; i++)
        others[i] = toucher_start(-1, "anon", 64, 32, NULL);
    toucher = toucher_start(-1, "still", 64, 0, NULL);
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    assert_measured(2, 3 * 32 - ALLOWANCE_MIB, 3 * 32 + 3 * ALLOWANCE_MIB);
    for (int i = 0; i < 3; i++)
        toucher_end(&others[i]);
    ck_assert_uint_eq(sample.process_count, 4);
}
END_TEST

/* Regions are larger the more memory there is, and some of which others touch a part count. */
START_TEST(measures_the_system)
{
    const double region_mib =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / TOUCHER_MIB / 1000;

    toucher = toucher_start(-1, "anon", HOLD_MIB, TOUCHED_MIB, NULL);
    open_wss(HR_WSS_SYSTEM);
    assert_measured(2, TOUCHED_MIB - 16, TOUCHED_MIB + 32 * region_mib);
}
END_TEST

/* DAMON looks for it at each sampling, and takes it for a part of the region beside it. */
START_TEST(knows_what_is_mapped_meanwhile)
{
    double mib = 0, expected_mib = 32;

    toucher = toucher_start(-1, "grow", HOLD_MIB, 32, NULL);
    open_wss(HR_WSS_PROCESSES);
    for (int i = 0; i < 8 && mib < expected_mib - ALLOWANCE_MIB; i++) {
        ck_assert_msg(hr_wss_begin(wss, 2 * HR_NS_PER_S, &reason) == 0, "%s", reason.text);
        usleep(500000);
        ck_assert_int_eq(write(toucher.input, "", 1), 1);
        expected_mib += 32;
        sleep(2);
        ck_assert_msg(hr_wss_read(wss, 2 * HR_NS_PER_S, &sample, &reason) == 0, "%s", reason.text);
        mib = (double)sample.referenced_bytes / TOUCHER_MIB;
        printf("# referenced %.1f MiB of %.1f, of which 32 are mapped meanwhile\n", mib,
               expected_mib);
    }
    ck_assert_double_ge(mib, expected_mib - ALLOWANCE_MIB);
    ck_assert_double_le(mib, expected_mib + ALLOWANCE_MIB);
}
END_TEST

/* A late reading gets the interval that ends next. */
START_TEST(measures_though_it_is_read_late)
{
    toucher = toucher_start(-1, "anon", HOLD_MIB, TOUCHED_MIB, NULL);
    open_wss(HR_WSS_PROCESSES);
    assert_measured_late(4, 1, TOUCHED_MIB - ALLOWANCE_MIB, TOUCHED_MIB + ALLOWANCE_MIB);
}
END_TEST

START_TEST(takes_away_what_one_of_ours_left_behind)
{
    toucher = toucher_start(-1, "still", 8, 0, NULL);
    open_wss(HR_WSS_PROCESSES);
    pid_t child = fork();
    if (child == 0) {
        if (hr_wss_begin(wss, HR_NS_PER_S, &reason) == 0)
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WTERMSIG(status), SIGKILL);
    ck_assert_uint_eq(count_users(), 1);
    ck_assert_msg(hr_wss_begin(wss, HR_NS_PER_S, &reason) == 0, "%s", reason.text);
}
END_TEST

START_TEST(leaves_alone_what_others_use)
{
    toucher = toucher_start(-1, "still", 8, 0, NULL);
    open_wss(HR_WSS_PROCESSES);
    int fd = hr_root_openat(root, HR_DAMON_KDAMONDS "/nr_kdamonds", O_WRONLY);
    ck_assert_int_eq(write(fd, "1", 1), 1);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "echo 0 > nr_kdamonds"));
    ck_assert_uint_eq(count_users(), 1);
    ck_assert_int_eq(pwrite(fd, "0", 1, 0), 1);
    close(fd);
}
END_TEST

START_TEST(notices_that_another_process_took_it)
{
    toucher = toucher_start(-1, "still", 8, 0, NULL);
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    ck_assert_int_eq(system("cd " HR_DAMON_KDAMONDS " && echo off >0/state && "
                            "echo 0 >nr_kdamonds && echo 1 >nr_kdamonds"),
                     0);
    ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason), -EBUSY);
    hr_wss_close(wss);
    wss = NULL;
    ck_assert_uint_eq(count_users(), 1);
    ck_assert_int_eq(system("echo 0 >" HR_DAMON_KDAMONDS "/nr_kdamonds"), 0);
}
END_TEST

START_TEST(notices_that_the_process_ended)
{
    toucher = toucher_start(-1, "anon", 8, 8, NULL);
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    toucher_end(&toucher);
    sleep(1);
    ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason), -ESRCH);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -ESRCH);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss damon live");

    if (hr_root_open("/", &root) < 0 ||
        hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_PROCESSES, &reason) < 0) {
        printf("1..0 # SKIP %s\n", reason.text);
        return 0;
    }
    hr_root_close(root);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, knows_what_is_touched, 0, sizeof(kinds) / sizeof(kinds[0]));
    tcase_add_loop_test(tests, measures_short_and_long_windows, 0, 2);
    tcase_add_test(tests, measures_several_processes);
    tcase_add_test(tests, measures_the_system);
    tcase_add_test(tests, knows_what_is_mapped_meanwhile);
    tcase_add_test(tests, measures_though_it_is_read_late);
    tcase_add_test(tests, takes_away_what_one_of_ours_left_behind);
    tcase_add_test(tests, leaves_alone_what_others_use);
    tcase_add_test(tests, notices_that_another_process_took_it);
    tcase_add_test(tests, notices_that_the_process_ended);
    tcase_set_timeout(tests, 60);
    return run_suite("wss damon live", tests);
}
