/*
 * osnoise/table.h - operating system noise as tables and lines for people.
 *
 * Names are the kernel's and of whoever names threads: what could upset a terminal is shown as "?".
 * The caller sees to it that the locale (LC_NUMERIC) has a decimal point.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_TABLE_H
#define HEADROOM_COMMAND_OSNOISE_TABLE_H

#include "osnoise/report.h"

#include <stdio.h>

/**
 * Prints a line of what was measured; the table of CPUs, unless without a workload; of sources,
 * if there are to be some; of single noises by their duration, if counted; and what is missing.
 *
 * @return 0 or -ENOMEM; errors of writing are the file's.
 */
int osnoise_table_print(FILE *file, const struct osnoise_report *report);

/** Prints a single noise as a line: "14:03:22 CPU 1: 2013.4 us: thread spinner[812] 2001.1 us". */
void osnoise_single_noise_print(FILE *file, const struct osnoise_timed_noise *seen,
                                enum label_charset charset);

#endif
