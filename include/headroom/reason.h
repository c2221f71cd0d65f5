/* SPDX-License-Identifier: MIT */
/*
 * headroom/reason.h - why an operation failed, in words for users.
 */
#ifndef HEADROOM_REASON_H
#define HEADROOM_REASON_H

/** The cause of a failure and its remedy: "cause: remedy", one line without a newline,
 * safe to show. */
struct hr_reason {
    int error;      /**< the negative errno, 0 for none */
    char text[480]; /**< empty for none */
};

#endif
