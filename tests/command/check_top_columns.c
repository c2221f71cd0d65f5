/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_columns.c - the columns of `headroom top`: how their values are written,
 * which of them fit, and what explains them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/table_rows.h"
#include "support/suite.h"
#include "top/columns.h"
#include "top/layout.h"
#include "top/table.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const struct {
    double value;
    int decimals;
    const char *text;
} numbers[] = {
    {0, 1, "0.0"},       {12.34, 1, "12.3"},    {100, 1, "100.0"},     {999.4, 1, "999.4"},
    {999.6, 1, "1.0k"},  {1234, 0, "1.2k"},     {999499, 1, "999k"},   {999500, 1, "1.0M"},
    {1.5e9, 2, "1.5G"},  {9.99e20, 1, "999E"},  {1e21, 1, "-"},        {1.234, 2, "1.23"},
    {-12.5, 1, "-12.5"}, {-1500, 1, "-1.5k"},   {NAN, 1, "-"},         {INFINITY, 1, "-"},
    {-INFINITY, 1, "-"}, {99.994, 2, "99.99"},  {99.996, 2, "100.0"},  {999.44, 2, "999.4"},
    {99940, 0, "99.9k"}, {99960, 0, "100k"},    {123456, 0, "123k"},   {0.4, 0, "0"},
    {-999.4, 1, "-999"}, {-123456, 1, "-123k"}, {99.96e18, 2, "100E"},
};

START_TEST(formats_number)
{
    char text[16];
    format_value(numbers[_i].value, numbers[_i].decimals, text);
    ck_assert_str_eq(text, numbers[_i].text);
    ck_assert_uint_le(strlen(text), VALUE_WIDTH);
}
END_TEST

/* A limit of 256 MiB is the same as in `headroom report` and in messages. */
static const struct {
    const char *key;
    double value;
    const char *text;
} cells[] = {
    {"memory_limit_bytes", 268435456, "256M"},
    {"memory_used_bytes", 7.1e6, "6.8M"},
    {"referenced_bytes", 1000, "1.0K"},
    {"rss_bytes", 0, "0B"},
    {"memory_limit_bytes", NAN, "-"},
    {"memory_limit_bytes", 1e21, "-"},
    {"context_switches", 268435456, "268M"},
    {"room_pct", 34.6, "34"},
    {"trouble_s", 0, "now"},
    {"trouble_s", 59.4, "59s"},
    {"trouble_s", 2520, "42min"},
    {"trouble_s", 5969, "99min"},
    {"trouble_s", 5970, "1.7h"},
    {"trouble_s", 86399, "24.0h"},
    {"trouble_s", 86400, ">1d"},
    {"trouble_s", NAN, "-"},
};

START_TEST(formats_cell)
{
    const struct column *column = &columns[column_find(cells[_i].key)];
    char text[16];

    column_format(column, cells[_i].value, column->decimals, text);
    ck_assert_str_eq(text, cells[_i].text);
}
END_TEST

START_TEST(finds_severity)
{
    const struct column *column = &columns[column_of_key("cpu_some")];
    ck_assert_int_eq(column_severity(column, NAN), SEVERITY_NONE);
    ck_assert_int_eq(column_severity(column, 0), SEVERITY_CALM);
    ck_assert_int_eq(column_severity(column, 9.99), SEVERITY_CALM);
    ck_assert_int_eq(column_severity(column, 10), SEVERITY_WARN);
    ck_assert_int_eq(column_severity(column, 39.9), SEVERITY_WARN);
    ck_assert_int_eq(column_severity(column, 40), SEVERITY_ALARM);
    column = &columns[column_of_key("room_pct")];
    ck_assert_int_eq(column_severity(column, NAN), SEVERITY_NONE);
    ck_assert_int_eq(column_severity(column, 100), SEVERITY_CALM);
    ck_assert_int_eq(column_severity(column, 10.1), SEVERITY_CALM);
    ck_assert_int_eq(column_severity(column, 10), SEVERITY_WARN);
    ck_assert_int_eq(column_severity(column, 0), SEVERITY_ALARM);
    column = &columns[column_of_key("context_switches")];
    ck_assert_int_eq(column_severity(column, 1e9), SEVERITY_NONE);
    ck_assert_int_eq(column_severity(column, INFINITY), SEVERITY_NONE);
}
END_TEST

