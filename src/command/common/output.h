/*
 * common/output.h - whether what was printed has reached its destination.
 */
#ifndef HEADROOM_COMMAND_COMMON_OUTPUT_H
#define HEADROOM_COMMAND_COMMON_OUTPUT_H

#include <stdio.h>

/** Flushes. @return 0, or the negative errno of this write or, where it is not known, -EIO. */
int output_flush(FILE *out);

#endif
