/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_descriptor.c - which descriptors are kept, with which numbers, and how far
 * the limit is raised.
 */
#include <check.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"

/* Each test runs in a process of its own. */
static void limit_files(rlim_t soft, rlim_t hard)
{
    const struct rlimit limit = {soft, hard};

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static struct rlimit read_limit(void)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit;
}

static int open_null(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    return fd;
}

/* Keeps as many as may be. @return the highest number. */
static int keep_all(enum hr_keep what, size_t *count)
{
    int fd, highest = -1;

    for (*count = 0; fd = open_null(), hr_descriptor_keep(&fd, what); ++*count)
        highest = fd > highest ? fd : highest;
    close(fd);
    return highest;
}

/* --- Numbers -------------------------------------------------------------- */

static const struct {
    rlim_t limit;
    enum hr_keep what;
    int highest; /* that is kept */
    size_t share;
} shares[] = {
    {64, HR_KEEP_DIRECTORY, 15, 16},       {64, HR_KEEP_FILE, 47, 48},
    {64, HR_KEEP_TRIGGER, 55, 56},         {1024, HR_KEEP_DIRECTORY, 255, 256},
    {1024, HR_KEEP_FILE, 767, 768},        {1024, HR_KEEP_TRIGGER, 895, 896},
    {2047, HR_KEEP_FILE, 1529, 1530},      {2048, HR_KEEP_DIRECTORY, 1279, 256},
    {2048, HR_KEEP_FILE, 1791, 768},       {2048, HR_KEEP_TRIGGER, 1919, 896},
    {9216, HR_KEEP_DIRECTORY, 3071, 2048}, {9216, HR_KEEP_FILE, 7167, 6144},
};

START_TEST(keeps_up_to_a_share)
{
    const int before = count_descriptors();
    size_t count;

    limit_files(shares[_i].limit, shares[_i].limit);
    ck_assert_uint_eq(hr_descriptor_share(shares[_i].what), shares[_i].share);
    const int lowest = open_null();
    close(lowest);
    ck_assert_int_eq(keep_all(shares[_i].what, &count), shares[_i].highest);
    /* From 2,048 on, what others have open doesn't count. */
    if (shares[_i].limit < 2048) {
        ck_assert_int_eq(count_descriptors(), before + (int)count);
        ck_assert_uint_le(count, shares[_i].share - (size_t)lowest);
    } else {
        ck_assert_uint_eq(count, shares[_i].share);
        const int next = open_null();
        ck_assert_int_eq(next, lowest); /* for users of select(2) */
    }
}
END_TEST

/* A directory that comes after files is refused, while a file is still kept. */
START_TEST(counts_all_uses_together)
{
    int fds[1200];
    size_t count;

    limit_files(4096, 4096); /* of 3,072 numbers, directories get 768 and files 2,304 */
    for (int i = 0; i < 1200; i++) {
        fds[i] = open_null();
        ck_assert(hr_descriptor_keep(&fds[i], HR_KEEP_FILE));
        ck_assert_int_eq(fds[i], 1024 + i);
    }
    int directory = open_null(), file = open_null();
    const int number = directory;
    ck_assert(!hr_descriptor_keep(&directory, HR_KEEP_DIRECTORY));
    ck_assert_int_eq(directory, number);
    ck_assert_int_ge(fcntl(directory, F_GETFD), 0);
    ck_assert(hr_descriptor_keep(&file, HR_KEEP_FILE));
    ck_assert_int_eq(file, 1024 + 1200);
    close(fds[0]); /* a number that is free again is used again */
    ck_assert(hr_descriptor_keep(&directory, HR_KEEP_DIRECTORY));
    ck_assert_int_eq(directory, 1024);
    ck_assert_int_eq(keep_all(HR_KEEP_DIRECTORY, &count), -1);
    ck_assert_int_eq(keep_all(HR_KEEP_FILE, &count), 1024 + 2303);
    ck_assert_int_eq(keep_all(HR_KEEP_TRIGGER, &count), 1024 + 2687);
}
END_TEST

/* A descriptor that is kept already stays what it is; so does the file. */
START_TEST(moves_a_file_once)
{
    char byte;
    int fds[2];

    limit_files(4096, 4096);
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    const int low = fds[0];
    ck_assert(hr_descriptor_keep(&fds[0], HR_KEEP_TRIGGER));
    ck_assert_int_ge(fds[0], 1024);
    ck_assert_int_eq(fcntl(low, F_GETFD), -1);
    ck_assert_int_eq(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
    ck_assert_int_ne(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    ck_assert_int_eq(read(fds[0], &byte, 1), 1);
    const int moved = fds[0];
    ck_assert(hr_descriptor_keep(&fds[0], HR_KEEP_DIRECTORY));
    ck_assert_int_eq(fds[0], moved);
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event), 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    ck_assert_int_eq(epoll_wait(epoll, &event, 1, 0), 1);
}
END_TEST

/* --- The limit ------------------------------------------------------------ */

static const struct {
    rlim_t soft, hard;
    size_t count;
    rlim_t expected;
} raises[] = {
    {1024, 20000, 0, 20000},
    {1024, 20000, 100000, 20000},
    {64, 1024, 0, 1024},
    {1024, 1024, 0, 1024},
    {20000, 20000, 0, 20000},
    /* where the machine allows as many, see below */
    {1024, 70000, 0, 65536},
    {1024, 70000, 48000, 65536},
    {1024, 70000, 51000, 69032},
    {65536, 70000, 8192, 65536},
    {66000, 70000, 0, 66000}, /* never lowered */
};

START_TEST(raises_the_limit)
{
    const rlim_t hard = raises[_i].hard;

    if (read_limit().rlim_max < hard && setrlimit(RLIMIT_NOFILE, &(struct rlimit){hard, hard}) < 0)
        return; /* only root may */
    limit_files(raises[_i].soft, hard);
    struct hr_descriptor_limits limits = hr_descriptor_raise_limit(raises[_i].count);
    ck_assert_uint_eq(limits.before, raises[_i].soft);
    ck_assert_uint_eq(limits.now, raises[_i].expected);
    ck_assert_uint_eq(read_limit().rlim_cur, raises[_i].expected);
    ck_assert_uint_eq(read_limit().rlim_max, hard);
    if (raises[_i].expected < hard)
        ck_assert_uint_ge(hr_descriptor_share(HR_KEEP_FILE), raises[_i].count);
    limits = hr_descriptor_raise_limit(raises[_i].count);
    ck_assert_uint_eq(limits.before, raises[_i].expected);
    ck_assert_uint_eq(limits.now, raises[_i].expected);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("descriptor");

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
    tcase_add_loop_test(tests, keeps_up_to_a_share, 0, COUNT(shares));
    tcase_add_test(tests, counts_all_uses_together);
    tcase_add_test(tests, moves_a_file_once);
    tcase_add_loop_test(tests, raises_the_limit, 0, COUNT(raises));
    return run_isolated_suite("descriptor", tests);
}
