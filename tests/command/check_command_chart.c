/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_chart.c - charts of characters.
 */
#include <locale.h>
#include <math.h>
#include <string.h>

#include "common/chart.h"
#include "support/suite.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Of memory that is touched; the rest of a chart follows. */
#define TOUCHED(list, number)                                                                      \
    .points = (list), .count = (size_t)(number), .x_name = "Est (s)", .y_name = "Ref (MB)"

static char printed[65536];

static void check_chart(int width, int height, bool utf8, const struct chart *chart)
{
    const struct canvas canvas = {width, height, utf8};
    memset(printed, 0, sizeof(printed));
    FILE *file = fmemopen(printed, sizeof(printed), "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(chart_draw(file, &canvas, chart), 0);
    fclose(file);
}

static const struct point decades[] = {{0.01, 0}, {0.1, 5}, {1, 10}, {10, 10}, {100, 20}};

static const char ascii_log[] = "\n"
                                "Ref (MB)                  a title\n"
                                "20 +                            *\n"
                                "   |\n"
                                "   |\n"
                                "10 +              *      *\n"
                                "   |\n"
                                "   |       *\n"
                                "   |\n"
                                " 0 +*------+------+------+------+\n"
                                "  0.01    0.1     1     10    100\n"
                                "                          Est (s)\n";

static const char utf8_linear[] = "\n"
                                  "Ref (MB)                  a title\n"
                                  "20 ┤                            •\n"
                                  "   │\n"
                                  "   │\n"
                                  "10 ┤•  •\n"
                                  "   │\n"
                                  "   │•\n"
                                  "   │\n"
                                  " 0 ┼•─────────────┬─────────────┬\n"
                                  "    0            50           100\n"
                                  "                          Est (s)\n";

START_TEST(draws_known_points)
{
    struct chart chart = {TOUCHED(decades, COUNT(decades)), .title = "a title"};

    check_chart(33, 12, false, &chart);
    ck_assert_str_eq(printed, ascii_log);
    chart.linear = true;
    check_chart(33, 12, true, &chart);
    ck_assert_str_eq(printed, utf8_linear);
}
END_TEST

/* An axis that doesn't begin at 0 shows small changes of large numbers. */
static const struct point growing[] = {{0, 1700}, {5, 1730}, {10, 1760}};

static const char from_lowest[] = "\n"
                                  "MB                        a title\n"
                                  "1800 +\n"
                                  "     |\n"
                                  "     |                          *\n"
                                  "1750 +\n"
                                  "     |             *\n"
                                  "     |\n"
                                  "1700 +*------------+------------+\n"
                                  "      0            5           10\n"
                                  "                                s\n";

START_TEST(draws_from_the_lowest)
{
    const struct chart chart = {.points = growing,
                                .count = COUNT(growing),
                                .title = "a title",
                                .x_name = "s",
                                .y_name = "MB",
                                .linear = true,
                                .from_lowest = true};

    check_chart(33, 11, false, &chart);
    ck_assert_str_eq(printed, from_lowest);
}
END_TEST

/* The name of a mark gives way to points; both are in the range. */
static const char marked[] = "\n"
                             "Ref (MB)                  a title\n"
                             "40 +RSS 39, limit 38.............\n"
                             "   |\n"
                             "   |\n"
                             "20 +............................*\n"
                             "   |\n"
                             "   |              *      *\n"
                             "   |       *\n"
                             " 0 +*------+------+------+------+\n"
                             "  0.01    0.1     1     10    100\n"
                             "                          Est (s)\n";

START_TEST(draws_marks)
{
    static const struct chart_mark marks[] = {
        {20, "a name that is as long as all"}, {39, "RSS 39"}, {38, "limit 38"}};
    const struct chart chart = {TOUCHED(decades, COUNT(decades)), .title = "a title",
                                .marks = marks, .mark_count = COUNT(marks)};

    check_chart(33, 12, false, &chart);
    ck_assert_str_eq(printed, marked);
}
END_TEST

/* The place of a point from the left and from above, both from 0; lines have no blank ends. */
static bool is_at(int column, int row, char glyph)
{
    const char *line = printed;
    for (int i = 0; i < row; i++)
        line = strchr(line, '\n') + 1;
    return (int)strcspn(line, "\n") > column && line[column] == glyph;
}

/* Wherever a single point is, it is drawn, and nothing is as wide or as high as the canvas. */
START_TEST(draws_one_point)
{
    static const double values[] = {1e-4, 0.001, 0.02, 0.9999999, 1, 1.0000001, 5, 99, 1e6};
    static const int sizes[][2] = {{20, 8}, {80, 24}, {160, 48}, {1, 1}};
    for (int x = 0; x < COUNT(values); x++)
        for (int y = -1; y < COUNT(values); y++)
            for (int i = 0; i < 4 * COUNT(sizes); i++) {
                const struct point point = {values[x], y < 0 ? 0 : values[y]};
                const struct chart chart = {TOUCHED(&point, 1), .title = "", .linear = i % 2 == 1,
                                            .from_lowest = i % 4 > 1};
                int width = sizes[i / 4][0], height = sizes[i / 4][1], lines = 0;
                check_chart(width, height, false, &chart);
                ck_assert_ptr_nonnull(strchr(printed, '*'));
                for (char *line = strtok(printed, "\n"); line != NULL; line = strtok(NULL, "\n")) {
                    ck_assert_int_le((int)strlen(line), width > 20 ? width : 20);
                    lines++;
                }
                ck_assert_int_lt(lines, height > 8 ? height : 8);
            }
}
END_TEST

/* On a logarithmic axis each doubling is as far from the one before. */
START_TEST(doublings_are_evenly_spaced)
{
    struct point points[16];
    const struct chart chart = {TOUCHED(points, COUNT(points)), .title = ""};
    for (int i = 0; i < COUNT(points); i++)
        points[i] = (struct point){0.001 * (1 << i), i < 8 ? 0 : 100};
    check_chart(80, 24, false, &chart);
    /* 75 places from 0.001 to 50 */
    for (int i = 0; i < COUNT(points); i++) {
        int column = 5 + (int)lround(74 * i * log(2) / log(50 / 0.001));
        ck_assert_msg(is_at(column, i < 8 ? 21 : 2, '*'), "point %d:\n%s", i, printed);
    }
}
END_TEST

START_TEST(draws_nothing_without_points)
{
    const struct point none = {0, 5};
    const struct chart chart = {TOUCHED(&none, 1), .title = "a title"},
                       empty = {TOUCHED(NULL, 0), .title = "", .linear = true};

    check_chart(80, 24, false, &chart);
    ck_assert_str_eq(printed, "");
    check_chart(80, 24, false, &empty);
    ck_assert_str_eq(printed, "");
}
END_TEST

START_TEST(fits_what_is_no_terminal)
{
    struct canvas canvas;
    FILE *file = fopen("/dev/null", "w");

    canvas_of(file, &canvas);
    fclose(file);
    ck_assert_int_eq(canvas.width, 80);
    ck_assert_int_eq(canvas.height, 24);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("command_chart");

    setlocale(LC_CTYPE, "C.UTF-8");
    tcase_add_test(tests, draws_known_points);
    tcase_add_test(tests, draws_from_the_lowest);
    tcase_add_test(tests, draws_marks);
    tcase_add_test(tests, draws_one_point);
    tcase_add_test(tests, doublings_are_evenly_spaced);
    tcase_add_test(tests, draws_nothing_without_points);
    tcase_add_test(tests, fits_what_is_no_terminal);
    return run_suite("command_chart", tests);
}
