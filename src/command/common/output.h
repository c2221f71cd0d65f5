/* SPDX-License-Identifier: MIT */
/*
 * common/output.h - how wide it may be, and whether all of it was written.
 */
#ifndef HEADROOM_COMMAND_COMMON_OUTPUT_H
#define HEADROOM_COMMAND_COMMON_OUTPUT_H

#include <stdio.h>

/** @return the columns of the terminal that standard output is; `otherwise` if it is none. */
int output_width(int otherwise);

/** Flushes. @return 0, or the negative errno of this write or, where it is not known, -EIO. */
int output_flush(FILE *out);

/**
 * Prints an error of writing on standard error, if there is one.
 *
 * @param title   the subcommand's argv[0].
 * @param status  0, or the negative errno of writing.
 * @return COMMAND_DONE or COMMAND_FAILED.
 */
int output_finish(const char *title, int status);

#endif
