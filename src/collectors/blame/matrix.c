/* SPDX-License-Identifier: MIT */
#include "blame/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"

void hr_blame_matrix_free(struct hr_blame_matrix *matrix)
{
    free(matrix->cells);
    *matrix = (struct hr_blame_matrix){0};
}

void hr_blame_matrix_clear(struct hr_blame_matrix *matrix)
{
    *matrix = (struct hr_blame_matrix){.cells = matrix->cells, .capacity = matrix->capacity};
}

int hr_blame_matrix_add(struct hr_blame_matrix *matrix, const struct hr_blame_cell *cell)
{
    int status = HR_ARRAY_RESERVE(matrix->cells, matrix->capacity, matrix->count + 1);

    if (status == 0)
        matrix->cells[matrix->count++] = *cell;
    return status;
}

/* --- Order ---------------------------------------------------------------- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_waiters(const struct hr_blame_cell *a, const struct hr_blame_cell *b)
{
    int order = COMPARE(a->waiter, b->waiter);

    return order != 0 ? order : COMPARE(a->waiter_tid, b->waiter_tid);
}

static int compare_cells(const void *first, const void *second)
{
    const struct hr_blame_cell *a = first, *b = second;
    int order = compare_waiters(a, b);

    if (order == 0)
        order = COMPARE(a->taker, b->taker);
    if (order == 0)
        order = COMPARE(a->group, b->group);
    return order != 0 ? order : COMPARE(a->taker_tid, b->taker_tid);
}

void hr_blame_matrix_sort(struct hr_blame_matrix *matrix)
{
    if (matrix->count > 0)
        qsort(matrix->cells, matrix->count, sizeof(*matrix->cells), compare_cells);
}

const struct hr_blame_cell *hr_blame_matrix_find(const struct hr_blame_matrix *matrix,
                                                 const struct hr_blame_cell *cell)
{
    if (matrix->count == 0)
        return NULL;
    return bsearch(cell, matrix->cells, matrix->count, sizeof(*cell), compare_cells);
}

int hr_blame_matrix_copy(struct hr_blame_matrix *matrix, const struct hr_blame_matrix *from)
{
    matrix->count = 0;
    int status = HR_ARRAY_RESERVE(matrix->cells, matrix->capacity, from->count);
    if (status != 0 || from->count == 0)
        return status;
    memcpy(matrix->cells, from->cells, from->count * sizeof(*from->cells));
    matrix->count = from->count;
    return 0;
}

static void remove_empty_cells(struct hr_blame_matrix *matrix)
{
    size_t kept = 0;

    for (size_t i = 0; i < matrix->count; i++)
        if (matrix->cells[i].wait_ns > 0)
            matrix->cells[kept++] = matrix->cells[i];
    matrix->count = kept;
}

/* The unknown cell is the last of its waiter's. */
void hr_blame_matrix_finish(struct hr_blame_matrix *matrix)
{
    uint64_t known_ns = 0;

    for (size_t i = 0; i < matrix->count; i++) {
        struct hr_blame_cell *cell = &matrix->cells[i];
        if (i > 0 && compare_waiters(cell, cell - 1) != 0)
            known_ns = 0;
        if (cell->taker == HR_BLAME_UNKNOWN)
            cell->wait_ns -= known_ns < cell->wait_ns ? known_ns : cell->wait_ns;
        else
            known_ns += cell->wait_ns;
    }
    remove_empty_cells(matrix);
}

/* --- Intervals ------------------------------------------------------------ */

/* The wait of a cell before; both walk through their matrices in the same order. */
static uint64_t find_before(const struct hr_blame_matrix *before, size_t *at,
                            const struct hr_blame_cell *cell)
{
    while (*at < before->count && compare_cells(&before->cells[*at], cell) < 0)
        ++*at;
    bool found = *at < before->count && compare_cells(&before->cells[*at], cell) == 0;
    return found ? before->cells[*at].wait_ns : 0;
}

/* A sum that went back began again at 0. */
static uint64_t since(uint64_t before, uint64_t after)
{
    return after >= before ? after - before : after;
}

int hr_blame_delta(const struct hr_blame_matrix *before, const struct hr_blame_matrix *after,
                   struct hr_blame_matrix *delta)
{
    size_t at = 0;
    int status = 0;

    hr_blame_matrix_clear(delta);
    delta->time_ns = after->time_ns - before->time_ns;
    delta->lost_ns = since(before->lost_ns, after->lost_ns);
    delta->unsplit_ns = since(before->unsplit_ns, after->unsplit_ns);
    for (size_t i = 0; status == 0 && i < after->count; i++) {
        struct hr_blame_cell cell = after->cells[i];
        cell.wait_ns = since(find_before(before, &at, &cell), cell.wait_ns);
        if (cell.wait_ns > 0)
            status = hr_blame_matrix_add(delta, &cell);
    }
    /* Only now: the cells of a taker that is watched no more vanish, but not from whole waits. */
    hr_blame_matrix_finish(delta);
    return status;
}
