/* SPDX-License-Identifier: MIT */
/*
 * base/descriptor.h - limiting the file descriptors that the collectors keep open.
 *
 * The collectors share the process with other code that needs descriptors, too. As open(2) returns
 * the lowest free number, a high one shows that many are in use: beyond a share of RLIMIT_NOFILE
 * the collectors keep none, but open, use and close each time.
 */
#ifndef HEADROOM_COLLECTORS_BASE_DESCRIPTOR_H
#define HEADROOM_COLLECTORS_BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>

/** The use of a descriptor, and the eighths of the limit up to which it may be kept. A file that is
 * read at each interval gains most from being kept, and no longer needs its directory, so
 * directories get two eighths and files six. A trigger only works while its file is open: it gets
 * seven. */
enum hr_keep { HR_KEEP_DIRECTORY = 2, HR_KEEP_FILE = 6, HR_KEEP_TRIGGER = 7 };

/** Whether a descriptor just opened may be kept, rather than closed after use. */
bool hr_descriptor_may_keep(int fd, enum hr_keep what);

/** Closes a descriptor unless it is negative, and sets it to -1. Preserves errno. */
void hr_descriptor_close(int *fd);

/**
 * Makes a directory stream of a directory just opened, and takes over the descriptor.
 *
 * @param fd  a descriptor, or the negative errno of opening it.
 * @return NULL, with errno, for a negative errno or for lack of memory; the descriptor is closed.
 */
DIR *hr_descriptor_opendir(int fd);

#endif
