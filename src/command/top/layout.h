/* SPDX-License-Identifier: MIT */
/*
 * top/layout.h - which columns and keys the screen shows in its width, and how wide columns are.
 */
#ifndef HEADROOM_COMMAND_TOP_LAYOUT_H
#define HEADROOM_COMMAND_TOP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "top/columns.h"

/** Columns of the screen that a number takes, after a space. */
#define NUMBER_WIDTH VALUE_WIDTH

/** How a row is laid out: the name, then per column shown " BAR" where it has one, " NUMBER". */
struct layout {
    int name;               /**< columns of the terminal for the name of the group */
    int bar;                /**< and for each bar; 0: no bars */
    bool shown[COLUMN_MAX]; /**< by index into columns */
};

/**
 * Finds the richest layout that fits: bars and all numbers; numbers without bars; fewer numbers,
 * the least useful left out first; the name alone. Names keep enough of their length to differ, but
 * for the last three columns.
 *
 * @param width    of the terminal, in columns.
 * @param longest  columns that the longest name would take.
 * @param present  by index into columns, whether any row has a value; others are not shown.
 */
void layout_fit(int width, int longest, const bool present[COLUMN_MAX], struct layout *layout);

/** Fits any bottom line of the screen. */
#define FOOTER_SIZE 512

/**
 * Writes the bottom line: keys, and what they do. Where not all fits, explanations are left out
 * first, then keys that sort by the least useful columns, one by one.
 *
 * @param width     of the terminal, in columns. The last part is written even if it is wider.
 * @param position  which rows are visible, if not all are; else "".
 * @param present   as for layout_fit(); other columns have no key.
 */
void footer_fit(int width, const char *position, const bool present[COLUMN_MAX],
                char text[FOOTER_SIZE]);

#endif
