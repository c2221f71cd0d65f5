#include "perf_event/suggest.h"

#include <stdarg.h>
#include <stdio.h>

#define LONGEST 63
#define BEST_COUNT                                                                                 \
    (sizeof(((struct hr_perf_nearest *)NULL)->best) /                                              \
     sizeof(((struct hr_perf_nearest *)NULL)->best[0]))

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least(unsigned a, unsigned b)
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
        char c = lower(a.start[i - 1]);
        row[0] = i;
        for (unsigned j = 1; j <= b.length; j++) {
            char d = lower(b.start[j - 1]);
            row[j] = least(above[j - 1] + (c != d), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && c == lower(b.start[j - 2]) && d == lower(a.start[i - 2]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a.length % 3][b.length];
}

static bool begins_with(const char *text, struct hr_text word)
{
    for (size_t i = 0; i < word.length; i++)
        if (lower(text[i]) != lower(word.start[i]))
            return false;
    return true;
}

static bool has_within(struct hr_text text, struct hr_text word)
{
    for (size_t i = 0; i + word.length <= text.length; i++)
        if (begins_with(text.start + i, word))
            return true;
    return false;
}

void hr_perf_nearest_want(struct hr_perf_nearest *nearest, struct hr_text wanted)
{
    nearest->wanted = wanted;
    nearest->limit =
        wanted.length > 1 ? 1 + (unsigned)least(LONGEST, (unsigned)wanted.length) / 4 : 0;
}

/* Where it belongs among those found, or BEST_COUNT if nowhere. */
static size_t find_place(const struct hr_perf_nearest *nearest, unsigned distance, const char *text)
{
    size_t place = nearest->count;

    for (size_t i = nearest->count; i-- > 0;) {
        int order = strcmp(text, nearest->best[i].text);
        if (order == 0)
            return BEST_COUNT;
        if (distance < nearest->best[i].distance ||
            (distance == nearest->best[i].distance && order < 0))
            place = i;
    }
    return place;
}

void hr_perf_nearest_offer(struct hr_perf_nearest *nearest, struct hr_text name, const char *format,
                           ...)
{
    unsigned distance = hr_perf_distance(nearest->wanted, name);
    char text[sizeof(nearest->best[0].text)];
    va_list arguments;

    /* A part of a name says more than some letters in common, but less than a slip of the hand. */
    if (distance > nearest->limit && nearest->wanted.length >= 3 &&
        has_within(name, nearest->wanted))
        distance = nearest->limit;
    if (distance > nearest->limit)
        return;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    size_t place = find_place(nearest, distance, text);
    if (length < 0 || (size_t)length >= sizeof(text) || place >= BEST_COUNT)
        return;
    if (nearest->count < BEST_COUNT)
        nearest->count++;
    memmove(&nearest->best[place + 1], &nearest->best[place],
            (nearest->count - 1 - place) * sizeof(nearest->best[0]));
    nearest->best[place].distance = distance;
    memcpy(nearest->best[place].text, text, sizeof(text));
}

void hr_perf_nearest_tell(const struct hr_perf_nearest *nearest, struct hr_perf_fault *fault)
{
    fault->nearest_count = nearest->count;
    for (size_t i = 0; i < nearest->count; i++)
        memcpy(fault->nearest[i], nearest->best[i].text, sizeof(fault->nearest[i]));
}
