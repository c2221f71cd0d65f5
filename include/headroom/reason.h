/*
 * reason.h - why something can't be done, in words for users.
 */
#ifndef HEADROOM_REASON_H
#define HEADROOM_REASON_H

/** Why something can't be done, and what would help: "cause: remedy", one line without an end. */
struct hr_reason {
    int error;      /**< the negative errno, 0 for none */
    char text[480]; /**< empty for none */
};

#endif
