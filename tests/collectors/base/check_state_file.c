/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_state_file.c - a state file: what is there after each step of its
 * replacement, and after each that fails.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "headroom/state_file.h"
#include "support/suite.h"

static char directory[64], path[128], new_path[160];
static int file_error, directory_error; /* of fsync(2); 0: it works */
static unsigned syncs;

int fsync(int fd)
{
    struct stat stat;

    ck_assert_int_eq(fstat(fd, &stat), 0);
    syncs++;
    errno = S_ISDIR(stat.st_mode) ? directory_error : file_error;
    return errno == 0 ? (int)syscall(SYS_fsync, fd) : -1;
}

static void set_up(void)
{
    snprintf(directory, sizeof(directory), "/tmp/check_state_file.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/a.state", directory);
    snprintf(new_path, sizeof(new_path), "%s.new", path);
}

static void tear_down(void)
{
    unlink(path);
    unlink(new_path);
    ck_assert_int_eq(rmdir(directory), 0); /* nothing else is in it */
}

typedef int read_function(const char *, char *, size_t, size_t *);

/* @param expected  NULL: there is none. */
static void assert_reads(read_function *read, const char *expected)
{
    char text[64];
    size_t length = 0;

    if (expected == NULL) {
        ck_assert_int_eq(read(path, text, sizeof(text), &length), -ENOENT);
        return;
    }
    ck_assert_int_eq(read(path, text, sizeof(text), &length), 0);
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_mem_eq(text, expected, length);
}

static void assert_files(const char *file, const char *prepared)
{
    assert_reads(hr_state_file_read, file);
    assert_reads(hr_state_file_read_prepared, prepared);
}

START_TEST(replaces_in_two_steps)
{
    assert_files(NULL, NULL);
    ck_assert_int_eq(hr_state_file_prepare(path, "one", 3), 0);
    assert_files(NULL, "one");
    ck_assert_uint_eq(syncs, 0); /* it doesn't wait for the disk */
    ck_assert_int_eq(hr_state_file_commit(path), 0);
    assert_files("one", NULL);
    ck_assert_uint_eq(syncs, 2);
    ck_assert_int_eq(hr_state_file_prepare(path, "two", 3), 0);
    assert_files("one", "two");
    ck_assert_int_eq(hr_state_file_prepare(path, "three", 5), 0);
    assert_files("one", "three");
    ck_assert_int_eq(hr_state_file_commit(path), 0);
    assert_files("three", NULL);
    ck_assert_int_eq(hr_state_file_commit(path), -ENOENT);
    assert_files("three", NULL);
    ck_assert_int_eq(hr_state_file_write(path, "four", 4), 0);
    assert_files("four", NULL);
    ck_assert_int_eq(hr_state_file_remove(path), 0);
    assert_files(NULL, NULL);
    ck_assert_int_eq(hr_state_file_remove(path), 0);
}
END_TEST

START_TEST(waits_for_no_disk_where_that_is_of_no_use)
{
    ck_assert_int_eq(hr_state_file_write_unsynced(path, "one", 3), 0);
    ck_assert_int_eq(hr_state_file_write_unsynced(path, "two", 3), 0);
    assert_files("two", NULL);
    ck_assert_uint_eq(syncs, 0);
    ck_assert_int_eq(hr_state_file_write_unsynced("/nowhere/at/all", "x", 1), -ENOENT);
}
END_TEST

/* What fails, what writing returns, and which text there is then. */
static const struct {
    int file_error, directory_error, status;
    const char *is;
} failures[] = {
    {EIO, 0, -EIO, "old"},
    {0, EIO, -EIO, "new"},
    {0, EINVAL, 0, "new"}, /* the filesystem has nothing to synchronize */
    {EINVAL, 0, -EINVAL, "old"},
};

START_TEST(failures_leave_one_of_both)
{
    ck_assert_int_eq(hr_state_file_write(path, "old", 3), 0);
    file_error = failures[_i].file_error;
    directory_error = failures[_i].directory_error;
    ck_assert_int_eq(hr_state_file_write(path, "new", 3), failures[_i].status);
    assert_files(failures[_i].is, NULL);
}
END_TEST

START_TEST(removing_heeds_the_directory)
{
    ck_assert_int_eq(hr_state_file_write(path, "old", 3), 0);
    directory_error = _i == 0 ? EINVAL : EIO;
    ck_assert_int_eq(hr_state_file_remove(path), _i == 0 ? 0 : -EIO);
    assert_files(NULL, NULL);
}
END_TEST

START_TEST(trusts_only_what_no_other_can_have_prepared)
{
    char text[8];
    size_t length;

    ck_assert_int_eq(hr_state_file_prepare(path, "new", 3), 0);
    ck_assert_int_eq(chmod(new_path, 0666), 0);
    ck_assert_int_eq(hr_state_file_read_prepared(path, text, sizeof(text), &length), -EPERM);
    ck_assert_int_eq(unlink(new_path), 0);
    ck_assert_int_eq(symlink("/dev/null", new_path), 0);
    ck_assert_int_eq(hr_state_file_read_prepared(path, text, sizeof(text), &length), -EPERM);
    ck_assert_int_eq(hr_state_file_prepare(path, "new", 3), 0); /* replaces the link itself */
    assert_files(NULL, "new");
}
END_TEST

