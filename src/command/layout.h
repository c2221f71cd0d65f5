/*
 * layout.h - which columns the screen shows, and how wide, in the room there is.
 */
#ifndef HEADROOM_LAYOUT_H
#define HEADROOM_LAYOUT_H

#include "columns.h"

#include <stdbool.h>

/** Columns a number takes on the screen; a space precedes it. */
#define NUMBER_WIDTH 5

/** How a row is laid out: the name, then per column shown " BAR" where it has one, " NUMBER". */
struct layout {
    int name;               /**< columns of the terminal for the name of the group */
    int bar;                /**< and for each bar; 0: no bars */
    bool shown[COLUMN_MAX]; /**< by index into columns */
};

/**
 * Finds the richest layout: bars and all numbers; without bars; only the main columns; fewer of
 * these, from the right; the name alone.
 *
 * @param width    of the terminal, in columns.
 * @param longest  the columns that the longest name would take.
 * @param present  by index into columns, whether any row has a value; others are not shown.
 */
void layout_fit(int width, int longest, const bool present[COLUMN_MAX], struct layout *layout);

#endif
