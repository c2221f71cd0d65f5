/* SPDX-License-Identifier: MIT */
/*
 * headroom/reason.h - why an operation failed, in words for users.
 */
#ifndef HEADROOM_REASON_H
#define HEADROOM_REASON_H

#include <stddef.h>
#include <string.h>

/** The cause of a failure and its remedy: "cause: remedy", one line without a newline,
 * safe to show. */
struct hr_reason {
    int error;        /**< the negative errno, 0 for none */
    char text[480];   /**< empty for none */
    size_t remedy_at; /**< where the remedy begins, as names in the cause may have colons, too; 0:
                         after the first colon and blank, if there are any */
};

/** @param cause_length  receives the length of the cause, which begins the text. @return the
 * remedy; NULL: there is none. */
static inline const char *hr_reason_remedy(const struct hr_reason *reason, size_t *cause_length)
{
    const char *remedy = reason->remedy_at > 0 ? reason->text + reason->remedy_at - strlen(": ")
                                               : strstr(reason->text, ": ");

    *cause_length = remedy != NULL ? (size_t)(remedy - reason->text) : strlen(reason->text);
    return remedy != NULL ? remedy + strlen(": ") : NULL;
}

#endif