START_TEST(needs_its_directory)
{
    char text[8], long_path[512];
    size_t length;

    snprintf(long_path, sizeof(long_path), "%s/%0252d", directory, 0); /* ".new" doesn't fit */
    ck_assert_int_eq(hr_state_file_write(long_path, "x", 1), -ENAMETOOLONG);
    snprintf(long_path, sizeof(long_path), "%s/none/x", directory);
    ck_assert_int_eq(hr_state_file_write(long_path, "x", 1), -ENOENT);
    ck_assert_int_eq(hr_state_file_prepare(long_path, "x", 1), -ENOENT);
    ck_assert_int_eq(hr_state_file_commit(long_path), -ENOENT);
    ck_assert_int_eq(hr_state_file_read_prepared(long_path, text, sizeof(text), &length), -ENOENT);
    ck_assert_int_eq(hr_state_file_remove(long_path), 0);
}
END_TEST

/* What only the owner of a folder can have put there is root's to trust, if it knows the folder. */
START_TEST(root_trusts_the_owner_of_a_folder)
{
    enum { SOMEONE = 65534 };
    char text[8], other[256], linked[128];
    size_t length;

    if (geteuid() != 0)
        return;
#define READ(folder, file) hr_state_file_read_in(folder, file, text, sizeof(text), &length)
    ck_assert_int_eq(hr_state_file_write(path, "old", 3), 0);
    ck_assert_int_eq(READ(directory, path), 0);
    /* a user's file in root's folder, as in one that all may write to */
    ck_assert_int_eq(chown(path, SOMEONE, SOMEONE), 0);
    ck_assert_int_eq(READ(directory, path), -EPERM);
    /* in that user's own */
    ck_assert_int_eq(chown(directory, SOMEONE, SOMEONE), 0);
    ck_assert_int_eq(READ(directory, path), 0);
    ck_assert_uint_eq(length, 3);
    ck_assert_int_eq(hr_state_file_read(path, text, sizeof(text), &length), -EPERM);
    ck_assert_int_eq(READ("/tmp", path), -EPERM);
    snprintf(other, sizeof(other), "%s/../%s/a.state", directory, strrchr(directory, '/') + 1);
    ck_assert_int_eq(READ(directory, other), -EPERM);
    /* a third user's file, or one that others may write */
    ck_assert_int_eq(chown(path, SOMEONE - 1, SOMEONE), 0);
    ck_assert_int_eq(READ(directory, path), -EPERM);
    ck_assert_int_eq(chown(path, SOMEONE, SOMEONE), 0);
    ck_assert_int_eq(chmod(path, 0620), 0);
    ck_assert_int_eq(READ(directory, path), -EPERM);
    ck_assert_int_eq(chmod(path, 0600), 0);
    /* in a folder that others may write to */
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(chmod(directory, (mode_t[]){0770, 0777, 01777}[i]), 0);
        ck_assert_int_eq(READ(directory, path), -EPERM);
    }
    ck_assert_int_eq(chmod(directory, 0700), 0);
    ck_assert_int_eq(READ(directory, path), 0);
    /* a link in the place of the folder, or of the file */
    snprintf(linked, sizeof(linked), "%s.link", directory);
    ck_assert_int_eq(symlink(directory, linked), 0);
    snprintf(other, sizeof(other), "%s/a.state", linked);
    ck_assert_int_eq(READ(linked, other), -EPERM);
    ck_assert_int_eq(unlink(linked), 0);
    ck_assert_int_eq(rename(path, new_path), 0);
    ck_assert_int_eq(symlink(new_path, path), 0);
    ck_assert_int_eq(READ(directory, path), -EPERM);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(READ(directory, path), -ENOENT);
    /* who isn't root trusts root and himself alone */
    ck_assert_int_eq(rename(new_path, path), 0);
    ck_assert_int_eq(seteuid(SOMEONE - 1), 0);
    ck_assert_int_lt(READ(directory, path), 0);
    ck_assert_int_eq(seteuid(0), 0);
#undef READ
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("state file");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, replaces_in_two_steps);
    tcase_add_test(tests, waits_for_no_disk_where_that_is_of_no_use);
    tcase_add_loop_test(tests, failures_leave_one_of_both, 0,
                        sizeof(failures) / sizeof(failures[0]));
    tcase_add_loop_test(tests, removing_heeds_the_directory, 0, 2);
    tcase_add_test(tests, trusts_only_what_no_other_can_have_prepared);
    tcase_add_test(tests, root_trusts_the_owner_of_a_folder);
    tcase_add_test(tests, needs_its_directory);
    return run_isolated_suite("state file", tests);
}
