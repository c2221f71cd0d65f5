/*
 * osnoise/screen.h - a text that is written anew in its place, on the terminal's other screen, so
 * that what was there before comes back at the end.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_SCREEN_H
#define HEADROOM_COMMAND_OSNOISE_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

/** Tells whether a file is a terminal that can do that. */
bool osnoise_screen_fits(FILE *file);

void osnoise_screen_begin(FILE *file);

/** Writes a text of lines, as many as there is room for. @return 0 or the negative errno. */
int osnoise_screen_draw(FILE *file, const char *text);

void osnoise_screen_end(FILE *file);

#endif
