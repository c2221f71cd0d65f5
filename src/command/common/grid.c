/* SPDX-License-Identifier: MIT */
#include "common/grid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"

#define COLUMN_MAX 32
#define CELL_SIZE  128

static void append_cell(struct grid *grid, const char *text)
{
    size_t length = strlen(text) + 1;
    if (HR_ARRAY_RESERVE(grid->text, grid->size, grid->used + length) != 0) {
        grid->failed = true;
        return;
    }
    memcpy(grid->text + grid->used, text, length);
    grid->used += length;
    grid->cell_count++;
}

void grid_cell(struct grid *grid, const char *format, ...)
{
    char text[CELL_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    append_cell(grid, text);
}

static void find_widths(const struct grid *grid, int widths[COLUMN_MAX])
{
    const char *cell = grid->text;
    for (size_t i = 0; i < grid->cell_count; i++, cell += strlen(cell) + 1) {
        int width = label_width(cell, LABEL_UTF8);
        if (width > widths[i % grid->column_count])
            widths[i % grid->column_count] = width;
    }
}

/* Blanks are printed only when a cell follows them in the row. */
static void print_cell(const struct grid *grid, FILE *file, unsigned column, int width,
                       const char *cell, int *blanks)
{
    int padding = width - label_width(cell, LABEL_UTF8);
    bool left = (grid->left >> column & 1) != 0;
    *blanks += (column > 0) + (left ? 0 : padding);
    if (cell[0] != '\0') {
        fprintf(file, "%*s%s", *blanks, "", cell);
        *blanks = 0;
    }
    *blanks += left ? padding : 0;
    if (column + 1 < grid->column_count)
        return;
    putc('\n', file);
    *blanks = 0;
}

void grid_headings(struct grid *grid, const char *const headings[][2], unsigned count)
{
    grid->column_count = count;
    for (int line = 0; line < 2; line++)
        for (unsigned i = 0; i < count; i++)
            grid_cell(grid, "%s", headings[i][line]);
}

int grid_column_width(const struct grid *grid, unsigned column)
{
    int widths[COLUMN_MAX] = {0};
    find_widths(grid, widths);
    return widths[column];
}

int grid_width(const struct grid *grid)
{
    int widths[COLUMN_MAX] = {0}, width = (int)grid->column_count - 1;
    find_widths(grid, widths);
    for (unsigned i = 0; i < grid->column_count; i++)
        width += widths[i];
    return width;
}

void grid_free(struct grid *grid)
{
    free(grid->text);
    *grid = (struct grid){.column_count = grid->column_count, .left = grid->left};
}

int grid_print(struct grid *grid, FILE *file)
{
    int widths[COLUMN_MAX] = {0}, blanks = 0, status = grid->failed ? -ENOMEM : 0;
    const char *cell = grid->text;
    if (status == 0)
        find_widths(grid, widths);
    for (size_t i = 0; status == 0 && i < grid->cell_count; i++, cell += strlen(cell) + 1) {
        unsigned column = (unsigned)(i % grid->column_count);
        print_cell(grid, file, column, widths[column], cell, &blanks);
    }
    grid_free(grid);
    return status;
}
