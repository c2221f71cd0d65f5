/* SPDX-License-Identifier: MIT */
/*
 * common/grid.h - a table of texts whose columns are as wide as their widest cell.
 */
#ifndef HEADROOM_COMMAND_COMMON_GRID_H
#define HEADROOM_COMMAND_COMMON_GRID_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/label.h"

/** An empty table is all zeros but for column_count and left. */
struct grid {
    unsigned column_count; /**< up to 32 */
    uint32_t left;         /**< bit N: column N is aligned to the left */
    char *text;            /**< the cells, each with its NUL */
    size_t used, size;
    size_t cell_count;
    bool failed; /**< memory ran out */
};

/** Appends a cell, row by row. The text is safe to show; it is cut after 127 bytes. */
__attribute__((format(printf, 2, 3))) void grid_cell(struct grid *grid, const char *format, ...);

/** Sets the number of columns, and appends two rows of headings. */
void grid_headings(struct grid *grid, const char *const headings[][2], unsigned count);

/** @return the columns of the terminal that a column, or the whole table, takes. */
int grid_column_width(const struct grid *grid, unsigned column);
int grid_width(const struct grid *grid);

/** Frees the cells and leaves an empty table. */
void grid_free(struct grid *grid);

/** Prints the rows, with one blank between columns and none behind the last cell. Frees the cells
 * and leaves an empty table. Check the file for errors of writing.
 *
 * @return 0 or -ENOMEM. */
int grid_print(struct grid *grid, FILE *file);

#endif
