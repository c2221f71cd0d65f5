/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_text.c - parsing numbers and words, reading small files, and the hash of
 * texts.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/hash.h"
#include "support/suite.h"

static const struct {
    const char *text;
    bool accepted;
    uint64_t value;
    const char *rest;
} numbers[] = {
    {"0", true, 0, ""},
    {"7 x", true, 7, " x"},
    {"0012", true, 12, ""},
    {"18446744073709551615\n", true, UINT64_MAX, "\n"},
    {"18446744073709551616", false, 0, "18446744073709551616"},
    {"99999999999999999999999", false, 0, "99999999999999999999999"},
    {"", false, 0, ""},
    {"-1", false, 0, "-1"},
    {"+1", false, 0, "+1"},
    {" 1", false, 0, " 1"},
    {"x", false, 0, "x"},
};

START_TEST(reads_numbers)
{
    struct hr_text text = {numbers[_i].text, strlen(numbers[_i].text)};
    uint64_t value = 4711;

    ck_assert_int_eq(hr_text_u64(&text, &value), numbers[_i].accepted);
    ck_assert_uint_eq(value, numbers[_i].accepted ? numbers[_i].value : 4711);
    ck_assert_uint_eq(text.length, strlen(numbers[_i].rest));
    ck_assert_str_eq(text.start, numbers[_i].rest);
}
END_TEST

START_TEST(never_reads_past_the_end)
{
    struct hr_text text = {"1234", 2};
    uint64_t value;

    ck_assert(hr_text_u64(&text, &value));
    ck_assert_uint_eq(value, 12);
    ck_assert_uint_eq(text.length, 0);
    text = (struct hr_text){"some", 3};
    ck_assert(!hr_text_skip(&text, "some"));
    ck_assert_uint_eq(text.length, 3);
}
END_TEST

START_TEST(skips_lines)
{
    const char *lines = "one\ntwo";
    struct hr_text text = {lines, strlen(lines)};

    ck_assert(hr_text_skip_line(&text));
    ck_assert_str_eq(text.start, "two");
    ck_assert(!hr_text_skip_line(&text));
    ck_assert_uint_eq(text.length, 3);
}
END_TEST

START_TEST(reads_files_from_their_beginning)
{
    char path[] = "/tmp/check_text.XXXXXX", buffer[8];
    size_t length = 0;
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    unlink(path);
    ck_assert_int_eq(write(fd, "1234567", 7), 7);
    ck_assert_int_eq(hr_text_read_file(fd, buffer, sizeof(buffer), &length), 0);
    ck_assert_uint_eq(length, 7);
    ck_assert_mem_eq(buffer, "1234567", 7);
    /* With one more byte the file may be truncated: it can't be distinguished. */
    ck_assert_int_eq(write(fd, "8", 1), 1);
    ck_assert_int_eq(hr_text_read_file(fd, buffer, sizeof(buffer), &length), -EBADMSG);
    close(fd);
    ck_assert_int_eq(hr_text_read_file(fd, buffer, sizeof(buffer), &length), -EBADF);
}
END_TEST

START_TEST(finds_words)
{
    static const char text[] = "timerlat osnoise hwlat\nnop";

    ck_assert(hr_text_has_word(text, "timerlat"));
    ck_assert(hr_text_has_word(text, "osnoise"));
    ck_assert(hr_text_has_word(text, "hwlat"));
    ck_assert(hr_text_has_word(text, "nop"));
    ck_assert(!hr_text_has_word(text, "noise"));
    ck_assert(!hr_text_has_word(text, "osn"));
    ck_assert(!hr_text_has_word(text, "osnoise2"));
    ck_assert(!hr_text_has_word("", "nop"));
}
END_TEST

/* The names of series contain the hash, so that it must not change. The examples are the author's.
 * */
static const struct {
    const char *text;
    uint32_t hash;
} hashes[] = {{"", 0x811c9dc5}, {"a", 0xe40c292c}, {"foobar", 0xbf9cf968}, {"\xff", 0x7a0b824e}};

START_TEST(hashes_as_published)
{
    ck_assert_uint_eq(hr_hash(hashes[_i].text), hashes[_i].hash);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("text");

    tcase_add_loop_test(tests, reads_numbers, 0, sizeof(numbers) / sizeof(numbers[0]));
    tcase_add_test(tests, never_reads_past_the_end);
    tcase_add_test(tests, skips_lines);
    tcase_add_test(tests, finds_words);
    tcase_add_loop_test(tests, hashes_as_published, 0, sizeof(hashes) / sizeof(hashes[0]));
    tcase_add_test(tests, reads_files_from_their_beginning);
    return run_suite("text", tests);
}
