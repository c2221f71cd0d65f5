/* SPDX-License-Identifier: MIT */
/*
 * collectors/osnoise/check_osnoise_tracefs.c - finding tracefs, reading its files, and other users
 * of tracers.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "headroom/root.h"
#include "osnoise/tracefs.h"
#include "osnoise/users.h"
#include "support/fake_tracefs.h"
#include "support/suite.h"

static struct tree *tree;
static struct hr_root *root;
static struct hr_tracefs tracefs;
static struct hr_reason reason;

static void set_up(void)
{
    tree = tree_new();
    fake_tracefs_begin(tree, 8);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(hr_tracefs_open(root, &tracefs, &reason), 0);
}

static void tear_down(void)
{
    hr_tracefs_close(&tracefs);
    hr_root_close(root);
    fake_tracefs_end();
    tree_free(tree);
}

/* --- tracefs -------------------------------------------------------------- */

START_TEST(finds_tracefs_in_both_places)
{
    struct hr_tracefs other = {-1};
    char path[HR_TRACEFS_PATH], file[64];

    hr_tracefs_path(&tracefs, path);
    snprintf(file, sizeof(file), "%s/osnoise/cpus", path);
    ck_assert_int_eq(access(file, R_OK), 0);
    fake_tracefs_end();
    tree_add_directory(tree, "sys/kernel/debug");
    tree_rename(tree, FAKE_TRACEFS, "sys/kernel/debug/tracing");
    ck_assert_int_eq(hr_tracefs_open(root, &other, &reason), 0);
    hr_tracefs_close(&other);
    ck_assert_int_eq(other.fd, -1);
    hr_tracefs_close(&other);
    tree_add_directory(tree, FAKE_TRACEFS); /* nothing is mounted there */
    ck_assert_int_eq(hr_tracefs_open(root, &other, &reason), 0);
    hr_tracefs_close(&other);
    tree_remove(tree, "sys/kernel/debug/tracing");
    ck_assert_int_eq(hr_tracefs_open(root, &other, &reason), -ENOENT);
    ck_assert_int_eq(other.fd, -1);
    ck_assert_int_eq(reason.error, -ENOENT);
    ck_assert_ptr_nonnull(strstr(reason.text, "mount -t tracefs"));
}
END_TEST

START_TEST(reads_files_whole)
{
    char text[16];
    size_t length;
    uint64_t number = 4711;

    ck_assert_int_eq(hr_tracefs_read(&tracefs, "tracing_on", text, sizeof(text), &length), 0);
    ck_assert_str_eq(text, "1\n");
    ck_assert_uint_eq(length, 2);
    ck_assert_int_eq(hr_tracefs_read(&tracefs, "current_tracer", text, 4, NULL), -EBADMSG);
    ck_assert_int_eq(hr_tracefs_read(&tracefs, "current_tracer", text, 5, NULL), 0);
    ck_assert_int_eq(hr_tracefs_read(&tracefs, "none", text, 5, NULL), -ENOENT);
    /* what the kernel gives in one go only, into a buffer that leaves no room for it again */
    fake_tracefs_set("osnoise/cpus", "0-1,3,5-7\n");
    ck_assert_int_eq(hr_tracefs_read(&tracefs, "osnoise/cpus", text, sizeof(text), &length), 0);
    ck_assert_uint_eq(length, 10);
    ck_assert_int_eq(hr_tracefs_read(&tracefs, "osnoise/cpus", text, 10, NULL), -EINVAL);
    ck_assert_int_eq(hr_tracefs_read_number(&tracefs, "osnoise/cpus", &number), -EBADMSG);
    ck_assert_uint_eq(number, 4711);
    ck_assert_int_eq(hr_tracefs_read_number(&tracefs, "buffer_size_kb", &number), 0);
    ck_assert_uint_eq(number, 1410);
}
END_TEST

/* --- Instances with a tracer ---------------------------------------------- */

START_TEST(finds_instances_with_a_tracer)
{
    struct hr_osnoise_user user;
    char text[300];

    fake_tracefs_add_instance("quiet");
    fake_tracefs_add_instance("rtla");
    fake_tracefs_add_instance("ours");
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, NULL, NULL, &user), 0);
    fake_tracefs_set("instances/ours/current_tracer", "osnoise\n");
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, NULL, "ours", &user), 0);
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, NULL, NULL, NULL), 1);
    fake_tracefs_set("instances/rtla/current_tracer", "timerlat\n");
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, "osnoise", "ours", &user), 0);
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, "timerlat", "ours", &user), 1);
    ck_assert_str_eq(user.tracer, "timerlat");
    hr_osnoise_user_print(&user, text, sizeof(text));
    ck_assert_str_eq(text, "the trace instance rtla");
    fake_tracefs_set("current_tracer", "function\n");
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, NULL, "ours", &user), 1);
    ck_assert_str_eq(user.tracer, "function");
    hr_osnoise_user_print(&user, text, sizeof(text));
    ck_assert_str_eq(text, "the top-level trace instance");
}
END_TEST

/* During the search: a directory has lost its files, or is gone. */
START_TEST(an_instance_that_vanishes_is_none)
{
    struct hr_osnoise_user user;

    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    tree_add_directory(tree, FAKE_TRACEFS "/instances/empty");
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, "osnoise", NULL, &user), 1);
    tree_remove(tree, FAKE_TRACEFS "/instances/rtla/current_tracer");
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, "osnoise", NULL, &user), 0);
    tree_remove(tree, FAKE_TRACEFS "/instances");
    ck_assert_int_eq(hr_osnoise_users_find(&tracefs, "osnoise", NULL, &user), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, finds_tracefs_in_both_places);
    tcase_add_test(tests, reads_files_whole);
    tcase_add_test(tests, finds_instances_with_a_tracer);
    tcase_add_test(tests, an_instance_that_vanishes_is_none);
    return run_suite("osnoise_tracefs", tests);
}
