/*
 * check_table.c - the parts of `headroom top` that know neither collectd nor a terminal.
 */
#include "../src/command/columns.h"
#include "../src/command/label.h"
#include "../src/command/layout.h"
#include "../src/command/print.h"
#include "../src/command/table.h"

#include <check.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static int column_of_key(const char *key)
{
    for (size_t i = 0; i < column_count; i++) {
        if (strcmp(columns[i].key, key) == 0)
            return (int)i;
    }
    ck_abort_msg("no column %s", key);
    return -1;
}

/* --- identifiers ---------------------------------------------------------- */

static const struct {
    const char *text, *host, *plugin, *instance, *type, *type_instance;
} identifiers[] = {
    {"host/psi-system/percent-cpu-some", "host", "psi", "system", "percent", "cpu-some"},
    {"host/psi-a-b/percent", "host", "psi", "a-b", "percent", ""},
    {"host/load/load", "host", "load", "", "load", ""},
    {"h-1.net/psi-a b\\x2dc~/percent-io-full", "h-1.net", "psi", "a b\\x2dc~", "percent",
     "io-full"},
    {"h/psi-x/percent-a/b", "h", "psi", "x", "percent", "a/b"},
    {"", NULL, NULL, NULL, NULL, NULL},
    {"host", NULL, NULL, NULL, NULL, NULL},
    {"host/psi-system", NULL, NULL, NULL, NULL, NULL},
    {"/psi-system/percent", NULL, NULL, NULL, NULL, NULL},
    {"host/-system/percent", NULL, NULL, NULL, NULL, NULL},
    {"host/psi-system/", NULL, NULL, NULL, NULL, NULL},
};

static void expect_piece(const struct piece *piece, const char *expected)
{
    ck_assert_uint_eq(piece->length, strlen(expected));
    ck_assert(piece->length == 0 || memcmp(piece->start, expected, piece->length) == 0);
}

START_TEST(parses_identifier)
{
    struct identifier parts;
    int rc = identifier_parse(identifiers[_i].text, &parts);
    if (identifiers[_i].host == NULL) {
        ck_assert_int_eq(rc, -EBADMSG);
        return;
    }
    ck_assert_int_eq(rc, 0);
    expect_piece(&parts.host, identifiers[_i].host);
    expect_piece(&parts.plugin, identifiers[_i].plugin);
    expect_piece(&parts.instance, identifiers[_i].instance);
    expect_piece(&parts.type, identifiers[_i].type);
    expect_piece(&parts.type_instance, identifiers[_i].type_instance);
}
END_TEST

static const struct {
    const char *text, *key; /* NULL: shown by no column */
} mappings[] = {
    {"h/psi-system/percent-cpu-some", "cpu_some"},
    {"h/psi-a/percent-cpu-full", "cpu_full"},
    {"h/psi-a/percent-memory-some", "memory_some"},
    {"h/psi-a/percent-memory-full", "memory_full"},
    {"h/psi-a/percent-io-some", "io_some"},
    {"h/psi-a/percent-io-full", "io_full"},
    {"h/psi-a/percent-irq-full", "irq_full"},
    {"h/psi/percent-cpu-some", NULL}, /* no group */
    {"h/psi-a/percent-cpu-some-avg10", NULL},
    {"h/psi-a/percent-cpu", NULL},
    {"h/psi-a/percent", NULL},
    {"h/psi-a/total_time_in_ms-cpu-some", NULL},
    {"h/psix-a/percent-cpu-some", NULL},
    {"h/cpu-0/percent-cpu-some", NULL},
};

START_TEST(maps_series_to_column)
{
    struct identifier parts;
    ck_assert_int_eq(identifier_parse(mappings[_i].text, &parts), 0);
    int expected = mappings[_i].key != NULL ? column_of_key(mappings[_i].key) : -ENOENT;
    ck_assert_int_eq(identifier_column(&parts), expected);
}
END_TEST

/* --- numbers -------------------------------------------------------------- */

