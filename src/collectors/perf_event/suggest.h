/* SPDX-License-Identifier: MIT */
/*
 * perf_event/suggest.h - similar names for one that the machine doesn't know.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_SUGGEST_H
#define HEADROOM_COLLECTORS_PERF_EVENT_SUGGEST_H

#include <limits.h>

#include "perf_event/parse.h"

/** The distance of two names if one is too long to be compared. */
#define HR_PERF_FAR UINT_MAX

/** The names that are most similar to a wanted one. All zeros: empty. */
struct hr_perf_suggestions {
    struct hr_text wanted;
    unsigned limit; /* maximum distance */
    size_t count;
    struct {
        unsigned distance;
        char text[64];
    } best[3];
};

/**
 * The number of letters that must be inserted, deleted, replaced, or swapped with their neighbour
 * to turn one name into the other, ignoring case (restricted Damerau-Levenshtein distance).
 */
unsigned hr_perf_distance(struct hr_text a, struct hr_text b);

/** Sets the name that later ones are compared with. Names found before are kept. */
void hr_perf_suggestions_set_wanted(struct hr_perf_suggestions *suggestions, struct hr_text wanted);

/**
 * Adds a name if it is near enough or contains the wanted one, and is among the nearest. Names of
 * equal distance are sorted alphabetically.
 *
 * @param format  the whole event as it would be written; one that is too long for an error is not
 *                added.
 */
__attribute__((format(printf, 3, 4))) void
hr_perf_suggestions_add(struct hr_perf_suggestions *suggestions, struct hr_text name,
                        const char *format, ...);

/** Copies the names found into the error. */
void hr_perf_suggestions_copy(const struct hr_perf_suggestions *suggestions,
                              struct hr_perf_event_error *error);

#endif
