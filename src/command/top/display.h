/* SPDX-License-Identifier: MIT */
/*
 * top/display.h - writing texts to the terminal's lines, with what it can show of them.
 *
 * Lines and columns count from 0, at the top left. ncurses is initialized.
 */
#ifndef HEADROOM_COMMAND_TOP_DISPLAY_H
#define HEADROOM_COMMAND_TOP_DISPLAY_H

#include <curses.h>
#include <stdbool.h>

#include "common/label.h"
#include "top/table.h"

enum { DISPLAY_LINE_SIZE = 1024 /**< of a line of text; terminals are narrower */ };

/** What the terminal can show. */
struct display {
    enum label_charset charset;
    bool colours; /**< the pairs of colours are numbered by enum severity */
};

/** How a severity is shown: without colours by bold and reverse. */
attr_t display_attribute(const struct display *display, enum severity severity);

/** Writes a text, made safe, and with its middle left out where it is wider. @return its columns.
 */
int display_text(const struct display *display, int y, int x, const char *text, int width);

/** The same for a sentence, whose end is left out. */
void display_sentence(const struct display *display, int y, int x, const char *text, int width);

/** Writes a text that label_fit() made safe, from column x on, into the lines from y to before
 * bottom. They end at blanks; only words longer than a line are broken. @param width of the
 * terminal. */
void display_lines(int y, int bottom, int x, const char *text, int width);

/** How many lines of that width such a text takes. */
int display_count_lines(const char *text, int width);

#endif
