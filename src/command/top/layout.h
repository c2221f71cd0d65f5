/* SPDX-License-Identifier: MIT */
/*
 * top/layout.h - which columns the screen shows, how wide, and which keys, in the room there is.
 */
#ifndef HEADROOM_COMMAND_TOP_LAYOUT_H
#define HEADROOM_COMMAND_TOP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "top/columns.h"

/** Columns a number takes on the screen; a space precedes it. */
#define NUMBER_WIDTH VALUE_WIDTH

/** How a row is laid out: the name, then per column shown " BAR" where it has one, " NUMBER". */
struct layout {
    int name;               /**< columns of the terminal for the name of the group */
    int bar;                /**< and for each bar; 0: no bars */
    bool shown[COLUMN_MAX]; /**< by index into columns */
};

/**
 * Finds the richest layout: bars and all numbers; without bars; fewer numbers, of which the least
 * useful leave first, one by one; the name alone. Names keep enough to be told apart, but for the
 * last three columns.
 *
 * @param width    of the terminal, in columns.
 * @param longest  the columns that the longest name would take.
 * @param present  by index into columns, whether any row has a value; others are not shown.
 */
void layout_fit(int width, int longest, const bool present[COLUMN_MAX], struct layout *layout);

/** The bottom line of the screen is never longer. */
#define FOOTER_SIZE 512

/**
 * Writes the bottom line: keys, and what they do. Where not all of it fits, words of explanation
 * leave first, then keys that sort by the least useful columns, one by one.
 *
 * @param width     of the terminal, in columns. What is left in the end may be wider.
 * @param position  which rows are in sight, if not all are; else "".
 * @param present   as for layout_fit(); other columns have no key.
 */
void footer_fit(int width, const char *position, const bool present[COLUMN_MAX],
                char text[FOOTER_SIZE]);

#endif
