/* SPDX-License-Identifier: MIT */
/*
 * wss/gnuplot.h - the same chart as a picture, SVG or PNG, drawn by gnuplot(1).
 */
#ifndef HEADROOM_COMMAND_WSS_GNUPLOT_H
#define HEADROOM_COMMAND_WSS_GNUPLOT_H

#include "common/chart.h"

struct wss_picture;

/**
 * Ensures, before anything is measured, that a picture can be drawn later: the file can be written,
 * and gnuplot is installed.
 *
 * @param path     its suffix, .svg or .png, is the kind; see wss_picture_is_known().
 * @param picture  receives it; the caller ends it with wss_picture_close().
 * @return 0; -ENOPKG: gnuplot is not installed; -EPROTO: gnuplot can't draw this kind; or the
 *         negative errno of opening the file.
 */
int wss_picture_open(const char *path, struct wss_picture **picture);

/** @return whether a path has a suffix of a kind that can be drawn. */
bool wss_picture_is_known(const char *path);

/** Draws the chart. @return 0; -EPROTO: gnuplot failed, with a message; or a negative errno. */
int wss_picture_draw(struct wss_picture *picture, const struct chart *chart);

/** Closes it. A new file that was not drawn is removed. NULL is allowed. */
void wss_picture_close(struct wss_picture *picture);

#endif
