/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_alerts.c - reading a log of collectd's as it grows.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/alert_log.h"
#include "support/suite.h"

static void append_bytes(char byte, size_t count)
{
    FILE *file = fopen(path, "a");
    while (count-- > 0)
        putc(byte, file);
    fclose(file);
}

START_TEST(follows_growing_file)
{
    append("[2026-11-21 02:31:12] foreign\n" LINE "a\n" NOTIFICATION "OKAY, plugin = cpu\n");
    expect_alerts(0, "a ");
    expect_alerts(0, "|a ");
    append(LINE "b\nforeign\n");
    expect_alerts(0, "|a b ");
    append(LINE "c\n" LINE "d\n");
    expect_alerts(0, "|a |b c d ");
    expect_alerts(0, "|a |b |c |d ");
}
END_TEST

START_TEST(waits_for_end_of_line)
{
    const char *line = LINE "abc\n";
    append("%s", "");
    expect_alerts(0, "");
    for (; line[1] != '\0'; line++) {
        append("%c", *line);
        expect_alerts(0, "");
    }
    append("\n" LINE "d");
    expect_alerts(0, "abc ");
    append("ef\n\n\n");
    expect_alerts(0, "|abc def ");
}
END_TEST

START_TEST(remembers_the_last)
{
    append_alerts(1, 8);
    expect_alerts(0, "4 5 6 7 8 "); /* of those at the start, no more than are shown */
    append_alerts(9, 9);
    expect_alerts(0, "|4 |5 |6 |7 |8 9 ");
    expect_alerts(0, "|5 |6 |7 |8 |9 ");
    append_alerts(10, 30); /* but all new ones */
    expect_alerts(0,
                  "|5 |6 |7 |8 |9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 ");
    expect_alerts(0, "|26 |27 |28 |29 |30 ");
}
END_TEST

START_TEST(waits_for_file)
{
    expect_alerts(-ENOENT, "");
    expect_alerts(-ENOENT, "");
    append_alerts(1, 6); /* all of it is new */
    expect_alerts(0, "1 2 3 4 5 6 ");
}
END_TEST

START_TEST(starts_again_when_truncated)
{
    append(LINE "a\n" LINE "half");
    expect_alerts(0, "a ");
    ck_assert_int_eq(truncate(path, 0), 0);
    expect_alerts(0, "|a ");
    append("foreign\n");
    expect_alerts(0, "|a ");
    append_alerts(1, 1);
    expect_alerts(0, "|a 1 ");
    ck_assert_int_eq(truncate(path, 0), 0);
    append(LINE "2\n");
    expect_alerts(0, "|a |1 2 ");
    append_bytes('x', 3000); /* a line to be skipped, without an end */
    expect_alerts(0, "|a |1 |2 ");
    ck_assert_int_eq(truncate(path, 0), 0);
    append_alerts(3, 3);
    expect_alerts(0, "|a |1 |2 3 ");
}
END_TEST

START_TEST(follows_rotation)
{
    append(LINE "a\n");
    expect_alerts(0, "a ");
    append(LINE "b\n");
    ck_assert_int_eq(rename(path, old_path), 0);
    append_alerts(1, 6);
    expect_alerts(0, "|a b 1 2 3 4 5 6 "); /* the end of the old one is not lost */
    append(LINE "c\n");
    expect_alerts(0, "|2 |3 |4 |5 |6 c ");
}
END_TEST

START_TEST(survives_time_without_file)
{
    append(LINE "a\n" LINE "half");
    expect_alerts(0, "a ");
    ck_assert_int_eq(rename(path, old_path), 0);
    expect_alerts(-ENOENT, "|a ");
    expect_alerts(-ENOENT, "|a ");
    /* A line begun in the old file doesn't continue in the new one. */
    append("way\n" LINE "b\n");
    expect_alerts(0, "|a b ");
    /* The same file comes back: nothing is read twice. */
    ck_assert_int_eq(rename(path, old_path), 0);
    expect_alerts(-ENOENT, "|a |b ");
    ck_assert_int_eq(rename(old_path, path), 0);
    expect_alerts(0, "|a |b ");
}
END_TEST

