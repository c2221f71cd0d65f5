/* SPDX-License-Identifier: MIT */
/*
 * common/output.h - how wide it may be, and whether all of it was written.
 */
#ifndef HEADROOM_COMMAND_COMMON_OUTPUT_H
#define HEADROOM_COMMAND_COMMON_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

/** @return the columns of the terminal that standard output is; `otherwise` if it is none. */
int output_width(int otherwise);

/**
 * Prints a text, broken at blanks to fit a width, and ends the line.
 *
 * @param indent  of the lines that follow, which is the column that the text begins in.
 */
void output_fold(FILE *out, const char *text, size_t indent, size_t width);

/** Flushes. @return 0, or the negative errno of this write or, where it is not known, -EIO. */
int output_flush(FILE *out);

/**
 * Prints an error of writing on standard error, if there is one, but not that the reader of a pipe
 * has closed it.
 *
 * @param title   the subcommand's argv[0].
 * @param status  0, or the negative errno of writing.
 * @return COMMAND_DONE or COMMAND_FAILED.
 */
int output_finish(const char *title, int status);

#endif
