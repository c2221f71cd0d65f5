/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_help.c - which group `headroom top` marks as the one to blame, and what the
 * screen says about itself.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "common/label.h"
#include "support/suite.h"
#include "top/help.h"
#include "top/table.h"
#include "top/takers.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* --- The mark ------------------------------------------------------------- */

/* Rows in the order of table_fetch(): by host and group. */
struct group {
    const char *host, *group;
    double cpu_some, cpu_full, cpus_used, cpu_idle;
};

static void expect_marked(const struct group *groups, int count, const char *expected)
{
    struct row rows[16] = {0};
    struct table table = {.rows = rows, .count = (size_t)count};
    char marked[256] = "";
    for (int i = 0; i < count; i++) {
        for (int column = 0; column < COLUMN_MAX; column++)
            rows[i].values[column] = NAN;
        rows[i].host = (char *)groups[i].host;
        rows[i].group = (char *)groups[i].group;
        rows[i].values[column_find("cpu_some")] = groups[i].cpu_some;
        rows[i].values[column_find("cpu_full")] = groups[i].cpu_full;
        rows[i].values[column_find("cpus_used")] = groups[i].cpus_used;
        rows[i].values[column_find("cpu_idle")] = groups[i].cpu_idle;
    }
    table_mark_takers(&table);
    for (int i = 0; i < count; i++) {
        if (rows[i].takes_most)
            strcat(strcat(marked, rows[i].group), " ");
    }
    ck_assert_str_eq(marked, expected);
}

#define EXPECT_MARKED(groups, expected) expect_marked(groups, COUNT(groups), expected)

START_TEST(marks_the_one_that_takes_most)
{
    static const struct group groups[] = {
        {"h", "nc_batch", 100, 14, 0.86, NAN},
        {"h", "nc_web", 52, 50, 0.25, NAN},
        {"h", "system", 98.6, NAN, NAN, 50},
    };
    EXPECT_MARKED(groups, "nc_batch ");
}
END_TEST

/* A hog of three loops and a group that wants half of the CPU: both are without it for a third of
 * the time, as measured. */
START_TEST(marks_the_one_that_wants_most)
{
    static const double full[][2] = {{36.0, 33.9}, {35.3, 33.1}, {44.5, 39.0}, {46, 27}};
    for (int i = 0; i < COUNT(full); i++) {
        const struct group groups[] = {
            {"h", "nc_batch", 100, full[i][0], 0.64, NAN},
            {"h", "nc_web", full[i][1], full[i][1], 0.33, NAN},
            {"h", "system", 98.6, NAN, NAN, 50},
        };
        EXPECT_MARKED(groups, "nc_batch ");
    }
    const struct group starved[] = {
        {"h", "a", 100, 90, 0.10, NAN},
        {"h", "b", 46, 45, 0.06, NAN},
    };
    EXPECT_MARKED(starved, "");
}
END_TEST

/* The hog has ended: its pressure is still that of the interval before. */
START_TEST(marks_no_victim_of_one_that_has_ended)
{
    static const struct group groups[] = {
        {"h", "nc_batch", 100, 44.6, 0, NAN},
        {"h", "nc_web", 36, 36, 0.32, NAN},
    };
    EXPECT_MARKED(groups, "");
}
END_TEST

/* What takes the CPUs isn't among the groups. */
START_TEST(marks_no_victim)
{
    static const struct group alone[] = {
        {"h", "system", 98.6, NAN, NAN, 1},
        {"h", "web", 50.3, 50.3, 0.25, NAN},
    };
    static const struct group beside_calm_one[] = {
        {"h", "calm", 1, 0.5, 0.01, NAN},
        {"h", "system", 98.6, NAN, NAN, 1},
        {"h", "web", 50.3, 50.3, 0.25, NAN},
    };
    static const struct group alike[] = {
        {"h", "a", 99, 74, 0.17, NAN},
        {"h", "b", 99, 76, 0.16, NAN},
        {"h", "c", 99, 75, 0.16, NAN},
    };
    static const struct group beside_small_one[] = {
        {"h", "system", 98.6, NAN, NAN, 15},
        {"h", "hog", 100, 40, 0.26, NAN},
        {"h", "web", 88, 88, 0.03, NAN},
    };
    EXPECT_MARKED(alone, "");
    EXPECT_MARKED(beside_calm_one, "");
    EXPECT_MARKED(beside_small_one, "");
    EXPECT_MARKED(alike, "");
}
END_TEST

/* Those above and below have a part in the same wait, or the same use. */
START_TEST(marks_none_for_its_own_wait)
{
    static const struct group groups[] = {
        {"h", "pod", 99, 10, 0.80, NAN},
        {"h", "pod_a", 99, 20, 0.75, NAN},
        {"h", "pod_a_worker", 99, 90, 0.05, NAN},
    };
    EXPECT_MARKED(groups, "");
}
END_TEST

