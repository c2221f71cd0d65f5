/* SPDX-License-Identifier: MIT */
/*
 * base/transient.h - failures that say nothing about what was to be opened or read.
 */
#ifndef HEADROOM_COLLECTORS_BASE_TRANSIENT_H
#define HEADROOM_COLLECTORS_BASE_TRANSIENT_H

#include <errno.h>
#include <stdbool.h>

/** Whether the same may succeed later: descriptors or memory are short, or it was interrupted. */
static inline bool hr_is_transient(int status)
{
    return status == -EMFILE || status == -ENFILE || status == -ENOMEM || status == -EAGAIN ||
           status == -EINTR;
}

#endif
