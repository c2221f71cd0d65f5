/* SPDX-License-Identifier: MIT */
/*
 * base/descriptor.h - keeping file descriptors open, and closing them.
 */
#ifndef HEADROOM_COLLECTORS_BASE_DESCRIPTOR_H
#define HEADROOM_COLLECTORS_BASE_DESCRIPTOR_H

#include <dirent.h>
#include <stdbool.h>

#include "headroom/descriptor.h"

/**
 * Whether a descriptor that is open may be kept, rather than closed after use. If so, it is moved
 * to a number from 1024 up where RLIMIT_NOFILE allows, as headroom/descriptor.h explains; so do it
 * before the number is used elsewhere, such as in an epoll set. The flag O_CLOEXEC, which all
 * descriptors of the collectors have, is set again.
 *
 * @param fd  receives the new number, if it may be kept. Open in any case.
 */
bool hr_descriptor_keep(int *fd, enum hr_keep what);

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
