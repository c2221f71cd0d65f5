/* SPDX-License-Identifier: MIT */
/*
 * perf_event/label.h - what the series of an event are named by.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_LABEL_H
#define HEADROOM_COLLECTORS_PERF_EVENT_LABEL_H

#include "perf_event/parse.h"

/** No longer than this is a label, without its terminating NUL. */
#define HR_PERF_LABEL_LENGTH 63

/** Where the event is counted; neither is the same as both. */
struct hr_perf_modifier {
    bool user, kernel;
};

/**
 * Makes a label: the name with "/", "," and what is no printable ASCII as "_", none at its end, and
 * the modifier. One that is too long is cut, and gets "~" and a hash of the text.
 *
 * @param text  as it was asked for, with the modifier.
 * @param name  what of it names the event.
 * @return to be freed by the caller; NULL if there is no memory.
 */
char *hr_perf_label(const char *text, struct hr_text name, const struct hr_perf_modifier *modifier);

#endif