START_TEST(columns_are_consistent)
{
    for (size_t i = 0; i < column_count; i++) {
        ck_assert_uint_le(strlen(columns[i].title), NUMBER_WIDTH);
        ck_assert_int_ne(columns[i].sort_letter, '?');
        ck_assert(columns[i].divisor > 0);
        ck_assert_int_ge(columns[i].rank, 1);
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(columns[i].key, columns[j].key);
            ck_assert_int_ne(columns[i].rank, columns[j].rank);
        }
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
    static const char *const counters[][2] = {
        {"cpus", "cpus_used"}, {"switches", "context_switches"}, {"faults", "page_faults"}};
    for (int i = 0; i < COUNT(counters); i++) {
        ck_assert_int_eq(sort_key_find(NULL, "usf"[i], &key), 0);
        ck_assert_str_eq(key.name, counters[i][0]);
        ck_assert_int_eq(key.column, column_of_key(counters[i][1]));
    }
}
END_TEST

#define PSI      "cpu_some cpu_full memory_some memory_full io_some io_full "
#define COUNTERS "cpus_used context_switches page_faults "
#define ALL      PSI "irq_full cpus_used ipc context_switches page_faults "

/* Whether a list of keys, each followed by a space, has this one. */
static bool lists_key(const char *keys, const char *key)
{
    char word[64];
    snprintf(word, sizeof(word), "%s ", key);
    for (const char *found = keys; (found = strstr(found, word)) != NULL; found++) {
        if (found == keys || found[-1] == ' ')
            return true;
    }
    return false;
}

static void mark_present(const char *keys, bool present[COLUMN_MAX])
{
    for (size_t i = 0; i < COLUMN_MAX; i++)
        present[i] = i < column_count && lists_key(keys, columns[i].key);
}

static const struct {
    int width, longest;
    const char *present;
    bool bars;
    int shown; /* how many columns */
} layouts[] = {
    /* psi alone */
    {200, 60, PSI, true, 6},
    {100, 30, PSI, true, 6},
    {80, 60, PSI, true, 6},
    {80, 6, PSI, true, 6},
    {75, 60, PSI, true, 6},
    {74, 60, PSI, false, 6},
    {60, 60, PSI, false, 6},
    {59, 60, PSI, false, 5},
    {59, 6, PSI, true, 6},
    {44, 6, PSI, false, 6},
    {43, 6, PSI, false, 5},
    {40, 60, PSI, false, 3},
    {26, 60, PSI, false, 3},
    {25, 60, PSI, false, 2},
    {20, 60, PSI, false, 2},
    {19, 60, PSI, false, 1},
    {14, 60, PSI, false, 1},
    {13, 60, PSI, false, 0},
    {1, 60, PSI, false, 0},
    /* what a virtual machine has of both plugins */
    {200, 60, PSI COUNTERS, true, 9},
    {120, 60, PSI COUNTERS, true, 9},
    {100, 60, PSI COUNTERS, true, 9},
    {93, 60, PSI COUNTERS, true, 9},
    {92, 60, PSI COUNTERS, false, 9},
    {80, 60, PSI COUNTERS, false, 9},
    {60, 60, PSI COUNTERS, false, 6},
    {60, 12, PSI COUNTERS, false, 8},
    {40, 60, PSI COUNTERS, false, 3},
    {20, 60, PSI COUNTERS, false, 2},
    /* everything */
    {200, 60, ALL, true, 11},
    {120, 60, ALL, true, 11},
    {105, 60, ALL, true, 11},
    {100, 60, ALL, false, 11},
    {80, 60, ALL, false, 9},
    {80, 14, ALL, false, 11},
    {60, 60, ALL, false, 6},
    {40, 60, ALL, false, 3},
    {20, 60, ALL, false, 2},
    /* counters alone */
    {80, 60, COUNTERS, false, 3},
    {26, 60, COUNTERS, false, 3},
    {20, 60, COUNTERS, false, 2},
    {80, 60, "", false, 0},
};

