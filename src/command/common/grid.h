/* SPDX-License-Identifier: MIT */
/*
 * common/grid.h - a table of texts with columns as wide as what is in them.
 */
#ifndef HEADROOM_COMMAND_COMMON_GRID_H
#define HEADROOM_COMMAND_COMMON_GRID_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/label.h"

/** All zeros, but for column_count and left, is an empty one. */
struct grid {
    unsigned column_count; /**< up to 32 */
    uint32_t left;         /**< columns that are aligned to the left: a bit each, from the lowest */
    char *text;            /**< the cells, each with its NUL */
    size_t used, size;
    size_t cell_count;
    bool failed; /**< memory ran out */
};

/** Adds a cell at the end, a text safe to show: row by row. What is longer than 127 bytes is cut.
 */
__attribute__((format(printf, 2, 3))) void grid_cell(struct grid *grid, const char *format, ...);

/** Prints the rows, each with a newline, and one blank between columns; nothing stands behind the
 * last cell of a row. Frees the cells, and leaves an empty grid. Errors of writing are the file's.
 *
 * @return 0 or -ENOMEM. */
int grid_print(struct grid *grid, FILE *file);

#endif
