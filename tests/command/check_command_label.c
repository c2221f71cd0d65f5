/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_label.c - texts cut to a width in columns.
 */
#include <string.h>

#include "common/label.h"
#include "support/suite.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define WIDE  "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e" /* three characters of two columns */
#define DOTS  "\xe2\x80\xa6"
#define ACUTE "\xcc\x81" /* combines with the character before */

static const struct {
    const char *name;
    int width;
    enum label_charset charset;
    const char *label;
} labels[] = {
    {"abcdefgh", 8, LABEL_UTF8, "abcdefgh"},
    {"abcdefgh", 7, LABEL_UTF8, "abc" DOTS "fgh"},
    {"abcdefgh", 6, LABEL_UTF8, "abc" DOTS "gh"},
    {"abcdefgh", 6, LABEL_ASCII, "ab..gh"},
    {"abcdefgh", 2, LABEL_UTF8, "a" DOTS},
    {"abcdefgh", 1, LABEL_UTF8, "a"},
    {"abcdefgh", 2, LABEL_ASCII, "ab"},
    {"abcdefgh", 0, LABEL_UTF8, ""},
    {"abcdefgh", -1, LABEL_UTF8, ""},
    {"", 5, LABEL_UTF8, ""},
    {WIDE, 6, LABEL_UTF8, WIDE},
    {WIDE, 5, LABEL_UTF8, "\xe6\x97\xa5" DOTS "\xe8\xaa\x9e"},
    {WIDE, 4, LABEL_UTF8, "\xe6\x97\xa5" DOTS},
    {WIDE, 1, LABEL_UTF8, ""},
    {WIDE, 9, LABEL_ASCII, "???"},
    {"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 3, LABEL_UTF8, "\xc3\xbc" DOTS "\xc3\xbc"},
    {"e" ACUTE "e" ACUTE "e" ACUTE, 3, LABEL_UTF8, "e" ACUTE "e" ACUTE "e" ACUTE},
    {"e" ACUTE "xxe" ACUTE, 3, LABEL_UTF8, "e" ACUTE DOTS "e" ACUTE},
    {"xxxe" ACUTE "yy", 5, LABEL_UTF8, "xx" DOTS "yy"},
    {"a\033[31m\n\177", 20, LABEL_UTF8, "a?[31m??"},
    {"a\xc2\x9b"
     "b",
     20, LABEL_UTF8, "a?b"}, /* a control character of 8 bits */
    {"a\xe2\x80\xae"
     "b",
     20, LABEL_UTF8, "a?b"}, /* changes the direction */
    {"\xff\xc3", 20, LABEL_UTF8, "??"},
    {"\xed\xa0\x80", 20, LABEL_UTF8, "???"},     /* a surrogate */
    {"\xc0\xaf", 20, LABEL_UTF8, "??"},          /* overlong */
    {"\xf4\x90\x80\x80", 20, LABEL_UTF8, "????"} /* above U+10FFFF */
};

START_TEST(fits_label)
{
    char label[64];
    int taken =
        label_fit(labels[_i].name, labels[_i].width, labels[_i].charset, label, sizeof(label));
    ck_assert_str_eq(label, labels[_i].label);
    ck_assert_int_eq(taken, label_width(label, LABEL_UTF8));
    ck_assert_int_le(taken, labels[_i].width < 0 ? 0 : labels[_i].width);
}
END_TEST

/* A text that is too long is cut at its end. */
static const struct {
    const char *text;
    int width;
    enum label_charset charset;
    const char *label;
} sentences[] = {
    {"abcdefgh", 8, LABEL_UTF8, "abcdefgh"},
    {"abcdefgh", 7, LABEL_UTF8, "abcdef" DOTS},
    {"abcdefgh", 7, LABEL_ASCII, "abcde.."},
    {"abcdefgh", 2, LABEL_UTF8, "a" DOTS},
    {"abcdefgh", 2, LABEL_ASCII, "ab"},
    {"abcdefgh", 1, LABEL_UTF8, "a"},
    {"abcdefgh", 0, LABEL_UTF8, ""},
    {"abcdefgh", -1, LABEL_UTF8, ""},
    {"", 5, LABEL_UTF8, ""},
    {ACUTE "a", 0, LABEL_UTF8, ""},
    {WIDE, 6, LABEL_UTF8, WIDE},
    {WIDE, 5, LABEL_UTF8, "\xe6\x97\xa5\xe6\x9c\xac" DOTS},
    {WIDE, 4, LABEL_UTF8, "\xe6\x97\xa5" DOTS},
    {"e" ACUTE "xx", 2, LABEL_UTF8, "e" ACUTE DOTS},
    {"a\033[31m\xff\n", 20, LABEL_UTF8, "a?[31m??"},
};

START_TEST(fits_sentence)
{
    char label[64];
    int taken = label_fit_start(sentences[_i].text, sentences[_i].width, sentences[_i].charset,
                                label, sizeof(label));
    ck_assert_str_eq(label, sentences[_i].label);
    ck_assert_int_eq(taken, label_width(label, LABEL_UTF8));
}
END_TEST

START_TEST(label_stays_in_its_buffer)
{
    char label[] = "xxxxxxxx";
    ck_assert_int_eq(label_fit("ab\xc3\xbc", 20, LABEL_UTF8, label, 4), 2);
    ck_assert_str_eq(label, "ab");
    ck_assert_int_eq(label[4], 'x');
    ck_assert_int_eq(label_fit_start("abcdef", 4, LABEL_UTF8, label, 4), 3);
    ck_assert_str_eq(label, "abc");
    ck_assert_int_eq(label[4], 'x');
    ck_assert_int_eq(label_fit("ab", 20, LABEL_UTF8, label, 1), 0);
    ck_assert_str_eq(label, "");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, fits_label, 0, COUNT(labels));
    tcase_add_loop_test(tests, fits_sentence, 0, COUNT(sentences));
    tcase_add_test(tests, label_stays_in_its_buffer);
    return run_utf8_suite("label", tests);
}
