/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_pause.c - a pause of those who measure all the time, and which files are
 * none.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "headroom/osnoise_pause.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

static struct tree *tree;
static struct hr_root *root;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * HR_NS_PER_S + (uint64_t)now.tv_nsec;
}

static void write_until(uint64_t until_ns)
{
    tree_write(tree, HR_OSNOISE_PAUSE_PATH, "until %" PRIu64 "\n", until_ns);
}

static uint64_t left_ns(void)
{
    return hr_osnoise_pause_left_ns(root);
}

START_TEST(a_pause_lasts_until_its_time)
{
    ck_assert_uint_eq(left_ns(), 0);
    write_until(now_ns() + 600 * HR_NS_PER_S);
    ck_assert_uint_le(left_ns(), 600 * HR_NS_PER_S);
    ck_assert_uint_gt(left_ns(), 300 * HR_NS_PER_S);
    write_until(now_ns());
    ck_assert_uint_eq(left_ns(), 0);
}
END_TEST

/* Of another boot, or of nobody who can count. */
START_TEST(more_than_a_day_is_none)
{
    write_until(now_ns() + (HR_OSNOISE_PAUSE_MOST_S - 60) * HR_NS_PER_S);
    ck_assert_uint_gt(left_ns(), 0);
    write_until(now_ns() + (HR_OSNOISE_PAUSE_MOST_S + 60) * HR_NS_PER_S);
    ck_assert_uint_eq(left_ns(), 0);
    write_until(UINT64_MAX);
    ck_assert_uint_eq(left_ns(), 0);
}
END_TEST

START_TEST(what_is_not_understood_is_none)
{
    static const char *const formats[] = {"%" PRIu64 "\n", "until %" PRIu64 "",
                                          "until %" PRIu64 "x\n", "until %" PRIu64 "\n\n",
                                          "Until %" PRIu64 "\n"};
    char text[64];

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof(text), formats[i], now_ns() + 600 * HR_NS_PER_S);
#pragma GCC diagnostic pop
        tree_write(tree, HR_OSNOISE_PAUSE_PATH, "%s", text);
        ck_assert_msg(left_ns() == 0, "%s", text);
    }
    tree_write(tree, HR_OSNOISE_PAUSE_PATH, "%s", "");
    ck_assert_uint_eq(left_ns(), 0);
}
END_TEST

START_TEST(what_others_can_write_is_none)
{
    char path[512], link_path[512];

    write_until(now_ns() + 600 * HR_NS_PER_S);
    snprintf(path, sizeof(path), "%s%s", tree_path(tree), HR_OSNOISE_PAUSE_PATH);
    ck_assert_int_eq(chmod(path, 0664), 0);
    ck_assert_uint_eq(left_ns(), 0);
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_uint_gt(left_ns(), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path, 12345, 0), 0);
        ck_assert_uint_eq(left_ns(), 0);
        ck_assert_int_eq(chown(path, 0, 0), 0);
    }
    snprintf(link_path, sizeof(link_path), "%s/run/real", tree_path(tree));
    ck_assert_int_eq(rename(path, link_path), 0);
    ck_assert_int_eq(symlink("real", path), 0);
    ck_assert_uint_eq(left_ns(), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("pause");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_pause_lasts_until_its_time);
    tcase_add_test(tests, more_than_a_day_is_none);
    tcase_add_test(tests, what_is_not_understood_is_none);
    tcase_add_test(tests, what_others_can_write_is_none);
    return run_suite("osnoise pause", tests);
}
