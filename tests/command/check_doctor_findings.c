/* SPDX-License-Identifier: MIT */
/*
 * command/check_doctor_findings.c - the findings of `headroom doctor`: the list, lines, JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/checks.h"
#include "doctor/findings.h"
#include "support/suite.h"

static const struct advice advice[] = {
    {-ENOENT, "it is missing", "make it"},
    {-EPERM, "it is forbidden", NULL},
    {0},
};

/* Of psi "a" to "c" are used, of wss "d". */
static struct findings make_findings(void)
{
    struct findings findings = {.count = 0};

    findings_begin(&findings, "psi", FINDINGS_AS_CONFIGURED);
    findings_add_status(&findings, "a", 0, advice);
    findings_add_status(&findings, "b", -ENOENT, advice);
    findings_add_status(&findings, "c", -ENOENT, advice);
    findings_use(&findings, false);
    findings_add_status(&findings, "u", -EPERM, advice);
    findings_begin(&findings, "wss", FINDINGS_ALL);
    findings_use(&findings, false); /* there is nothing to judge by */
    findings_add(&findings, FINDING_UNTRIED, "d", "no d", NULL);
    findings_begin(&findings, "osnoise", FINDINGS_NONE);
    findings_use(&findings, true);
    findings_add(&findings, FINDING_WORKS, "e", NULL, NULL);
    return findings;
}

/* @param style  of the table; NULL: all lines. */
static char *text_of(const struct findings *findings, const struct findings_style *style)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(style != NULL ? findings_print_table(out, findings, style)
                                   : findings_print_lines(out, findings, true),
                     0);
    fclose(out);
    return text;
}

static void expect_text(const struct findings *findings, const struct findings_style *style,
                        const char *expected)
{
    char *text = text_of(findings, style);

    ck_assert_str_eq(text, expected);
    free(text);
}

static void expect_json(const struct findings *findings, const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    ck_assert_int_eq(findings_print_json(out, findings), 0);
    fclose(out);
    ck_assert_str_eq(text, expected);
    free(text);
}

/* Names and values may have colons. */
START_TEST(keeps_the_cause_of_an_invalid_combination_whole)
{
    const struct config_item block = {.key = "Alert", .path = "/etc/a: b", .line = 7};
    struct findings findings = {.plugin = "osnoise"};

    doctor_add_combination(&findings, &block, "of a: b the first", "take c: d");
    doctor_add_combination(&findings, &block, "of a: b the first", NULL);
    ck_assert_str_eq(findings.items[0].cause,
                     "invalid combination: of a: b the first, in line 7 of /etc/a: b");
    ck_assert_str_eq(findings.items[0].remedy, "take c: d: collectd doesn't start with this");
    ck_assert_str_eq(findings.items[1].cause, findings.items[0].cause);
    ck_assert_str_eq(findings.items[1].remedy, "correct it: collectd doesn't start with this");
    ck_assert_int_eq(findings.items[1].state, FINDING_WRONG);
}
END_TEST

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

START_TEST(counts_states_of_what_is_used)
{
    const struct findings findings = make_findings();
    const struct findings_counts all = findings_count(&findings, NULL);
    const struct findings_counts psi = findings_count(&findings, "psi");

    ck_assert_uint_eq(all.of[FINDING_WORKS], 1);
    ck_assert_uint_eq(all.of[FINDING_LACKS], 2);
    ck_assert_uint_eq(all.of[FINDING_UNTRIED], 1);
    ck_assert_uint_eq(all.unused, 2);
    ck_assert_uint_eq(psi.of[FINDING_LACKS], 2);
    ck_assert_uint_eq(psi.of[FINDING_UNTRIED], 0);
    ck_assert_uint_eq(psi.unused, 1);
}
END_TEST

START_TEST(prints_lines)
{
    const struct findings findings = make_findings();

    expect_text(&findings, NULL,
                "unused   psi: u: it is forbidden\n"
                "unused   osnoise: e\n"
                "works    psi: a\n"
                "untried  wss: d: no d\n"
                "lacks    psi: b: it is missing: make it\n"
                "lacks    psi: c: it is missing: make it\n\n");
}
END_TEST

