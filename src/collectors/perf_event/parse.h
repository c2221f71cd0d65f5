/* SPDX-License-Identifier: MIT */
/*
 * perf_event/parse.h - helpers of the parsers of event names: pieces of a text, and error messages.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_PARSE_H
#define HEADROOM_COLLECTORS_PERF_EVENT_PARSE_H

#include <stdbool.h>

#include "base/text.h"
#include "headroom/perf_event.h"

static inline struct hr_text hr_text_of(const char *string)
{
    return (struct hr_text){string, strlen(string)};
}

static inline bool hr_text_is(struct hr_text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.start, word, text.length) == 0;
}

static inline bool hr_text_equal(struct hr_text a, struct hr_text b)
{
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

/** @return the index of a character; the text's length if it isn't there. */
static inline size_t hr_text_find(struct hr_text text, char c)
{
    const char *at = text.length > 0 ? memchr(text.start, c, text.length) : NULL;

    return at != NULL ? (size_t)(at - text.start) : text.length;
}

static inline struct hr_text hr_text_head(struct hr_text text, size_t length)
{
    return (struct hr_text){text.start, length};
}

static inline struct hr_text hr_text_tail(struct hr_text text, size_t from)
{
    return (struct hr_text){text.start + from, text.length - from};
}

/** Two arguments for "%.*s": as much of a text as an error message shows. */
#define HR_PERF_EXCERPT(text) (int)((text).length < 48 ? (text).length : 48), (text).start

/**
 * Sets the reason why a text is not an event; unprintable characters become "?".
 *
 * @return the status, unchanged.
 */
__attribute__((format(printf, 3, 4))) int hr_perf_set_error(struct hr_perf_event_error *error,
                                                            int status, const char *format, ...);

/** Whether a text is a valid name of a term, a PMU's event or a tracepoint, and so of a file:
 * letters, digits and "_-.:", not starting with a dot. */
bool hr_perf_is_name(struct hr_text text);

#endif
