/* SPDX-License-Identifier: MIT */
/*
 * support/fake_tracefs_inside.h - what the parts of the fake share.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_TRACEFS_INSIDE_H
#define HEADROOM_TESTS_SUPPORT_FAKE_TRACEFS_INSIDE_H

#include <limits.h>

#include "support/fake_tracefs.h"

/** Prints a path; one that is too long is a test's mistake. */
__attribute__((format(printf, 2, 3))) void fake_tracefs_print_name(char text[PATH_MAX],
                                                                   const char *format, ...);

/** Prints the real path of a file of the fake. */
void fake_tracefs_name_path(char path[PATH_MAX], const char *file);

unsigned fake_tracefs_cpu_count(void);

/** Whether this process has files of a directory open. @param directory  "", or with a slash at its
 * end. @param files  a pattern. */
bool fake_tracefs_is_open(const char *directory, const char *files);

/** Does what the kernel would with a text written to a file. @return 0 or an errno. */
int fake_tracefs_take(const char *file, const char *text);

#endif