static const struct {
    double value;
    int decimals;
    const char *text;
} numbers[] = {
    {0, 1, "0.0"},       {12.34, 1, "12.3"},     {100, 1, "100.0"},     {999.4, 1, "999.4"},
    {999.6, 1, "1.0k"},  {1234, 0, "1.2k"},      {999499, 1, "999.5k"}, {999500, 1, "1.0M"},
    {1.5e9, 2, "1.5G"},  {9.99e20, 1, "999.0E"}, {1e21, 1, "-"},        {1.234, 2, "1.23"},
    {-12.5, 1, "-12.5"}, {-1500, 1, "-1.5k"},    {NAN, 1, "-"},         {INFINITY, 1, "-"},
    {-INFINITY, 1, "-"},
};

START_TEST(formats_number)
{
    char text[16];
    format_value(numbers[_i].value, numbers[_i].decimals, text);
    ck_assert_str_eq(text, numbers[_i].text);
    ck_assert_uint_le(strlen(text), 6);
}
END_TEST

START_TEST(tells_severity)
{
    const struct column *column = &columns[column_of_key("cpu_some")];
    ck_assert_int_eq(column_severity(column, NAN), SEVERITY_NONE);
    ck_assert_int_eq(column_severity(column, 0), SEVERITY_CALM);
    ck_assert_int_eq(column_severity(column, 9.99), SEVERITY_CALM);
    ck_assert_int_eq(column_severity(column, 10), SEVERITY_WARN);
    ck_assert_int_eq(column_severity(column, 39.9), SEVERITY_WARN);
    ck_assert_int_eq(column_severity(column, 40), SEVERITY_ALARM);
}
END_TEST

/* --- the table of columns itself ------------------------------------------ */

START_TEST(columns_are_consistent)
{
    for (size_t i = 0; i < column_count; i++) {
        ck_assert_uint_le(strlen(columns[i].title), NUMBER_WIDTH);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(columns[i].key, columns[j].key);
    }
    struct sort_key keys[SORT_KEY_MAX];
    size_t count = sort_keys(keys);
    ck_assert_str_eq(keys[0].name, "pressure");
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_ne(keys[i].letter, 'q');
        for (size_t j = 0; j < i; j++) {
            ck_assert_int_ne(keys[i].letter, keys[j].letter);
            ck_assert_str_ne(keys[i].name, keys[j].name);
        }
    }
}
END_TEST

START_TEST(finds_sort_key)
{
    struct sort_key key = {"untouched", 'x', 0};
    ck_assert_int_eq(sort_key_find("mem", 0, &key), -ENOENT);
    ck_assert_int_eq(sort_key_find(NULL, 'z', &key), -ENOENT);
    ck_assert_str_eq(key.name, "untouched");
    ck_assert_int_eq(sort_key_find("memory", 0, &key), 0);
    ck_assert_int_eq(key.column, column_of_key("memory_some"));
    ck_assert_int_eq(sort_key_find(NULL, 'n', &key), 0);
    ck_assert_int_eq(key.column, SORT_NAME);
}
END_TEST

/* --- sorting -------------------------------------------------------------- */

/* cpu, memory, io some; cpu full, which must not count as pressure, is 99 everywhere. */
static const struct {
    const char *host, *group;
    double cpu, memory, io;
} groups[] = {
    {"h", "b", 1, 20, 3},         {"h", "a", 1, NAN, NAN}, {"h", "system", 0, 0, 0},
    {"h", "void", NAN, NAN, NAN}, {"h", "c", 30, 2, NAN},  {"g", "b", 1, 20, 3},
};

static void fill(struct table *table)
{
    table->rows = calloc(COUNT(groups), sizeof(*table->rows));
    table->count = COUNT(groups);
    for (int i = 0; i < COUNT(groups); i++) {
        struct row *row = &table->rows[i];
        row->host = strdup(groups[i].host);
        row->group = strdup(groups[i].group);
        for (int column = 0; column < COLUMN_MAX; column++)
            row->values[column] = NAN;
        row->values[column_of_key("cpu_some")] = groups[i].cpu;
        row->values[column_of_key("memory_some")] = groups[i].memory;
        row->values[column_of_key("io_some")] = groups[i].io;
        row->values[column_of_key("cpu_full")] = 99;
    }
}

