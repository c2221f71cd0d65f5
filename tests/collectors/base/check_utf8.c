/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_utf8.c - decoding UTF-8, and making names of arbitrary bytes safe, also
 * in reasons.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/utf8.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Encodes as in RFC 3629. @return the number of bytes. */
static size_t encode(uint32_t c, char *text)
{
    const size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = length; i-- > 1; c >>= 6)
        text[i] = (char)(0x80 | (c & 0x3f));
    text[0] = (char)(marks[length] | c);
    text[length] = '\0';
    return length;
}

START_TEST(decodes_every_character)
{
    char text[8];

    for (uint32_t c = 1; c <= 0x110000; c++) {
        bool is_valid = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
        uint32_t decoded = c;
        size_t length = encode(c, text);
        if (hr_utf8_decode(text, &decoded) != (is_valid ? length : 0) || decoded != c)
            ck_abort_msg("U+%04X: %zu bytes, U+%04X", c, hr_utf8_decode(text, &decoded), decoded);
        text[length - 1] = '\0';
        if (length > 1 && hr_utf8_decode(text, &decoded) != 0)
            ck_abort_msg("U+%04X without its last byte", c);
    }
}
END_TEST

static const struct {
    const char *name, *safe;
} names[] = {
    {"", ""},
    {"a name~", "a name~"},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7"},
    {"\x1b[31m\n\x7f", "?[31m??"},
    {"\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0"}, /* C1, and the first character after it */
    {"\x9b\xff", "??"},
    {"\xc0\xaf \xe0\x9f\xbf \xf0\x8f\xbf\xbf", "?? ??? ????"}, /* overlong */
    {"\xed\xa0\x80 \xf4\x90\x80\x80", "??? ????"},             /* a surrogate, and too high */
    {"\xc3\xa9\xc3", "\xc3\xa9?"},                             /* cut off */
    {"\xe2\x82z", "??z"},
    /* Marks of direction, line and paragraph separators, overrides and isolates; and what stands
     * beside them: the zero width joiner, a hyphen, a quotation mark, a narrow space. */
    {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "????????"},
    {"\xe2\x80\xa8\xe2\x80\xa9 \xe2\x80\xaa\xe2\x80\xae", "?????? ??????"},
    {"a\xe2\x80\xae"
     "fdp.exe",
     "a???fdp.exe"},
    {"\xe2\x81\xa6\xe2\x81\xa9", "??????"},
    {"\xe2\x80\x8d\xe2\x80\x90\xe2\x80\x9c\xe2\x80\xaf\xe2\x81\xaa\xd8\x9b",
     "\xe2\x80\x8d\xe2\x80\x90\xe2\x80\x9c\xe2\x80\xaf\xe2\x81\xaa\xd8\x9b"},
};

START_TEST(makes_names_safe)
{
    /* of the exact size, so that a sanitizer detects reads past the end */
    char *text = strdup(names[_i].name);

    ck_assert_ptr_nonnull(text);
    hr_utf8_make_safe(text);
    ck_assert_str_eq(text, names[_i].safe);
    free(text);
}
END_TEST

START_TEST(replaces_by_another_character)
{
    char text[] = "a\x1b\xc2\x9b\xff\\x2d?";

    hr_utf8_replace_unsafe(text, '_');
    ck_assert_str_eq(text, "a____\\x2d?");
}
END_TEST

START_TEST(makes_reasons_safe)
{
    struct hr_reason reason;

    ck_assert_int_eq(hr_reason_set(&reason, -EBUSY, "%s runs it", "a\x1b[2J\xc2\x9b"), -EBUSY);
    ck_assert_str_eq(reason.text, "a?[2J?? runs it");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("utf8");

    tcase_add_test(tests, replaces_by_another_character);
    tcase_add_test(tests, makes_reasons_safe);

    tcase_add_test(tests, decodes_every_character);
    tcase_add_loop_test(tests, makes_names_safe, 0, COUNT(names));
    return run_suite("utf8", tests);
}
