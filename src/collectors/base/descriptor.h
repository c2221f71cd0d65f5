/* SPDX-License-Identifier: MIT */
/*
 * base/descriptor.h - how many file descriptors the collectors may keep open.
 *
 * The process belongs to somebody else, who needs descriptors too. As open(2) gives the lowest free
 * number, a high one tells that many are in use, by whomever: beyond a share of RLIMIT_NOFILE the
 * collectors keep none, but open, use and close.
 */
#ifndef HEADROOM_COLLECTORS_BASE_DESCRIPTOR_H
#define HEADROOM_COLLECTORS_BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>

/** What a descriptor is for, and the eighths of the limit that it may use. A file that is read each
 * time gains most from being kept, and needs its directory no more, so directories get two eighths
 * and files may go up to six. A trigger is no trigger unless its file is kept: it may take seven.
 */
enum hr_keep { HR_KEEP_DIRECTORY = 2, HR_KEEP_FILE = 6, HR_KEEP_TRIGGER = 7 };

/** Tells whether a descriptor just opened may be kept, rather than closed after use. */
bool hr_descriptor_may_keep(int fd, enum hr_keep what);

/** Closes a descriptor if it is one, and sets it to -1. errno is left alone. */
void hr_descriptor_close(int *fd);

/**
 * Makes a folder that can be listed of a directory just opened, and takes the descriptor over.
 *
 * @param fd  or a negative errno.
 * @return NULL, with errno, if it is that or memory is short; the descriptor is then closed.
 */
DIR *hr_descriptor_opendir(int fd);

#endif
