/* SPDX-License-Identifier: MIT */
/*
 * top/help.h - what the screen says about itself: a line below the table, and a page of help.
 */
#ifndef HEADROOM_COMMAND_TOP_HELP_H
#define HEADROOM_COMMAND_TOP_HELP_H

#include <stdbool.h>
#include <stddef.h>

#include "top/columns.h"

/** Fits any text of legend_fit() and help_line(). */
#define HELP_SIZE 256

/**
 * Writes the line below the table: what its columns mean. Where not all fits, the end is left out.
 *
 * @param width    of the terminal, in columns. The last part is written even if it is wider.
 * @param present  by index into columns, see table_present().
 * @param marked   whether a row has the mark of table_mark_takers().
 * @param last     where all is said; the last part.
 */
void legend_fit(int width, const bool present[COLUMN_MAX], bool marked, const char *last,
                char text[HELP_SIZE]);

/**
 * Writes a line of the page of help.
 *
 * @param number   from 0.
 * @param present  other columns have no line.
 * @return whether there is such a line.
 */
bool help_line(size_t number, const bool present[COLUMN_MAX], char text[HELP_SIZE]);

#endif
