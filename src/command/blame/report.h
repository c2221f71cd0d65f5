/* SPDX-License-Identifier: MIT */
/*
 * blame/report.h - what was measured in an interval, as a table or as JSON.
 */
#ifndef HEADROOM_COMMAND_BLAME_REPORT_H
#define HEADROOM_COMMAND_BLAME_REPORT_H

#include <stdio.h>

#include "blame/watched.h"
#include "common/label.h"
#include "headroom/blame.h"

struct blame_report {
    const struct hr_blame_matrix *matrix; /**< of the interval */
    const struct watched *watched;
    const struct hr_blame *blame; /**< for names of tasks; NULL: there are none */
    bool by_task;
    bool all; /**< no row is left out */
    bool interrupts_known, limit_exact;
    enum label_charset charset;
    int width; /**< columns of the terminal */
};

/** The wait of one group, or task, and where its cells are in the matrix. */
struct blame_waiter {
    size_t first, count;
    uint64_t wait_ns;
    uint64_t others_ns; /**< of that not for itself */
};

/**
 * Finds the waiters of a matrix, in the order in which they suffer: by how long they waited for
 * others, or by a limit, times the part that this is of their wait, as who takes a CPU from others
 * waits as long for them, but mostly for itself.
 *
 * @param waiters  receives an array that the caller frees.
 * @return 0 or -ENOMEM.
 */
int blame_find_waiters(const struct hr_blame_matrix *matrix, struct blame_waiter **waiters,
                       size_t *count);

/**
 * Prints who waited for whom, in milliseconds: a row for each group that waited, and a column for
 * each taker, worst first. By task: a row for each pair of tasks. Without `all`, that is those that
 * waited most.
 *
 * @return 0 or -ENOMEM. Check the file for errors of writing.
 */
int blame_table_print(FILE *file, const struct blame_report *report);

/** Prints all of it as a JSON object on a line. @return 0 or -ENOMEM. */
int blame_json_print(FILE *file, const struct blame_report *report);

#endif