START_TEST(reports_what_is_no_file)
{
    ck_assert_int_eq(mkdir(path, 0755), 0);
    expect_alerts(-EISDIR, "");
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(mkfifo(path, 0644), 0);
    expect_alerts(-EINVAL, "");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("log", path), 0);
    expect_alerts(-ELOOP, "");
    ck_assert_int_eq(unlink(path), 0);
    append_alerts(1, 6); /* no reading found it missing, so it may be old */
    expect_alerts(0, "2 3 4 5 6 ");
}
END_TEST

/* A line that begins before the part that is read is skipped; one that begins with it is not. */
START_TEST(reads_end_of_huge_file)
{
    const off_t hole = (off_t)1 << 36;
    append_alerts(1, 1);
    ck_assert_int_eq(truncate(path, hole), 0);
    append("\n" LINE "2\n");
    append_bytes('x', 1024 * 1024 - 2 * strlen(LINE "3\n"));
    append("\n" LINE "4\n");
    expect_alerts(0, "4 ");
    append_alerts(5, 5);
    expect_alerts(0, "|4 5 ");
}
END_TEST

START_TEST(reads_first_whole_line)
{
    const size_t length = strlen(LINE "2\n");
    append_alerts(1, 2);
    append_bytes('\n', 1024 * 1024 - length - (size_t)_i);
    /* The part begins with the second line, or up to two bytes before or behind. */
    expect_alerts(0, _i >= 0 ? "2 " : "");
}
END_TEST

START_TEST(skips_huge_backlog)
{
    append_alerts(1, 1);
    expect_alerts(0, "1 ");
    append_alerts(2, 2);
    append_bytes('\n', 1024 * 1024);
    append_alerts(3, 3);
    append_bytes('\n', 1000 * 1024); /* not too much */
    expect_alerts(0, "|1 3 ");
}
END_TEST

START_TEST(passes_over_long_lines)
{
    append(LINE "1\n" LINE);
    append_bytes('x', 3000);
    expect_alerts(0, "1 ");
    append_bytes('x', 60000);
    append(LINE "no\n" LINE "2\n" LINE "begun");
    expect_alerts(0, "|1 2 ");
    append_bytes('x', 3000);
    append("\n");
    expect_alerts(0, "|1 |2 ");
    append_bytes('y', 2048); /* as long as can be kept */
    append("\n" LINE "3\n");
    expect_alerts(0, "|1 |2 3 ");
}
END_TEST

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

START_TEST(holds_one_descriptor)
{
    append_alerts(1, 1);
    expect_alerts(0, "1 ");
    int before = count_descriptors();
    expect_alerts(0, "|1 ");
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(rename(path, old_path), 0);
        expect_alerts(-ENOENT, "|1 ");
        append("%s", "");
        expect_alerts(0, "|1 ");
    }
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, follows_growing_file);
    tcase_add_test(tests, waits_for_end_of_line);
    tcase_add_test(tests, remembers_the_last);
    tcase_add_test(tests, waits_for_file);
    tcase_add_test(tests, starts_again_when_truncated);
    tcase_add_test(tests, follows_rotation);
    tcase_add_test(tests, survives_time_without_file);
    tcase_add_test(tests, reports_what_is_no_file);
    tcase_add_test(tests, reads_end_of_huge_file);
    tcase_add_loop_test(tests, reads_first_whole_line, -2, 3);
    tcase_add_test(tests, skips_huge_backlog);
    tcase_add_test(tests, passes_over_long_lines);
    tcase_add_test(tests, holds_one_descriptor);
    add_alert_log(tests);
    return run_suite("alerts", tests);
}
