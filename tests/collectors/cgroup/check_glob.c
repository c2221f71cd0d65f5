/* SPDX-License-Identifier: MIT */
/*
 * collectors/cgroup/check_glob.c - patterns for cgroups: what they match, what they may match below
 * a path, and what each wildcard matched.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup/glob.h"
#include "support/suite.h"

static const struct {
    const char *pattern;
    const char *path;
    bool matches;
} matches[] = {
    {"system.slice", "system.slice", true},
    {"/system.slice/", "system.slice", true},
    {"system.slice", "system.slice/a", false},
    {"system.slice", "system-slice", false}, /* a dot is a dot */
    {"system.slice/*.service", "system.slice/a.service", true},
    {"system.slice/*.service", "system.slice/a.service/x", false},
    {"system.slice/*.service", "system.slice/a/b.service", false},
    {"*", "a", true},
    {"*", "a/b", false},
    {"*/*", "a/b", true},
    {"a*c", "ac", true},
    {"a?c", "ac", false},
    {"a?c", "abc", true},
    {"a?c", "a/c", false},
    {"**", "a", true},
    {"**", "a/b/c", true},
    {"**/c", "c", true},
    {"**/c", "a/b/c", true},
    {"**/c", "a/b/xc", false},
    {"a/**", "a", false},
    {"a/**", "a/b", true},
    {"a/**", "a/b/c", true},
    {"a/**", "ab/c", false},
    {"a/**/z", "a/z", true},
    {"a/**/z", "a/b/c/z", true},
    {"a/**/z", "a/bz", false},
    {"a/**/b/**/c", "a/x/b/y/z/c", true},
    {"a/**/b/**/c", "a/x/y/z/c", false},
    {"a**z", "a/b/z", true},
    {"kubepods.slice/**/cri-containerd-*.scope",
     "kubepods.slice/kubepods-burstable.slice/kubepods-pod1.slice/cri-containerd-ab12.scope", true},
    {"[ab]c", "bc", true},
    {"[!ab]c", "bc", false},
    {"[!ab]c", "xc", true},
    {"[^ab]c", "bc", false},
    {"a[!b]c", "a/c", false},
    {"[a-c]", "b", true},
    {"[!a-]x", "-x", false},
    {"[!a-]x", "bx", true},
    {"x[!-a]y", "x-y", false},
    {"x[!-a]y", "x5y", true},
    {"x[!-a]y", "x/y", false},
    {"x[!]-a]y", "x5y", true},
    {"x[!]-a]y", "x^y", false},
    {"x[!]-a]y", "x/y", false},
    {"x[!+--]y", "x.y", true},
    {"x[!+--]y", "x,y", false},
    {"x[!]-]y", "x-y", false},
    {"x[!-]y", "x/y", false},
    {"[]]", "]", true},
    {"[!]]", "]", false},
    {"[!]]", "x", true},
    {"[[:digit:]]", "7", true},
    {"[[:digit:]]", "x", false},
    {"user-1000\\x2dx", "user-1000\\x2dx", true}, /* one backslash: an ordinary character */
    {"*\\x2d*", "a\\x2db", true},
    {"a+b(c){1}|^$", "a+b(c){1}|^$", true}, /* none of these is special */
    {"a+", "aa", false},
    {"x y", "x y", true},
    {"gr\xc3\xbc\xc3\x9f*",
     "gr\xc3\xbc\xc3\x9f"
     "e",
     true},
    {"*.slice", "\xff\xfe.slice", true}, /* names are bytes, in no particular encoding */
};

START_TEST(matches_whole_paths)
{
    struct hr_glob *glob;
    const char *reason = NULL;

    ck_assert_int_eq(hr_glob_compile(matches[_i].pattern, &glob, &reason), 0);
    ck_assert_msg(hr_glob_match(glob, matches[_i].path) == matches[_i].matches, "%s on %s",
                  matches[_i].pattern, matches[_i].path);
    hr_glob_free(glob);
}
END_TEST