static const struct {
    const char *key, *order;
} sortings[] = {
    {"pressure", "h/system h/c g/b h/b h/a h/void "}, {"cpu", "h/system h/c h/a g/b h/b h/void "},
    {"memory", "h/system g/b h/b h/c h/a h/void "},   {"io", "h/system g/b h/b h/a h/c h/void "},
    {"name", "h/system h/a g/b h/b h/c h/void "},
};

START_TEST(sorts)
{
    struct table table = {0};
    struct sort_key key;
    char order[256] = "";
    fill(&table);
    ck_assert_int_eq(sort_key_find(sortings[_i].key, 0, &key), 0);
    table_sort(&table, &key);
    for (size_t i = 0; i < table.count; i++) {
        strcat(strcat(order, table.rows[i].host), "/");
        strcat(strcat(order, table.rows[i].group), " ");
    }
    table_free(&table);
    ck_assert_str_eq(order, sortings[_i].order);
}
END_TEST

START_TEST(tells_columns_present)
{
    struct table table = {0};
    bool present[COLUMN_MAX];
    table_present(&table, present);
    ck_assert(!present[0]);
    fill(&table);
    table_present(&table, present);
    ck_assert(present[column_of_key("io_some")]);
    ck_assert(!present[column_of_key("io_full")]);
    table_free(&table);
}
END_TEST

START_TEST(names_rows)
{
    struct row row = {.host = (char *)"h", .group = (char *)"a"};
    struct table table = {.rows = &row, .count = 1};
    char name[ROW_NAME_SIZE];
    row_name(&table, &row, name, sizeof(name));
    ck_assert_str_eq(name, "a");
    table.several_hosts = true;
    row_name(&table, &row, name, sizeof(name));
    ck_assert_str_eq(name, "h: a");
}
END_TEST

/* --- names ---------------------------------------------------------------- */

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
     20, LABEL_UTF8, "a?b"}, /* turns the direction */
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

/* What is longer than there is room for is cut at its end. */
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

/* --- the layout ----------------------------------------------------------- */

static const struct {
    int width, longest;
    bool bars;
    int shown; /* columns, of the six that are present */
} layouts[] = {
    {200, 60, true, 6}, {100, 30, true, 6}, {80, 60, true, 6},  {80, 6, true, 6},
    {60, 60, false, 6}, {52, 60, false, 6}, {51, 60, false, 3}, {40, 60, false, 3},
    {28, 60, false, 3}, {27, 60, false, 3}, {26, 60, false, 3}, {25, 60, false, 2},
    {20, 60, false, 2}, {19, 60, false, 1}, {14, 60, false, 1}, {13, 60, false, 0},
    {1, 60, false, 0},
};

START_TEST(fits_layout)
{
    bool present[COLUMN_MAX] = {0};
    struct layout layout;
    int shown = 0, bars = 0;
    for (size_t i = 0; i < column_count; i++)
        present[i] = strcmp(columns[i].key, "irq_full") != 0;
    layout_fit(layouts[_i].width, layouts[_i].longest, present, &layout);
    for (size_t i = 0; i < column_count; i++) {
        ck_assert(present[i] || !layout.shown[i]);
        shown += layout.shown[i];
        bars += layout.shown[i] && columns[i].drawn == COLUMN_BAR;
    }
    ck_assert_int_eq(layout.bar > 0, layouts[_i].bars);
    ck_assert_int_eq(shown, layouts[_i].shown);
    int bar_field = layout.bar > 0 ? layout.bar + 1 : 0;
    ck_assert_int_eq(layout.name + shown * (NUMBER_WIDTH + 1) + bars * bar_field,
                     layouts[_i].width);
    ck_assert_int_gt(layout.name, 0);
}
END_TEST

/* --- output --------------------------------------------------------------- */

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
    print_json_string(out, strings[_i].text);
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
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(print_json(out, &table, NULL), 0);
    fclose(out);
    ck_assert_str_eq(text, "{\"time\":12.500,\"groups\":[{\"host\":\"h\",\"group\":\"a\","
                           "\"cpu_some\":0.25,\"cpu_full\":null,\"memory_some\":null,"
                           "\"memory_full\":null,\"io_some\":null,\"io_full\":null,"
                           "\"irq_full\":null}]}\n");
    free(text);
}
END_TEST

