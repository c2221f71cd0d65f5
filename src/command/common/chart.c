/* SPDX-License-Identifier: MIT */
#include "common/chart.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/label.h"
#include "common/output.h"

enum {
    WIDTH_MIN = 20,
    HEIGHT_MIN = 8,
    WIDTH_MAX = 160,
    HEIGHT_MAX = 48,
    ROWS_BESIDE = 4,       /* a blank line, the title, the labels below the axis, its name */
    COLUMNS_PER_TICK = 12, /* at least, on a linear axis */
    ROWS_PER_TICK = 3
};

/* --- Glyphs --------------------------------------------------------------- */

enum glyph { BLANK, POINT, SIDE, SIDE_TICK, CORNER, BOTTOM, BOTTOM_TICK, MARK };

static const char *const glyphs[2][8] = {
    {" ", "*", "|", "+", "+", "-", "+", "."},
    {" ", "\xe2\x80\xa2", "\xe2\x94\x82", "\xe2\x94\xa4", "\xe2\x94\xbc", "\xe2\x94\x80",
     "\xe2\x94\xac", "\xc2\xb7"},
};

/* --- Scales --------------------------------------------------------------- */

/* Maps values from a lowest to a highest one, both round numbers, to places 0 … length - 1. */
struct scale {
    double low, high, step; /* step: between ticks; unused if logarithmic */
    bool log;
    int length;
};

/* The Nth round number: 1, 2 and 5 times powers of ten; 0 is 1, 1 is 2, 2 is 5, 3 is 10. */
static double round_number(int index)
{
    static const double digits[] = {1, 2, 5};
    int power = (int)floor(index / 3.0);
    /* 10 to a positive power is exact, to a negative one it isn't. */
    return power < 0 ? digits[index - 3 * power] / pow(10, -power)
                     : digits[index - 3 * power] * pow(10, power);
}

/* The index of the lowest round number that isn't below a positive value. */
static int round_up(double value)
{
    int index = 3 * (int)floor(log10(value)) - 1;
    while (round_number(index) < value * (1 - 1e-9))
        index++;
    return index;
}

static int round_down(double value)
{
    int index = round_up(value);
    return round_number(index) > value * (1 + 1e-9) ? index - 1 : index;
}

/* @param low  of the values, or 0 for an axis that begins there. */
static struct scale linear_scale(double low, double high, int length, int places_per_tick)
{
    int ticks = (length - 1) / places_per_tick;
    double top = high > low ? high : low + 1;
    double step = round_number(round_up((top - low) / (ticks > 1 ? ticks : 1)));
    low = floor(low / step * (1 + 1e-9)) * step;
    return (struct scale){low, ceil(top / step * (1 - 1e-9)) * step, step, false, length};
}

static struct scale log_scale(double low, double high, int length)
{
    int first = round_down(low), last = round_up(high);
    if (first == last)
        last++;
    return (struct scale){round_number(first), round_number(last), 0, true, length};
}

static int find_place(const struct scale *scale, double value)
{
    double part = scale->log ? log(value / scale->low) / log(scale->high / scale->low)
                             : (value - scale->low) / (scale->high - scale->low);
    return (int)lround(part * (scale->length - 1));
}

/* Finds the tick with a number, from 0. @return false beyond the last. */
static bool find_tick(const struct scale *scale, int number, double *value)
{
    if (!scale->log) {
        *value = scale->low + number * scale->step;
        return *value <= scale->high * (1 + 1e-9);
    }
    int first = round_down(scale->low), last = round_up(scale->high), stride = 1;
    /* Over two decades and more, only powers of ten. */
    if (last - first >= 6) {
        first = 3 * (int)ceil(first / 3.0);
        stride = 3;
    }
    *value = round_number(first + number * stride);
    return first + number * stride <= last;
}

/* --- Drawing -------------------------------------------------------------- */

struct plot {
    struct scale x, y;
    int margin; /* the width of the labels on the left */
    bool utf8;
    const struct chart *chart;
    unsigned char *points; /* row by row, a byte for each place: whether it has a point */
};

static bool can_be_drawn(const struct chart *chart, size_t i)
{
    return chart->linear || chart->points[i].x > 0;
}

static void find_range(const struct chart *chart, struct point *low, struct point *high)
{
    *low = (struct point){INFINITY, INFINITY};
    *high = (struct point){-INFINITY, -INFINITY};
    for (size_t i = 0; i < chart->count; i++) {
        if (!can_be_drawn(chart, i))
            continue;
        low->x = fmin(low->x, chart->points[i].x);
        high->x = fmax(high->x, chart->points[i].x);
        low->y = fmin(low->y, chart->points[i].y);
        high->y = fmax(high->y, chart->points[i].y);
    }
    for (size_t i = 0; i < chart->mark_count; i++) {
        low->y = fmin(low->y, chart->marks[i].y);
        high->y = fmax(high->y, chart->marks[i].y);
    }
}

static int format_label(double value, char text[24])
{
    return snprintf(text, 24, "%.10g", value);
}

static int widest_label(const struct scale *scale)
{
    char text[24];
    double value;
    int width = 0;
    for (int i = 0; find_tick(scale, i, &value); i++) {
        int length = format_label(value, text);
        width = length > width ? length : width;
    }
    return width;
}

