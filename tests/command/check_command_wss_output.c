/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_wss_output.c - what `headroom wss` prints: columns, JSON, CSV, and the
 * chart.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "wss/chart.h"
#include "wss/output.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static char printed[65536];

static FILE *open_print(void)
{
    memset(printed, 0, sizeof(printed));
    FILE *file = fmemopen(printed, sizeof(printed), "w");
    ck_assert_ptr_nonnull(file);
    return file;
}

/* --- Lines ---------------------------------------------------------------- */

static const struct wss_reading known = {
    .time = {1795261677, 450999999},
    .method = HR_WSS_REFERENCED,
    .asked_ns = 100000000,
    .sample = {.referenced_bytes = 29381099,
               .has_rss = true,
               .has_pss = true,
               .rss_bytes = 423268188,
               .pss_bytes = 420049060,
               .window_ns = 107400000,
               .scan_ns = 12345678,
               .process_count = 3,
               .ended_count = 2,
               .left_count = 1},
};

static const struct wss_reading unknown = {
    .time = {1, 0},
    .method = HR_WSS_LRU_GEN,
    .asked_ns = 1,
    .sample = {.referenced_bytes = UINT64_MAX, .rss_bytes = 7, .window_ns = 1000000000000},
};

static const struct {
    enum wss_format format;
    bool timestamps;
    const char *text;
} outputs[] = {
    {WSS_COLUMNS, false,
     "Est(s)     RSS(MB)    PSS(MB)    Ref(MB)\n"
     "0.107       403.66     400.59      28.02\n"
     "1000.000          -          - 17592186044416.00\n"},
    {WSS_COLUMNS, true,
     "Time                    Est(s)     RSS(MB)    PSS(MB)    Ref(MB)\n"
     "2026-11-21T11:47:57.450 0.107       403.66     400.59      28.02\n"
     "1970-01-01T00:00:01.000 1000.000          -          - 17592186044416.00\n"},
    {WSS_JSON, false,
     "{\"time_s\":1795261677.450,\"method\":\"referenced\",\"asked_s\":0.100000,\"window_s\":"
     "0.107400,\"referenced_bytes\":29381099,\"rss_bytes\":423268188,\"pss_bytes\":420049060,"
     "\"scan_s\":0.012346,\"process_count\":3,\"ended_count\":2,\"left_count\":1}\n"
     "{\"time_s\":1.000,\"method\":\"lru_gen\",\"asked_s\":0.000000,\"window_s\":1000.000000,"
     "\"referenced_bytes\":18446744073709551615,\"rss_bytes\":null,\"pss_bytes\":null,"
     "\"scan_s\":0.000000,\"process_count\":0,\"ended_count\":0,\"left_count\":0}\n"},
    {WSS_CSV, false,
     "time_s,method,asked_s,window_s,referenced_bytes,rss_bytes,pss_bytes,scan_s,process_count,"
     "ended_count,left_count\n"
     "1795261677.450,\"referenced\",0.100000,0.107400,29381099,423268188,420049060,0.012346,3,2,1\n"
     "1.000,\"lru_gen\",0.000000,1000.000000,18446744073709551615,,,0.000000,0,0,0\n"},
};

START_TEST(prints_lines)
{
    struct wss_output output = {open_print(), outputs[_i].format, outputs[_i].timestamps};

    ck_assert_int_eq(wss_output_heading(&output), 0);
    ck_assert_int_eq(wss_output_reading(&output, &known), 0);
    ck_assert_int_eq(wss_output_reading(&output, &unknown), 0);
    fclose(output.file);
    ck_assert_str_eq(printed, outputs[_i].text);
}
END_TEST

START_TEST(reports_that_the_disk_is_full)
{
    struct wss_output output = {fopen("/dev/full", "w"), WSS_COLUMNS, false};

    ck_assert_int_eq(wss_output_heading(&output), -ENOSPC);
    fclose(output.file);
}
END_TEST

/* --- The chart ------------------------------------------------------------ */

static void check_plot(int width, int height, bool utf8, const struct wss_chart *chart)
{
    const struct wss_canvas canvas = {width, height, utf8};
    FILE *file = open_print();
    ck_assert_int_eq(wss_plot(file, &canvas, chart), 0);
    fclose(file);
}

static const struct wss_point decades[] = {{0.01, 0}, {0.1, 5}, {1, 10}, {10, 10}, {100, 20}};

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
    struct wss_chart chart = {decades, COUNT(decades), "a title", false};

    check_plot(33, 12, false, &chart);
    ck_assert_str_eq(printed, ascii_log);
    chart.linear = true;
    check_plot(33, 12, true, &chart);
    ck_assert_str_eq(printed, utf8_linear);
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
            for (int i = 0; i < 2 * COUNT(sizes); i++) {
                const struct wss_point point = {values[x], y < 0 ? 0 : values[y]};
                const struct wss_chart chart = {&point, 1, "", i % 2 == 1};
                int width = sizes[i / 2][0], height = sizes[i / 2][1], lines = 0;
                check_plot(width, height, false, &chart);
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
    struct wss_point points[16];
    const struct wss_chart chart = {points, COUNT(points), "", false};
    for (int i = 0; i < COUNT(points); i++)
        points[i] = (struct wss_point){0.001 * (1 << i), i < 8 ? 0 : 100};
    check_plot(80, 24, false, &chart);
    /* 75 places from 0.001 to 50 */
    for (int i = 0; i < COUNT(points); i++) {
        int column = 5 + (int)lround(74 * i * log(2) / log(50 / 0.001));
        ck_assert_msg(is_at(column, i < 8 ? 21 : 2, '*'), "point %d:\n%s", i, printed);
    }
}
END_TEST

START_TEST(draws_nothing_without_points)
{
    const struct wss_point none = {0, 5};
    const struct wss_chart chart = {&none, 1, "a title", false}, empty = {NULL, 0, "", true};

    check_plot(80, 24, false, &chart);
    ck_assert_str_eq(printed, "");
    check_plot(80, 24, false, &empty);
    ck_assert_str_eq(printed, "");
}
END_TEST

START_TEST(fits_what_is_no_terminal)
{
    struct wss_canvas canvas;
    FILE *file = fopen("/dev/null", "w");

    wss_canvas_of(file, &canvas);
    fclose(file);
    ck_assert_int_eq(canvas.width, 80);
    ck_assert_int_eq(canvas.height, 24);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss_output");

    setenv("TZ", "UTC", 1);
    setlocale(LC_CTYPE, "C.UTF-8");
    tcase_add_loop_test(tests, prints_lines, 0, COUNT(outputs));
    tcase_add_test(tests, reports_that_the_disk_is_full);
    tcase_add_test(tests, draws_known_points);
    tcase_add_test(tests, draws_one_point);
    tcase_add_test(tests, doublings_are_evenly_spaced);
    tcase_add_test(tests, draws_nothing_without_points);
    tcase_add_test(tests, fits_what_is_no_terminal);
    return run_suite("wss_output", tests);
}