START_TEST(fits_layout)
{
    bool present[COLUMN_MAX];
    struct layout layout;
    int shown = 0, bars = 0;
    mark_present(layouts[_i].present, present);
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

static const struct {
    int width;
    const char *shown;
} rankings[] = {
    {90, ALL},
    {89, PSI "irq_full cpus_used ipc context_switches "},
    {83, PSI "cpus_used ipc context_switches "},
    {77, PSI "cpus_used ipc "},
    {71, PSI "cpus_used "},
    {65, "cpu_some cpu_full memory_some memory_full io_some cpus_used "},
    {59, "cpu_some cpu_full memory_some io_some cpus_used "},
    {53, "cpu_some cpu_full memory_some io_some "},
    {47, "cpu_some memory_some io_some "},
    {25, "cpu_some memory_some "},
    {19, "cpu_some "},
    {13, ""},
};

/* A long name has all that bars can spare: with four columns each they are of use. */
START_TEST(bars_leave_room_for_names)
{
    bool present[COLUMN_MAX];
    struct layout layout;
    mark_present(PSI, present);
    layout_fit(100, 49, present, &layout);
    ck_assert_int_ge(layout.name, 49);
    ck_assert_int_ge(layout.bar, 4);
    layout_fit(100, 127, present, &layout);
    ck_assert_int_eq(layout.bar, 4);
}
END_TEST

START_TEST(hides_the_least_useful)
{
    bool present[COLUMN_MAX];
    struct layout layout;
    mark_present(ALL, present);
    layout_fit(rankings[_i].width, 60, present, &layout);
    for (size_t i = 0; i < column_count; i++)
        ck_assert_msg(layout.shown[i] == lists_key(rankings[_i].shown, columns[i].key), "%s",
                      columns[i].key);
}
END_TEST

static const struct {
    int width;
    const char *position, *present, *text;
} footers[] = {
    {80, "", PSI, "q quit  sort: p pressure  c cpu  m memory  i io  n name"},
    {80, "36-43/43", PSI,
     "36-43/43  q quit  sort: p pressure  c cpu  m memory  i io  n name  arrows scroll"},
    {79, "36-43/43", PSI, "36-43/43  q quit  sort: p pressure  c cpu  m memory  i io  n name"},
    {85, "", ALL,
     "q quit  sort: p pressure  c cpu  m memory  i io  u cpus  s switches  f faults  n name"},
    {80, "", ALL,
     "q quit  p pressure  c cpu  m memory  i io  u cpus  s switches  f faults  n name"},
    {80, "1-19/43", ALL,
     "1-19/43  q quit  p pressure  c cpu  m memory  i io  u cpus  s switches  n name"},
    {120, "1-19/43", ALL,
     "1-19/43  q quit  sort: p pressure  c cpu  m memory  i io  u cpus  s switches  f faults  "
     "n name  arrows scroll"},
    {60, "1-19/43", ALL, "1-19/43  q quit  p pressure  c cpu  m memory  i io  n name"},
    {57, "1-19/43", ALL, "1-19/43  q quit  p pressure  c cpu  m memory  i io"},
    {40, "1-19/43", ALL, "1-19/43  q quit  p pressure  c cpu"},
    {20, "1-19/43", ALL, "1-19/43  q quit"},
    {3, "1-19/43", ALL, "q quit"},
    {80, "", "", "q quit  sort: p pressure  n name"},
};

START_TEST(fits_footer)
{
    bool present[COLUMN_MAX];
    char text[FOOTER_SIZE];
    mark_present(footers[_i].present, present);
    footer_fit(footers[_i].width, footers[_i].position, present, text);
    ck_assert_str_eq(text, footers[_i].text);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, formats_number, 0, COUNT(numbers));
    tcase_add_loop_test(tests, formats_cell, 0, COUNT(cells));
    tcase_add_test(tests, finds_severity);
    tcase_add_test(tests, columns_are_consistent);
    tcase_add_test(tests, finds_sort_key);
    tcase_add_loop_test(tests, fits_layout, 0, COUNT(layouts));
    tcase_add_test(tests, bars_leave_room_for_names);
    tcase_add_loop_test(tests, hides_the_least_useful, 0, COUNT(rankings));
    tcase_add_loop_test(tests, fits_footer, 0, COUNT(footers));
    return run_utf8_suite("columns", tests);
}
