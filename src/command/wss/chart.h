/* SPDX-License-Identifier: MIT */
/*
 * wss/chart.h - a working set over the time in which it was touched, as a chart of characters.
 */
#ifndef HEADROOM_COMMAND_WSS_CHART_H
#define HEADROOM_COMMAND_WSS_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct wss_point {
    double seconds, mib;
};

/** What is drawn; of the terminal's chart and of the picture. */
struct wss_chart {
    const struct wss_point *points;
    size_t count;
    const char *title; /**< UTF-8, without control characters */
    bool linear;       /**< the axis of time, which is logarithmic otherwise */
};

/** Where a chart of characters goes. */
struct wss_canvas {
    int width, height; /**< in characters; at least 20 by 8 are taken */
    bool utf8;         /**< else ASCII */
};

/**
 * Finds out how large a chart fits: that of the terminal, with a line left for the shell's prompt,
 * but not beyond what can be taken in; 80 by 24 where the file is no terminal.
 */
void wss_canvas_of(FILE *file, struct wss_canvas *canvas);

/**
 * Draws a scatter plot. Without a point that can be drawn (on a logarithmic axis, one later than 0)
 * it draws nothing.
 *
 * @return 0, or the negative errno of writing; -ENOMEM.
 */
int wss_plot(FILE *file, const struct wss_canvas *canvas, const struct wss_chart *chart);

#endif
