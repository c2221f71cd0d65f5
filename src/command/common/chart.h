/* SPDX-License-Identifier: MIT */
/*
 * common/chart.h - numbers over time, as a chart of characters.
 */
#ifndef HEADROOM_COMMAND_COMMON_CHART_H
#define HEADROOM_COMMAND_COMMON_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct point {
    double x, y;
};

/** A level that the points are compared with, such as a limit: a line across the chart. */
struct chart_mark {
    double y;
    const char *name; /**< UTF-8, without control characters */
};

/** What is drawn, in the terminal or as a picture. */
struct chart {
    const struct point *points;
    size_t count;
    const char *title;           /**< UTF-8, without control characters */
    const char *x_name, *y_name; /**< of the axes, with their units */
    bool linear;                 /**< the x axis; else it is logarithmic */
    bool from_lowest;            /**< the y axis begins near the lowest value; else at 0 */
    const struct chart_mark *marks;
    size_t mark_count;
};

/** The area of a chart of characters. */
struct canvas {
    int width, height; /**< in characters; at least 20 by 8 are used */
    bool utf8;         /**< else ASCII */
};

/**
 * Finds the size of a chart: that of the terminal without a line for the shell's prompt, up to a
 * readable maximum; 80 by 24 where the file is not a terminal.
 */
void canvas_of(FILE *file, struct canvas *canvas);

/**
 * Draws a scatter plot; nothing if no point can be drawn (a logarithmic axis has no 0).
 *
 * @return 0, or the negative errno of writing; -ENOMEM.
 */
int chart_draw(FILE *file, const struct canvas *canvas, const struct chart *chart);

#endif