#define SLICE     "kubepods.slice_kubepods-burstable.slice"
#define SHORTENED "kubepods.slice_kubepods-burstabl~"

/* A container's name may be shortened, that of the groups above it not. */
START_TEST(marks_no_group_above_victims)
{
    static const struct group groups[] = {
        {"h", SLICE, 99, 0, 1.7, NAN},
        {"h", SHORTENED "0000000a_a.scope", 99, 75, 0.17, NAN},
        {"h", SHORTENED "0000000b_b.scope", 99, 76, 0.16, NAN},
    };
    static const struct group with_hog[] = {
        {"h", SLICE, 99, 0, 1.7, NAN},
        {"h", SHORTENED "0000000a_a.scope", 99, 15, 0.9, NAN},
        {"h", SHORTENED "0000000b_b.scope", 99, 76, 0.16, NAN},
    };
    EXPECT_MARKED(groups, "");
    EXPECT_MARKED(with_hog, SHORTENED "0000000a_a.scope ");
}
END_TEST

/* On a CPU of its own. */
START_TEST(marks_no_group_that_is_alone_on_its_cpus)
{
    static const struct group groups[] = {
        {"h", "alone", 0.1, 0, 3, NAN},
        {"h", "hog", 100, 20, 0.8, NAN},
        {"h", "system", 98, NAN, NAN, 12},
        {"h", "web", 40, 39, 0.2, NAN},
    };
    EXPECT_MARKED(groups, "hog ");
}
END_TEST

/* There is no other CPU than those that groups wait for. */
START_TEST(marks_any_group_of_a_full_machine)
{
    static const struct group groups[] = {
        {"h", "realtime", 0, 0, 1.5, NAN},
        {"h", "system", 98, NAN, NAN, 1},
        {"h", "web", 40, 39, 0.2, NAN},
    };
    EXPECT_MARKED(groups, "realtime ");
}
END_TEST

START_TEST(marks_none_where_none_waits)
{
    static const struct group groups[] = {
        {"h", "a", 9, 1, 2, NAN}, {"h", "b", 9.5, 9, 1, NAN}, {"h", "system", 9, NAN, NAN, 0}};
    EXPECT_MARKED(groups, "");
}
END_TEST

START_TEST(marks_none_without_counters)
{
    static const struct group groups[] = {{"h", "a", 90, 10, NAN, NAN}, {"h", "b", 50, 49, 0, NAN}};
    EXPECT_MARKED(groups, "");
}
END_TEST

/* As before Linux 5.13. */
START_TEST(marks_none_without_full)
{
    static const struct group groups[] = {{"h", "a", 90, NAN, 0.9, NAN},
                                          {"h", "b", 50, NAN, 0.1, NAN}};
    EXPECT_MARKED(groups, "");
}
END_TEST

/* user.slice has the most, as it has all of what is within it; so has its session. */
START_TEST(marks_the_innermost)
{
    static const struct group groups[] = {
        {"h", "user", 90, 5, 1.0, NAN},       {"h", "user-9", 90, 5, 0.95, NAN},
        {"h", "user_0", 90, 5, 0.7, NAN},     {"h", "user_0_s", 90, 5, 0.69, NAN},
        {"h", "user_0_s_t", 90, 5, 0.1, NAN}, {"h", "web", 90, 60, 0.3, NAN},
    };
    EXPECT_MARKED(groups, "user-9 ");
    EXPECT_MARKED(((const struct group[]){groups[0], groups[2], groups[3], groups[4], groups[5]}),
                  "user_0_s ");
}
END_TEST

START_TEST(marks_one_of_each_host)
{
    static const struct group groups[] = {
        {"g", "a", 50, 50, 0.2, NAN}, {"g", "b", 50, 20, 0.4, NAN}, {"h", "a", 50, 20, 0.9, NAN},
        {"h", "b", 50, 50, 0.3, NAN}, {"i", "a", 1, 0, 0.9, NAN},   {"i", "system", 1, NAN, NAN, 0},
    };
    struct group copy[COUNT(groups)];
    memcpy(copy, groups, sizeof(copy));
    expect_marked(copy, COUNT(copy), "b a ");
}
END_TEST

/* --- Colours -------------------------------------------------------------- */

START_TEST(a_machine_with_idle_cpus_is_no_alarm)
{
    struct row row = {0};
    size_t some = column_find("cpu_some"), memory = column_find("memory_some");
    row.values[some] = row.values[memory] = 98.6;
    row.values[column_find("cpu_idle")] = 50;
    ck_assert_int_eq(row_severity(&row, some), SEVERITY_WARN);
    ck_assert_int_eq(row_severity(&row, memory), SEVERITY_ALARM);
    row.values[some] = 5;
    ck_assert_int_eq(row_severity(&row, some), SEVERITY_CALM);
    row.values[some] = 98.6;
    row.values[column_find("cpu_idle")] = 4;
    ck_assert_int_eq(row_severity(&row, some), SEVERITY_ALARM);
    row.values[column_find("cpu_idle")] = NAN;
    ck_assert_int_eq(row_severity(&row, some), SEVERITY_ALARM);
}
END_TEST

