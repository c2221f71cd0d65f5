/* The method damon on the running kernel: programs with known working sets. It is the only user of
 * DAMON while it runs, and skipped where there is another. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "damon_sysfs.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "stir.h"
#include "suite.h"
#include "touch.h"

#define HOLD_MIB    256
#define TOUCHED_MIB 128
#define SECOND_NS   UINT64_C(1000000000)

/* A region at each end of what is touched, of some 1000 of more than 256 MiB, and the program's own
 * text, stack and C library, of which parts of regions are taken for the whole. */
#define ALLOWANCE_MIB 8.0

static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_wss_reason reason;
static struct hr_wss_sample sample;
static struct touch touch;

static uint64_t count_users(void)
{
    uint64_t count = UINT64_MAX;

    ck_assert_int_eq(hr_damon_read_count(root, &count), 0);
    return count;
}

static void set_up(void)
{
    wss = NULL;
    stir();
    touch = (struct touch){.input = -1};
    ck_assert_int_eq(hr_root_open("/", &root), 0);
    ck_assert_uint_eq(count_users(), 0);
}

/* Whatever was measured, the kernel is left as it was found. */
static void tear_down(void)
{
    touch_end(&touch);
    hr_wss_close(wss);
    ck_assert_uint_eq(count_users(), 0);
    hr_root_close(root);
}

static void open_wss(enum hr_wss_scope scope)
{
    const struct hr_wss_options options = {
        .target = {.scope = scope, .processes = {.by = HR_PROCESS_BY_PID, .pid = touch.pid}},
        .method = HR_WSS_DAMON,
    };

    ck_assert_msg(hr_wss_open(root, &options, &wss, &reason) == 0, "%s", reason.text);
    ck_assert_uint_eq(hr_wss_max_windows(wss), 1);
}

static double measure(double window_s)
{
    uint64_t window_ns = (uint64_t)(window_s * 1e9);

    ck_assert_msg(hr_wss_begin(wss, window_ns, &reason) == 0, "%s", reason.text);
    usleep((useconds_t)(window_s * 1e6));
    ck_assert_msg(hr_wss_read(wss, window_ns, &sample, &reason) == 0, "%s", reason.text);
    double mib = (double)sample.referenced_bytes / TOUCH_MIB;
    printf("# referenced %.1f MiB of %.1f, window %.3f s, scan %.3f s\n", mib,
           (double)sample.rss_bytes / TOUCH_MIB, (double)sample.window_ns / 1e9,
           (double)sample.scan_ns / 1e9);
    fflush(stdout);
    return mib;
}

static const struct {
    const char *kind;
    double expected_mib;
} kinds[] = {
    {"anon", TOUCHED_MIB},
    {"huge", TOUCHED_MIB},
    {"shared", TOUCHED_MIB},
    {"still", 0},
};

START_TEST(knows_what_is_touched)
{
    touch = touch_start(-1, kinds[_i].kind, HOLD_MIB, TOUCHED_MIB, NULL);
    if (touch.pid == 0)
        return;
    open_wss(HR_WSS_PROCESSES);
    for (int i = 0; i < 2; i++) {
        double mib = measure(2);
        ck_assert_double_ge(mib, kinds[_i].expected_mib - ALLOWANCE_MIB);
        ck_assert_double_le(mib, kinds[_i].expected_mib + ALLOWANCE_MIB);
        ck_assert_uint_eq(sample.process_count, 1);
    }
    ck_assert_uint_eq(count_users(), 1);
}
END_TEST

static const double windows_s[] = {0.3, 1, 6};

START_TEST(measures_short_and_long_windows)
{
    touch = touch_start(-1, "anon", HOLD_MIB, TOUCHED_MIB, NULL);
    open_wss(HR_WSS_PROCESSES);
    double mib = measure(windows_s[_i]);
    ck_assert_double_ge(mib, TOUCHED_MIB - ALLOWANCE_MIB);
    ck_assert_double_le(mib, TOUCHED_MIB + ALLOWANCE_MIB);
    ck_assert_double_ge((double)sample.window_ns / 1e9, 0.94 * windows_s[_i]);
    ck_assert_double_le((double)sample.window_ns / 1e9, windows_s[_i]);
}
END_TEST

