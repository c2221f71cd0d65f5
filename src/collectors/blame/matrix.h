/* SPDX-License-Identifier: MIT */
/*
 * blame/matrix.h - sorting cells, and what of a wait is unknown. The matrix that is read has whole
 * waits in its HR_BLAME_UNKNOWN cells, that of an interval has what is unknown of them.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_MATRIX_H
#define HEADROOM_COLLECTORS_BLAME_MATRIX_H

#include "headroom/blame.h"

/** Empties a matrix, and keeps its memory. */
void hr_blame_matrix_clear(struct hr_blame_matrix *matrix);

/** Appends a cell. @return 0 or -ENOMEM. */
int hr_blame_matrix_add(struct hr_blame_matrix *matrix, const struct hr_blame_cell *cell);

/** Finds the cell of the same waiter and taker in a sorted matrix. @return NULL if there is none.
 */
const struct hr_blame_cell *hr_blame_matrix_find(const struct hr_blame_matrix *matrix,
                                                 const struct hr_blame_cell *cell);

/** Replaces the cells by those of another matrix. @return 0 or -ENOMEM: it is empty. */
int hr_blame_matrix_copy(struct hr_blame_matrix *matrix, const struct hr_blame_matrix *from);

/** Sorts the cells. */
void hr_blame_matrix_sort(struct hr_blame_matrix *matrix);

/**
 * Makes of the whole waits that the HR_BLAME_UNKNOWN cells have what the others lack of them, at
 * least 0, and removes cells without a wait. The cells are sorted. Where there is no such cell
 * nothing is unknown.
 */
void hr_blame_matrix_finish(struct hr_blame_matrix *matrix);

#endif
