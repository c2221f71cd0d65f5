/* SPDX-License-Identifier: MIT */
/*
 * osnoise/table.h - operating system noise as tables and lines for people.
 *
 * Names are the kernel's, or a program's choice: what could upset a terminal is printed as "?".
 * LC_NUMERIC must be a locale with a decimal point.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_TABLE_H
#define HEADROOM_COMMAND_OSNOISE_TABLE_H

#include <stdio.h>

#include "common/grid.h"
#include "osnoise/report.h"

/**
 * Prints a headline; the table of CPUs, unless without a workload; the one of sources, if
 * requested; of single noises by duration, if counted; and what is missing.
 *
 * @return 0 or -ENOMEM; write errors are left to the file's error indicator.
 */
int osnoise_table_print(FILE *file, const struct osnoise_report *report);

/** Adds the cells of 50, 99 and 99.9 %, in us, of a histogram as osnoise_percentile() takes it. */
void osnoise_table_add_percentiles(struct grid *grid, const uint64_t *buckets);

/** Prints a single noise as a line: "14:03:22 CPU 1: 2013.4 us: thread spinner[812] 2001.1 us". */
void osnoise_single_noise_print(FILE *file, const struct osnoise_timed_noise *seen,
                                enum label_charset charset);

#endif
