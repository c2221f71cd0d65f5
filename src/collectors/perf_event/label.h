/* SPDX-License-Identifier: MIT */
/*
 * perf_event/label.h - the label of an event, which names its series.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_LABEL_H
#define HEADROOM_COLLECTORS_PERF_EVENT_LABEL_H

#include "perf_event/parse.h"

/** Maximum length of a label, without its terminating NUL. */
#define HR_PERF_LABEL_LENGTH 63

/** The CPU modes in which an event is counted; neither means both. */
struct hr_perf_modifier {
    bool user, kernel;
    bool guest, host; /* of a hypervisor */
};

/**
 * Creates a label: the name with "/", "," and unprintable characters replaced by "_", none at the
 * end, and the modifier. A label that is too long is cut and ends in "~" and a hash of the text.
 *
 * @param text  as requested, with the modifier.
 * @param name  the part of it that names the event.
 * @return the label, freed by the caller; NULL if out of memory.
 */
char *hr_perf_label(const char *text, struct hr_text name, const struct hr_perf_modifier *modifier);

#endif