/* --- What the screen says -------------------------------------------------- */

static void mark_all_present(bool present[COLUMN_MAX])
{
    for (size_t i = 0; i < COLUMN_MAX; i++)
        present[i] = i < column_count;
}

static const struct {
    int width;
    bool marked;
    const char *text;
} legends[] = {
    {80, true, "% of time a task waits (full: all)  * uses most CPU  id: CPUs idle  ? help"},
    {80, false, "% of time a task waits (full: all)  id: CPUs idle  cpus: CPUs used  ? help"},
    {120, true,
     "% of time a task waits (full: all)  * uses most CPU  id: CPUs idle  cpus: CPUs used  "
     "room: left before trouble  ? help"},
    {60, true, "% of time a task waits (full: all)  * uses most CPU  ? help"},
    {42, true, "% of time a task waits (full: all)  ? help"},
    {41, true, "? help"},
    {1, true, "? help"},
};

START_TEST(fits_legend)
{
    bool present[COLUMN_MAX];
    char text[HELP_SIZE];
    mark_all_present(present);
    legend_fit(legends[_i].width, present, legends[_i].marked, "? help", text);
    ck_assert_str_eq(text, legends[_i].text);
}
END_TEST

START_TEST(explains_what_there_is)
{
    bool present[COLUMN_MAX] = {false};
    char text[HELP_SIZE];
    legend_fit(80, present, false, "? help", text);
    ck_assert_str_eq(text, "? help");
    present[column_find("referenced_bytes")] = true;
    legend_fit(80, present, false, "? help", text);
    ck_assert_str_eq(text, "wss: touched of it  ? help");
    ck_assert(help_line(0, present, text));
    ck_assert_ptr_nonnull(strstr(text, columns[column_find("referenced_bytes")].meaning));
    ck_assert(help_line(1, present, text));
    ck_assert(strncmp(text, "* ", 2) == 0);
}
END_TEST

/* Of a terminal of 80 x 24, two lines aren't the page's. */
START_TEST(help_fits_a_terminal)
{
    bool present[COLUMN_MAX];
    char text[HELP_SIZE];
    size_t lines = 0;
    mark_all_present(present);
    for (; help_line(lines, present, text); lines++)
        ck_assert_msg(label_width(text, LABEL_ASCII) <= 80, "%s", text);
    ck_assert_uint_le(lines, 22);
    ck_assert_uint_gt(lines, 15);
}
END_TEST

START_TEST(labels_processes)
{
    struct row row = {.host = (char *)"h", .group = (char *)"mysqld"};
    struct table table = {.rows = &row, .count = 1};
    char label[ROW_NAME_SIZE], little[10];
    row.values[column_find("processes")] = NAN;
    row_label(&table, &row, label, sizeof(label));
    ck_assert_str_eq(label, "mysqld");
    row.values[column_find("processes")] = 1;
    row_label(&table, &row, label, sizeof(label));
    ck_assert_str_eq(label, "mysqld (1 process)");
    row.values[column_find("processes")] = 12;
    row_label(&table, &row, label, sizeof(label));
    ck_assert_str_eq(label, "mysqld (12 processes)");
    row_label(&table, &row, little, sizeof(little));
    ck_assert_str_eq(little, "mysqld (1");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("help");

    tcase_add_test(tests, marks_the_one_that_takes_most);
    tcase_add_test(tests, marks_the_one_that_wants_most);
    tcase_add_test(tests, marks_no_victim_of_one_that_has_ended);
    tcase_add_test(tests, marks_no_victim);
    tcase_add_test(tests, marks_none_for_its_own_wait);
    tcase_add_test(tests, marks_no_group_above_victims);
    tcase_add_test(tests, marks_no_group_that_is_alone_on_its_cpus);
    tcase_add_test(tests, marks_any_group_of_a_full_machine);
    tcase_add_test(tests, marks_none_where_none_waits);
    tcase_add_test(tests, marks_none_without_counters);
    tcase_add_test(tests, marks_none_without_full);
    tcase_add_test(tests, marks_the_innermost);
    tcase_add_test(tests, marks_one_of_each_host);
    tcase_add_test(tests, a_machine_with_idle_cpus_is_no_alarm);
    tcase_add_loop_test(tests, fits_legend, 0, COUNT(legends));
    tcase_add_test(tests, explains_what_there_is);
    tcase_add_test(tests, help_fits_a_terminal);
    tcase_add_test(tests, labels_processes);
    return run_suite("help", tests);
}
