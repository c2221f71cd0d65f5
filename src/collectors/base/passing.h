/* SPDX-License-Identifier: MIT */
/*
 * base/passing.h - failures that say nothing about what was to be opened or read.
 */
#ifndef HEADROOM_COLLECTORS_BASE_PASSING_H
#define HEADROOM_COLLECTORS_BASE_PASSING_H

#include <errno.h>
#include <stdbool.h>

/** Whether the same may succeed later: descriptors or memory are short, or it was interrupted. */
static inline bool hr_is_passing(int status)
{
    return status == -EMFILE || status == -ENFILE || status == -ENOMEM || status == -EAGAIN ||
           status == -EINTR;
}

#endif
