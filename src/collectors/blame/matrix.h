/* SPDX-License-Identifier: MIT */
/*
 * blame/matrix.h - sorting cells, and what of a wait is unknown.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_MATRIX_H
#define HEADROOM_COLLECTORS_BLAME_MATRIX_H

#include "headroom/blame.h"

/** Empties a matrix, and keeps its memory. */
void hr_blame_matrix_clear(struct hr_blame_matrix *matrix);

/** Appends a cell. @return 0 or -ENOMEM. */
int hr_blame_matrix_add(struct hr_blame_matrix *matrix, const struct hr_blame_cell *cell);

/**
 * Sorts the cells, after the HR_BLAME_UNKNOWN ones had the whole waits: these become what the
 * others lack of it, at least 0. Where there is no such cell nothing is unknown.
 */
void hr_blame_matrix_finish(struct hr_blame_matrix *matrix);

#endif
