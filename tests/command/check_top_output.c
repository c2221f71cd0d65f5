/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_output.c - the table of `headroom top` as lines and as JSON.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/table_rows.h"
#include "common/json.h"
#include "common/label.h"
#include "support/suite.h"
#include "top/columns.h"
#include "top/print.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define WIDE "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e" /* three characters of two columns */

static const struct {
    const char *text, *json;
} strings[] = {
    {"", "\"\""},
    {"plain \xc3\xbc", "\"plain \xc3\xbc\""},
    {"a\"b\\c", "\"a\\\"b\\\\c\""},
    {"\x01\n\x7f", "\"\\u0001\\u000a\\u007f\""},
    {"\xff"
     "a\xc3",
     "\"\\ufffda\\ufffd\""},
    {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
};

START_TEST(escapes_json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    json_print_string(out, strings[_i].text);
    fclose(out);
    ck_assert_str_eq(text, strings[_i].json);
    free(text);
}
END_TEST

START_TEST(prints_json)
{
    struct row rows[] = {{.host = (char *)"h", .group = (char *)"a"}};
    struct table table = {.rows = rows, .count = 1, .time = 12.5};
    for (int i = 0; i < COLUMN_MAX; i++)
        rows[0].values[i] = NAN;
    rows[0].values[column_of_key("cpu_some")] = 0.25;
    rows[0].values[column_of_key("io_full")] = INFINITY;
    rows[0].values[column_of_key("cpus_used")] = 1.25;
    rows[0].values[column_of_key("context_switches")] = 1234567;
    rows[0].values[column_of_key("page_faults")] = 0.5;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(print_json(out, &table, NULL), 0);
    fclose(out);
    ck_assert_str_eq(
        text,
        "{\"time\":12.500,\"groups\":[{\"host\":\"h\",\"group\":\"a\","
        "\"cpu_some\":0.25,\"cpu_full\":null,\"cpu_idle\":null,\"memory_some\":null,"
        "\"memory_full\":null,\"io_some\":null,\"io_full\":null,"
        "\"irq_full\":null,\"room_pct\":null,\"trouble_s\":null,\"cpus_used\":1.25,\"ipc\":null,"
        "\"context_switches\":1234567,\"page_faults\":0.5,"
        "\"referenced_bytes\":null,\"memory_used_bytes\":null,"
        "\"memory_limit_bytes\":null,\"rss_bytes\":null,\"processes\":null,"
        "\"takes_most_cpu\":false}]}\n");
    free(text);
}
END_TEST

START_TEST(prints_aligned_lines)
{
    struct table table = {0};
    fill_table(&table);
    free(table.rows[0].group);
    table.rows[0].group = strdup(WIDE);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(print_lines(out, &table, NULL), 0);
    fclose(out);
    table_free(&table);

    char *rest = NULL;
    char *line = strtok_r(text, "\n", &rest);
    ck_assert(strncmp(line, "group ", 6) == 0);
    const char *last = columns[column_count - 1].key;
    int heading = (int)(strstr(line, last) - line) + (int)strlen(last), lines = 0;
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        ck_assert_int_eq(label_width(line, LABEL_UTF8), heading);
        ck_assert_str_eq(line + strlen(line) - 2, " -");
        lines++;
    }
    ck_assert_int_eq(lines, FILLED_ROWS);
    free(text);
}
END_TEST

/* The first was there before. */
static struct alert some_alerts[] = {
    {.time = "2026-11-21 02:31:11", .severity = ALERT_FAILURE, .message = "old"},
    {.time = "2026-11-21 02:31:12",
     .severity = ALERT_WARNING,
     .host = "h",
     .instance = "a\"\xff",
     .type_instance = "trigger_x",
     .message = "memory \033[31m\xff\xc3\xbc\n",
     .is_over = true},
    {.severity = ALERT_OKAY, .host = "g", .message = "well"},
    {.severity = ALERT_FAILURE, .lasts = true},
};

