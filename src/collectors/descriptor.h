/*
 * descriptor.h - how many file descriptors the collectors may keep open.
 *
 * The process belongs to somebody else, who needs descriptors too. As open(2) gives the lowest free
 * number, a high one tells that many are in use, by whomever: the collectors keep descriptors only
 * below three quarters of RLIMIT_NOFILE, and beyond that open, use and close.
 */
#ifndef HEADROOM_DESCRIPTOR_H
#define HEADROOM_DESCRIPTOR_H

#include <stdbool.h>

/** Tells whether a descriptor just opened may be kept, rather than closed after use. */
bool hr_descriptor_may_keep(int fd);

/** Closes a descriptor if it is one, and sets it to -1. errno is left alone. */
void hr_descriptor_close(int *fd);

#endif
