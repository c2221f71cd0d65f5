/* SPDX-License-Identifier: MIT */
/*
 * headroom/descriptor.h - how many file descriptors the collectors may keep open.
 *
 * The collectors share the process with code that needs descriptors, too, and that may use
 * select(2), which takes numbers below 1024 only (FD_SETSIZE). So where RLIMIT_NOFILE is 2048 or
 * more, what is kept open has numbers from 1024 up, and shares of these; where it is less, shares
 * of all numbers. The kernel hands out the lowest free number, so that a high one shows that many
 * are in use, by whatever part of the process: beyond its share nothing is kept, but opened, used
 * and closed each time.
 */
#ifndef HEADROOM_DESCRIPTOR_H
#define HEADROOM_DESCRIPTOR_H

#include <stddef.h>

/** The use of a descriptor, and the eighths of the numbers up to which it may be kept. A file that
 * is read at each interval gains most from being kept, and no longer needs its directory, so
 * directories get two eighths and files six. A trigger only works while its file is open: it gets
 * seven. */
enum hr_keep { HR_KEEP_DIRECTORY = 2, HR_KEEP_FILE = 6, HR_KEEP_TRIGGER = 7 };

/** RLIMIT_NOFILE before and after it was raised; the same if it wasn't. */
struct hr_descriptor_limits {
    size_t before, now;
};

/**
 * Raises the soft RLIMIT_NOFILE of the process to 65,536, or as far as `count` files that are kept
 * need, but not beyond the hard limit. It is never lowered. As much as is ever needed, so that the
 * first plugin raises it for all; and no more, as child processes inherit it, and some close each
 * possible number.
 *
 * @param count  0: 65,536 is enough.
 */
struct hr_descriptor_limits hr_descriptor_raise_limit(size_t count);

/** @return how many descriptors of such a use may be kept, if nothing else is. */
size_t hr_descriptor_share(enum hr_keep what);

#endif