static int lay_out_plot(struct plot *plot, const struct canvas *canvas, const struct chart *chart)
{
    int width = canvas->width > WIDTH_MIN ? canvas->width : WIDTH_MIN;
    int height = canvas->height > HEIGHT_MIN ? canvas->height : HEIGHT_MIN;
    struct point low, high;
    find_range(chart, &low, &high);
    plot->utf8 = canvas->utf8;
    plot->chart = chart;
    plot->y =
        linear_scale(chart->from_lowest ? low.y : 0, high.y, height - ROWS_BESIDE, ROWS_PER_TICK);
    plot->margin = widest_label(&plot->y) + 1;
    int length = width - plot->margin - 1;
    plot->x = chart->linear ? linear_scale(0, high.x, length, COLUMNS_PER_TICK)
                            : log_scale(low.x, high.x, length);
    plot->points = calloc((size_t)plot->y.length, (size_t)length);
    if (plot->points == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < chart->count; i++) {
        if (!can_be_drawn(chart, i))
            continue;
        int row = find_place(&plot->y, chart->points[i].y);
        plot->points[row * length + find_place(&plot->x, chart->points[i].x)] = 1;
    }
    return 0;
}

static bool has_tick(const struct scale *scale, int place, double *value)
{
    for (int i = 0; find_tick(scale, i, value); i++)
        if (find_place(scale, *value) == place)
            return true;
    return false;
}

static bool has_mark(const struct plot *plot, int row)
{
    for (size_t i = 0; i < plot->chart->mark_count; i++)
        if (find_place(&plot->y, plot->chart->marks[i].y) == row)
            return true;
    return false;
}

static enum glyph glyph_at(const struct plot *plot, int row, int column)
{
    double value;
    if (plot->points[row * plot->x.length + column])
        return POINT;
    if (has_mark(plot, row))
        return MARK;
    if (row > 0)
        return BLANK;
    return has_tick(&plot->x, column, &value) ? BOTTOM_TICK : BOTTOM;
}

/* "RSS 250 MiB, limit 256 MiB" */
static void join_mark_names(const struct plot *plot, int row, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < plot->chart->mark_count && length < size; i++)
        if (find_place(&plot->y, plot->chart->marks[i].y) == row)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       plot->chart->marks[i].name);
}

/* At the left, unless points are there. @return the column behind it. */
static int draw_mark_name(FILE *file, const struct plot *plot, int row)
{
    char names[128], text[sizeof(names)];

    join_mark_names(plot, row, names, sizeof(names));
    const int width =
        label_fit(names, plot->x.length, plot->utf8 ? LABEL_UTF8 : LABEL_ASCII, text, sizeof(text));
    if (width == 0)
        return 0;
    for (int column = 0; column <= width && column < plot->x.length; column++)
        if (plot->points[row * plot->x.length + column])
            return 0;
    fputs(text, file);
    return width;
}

/* Row 0 is the lowest, and the axis. */
static void draw_row(FILE *file, const struct plot *plot, int row)
{
    const char *const *shapes = glyphs[plot->utf8];
    char text[24] = "";
    double value;
    bool tick = has_tick(&plot->y, row, &value);
    if (tick)
        format_label(value, text);
    fprintf(file, "%*s %s", plot->margin - 1, text,
            shapes[row == 0 ? CORNER
                   : tick   ? SIDE_TICK
                            : SIDE]);
    int end = plot->x.length;
    while (end > 0 && glyph_at(plot, row, end - 1) == BLANK)
        end--;
    for (int column = draw_mark_name(file, plot, row); column < end; column++)
        fputs(shapes[glyph_at(plot, row, column)], file);
    putc('\n', file);
}

static void draw_labels(FILE *file, const struct plot *plot, const char *x_name)
{
    char text[24];
    double value;
    int used = 0, width = plot->margin + 1 + plot->x.length;
    for (int i = 0; find_tick(&plot->x, i, &value); i++) {
        int length = format_label(value, text);
        int start = plot->margin + 1 + find_place(&plot->x, value) - length / 2;
        if (start + length > width)
            start = width - length;
        if (start < used + (used > 0))
            continue;
        fprintf(file, "%*s%s", start - used, "", text);
        used = start + length;
    }
    fprintf(file, "\n%*s\n", width, x_name);
}

static void draw_title(FILE *file, const struct plot *plot, const struct chart *chart)
{
    char text[512];
    int room = plot->margin + 1 + plot->x.length - (int)strlen(chart->y_name) - 2;
    int width =
        label_fit(chart->title, room, plot->utf8 ? LABEL_UTF8 : LABEL_ASCII, text, sizeof(text));
    fprintf(file, "%s  %*s%s\n", chart->y_name, room - width, "", text);
}

int chart_draw(FILE *file, const struct canvas *canvas, const struct chart *chart)
{
    struct plot plot;
    size_t drawn = 0;
    for (size_t i = 0; i < chart->count; i++)
        drawn += can_be_drawn(chart, i);
    if (drawn == 0)
        return 0;
    int status = lay_out_plot(&plot, canvas, chart);
    if (status != 0)
        return status;
    putc('\n', file);
    draw_title(file, &plot, chart);
    for (int row = plot.y.length - 1; row >= 0; row--)
        draw_row(file, &plot, row);
    draw_labels(file, &plot, chart->x_name);
    free(plot.points);
    return output_flush(file);
}

static int clamp_size(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void canvas_of(FILE *file, struct canvas *canvas)
{
    struct winsize size;
    *canvas = (struct canvas){80, 24, label_charset() == LABEL_UTF8};
    if (ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return;
    canvas->width = clamp_size(size.ws_col, WIDTH_MIN, WIDTH_MAX);
    canvas->height = clamp_size(size.ws_row - 1, HEIGHT_MIN, HEIGHT_MAX);
}