static const struct {
    const char *pattern;
    const char *path;
    bool matches;
} below[] = {
    {"a/b/c", "", true},       {"a/b/c", "a", true},    {"a/b/c", "a/b", true},
    {"a/b/c", "a/b/c", false}, {"a/b/c", "a/x", false}, {"a/b/c", "b", false},
    {"a", "", true},           {"a", "a", false},       {"*.slice/x", "b.slice", true},
    {"*.slice/x", "b", false}, {"a/**", "a", true},     {"a/**", "a/b/c", true},
    {"a/**", "b", false},      {"**/z", "a/b/c", true}, {"a/**/z", "a/b", true},
    {"a/x**z", "a", true},     {"a/b/**/c", "a", true}, {"a/b/**/c", "a/c", false},
    {"[ab]/c", "b", true},     {"[ab]/c", "c", false},
};

START_TEST(reports_where_to_look)
{
    struct hr_glob *glob;
    const char *reason;

    ck_assert_int_eq(hr_glob_compile(below[_i].pattern, &glob, &reason), 0);
    ck_assert_msg(hr_glob_match_below(glob, below[_i].path) == below[_i].matches, "%s below %s",
                  below[_i].pattern, below[_i].path);
    hr_glob_free(glob);
}
END_TEST

static const struct {
    const char *pattern;
    const char *path;
    const char *captures[5];
} captures[] = {
    {"*.slice/*.service", "a.slice/b.service", {"a", "b"}},
    {"a/**/x-*", "a/b/c/x-1", {"b/c", "1"}},
    {"a/**/x-*", "a/x-1", {"", "1"}},
    {"**", "a/b", {"a/b"}},
    {"**/*", "a", {"", "a"}},
    {"?[0-9]*", "x7yz", {"x", "7", "yz"}},
    {"[!x]*", "ab", {"a", "b"}},
    {"a*", "a", {""}},
    {"plain", "plain", {NULL}},
};

START_TEST(captures_wildcards)
{
    struct hr_glob *glob;
    const char *reason, *text;
    size_t length, number = 1;

    ck_assert_int_eq(hr_glob_compile(captures[_i].pattern, &glob, &reason), 0);
    for (; captures[_i].captures[number - 1] != NULL; number++) {
        const char *expected = captures[_i].captures[number - 1];
        ck_assert(hr_glob_capture(glob, captures[_i].path, number, &text, &length));
        ck_assert_uint_eq(length, strlen(expected));
        ck_assert_mem_eq(text, expected, length);
    }
    ck_assert_uint_eq(hr_glob_wildcards(glob), number - 1);
    ck_assert(!hr_glob_capture(glob, captures[_i].path, number, &text, &length));
    ck_assert(!hr_glob_capture(glob, captures[_i].path, 0, &text, &length));
    hr_glob_free(glob);
}
END_TEST

static const char *const refused[] = {"",  "/",   "//", "a//b", "a/./b",  "../a", "a/..",
                                      ".", "a[b", "[!", "[[:x", "a[b/c]", "[z-a]"};

START_TEST(refuses)
{
    struct hr_glob *glob = NULL;
    const char *reason = NULL;

    ck_assert_int_eq(hr_glob_compile(refused[_i], &glob, &reason), -EINVAL);
    ck_assert_ptr_nonnull(reason);
    ck_assert_ptr_null(glob);
}
END_TEST

START_TEST(finds_the_first_of_a_list)
{
    const char *patterns[] = {"a/*", "**/x", "a/b"};
    struct hr_globs globs = {0};

    ck_assert_int_eq(hr_globs_compile(patterns, 3, &globs), 0);
    ck_assert_uint_eq(hr_globs_find(&globs, "a/b"), 0);
    ck_assert_uint_eq(hr_globs_find(&globs, "q/x"), 1);
    ck_assert_uint_eq(hr_globs_find(&globs, "q"), 3);
    ck_assert(hr_globs_match_below(&globs, "q"));
    hr_globs_free(&globs);

    patterns[1] = "[";
    ck_assert_int_eq(hr_globs_compile(patterns, 3, &globs), -EINVAL);
    ck_assert_uint_eq(globs.count, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("glob");

    tcase_add_loop_test(tests, matches_whole_paths, 0, sizeof(matches) / sizeof(matches[0]));
    tcase_add_loop_test(tests, reports_where_to_look, 0, sizeof(below) / sizeof(below[0]));
    tcase_add_loop_test(tests, captures_wildcards, 0, sizeof(captures) / sizeof(captures[0]));
    tcase_add_loop_test(tests, refuses, 0, sizeof(refused) / sizeof(refused[0]));
    tcase_add_test(tests, finds_the_first_of_a_list);
    return run_suite("glob", tests);
}
