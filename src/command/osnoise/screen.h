/* SPDX-License-Identifier: MIT */
/*
 * osnoise/screen.h - a text that is redrawn in place, on the terminal's alternate screen, so that
 * the previous contents are back at the end.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_SCREEN_H
#define HEADROOM_COMMAND_OSNOISE_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

/** Whether a file is a terminal that can do that. */
bool osnoise_screen_fits(FILE *file);

void osnoise_screen_begin(FILE *file);

/** Draws a text of lines, as many as there is room for. @return 0 or the negative errno. */
int osnoise_screen_draw(FILE *file, const char *text);

void osnoise_screen_end(FILE *file);

#endif