START_TEST(prints_aligned_lines)
{
    struct table table = {0};
    fill(&table);
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
    int heading = (int)(strstr(line, "irq_full") - line) + (int)strlen("irq_full"), lines = 0;
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        ck_assert_int_eq(label_width(line, LABEL_UTF8), heading);
        ck_assert_str_eq(line + strlen(line) - 2, " -");
        lines++;
    }
    ck_assert_int_eq(lines, COUNT(groups));
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
     .message = "memory \033[31m\xff\xc3\xbc\n"},
    {.severity = ALERT_OKAY, .host = "g", .message = "well"},
    {.severity = ALERT_FAILURE},
};

static const struct {
    size_t fresh;
    bool several_hosts;
    const char *lines, *json;
} alert_outputs[] = {
    {0, false, "", ",\"alerts\":[]}\n"},
    {1, false, "alert - FAILURE -\n",
     ",\"alerts\":[{\"time\":null,\"severity\":\"failure\",\"host\":null,\"instance\":null,"
     "\"type_instance\":null,\"message\":null}]}\n"},
    {3, false,
     "alert 02:31:12 WARNING memory ?[31m?\xc3\xbc?\n"
     "alert - OKAY well\n"
     "alert - FAILURE -\n",
     ",\"alerts\":[{\"time\":\"2026-11-21 02:31:12\",\"severity\":\"warning\",\"host\":\"h\","
     "\"instance\":\"a\\\"\\ufffd\",\"type_instance\":\"trigger_x\","
     "\"message\":\"memory \\u001b[31m\\ufffd\xc3\xbc\\u000a\"},"
     "{\"time\":null,\"severity\":\"okay\",\"host\":\"g\",\"instance\":null,"
     "\"type_instance\":null,\"message\":\"well\"},"
     "{\"time\":null,\"severity\":\"failure\",\"host\":null,\"instance\":null,"
     "\"type_instance\":null,\"message\":null}]}\n"},
    {3, true,
     "alert 02:31:12 WARNING h: memory ?[31m?\xc3\xbc?\n"
     "alert - OKAY g: well\n"
     "alert - FAILURE -\n",
     NULL},
};

/* What print_lines() or print_json() prints, with alerts or without. */
static char *printed(bool json, const struct table *table, const struct alert_list *alerts)
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
    fill(&table);
    table.several_hosts = alert_outputs[_i].several_hosts;
    for (int json = 0; json < 2; json++) {
        const char *added = json ? alert_outputs[_i].json : alert_outputs[_i].lines;
        char *without = printed(json, &table, NULL), *with = printed(json, &table, &alerts);
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

START_TEST(tells_write_errors)
{
    struct table table = {0};
    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    ck_assert_int_eq(print_lines(full, &table, NULL), -ENOSPC);
    fclose(full);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("table");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, parses_identifier, 0, COUNT(identifiers));
    tcase_add_loop_test(all, maps_series_to_column, 0, COUNT(mappings));
    tcase_add_loop_test(all, formats_number, 0, COUNT(numbers));
    tcase_add_test(all, tells_severity);
    tcase_add_test(all, columns_are_consistent);
    tcase_add_test(all, finds_sort_key);
    tcase_add_loop_test(all, sorts, 0, COUNT(sortings));
    tcase_add_test(all, tells_columns_present);
    tcase_add_test(all, names_rows);
    tcase_add_loop_test(all, fits_label, 0, COUNT(labels));
    tcase_add_loop_test(all, fits_sentence, 0, COUNT(sentences));
    tcase_add_test(all, label_stays_in_its_buffer);
    tcase_add_loop_test(all, fits_layout, 0, COUNT(layouts));
    tcase_add_loop_test(all, escapes_json, 0, COUNT(strings));
    tcase_add_test(all, prints_json);
    tcase_add_test(all, prints_aligned_lines);
    tcase_add_loop_test(all, prints_fresh_alerts, 0, COUNT(alert_outputs));
    tcase_add_test(all, tells_write_errors);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    /* Widths of characters come from the locale. */
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
        printf("1..0 # SKIP the locale C.UTF-8 is missing\n");
        return 0;
    }
    SRunner *runner = srunner_create(make_suite());
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return 0; /* TAP carries the results */
}