START_TEST(measures_several_processes)
{
    struct touch others[3];
    const struct hr_wss_options options = {
        .target = {.scope = HR_WSS_PROCESSES,
                   .processes = {.by = HR_PROCESS_BY_NAME, .text = "toucher"}},
        .method = HR_WSS_DAMON,
    };

    for (int i = 0; i < 3; i++)
        others[i] = touch_start(-1, "anon", 128, 64, NULL);
    touch = touch_start(-1, "still", 128, 0, NULL);
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    double mib = measure(2);
    for (int i = 0; i < 3; i++)
        touch_end(&others[i]);
    ck_assert_uint_eq(sample.process_count, 4);
    ck_assert_double_ge(mib, 3 * 64 - ALLOWANCE_MIB);
    ck_assert_double_le(mib, 3 * 64 + 3 * ALLOWANCE_MIB);
}
END_TEST

START_TEST(measures_the_system)
{
    touch = touch_start(-1, "anon", HOLD_MIB, TOUCHED_MIB, NULL);
    open_wss(HR_WSS_SYSTEM);
    double mib = measure(2);
    ck_assert_double_ge(mib, TOUCHED_MIB - 32);
    ck_assert_double_le(mib, TOUCHED_MIB + 64);
}
END_TEST

/* Who reads late gets the interval that ends next. */
START_TEST(measures_though_it_is_read_late)
{
    touch = touch_start(-1, "anon", HOLD_MIB, TOUCHED_MIB, NULL);
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(hr_wss_begin(wss, SECOND_NS, &reason), 0);
    sleep(4);
    ck_assert_int_eq(hr_wss_read(wss, SECOND_NS, &sample, &reason), 0);
    ck_assert_double_le((double)sample.referenced_bytes / TOUCH_MIB, TOUCHED_MIB + ALLOWANCE_MIB);
    ck_assert_double_ge((double)sample.referenced_bytes / TOUCH_MIB, TOUCHED_MIB - ALLOWANCE_MIB);
}
END_TEST

START_TEST(leaves_alone_what_somebody_else_uses)
{
    touch = touch_start(-1, "still", 8, 0, NULL);
    open_wss(HR_WSS_PROCESSES);
    int fd = hr_root_openat(root, HR_DAMON_KDAMONDS "/nr_kdamonds", O_WRONLY);
    ck_assert_int_eq(write(fd, "1", 1), 1);
    ck_assert_int_eq(hr_wss_begin(wss, SECOND_NS, &reason), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "echo 0 > nr_kdamonds"));
    ck_assert_uint_eq(count_users(), 1);
    ck_assert_int_eq(pwrite(fd, "0", 1, 0), 1);
    close(fd);
}
END_TEST

START_TEST(notices_that_somebody_else_took_it)
{
    touch = touch_start(-1, "still", 8, 0, NULL);
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(hr_wss_begin(wss, SECOND_NS, &reason), 0);
    ck_assert_int_eq(system("cd " HR_DAMON_KDAMONDS " && echo off >0/state && "
                            "echo 0 >nr_kdamonds && echo 1 >nr_kdamonds"),
                     0);
    ck_assert_int_eq(hr_wss_read(wss, SECOND_NS, &sample, &reason), -EBUSY);
    hr_wss_close(wss);
    wss = NULL;
    ck_assert_uint_eq(count_users(), 1);
    ck_assert_int_eq(system("echo 0 >" HR_DAMON_KDAMONDS "/nr_kdamonds"), 0);
}
END_TEST

START_TEST(notices_that_the_process_ended)
{
    touch = touch_start(-1, "anon", 8, 8, NULL);
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(hr_wss_begin(wss, SECOND_NS, &reason), 0);
    touch_end(&touch);
    sleep(1);
    ck_assert_int_eq(hr_wss_read(wss, SECOND_NS, &sample, &reason), -ESRCH);
    ck_assert_int_eq(hr_wss_begin(wss, SECOND_NS, &reason), -ESRCH);
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
    tcase_add_loop_test(tests, measures_short_and_long_windows, 0, 3);
    tcase_add_test(tests, measures_several_processes);
    tcase_add_test(tests, measures_the_system);
    tcase_add_test(tests, measures_though_it_is_read_late);
    tcase_add_test(tests, leaves_alone_what_somebody_else_uses);
    tcase_add_test(tests, notices_that_somebody_else_took_it);
    tcase_add_test(tests, notices_that_the_process_ended);
    tcase_set_timeout(tests, 60);
    return run_suite("wss damon live", tests);
}
