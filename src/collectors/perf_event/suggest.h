/* SPDX-License-Identifier: MIT */
/*
 * perf_event/suggest.h - which of the names that a machine knows are nearest to one that it
 * doesn't.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_SUGGEST_H
#define HEADROOM_COLLECTORS_PERF_EVENT_SUGGEST_H

#include <limits.h>

#include "perf_event/parse.h"

/** How far apart two names are if one of them is too long to be compared. */
#define HR_PERF_FAR UINT_MAX

/** The best of what was offered. All zeros is none yet. */
struct hr_perf_suggestions {
    struct hr_text wanted;
    unsigned limit; /* what is farther isn't taken */
    size_t count;
    struct {
        unsigned distance;
        char text[64];
    } best[3];
};

/**
 * How many letters must be put in, taken out, changed, or swapped with their neighbour to make one
 * name of the other, whatever their case (Damerau-Levenshtein, no letter being edited twice).
 */
unsigned hr_perf_distance(struct hr_text a, struct hr_text b);

/** Sets the name that others are compared with from now on. What was found before is kept. */
void hr_perf_suggestions_set_wanted(struct hr_perf_suggestions *suggestions, struct hr_text wanted);

/**
 * Offers a name. It is taken if it is near enough, or has the wanted one in it, and none of those
 * found before need give way in vain; equally near ones go by the alphabet.
 *
 * @param format  how the whole event would be written; if that is too long for an error, it isn't
 *                taken.
 */
__attribute__((format(printf, 3, 4))) void
hr_perf_suggestions_add(struct hr_perf_suggestions *suggestions, struct hr_text name,
                        const char *format, ...);

/** Tells the error what was found. */
void hr_perf_suggestions_copy(const struct hr_perf_suggestions *suggestions,
                              struct hr_perf_event_error *error);

#endif
