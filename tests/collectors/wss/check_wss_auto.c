/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_auto.c - what "auto" does when a method can't finish in the time
 * allowed.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/wss/idle_harness.h"
#include "headroom/clock.h"
#include "support/suite.h"

static const struct scene one_page = {
    "", 0, {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100}}};

/* A machine with idle pages and referenced bits, but no generations. */
static void set_up_both(void)
{
    static const char *const directories[] = {"proc/1", "proc/42", "proc/50", "proc/51"};
    char path[64];

    set_up();
    set_groups();
    place(42, &one_page, false);
    for (size_t i = 0; i < COUNT(directories); i++) {
        snprintf(path, sizeof(path), "%s/clear_refs", directories[i]);
        tree_write(tree, path, "%s", "");
        snprintf(path, sizeof(path), "%s/smaps_rollup", directories[i]);
        tree_write(tree, path, "%s",
                   "1-2 ---p 0 00:00 0 [rollup]\nRss: 40 kB\nPss: 4 kB\nReferenced: 8 kB\n");
        /* the same for each mapping */
        snprintf(path, sizeof(path), "%s/smaps", directories[i]);
        tree_write(tree, path, "%s",
                   "1-2 rw-p 0 00:00 0 \nRss: 40 kB\nPss: 4 kB\nReferenced: 8 kB\n");
    }
    fake_pages.jump_ns = 2 * HR_NS_PER_S;
    fake_pages.clock_reads_left = 1000;
}

static const struct hr_wss_target targets[] = {
    {.processes = {.by = HR_PROCESS_BY_PID, .pid = 42}},
    {.scope = HR_WSS_CGROUP, .cgroup = "a"},
};

static void open_method(const struct hr_wss_target *target, enum hr_wss_method method)
{
    const struct hr_wss_options options = {
        .target = *target, .method = method, .max_scan_ns = HR_NS_PER_S};

    int status = hr_wss_open(root, &options, &wss, &reason);
    ck_assert_msg(status == 0, "%s", reason.text);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_IDLE);
}

static int begin(void)
{
    return hr_wss_begin(wss, HR_NS_PER_S, &reason);
}

static int read_sample(void)
{
    return hr_wss_read(wss, HR_NS_PER_S, &sample, &reason);
}

/* Lets the next scan of idle take too long. */
static void be_slow(void)
{
    fake_pages.clock_reads_left = 3;
}

/* Of the preferred one nothing is to be said; of one that is asked for neither. */
START_TEST(says_why_not_the_preferred_one)
{
    struct hr_wss_options options = {.target = targets[_i], .method = HR_WSS_AUTO};

    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_str_eq(reason.text, "");
    hr_wss_close(wss);
    tree_remove(tree, BITMAP);
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_REFERENCED);
    ck_assert_int_eq(reason.error, 0);
    ck_assert_msg(strncmp(reason.text, "idle: /", 7) == 0, "%s", reason.text);
    hr_wss_close(wss);
    options.method = HR_WSS_REFERENCED;
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_str_eq(reason.text, "");
}
END_TEST

START_TEST(takes_another_that_can_begin)
{
    open_method(&targets[_i], HR_WSS_AUTO);
    be_slow();
    int status = begin();
    ck_assert_msg(status == 0, "%s", reason.text);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_REFERENCED);
    ck_assert_int_eq(reason.error, -ETIME);
    ck_assert_ptr_nonnull(strstr(reason.text, "1000 ms"));
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_gt(sample.referenced_bytes, 0);
    ck_assert_int_eq(begin(), 0); /* it stays */
    ck_assert_int_eq(reason.error, 0);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_REFERENCED);
}
END_TEST

START_TEST(takes_another_if_it_cannot_read)
{
    open_method(&targets[_i], HR_WSS_AUTO);
    ck_assert_int_eq(begin(), 0);
    be_slow();
    ck_assert_int_eq(read_sample(), -ETIME);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_REFERENCED);
    ck_assert_int_eq(read_sample(), -EINVAL);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), 0);
}
END_TEST

START_TEST(keeps_what_was_asked_for)
{
    open_method(&targets[_i], HR_WSS_IDLE);
    be_slow();
    ck_assert_int_eq(begin(), -ETIME);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_IDLE);
    fake_pages.clock_reads_left = 1000;
    ck_assert_int_eq(begin(), 0);
}
END_TEST

/* No other works: the reason is that of the one that was tried. */
START_TEST(keeps_the_only_one_that_works)
{
    tree_remove(tree, "proc/1/clear_refs");
    open_method(&targets[_i], HR_WSS_AUTO);
    be_slow();
    ck_assert_int_eq(begin(), -ETIME);
    ck_assert_ptr_nonnull(strstr(reason.text, "1000 ms"));
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_IDLE);
    fake_pages.clock_reads_left = 1000;
    ck_assert_int_eq(begin(), 0);
}
END_TEST

/* Before Linux 6.9 damon measures no window of more than 5 s. */
START_TEST(takes_no_other_that_cannot_measure_the_window)
{
    const struct hr_wss_options options = {
        .target = targets[0], .method = HR_WSS_AUTO, .longest_window_ns = 10 * HR_NS_PER_S};

    tree_remove(tree, "proc/1/clear_refs");
    tree_write(tree, "sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "0\n");
    tree_write(tree, "proc/sys/kernel/osrelease", "6.8.0\n");
    open_method(&targets[0], HR_WSS_AUTO);
    be_slow();
    ck_assert_int_eq(hr_wss_begin(wss, 10 * HR_NS_PER_S, &reason), -ETIME);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_IDLE);
    be_slow();
    ck_assert_int_ne(begin(), -ETIME); /* this tree isn't all of DAMON's */
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_DAMON);
    hr_wss_close(wss);
    wss = NULL;
    tree_remove(tree, BITMAP);
    ck_assert_int_lt(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_ptr_nonnull(strstr(reason.text, "damon: before Linux 6.9"));
}
END_TEST

/* Where memory ends at 8 GiB, reading what each page is charged to would be 16 MiB. */
START_TEST(reads_little_for_a_small_group)
{
    charge("ab", 2097151, PLAIN);
    open_method(&targets[1], HR_WSS_AUTO);
    fake_pages.read_bytes = 0;
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_gt(fake_pages.read_bytes, 0);
    ck_assert_uint_lt(fake_pages.read_bytes, 1 << 20);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss auto");

    tcase_add_checked_fixture(tests, set_up_both, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, says_why_not_the_preferred_one, 0, COUNT(targets));
    tcase_add_loop_test(tests, takes_another_that_can_begin, 0, COUNT(targets));
    tcase_add_loop_test(tests, takes_another_if_it_cannot_read, 0, COUNT(targets));
    tcase_add_loop_test(tests, keeps_what_was_asked_for, 0, COUNT(targets));
    tcase_add_loop_test(tests, keeps_the_only_one_that_works, 0, COUNT(targets));
    tcase_add_test(tests, takes_no_other_that_cannot_measure_the_window);
    tcase_add_test(tests, reads_little_for_a_small_group);
    return run_suite("wss auto", tests);
}