static const struct {
    size_t fresh;
    bool several_hosts;
    const char *lines, *json;
} alert_outputs[] = {
    {0, false, "", ",\"alerts\":[]}\n"},
    {1, false, "alert - FAILURE -\n",
     ",\"alerts\":[{\"time\":null,\"severity\":\"failure\",\"host\":null,\"instance\":null,"
     "\"type_instance\":null,\"message\":null,\"over\":false}]}\n"},
    {3, false,
     "alert 02:31:12 WARNING over: memory ?[31m?\xc3\xbc?\n"
     "alert - OKAY well\n"
     "alert - FAILURE -\n",
     ",\"alerts\":[{\"time\":\"2026-11-21 02:31:12\",\"severity\":\"warning\",\"host\":\"h\","
     "\"instance\":\"a\\\"\\ufffd\",\"type_instance\":\"trigger_x\","
     "\"message\":\"memory \\u001b[31m\\ufffd\xc3\xbc\\u000a\",\"over\":true},"
     "{\"time\":null,\"severity\":\"okay\",\"host\":\"g\",\"instance\":null,"
     "\"type_instance\":null,\"message\":\"well\",\"over\":false},"
     "{\"time\":null,\"severity\":\"failure\",\"host\":null,\"instance\":null,"
     "\"type_instance\":null,\"message\":null,\"over\":false}]}\n"},
    {3, true,
     "alert 02:31:12 WARNING over: h: memory ?[31m?\xc3\xbc?\n"
     "alert - OKAY g: well\n"
     "alert - FAILURE -\n",
     NULL},
};

/* What print_lines() or print_json() prints, with alerts or without. */
static char *print_table(bool json, const struct table *table, const struct alert_list *alerts)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(json ? print_json(out, table, alerts) : print_lines(out, table, alerts), 0);
    fclose(out);
    return text;
}

START_TEST(prints_fresh_alerts)
{
    struct alert_list alerts = {some_alerts, COUNT(some_alerts), alert_outputs[_i].fresh};
    struct table table = {0};
    fill_table(&table);
    table.several_hosts = alert_outputs[_i].several_hosts;
    for (int json = 0; json < 2; json++) {
        const char *added = json ? alert_outputs[_i].json : alert_outputs[_i].lines;
        char *without = print_table(json, &table, NULL), *with = print_table(json, &table, &alerts);
        /* The last brace of JSON comes behind the alerts. */
        size_t same = strlen(without) - (json ? strlen("}\n") : 0);
        ck_assert_mem_eq(with, without, same);
        if (added != NULL)
            ck_assert_str_eq(with + same, added);
        free(without);
        free(with);
    }
    table_free(&table);
}
END_TEST

/* As on a terminal, what lasts is first. */
START_TEST(prints_alerts_for_a_reader)
{
    struct alert_list alerts = {some_alerts, COUNT(some_alerts), 3};
    struct table table = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    fill_table(&table);
    ck_assert_int_eq(print_readable(out, &table, &alerts, 80), 0);
    fclose(out);
    ck_assert_str_eq(strstr(text, "\nalert "), "\nalert - FAILURE -\n"
                                               "alert - OKAY well\n"
                                               "alert 02:31:12 WARNING over: memory "
                                               "?[31m?\xc3\xbc?\n"
                                               "alert 02:31:11 FAILURE old\n");
    free(text);
    table_free(&table);
}
END_TEST

START_TEST(reports_write_errors)
{
    struct table table = {0};
    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    ck_assert_int_eq(print_lines(full, &table, NULL), -ENOSPC);
    fclose(full);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, escapes_json, 0, COUNT(strings));
    tcase_add_test(tests, prints_json);
    tcase_add_test(tests, prints_aligned_lines);
    tcase_add_loop_test(tests, prints_fresh_alerts, 0, COUNT(alert_outputs));
    tcase_add_test(tests, prints_alerts_for_a_reader);
    tcase_add_test(tests, reports_write_errors);
    return run_utf8_suite("output", tests);
}