START_TEST(prints_mistakes_last)
{
    struct findings findings = {.count = 0};

    findings_begin(&findings, "psi", FINDINGS_ALL);
    findings_add(&findings, FINDING_LACKS, "a", "no a", NULL);
    findings_add(&findings, FINDING_WRONG, "b", "not b", NULL);
    findings_begin(&findings, "wss", FINDINGS_NONE);
    findings_add(&findings, FINDING_WRONG, "u", "not u", NULL);
    findings_begin(&findings, "exec", FINDINGS_ALL);
    findings_add(&findings, FINDING_WRONG, "c", "not c", NULL);
    findings_add(&findings, FINDING_WORKS, "d", NULL, NULL);
    expect_text(&findings, NULL,
                "unused   wss: u: not u\n"
                "works    exec: d\n"
                "lacks    psi: a: no a\n"
                "wrong    psi: b: not b\n"
                "wrong    exec: c: not c\n\n");
    expect_text(&findings, &(struct findings_style){.width = 80},
                "plugin           works     lacks     wrong   untried  not used\n"
                "psi                  -         1         1         -         -\n"
                "wss                  -         -         -         -         1\n"
                "exec                 1         -         1         -         -\n\n"
                "lacks      psi: a\n"
                "  cause    no a\n"
                "wrong      psi: b\n"
                "  cause    not b\n"
                "wrong      exec: c\n"
                "  cause    not c\n\n");
}
END_TEST

/* What the machine lacks, and the plugin does without. */
START_TEST(notes_have_a_column_where_there_are_any)
{
    struct findings findings = {.count = 0};

    findings_begin(&findings, "psi", FINDINGS_ALL);
    findings_add(&findings, FINDING_LACKS, "a", "no a", NULL);
    findings_begin(&findings, "cgroup_perf", FINDINGS_AS_CONFIGURED);
    findings_add(&findings, FINDING_NOTE, "b", "no b", "leave it out");
    expect_text(&findings, NULL,
                "note     cgroup_perf: b: no b: leave it out\n"
                "lacks    psi: a: no a\n\n");
    expect_text(&findings, &(struct findings_style){.width = 80, .colours = true},
                "plugin           works     lacks     wrong   untried      note  not used\n"
                "psi                  -\033[31m         1\033[m         -         -         -"
                "         -\n"
                "cgroup_perf          -         -         -         -         1         -\n\n"
                "note       cgroup_perf: b\n"
                "  cause    no b\n"
                "  remedy   leave it out\n"
                "\033[31mlacks    \033[m  psi: a\n"
                "  cause    no a\n\n");
    ck_assert_uint_eq(findings_count(&findings, NULL).of[FINDING_NOTE], 1);
}
END_TEST

