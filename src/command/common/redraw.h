/* SPDX-License-Identifier: MIT */
/*
 * common/redraw.h - a text that is redrawn in place, on the terminal's alternate screen, so that
 * the previous contents are back at the end.
 */
#ifndef HEADROOM_COMMAND_COMMON_REDRAW_H
#define HEADROOM_COMMAND_COMMON_REDRAW_H

#include <stdbool.h>
#include <stdio.h>

/** Whether a file is a terminal that can do that. */
bool redraw_fits(FILE *file);

void redraw_begin(FILE *file);

/** Draws a text of lines, as many as there is room for. @return 0 or the negative errno. */
int redraw_draw(FILE *file, const char *text);

void redraw_end(FILE *file);

#endif
