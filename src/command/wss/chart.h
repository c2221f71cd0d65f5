/* SPDX-License-Identifier: MIT */
/*
 * wss/chart.h - a working set over the window in which it was touched, as a chart of characters.
 */
#ifndef HEADROOM_COMMAND_WSS_CHART_H
#define HEADROOM_COMMAND_WSS_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct wss_point {
    double seconds, mib;
};

/** What is drawn, in the terminal or as a picture. */
struct wss_chart {
    const struct wss_point *points;
    size_t count;
    const char *title; /**< UTF-8, without control characters */
    bool linear;       /**< the axis of time; else it is logarithmic */
};

/** The area of a chart of characters. */
struct wss_canvas {
    int width, height; /**< in characters; at least 20 by 8 are used */
    bool utf8;         /**< else ASCII */
};

/**
 * Finds the size of a chart: that of the terminal without a line for the shell's prompt, up to a
 * readable maximum; 80 by 24 where the file is not a terminal.
 */
void wss_canvas_of(FILE *file, struct wss_canvas *canvas);

/**
 * Draws a scatter plot; nothing if no point can be drawn (a logarithmic axis has no 0).
 *
 * @return 0, or the negative errno of writing; -ENOMEM.
 */
int wss_plot(FILE *file, const struct wss_canvas *canvas, const struct wss_chart *chart);

#endif
