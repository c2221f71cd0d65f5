/* SPDX-License-Identifier: MIT */
/*
 * osnoise/instance_file.h - the files of an instance, and what their errors mean.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_INSTANCE_FILE_H
#define HEADROOM_COLLECTORS_OSNOISE_INSTANCE_FILE_H

#include "osnoise/tracefs.h"

/** The size of a path, with the longest name that a directory may have. */
#define HR_OSNOISE_PATH 320

/** Prints the path of a file in tracefs. @param file  within the instance; "" is its directory. */
void hr_osnoise_instance_file(char path[HR_OSNOISE_PATH], const char *instance, const char *file);

/** Writes a text. @return 0 or a negative errno. */
int hr_osnoise_instance_write(const struct hr_tracefs *tracefs, const char *instance,
                              const char *file, const char *text);

/** Writes a number. @return 0 or a negative errno. */
int hr_osnoise_instance_write_number(const struct hr_tracefs *tracefs, const char *instance,
                                     const char *file, uint64_t value);

/** Gives the reason why something can't be done in tracefs, and the remedy where there is one.
 * @param error  a negative errno. @return it. */
__attribute__((format(printf, 3, 4))) int
hr_osnoise_instance_explain(struct hr_reason *reason, int error, const char *format, ...);

#endif
