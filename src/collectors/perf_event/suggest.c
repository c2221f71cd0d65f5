/* SPDX-License-Identifier: MIT */
#include "perf_event/suggest.h"

#include <stdarg.h>
#include <stdio.h>

#define LONGEST 63
#define BEST_COUNT                                                                                 \
    (sizeof(((struct hr_perf_suggestions *)NULL)->best) /                                          \
     sizeof(((struct hr_perf_suggestions *)NULL)->best[0]))

static char lowercase(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned minimum(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned hr_perf_distance(struct hr_text a, struct hr_text b)
{
    unsigned rows[3][LONGEST + 1];

    if (a.length > LONGEST || b.length > LONGEST)
        return HR_PERF_FAR;
    for (unsigned j = 0; j <= b.length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a.length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        char c = lowercase(a.start[i - 1]);
        row[0] = i;
        for (unsigned j = 1; j <= b.length; j++) {
            char d = lowercase(b.start[j - 1]);
            row[j] = minimum(above[j - 1] + (c != d), minimum(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && c == lowercase(b.start[j - 2]) && d == lowercase(a.start[i - 2]))
                row[j] = minimum(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a.length % 3][b.length];
}

static bool begins_with(const char *text, struct hr_text word)
{
    for (size_t i = 0; i < word.length; i++)
        if (lowercase(text[i]) != lowercase(word.start[i]))
            return false;
    return true;
}

static bool contains(struct hr_text text, struct hr_text word)
{
    for (size_t i = 0; i + word.length <= text.length; i++)
        if (begins_with(text.start + i, word))
            return true;
    return false;
}

void hr_perf_suggestions_set_wanted(struct hr_perf_suggestions *suggestions, struct hr_text wanted)
{
    suggestions->wanted = wanted;
    suggestions->limit =
        wanted.length > 1 ? 1 + (unsigned)minimum(LONGEST, (unsigned)wanted.length) / 4 : 0;
}

/* The index at which a name belongs; BEST_COUNT: none, or it is there already. */
static size_t find_rank(const struct hr_perf_suggestions *suggestions, unsigned distance,
                        const char *text)
{
    size_t rank = suggestions->count;

    for (size_t i = suggestions->count; i-- > 0;) {
        int order = strcmp(text, suggestions->best[i].text);
        if (order == 0)
            return BEST_COUNT;
        if (distance < suggestions->best[i].distance ||
            (distance == suggestions->best[i].distance && order < 0))
            rank = i;
    }
    return rank;
}

void hr_perf_suggestions_add(struct hr_perf_suggestions *suggestions, struct hr_text name,
                             const char *format, ...)
{
    unsigned distance = hr_perf_distance(suggestions->wanted, name);
    char text[sizeof(suggestions->best[0].text)];
    va_list arguments;

    /* A name that contains the wanted one ranks behind typing errors, but before other names. */
    if (distance > suggestions->limit && suggestions->wanted.length >= 3 &&
        contains(name, suggestions->wanted))
        distance = suggestions->limit;
    if (distance > suggestions->limit)
        return;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    size_t rank = find_rank(suggestions, distance, text);
    if (length < 0 || (size_t)length >= sizeof(text) || rank >= BEST_COUNT)
        return;
    if (suggestions->count < BEST_COUNT)
        suggestions->count++;
    memmove(&suggestions->best[rank + 1], &suggestions->best[rank],
            (suggestions->count - 1 - rank) * sizeof(suggestions->best[0]));
    suggestions->best[rank].distance = distance;
    memcpy(suggestions->best[rank].text, text, sizeof(text));
}

void hr_perf_suggestions_copy(const struct hr_perf_suggestions *suggestions,
                              struct hr_perf_event_error *error)
{
    error->nearest_count = suggestions->count;
    for (size_t i = 0; i < suggestions->count; i++)
        memcpy(error->nearest[i], suggestions->best[i].text, sizeof(error->nearest[i]));
}
