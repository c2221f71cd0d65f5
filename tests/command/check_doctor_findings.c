/* SPDX-License-Identifier: MIT */
/*
 * command/check_doctor_findings.c - the findings of `headroom doctor`: the list, lines, JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/findings.h"
#include "support/suite.h"

static const struct advice advice[] = {
    {-ENOENT, "it is missing", "make it"},
    {-EPERM, "it is forbidden", NULL},
    {0},
};

static struct findings make_findings(void)
{
    struct findings findings = {.plugin = "psi"};

    findings_add_status(&findings, "a", 0, advice);
    findings_add_status(&findings, "b", -ENOENT, advice);
    findings_add_status(&findings, "c", -ENOENT, advice);
    findings.plugin = "wss";
    findings_add(&findings, FINDING_UNTRIED, "d", "no d", NULL);
    return findings;
}

static char *text_of(const struct findings *findings, const struct findings_style *style)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(style != NULL ? findings_print(out, findings, style)
                                   : findings_print_json(out, findings),
                     0);
    fclose(out);
    return text;
}

static void expect_line(const struct findings *findings, const struct findings_style *style,
                        const char *expected)
{
    char *text = text_of(findings, style);

    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(looks_advice_up)
{
    struct findings findings = {.plugin = "psi"};

    findings_add_status(&findings, "a", -EPERM, advice);
    findings_add_status(&findings, "b", -EIO, advice);
    ck_assert_str_eq(findings.items[0].cause, "it is forbidden");
    ck_assert_str_eq(findings.items[0].remedy, "");
    ck_assert_str_eq(findings.items[1].cause, strerror(EIO));
    ck_assert_int_eq(findings.items[1].state, FINDING_LACKS);
}
END_TEST

START_TEST(counts_states)
{
    const struct findings findings = make_findings();
    const struct findings_counts counts = findings_count(&findings);

    ck_assert_uint_eq(counts.of[FINDING_WORKS], 1);
    ck_assert_uint_eq(counts.of[FINDING_LACKS], 2);
    ck_assert_uint_eq(counts.of[FINDING_UNTRIED], 1);
}
END_TEST

START_TEST(prints_whole_lines)
{
    const struct findings findings = make_findings();

    expect_line(&findings, &(struct findings_style){.width = 0},
                "works    psi: a\n"
                "lacks    psi: b: it is missing: make it\n"
                "lacks    psi: c: it is missing: make it\n"
                "untried  wss: d: no d\n");
}
END_TEST

START_TEST(prints_brief_lines)
{
    const struct findings findings = make_findings();

    expect_line(&findings, &(struct findings_style){.brief = true, .colours = true},
                "\033[32mworks\033[m    psi: a\n"
                "\033[31mlacks\033[m    psi: b: it is missing: make it\n"
                "\033[31mlacks\033[m    psi: c: as above\n"
                "\033[33muntried\033[m  wss: d: no d\n");
}
END_TEST

/* "lacks    psi: b: it is missing:" has 31 columns. */
START_TEST(breaks_lines)
{
    static const struct {
        size_t width;
        const char *expected;
    } cases[] = {
        {39, "lacks    psi: b: it is missing: make it\n"},
        {38, "lacks    psi: b: it is missing: make\n         it\n"},
        {31, "lacks    psi: b: it is missing:\n         make it\n"},
        {30, "lacks    psi: b: it is\n         missing: make it\n"},
        /* a word that doesn't fit anywhere */
        {1, "lacks    psi:\n         b:\n         it\n         is\n         missing:\n"
            "         make\n         it\n"},
    };
    struct findings findings = {.plugin = "psi"};

    findings_add_status(&findings, "b", -ENOENT, advice);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_line(&findings, &(struct findings_style){.width = cases[i].width},
                    cases[i].expected);
}
END_TEST

START_TEST(prints_json)
{
    const struct findings findings = make_findings();

    expect_line(
        &findings, NULL,
        "{\"facilities\":["
        "{\"plugin\":\"psi\",\"facility\":\"a\",\"works\":true,\"cause\":null,\"remedy\":null},"
        "{\"plugin\":\"psi\",\"facility\":\"b\",\"works\":false,\"cause\":\"it is missing\","
        "\"remedy\":\"make it\"},"
        "{\"plugin\":\"psi\",\"facility\":\"c\",\"works\":false,\"cause\":\"it is missing\","
        "\"remedy\":\"make it\"},"
        "{\"plugin\":\"wss\",\"facility\":\"d\",\"works\":null,\"cause\":\"no d\","
        "\"remedy\":null}"
        "]}\n");
}
END_TEST

START_TEST(escapes_json)
{
    struct findings findings = {.plugin = "psi"};

    findings_add(&findings, FINDING_LACKS, "a\\b", "say \"no\"\n", "\xff\xc3\xa4");
    expect_line(&findings, NULL,
                "{\"facilities\":[{\"plugin\":\"psi\",\"facility\":\"a\\\\b\",\"works\":false,"
                "\"cause\":\"say \\\"no\\\"\\u000a\",\"remedy\":\"\\ufffd\xc3\xa4\"}]}\n");
}
END_TEST

START_TEST(prints_nothing_of_an_empty_list)
{
    const struct findings findings = {0};

    expect_line(&findings, NULL, "{\"facilities\":[]}\n");
    expect_line(&findings, &(struct findings_style){.width = 80}, "");
}
END_TEST

START_TEST(reports_that_it_cannot_write)
{
    const struct findings findings = make_findings();
    FILE *full = fopen("/dev/full", "w");

    ck_assert_ptr_nonnull(full);
    ck_assert_int_eq(findings_print_json(full, &findings), -ENOSPC);
    fclose(full);
}
END_TEST

START_TEST(takes_no_more_than_it_holds)
{
    struct findings findings = {.plugin = "psi"};
    const size_t room = sizeof(findings.items) / sizeof(findings.items[0]);
    char long_text[1000];

    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    for (size_t i = 0; i < room + 3; i++)
        findings_add(&findings, FINDING_LACKS, long_text, long_text, long_text);
    ck_assert_uint_eq(findings.count, room);
    free(text_of(&findings, &(struct findings_style){.width = 80}));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("doctor");

    tcase_add_test(tests, looks_advice_up);
    tcase_add_test(tests, counts_states);
    tcase_add_test(tests, prints_whole_lines);
    tcase_add_test(tests, prints_brief_lines);
    tcase_add_test(tests, breaks_lines);
    tcase_add_test(tests, prints_json);
    tcase_add_test(tests, escapes_json);
    tcase_add_test(tests, prints_nothing_of_an_empty_list);
    tcase_add_test(tests, reports_that_it_cannot_write);
    tcase_add_test(tests, takes_no_more_than_it_holds);
    return run_suite("doctor", tests);
}