START_TEST(prints_no_lines_of_what_is_not_used)
{
    struct findings findings = {.count = 0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    findings_begin(&findings, "wss", FINDINGS_NONE);
    findings_add(&findings, FINDING_WORKS, "e", NULL, NULL);
    ck_assert_int_eq(findings_print_lines(out, &findings, false), 0);
    fclose(out);
    ck_assert_str_eq(text, "\n");
    free(text);
}
END_TEST

#define ROWS                                                                                       \
    "plugin           works     lacks     wrong   untried  not used\n"                             \
    "psi                  1         2         -         -         1\n"                             \
    "wss                  -         -         -         1         -\n"                             \
    "osnoise              -         -         -         -         1\n\n"

START_TEST(prints_a_table_and_what_is_lacking)
{
    const struct findings findings = make_findings();

    expect_text(&findings, &(struct findings_style){.width = 80},
                ROWS "untried    wss: d\n"
                     "  cause    no d\n"
                     "lacks      psi: b\n"
                     "lacks      psi: c\n"
                     "  cause    it is missing\n"
                     "  remedy   make it\n\n");
}
END_TEST

START_TEST(prints_all_if_asked)
{
    const struct findings findings = make_findings();

    expect_text(&findings, &(struct findings_style){.width = 80, .works = true, .unused = true},
                ROWS "unused     psi: u\n"
                     "  cause    it is forbidden\n"
                     "unused     osnoise: e\n"
                     "works      psi: a\n"
                     "untried    wss: d\n"
                     "  cause    no d\n"
                     "lacks      psi: b\n"
                     "lacks      psi: c\n"
                     "  cause    it is missing\n"
                     "  remedy   make it\n\n");
    expect_text(&findings, &(struct findings_style){.width = 80, .works = true},
                ROWS "works      psi: a\n"
                     "untried    wss: d\n"
                     "  cause    no d\n"
                     "lacks      psi: b\n"
                     "lacks      psi: c\n"
                     "  cause    it is missing\n"
                     "  remedy   make it\n\n");
}
END_TEST

START_TEST(prints_in_colours)
{
    struct findings findings = {.count = 0};

    findings_begin(&findings, "psi", FINDINGS_ALL);
    findings_add_status(&findings, "b", -EPERM, advice);
    expect_text(&findings, &(struct findings_style){.width = 80, .colours = true},
                "plugin           works     lacks     wrong   untried  not used\n"
                "psi                  -\033[31m         1\033[m         -         -         -\n\n"
                "\033[31mlacks    \033[m  psi: b\n"
                "  cause    it is forbidden\n\n");
}
END_TEST

/* "  cause    it is missing" has 24 columns. */
START_TEST(breaks_lines)
{
    static const struct {
        size_t width;
        const char *cause;
    } cases[] = {
        {24, "  cause    it is missing\n\n"},
        {23, "  cause    it is\n           missing\n\n"},
        /* a word that doesn't fit anywhere */
        {1, "  cause    it\n           is\n           missing\n\n"},
    };
    struct findings findings = {.count = 0};

    findings_begin(&findings, "psi", FINDINGS_ALL);
    findings_add(&findings, FINDING_LACKS, "b", "it is missing", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = text_of(&findings, &(struct findings_style){.width = cases[i].width});
        ck_assert_str_eq(strstr(text, "  cause"), cases[i].cause);
        free(text);
    }
}
END_TEST

/* Of "b" one lacks something else. */
START_TEST(prints_once_what_several_plugins_lack)
{
    static const char *const plugins[] = {"psi", "wss", "headroom"};
    struct findings findings = {.count = 0};

    for (size_t i = 0; i < 3; i++) {
        findings_begin(&findings, plugins[i], FINDINGS_ALL);
        findings_add(&findings, FINDING_WORKS, "a", NULL, NULL);
        findings_add(&findings, FINDING_LACKS, "b", "it is missing", i == 1 ? "wait" : "make it");
    }
    expect_text(&findings, NULL,
                "works    psi: a\n"
                "works    wss: a\n"
                "works    headroom: a\n"
                "lacks    psi, headroom: b: it is missing: make it\n"
                "lacks    wss: b: it is missing: wait\n\n");
    expect_text(&findings, &(struct findings_style){.width = 26},
                "plugin           works     lacks     wrong   untried  not used\n"
                "psi                  1         1         -         -         -\n"
                "wss                  1         1         -         -         -\n"
                "headroom             1         1         -         -         -\n\n"
                "lacks      psi, headroom:\n"
                "           b\n"
                "  cause    it is missing\n"
                "  remedy   make it\n"
                "lacks      wss: b\n"
                "  cause    it is missing\n"
                "  remedy   wait\n\n");
    ck_assert_uint_eq(findings_count(&findings, NULL).of[FINDING_LACKS], 2);
    ck_assert_uint_eq(findings_count(&findings, NULL).of[FINDING_WORKS], 3);
}
END_TEST

/* As of a pattern that two blocks have. */
START_TEST(keeps_what_a_plugin_lacks_once)
{
    struct findings findings = {.count = 0};

    findings_begin(&findings, "psi", FINDINGS_ALL);
    for (size_t i = 0; i < 2; i++) {
        findings_add(&findings, FINDING_WORKS, "a", NULL, NULL);
        findings_add(&findings, FINDING_LACKS, "b", "it is missing", "make it");
    }
    findings_add(&findings, FINDING_LACKS, "b", "it is missing", "wait");
    expect_text(&findings, NULL,
                "works    psi: a\n"
                "works    psi: a\n"
                "lacks    psi: b: it is missing: make it\n"
                "lacks    psi: b: it is missing: wait\n\n");
}
END_TEST

START_TEST(prints_json)
{
    const struct findings findings = make_findings();

    expect_json(&findings, "{\"features\":["
                           "{\"plugin\":\"psi\",\"feature\":\"a\",\"used\":true,\"works\":true,"
                           "\"wrong\":false,\"cause\":null,"
                           "\"remedy\":null},"
                           "{\"plugin\":\"psi\",\"feature\":\"b\",\"used\":true,\"works\":false,"
                           "\"wrong\":false,\"cause\":\"it is "
                           "missing\",\"remedy\":\"make it\"},"
                           "{\"plugin\":\"psi\",\"feature\":\"c\",\"used\":true,\"works\":false,"
                           "\"wrong\":false,\"cause\":\"it is "
                           "missing\",\"remedy\":\"make it\"},"
                           "{\"plugin\":\"psi\",\"feature\":\"u\",\"used\":false,\"works\":false,"
                           "\"wrong\":false,\"cause\":\"it is "
                           "forbidden\",\"remedy\":null},"
                           "{\"plugin\":\"wss\",\"feature\":\"d\",\"used\":true,\"works\":null,"
                           "\"wrong\":false,\"cause\":\"no d\","
                           "\"remedy\":null},"
                           "{\"plugin\":\"osnoise\",\"feature\":\"e\",\"used\":false,\"works\":"
                           "true,\"wrong\":false,\"cause\":null,"
                           "\"remedy\":null}"
                           "]}\n");
}
END_TEST

/* What the configuration has wrong is no lack of the machine. */
START_TEST(tells_what_is_wrong_from_what_is_lacking)
{
    struct findings findings = {.count = 0};

    findings_begin(&findings, "psi", FINDINGS_ALL);
    findings_add(&findings, FINDING_WRONG, "b", "it isn't known", "remove it");
    expect_text(&findings, NULL, "wrong    psi: b: it isn't known: remove it\n\n");
    expect_text(&findings, &(struct findings_style){.width = 80},
                "plugin           works     lacks     wrong   untried  not used\n"
                "psi                  -         -         1         -         -\n\n"
                "wrong      psi: b\n"
                "  cause    it isn't known\n"
                "  remedy   remove it\n\n");
    expect_json(&findings,
                "{\"features\":[{\"plugin\":\"psi\",\"feature\":\"b\",\"used\":true,"
                "\"works\":false,\"wrong\":true,\"cause\":\"it isn't known\",\"remedy\":\"remove "
                "it\"}]}\n");
    ck_assert_uint_eq(findings_count(&findings, NULL).of[FINDING_WRONG], 1);
    ck_assert_uint_eq(findings_count(&findings, NULL).of[FINDING_LACKS], 0);
}
END_TEST

START_TEST(escapes_json)
{
    struct findings findings = {.count = 0};

    findings_begin(&findings, "psi", FINDINGS_ALL);
    findings_add(&findings, FINDING_LACKS, "a\\b", "say \"no\"\n", "\xff\xc3\xa4");
    expect_json(&findings,
                "{\"features\":[{\"plugin\":\"psi\",\"feature\":\"a\\\\b\",\"used\":true,"
                "\"works\":false,\"wrong\":false,\"cause\":\"say "
                "\\\"no\\\"\\u000a\",\"remedy\":\"\\ufffd\xc3\xa4\"}]}\n");
}
END_TEST

START_TEST(prints_nothing_of_an_empty_list)
{
    const struct findings findings = {0};

    expect_json(&findings, "{\"features\":[]}\n");
    expect_text(&findings, NULL, "\n");
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
    for (size_t i = 0; i < room + 3; i++) {
        long_text[0] = (char)('a' + i % 20);
        long_text[1] = (char)('a' + i / 20);
        findings_add(&findings, FINDING_LACKS, long_text, long_text, long_text);
    }
    ck_assert_uint_eq(findings.count, room);
    free(text_of(&findings, &(struct findings_style){.width = 80}));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("doctor");

    tcase_add_test(tests, keeps_the_cause_of_an_invalid_combination_whole);
    tcase_add_test(tests, looks_advice_up);
    tcase_add_test(tests, counts_states_of_what_is_used);
    tcase_add_test(tests, prints_lines);
    tcase_add_test(tests, prints_mistakes_last);
    tcase_add_test(tests, notes_have_a_column_where_there_are_any);
    tcase_add_test(tests, prints_no_lines_of_what_is_not_used);
    tcase_add_test(tests, prints_a_table_and_what_is_lacking);
    tcase_add_test(tests, prints_all_if_asked);
    tcase_add_test(tests, prints_in_colours);
    tcase_add_test(tests, breaks_lines);
    tcase_add_test(tests, prints_once_what_several_plugins_lack);
    tcase_add_test(tests, keeps_what_a_plugin_lacks_once);
    tcase_add_test(tests, prints_json);
    tcase_add_test(tests, tells_what_is_wrong_from_what_is_lacking);
    tcase_add_test(tests, escapes_json);
    tcase_add_test(tests, prints_nothing_of_an_empty_list);
    tcase_add_test(tests, reports_that_it_cannot_write);
    tcase_add_test(tests, takes_no_more_than_it_holds);
    return run_suite("doctor", tests);
}
