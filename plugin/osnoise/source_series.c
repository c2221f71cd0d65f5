/* SPDX-License-Identifier: MIT */
#include "osnoise/source_series.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "headroom/hash.h"

/* The length of a thread's name without what is specific to its CPU. */
static size_t length_of_thread(const char *name, unsigned cpu)
{
    static const char kworker[] = "kworker/";
    char end[16];

    if (strncmp(name, kworker, strlen(kworker)) == 0)
        return strlen(kworker) - 1;
    size_t length = strlen(name);
    size_t cut = (size_t)snprintf(end, sizeof(end), "/%u", cpu);
    return length > cut && strcmp(name + length - cut, end) == 0 ? length - cut : length;
}

/* Replaces what isn't safe in names of every receiver. */
static void make_safe(char *text, bool lower)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_safe = c < 0x80 && (isalnum(c) || c == '_');
        *text = (char)(!is_safe ? '_' : lower ? tolower(c) : c);
    }
}

void osnoise_source_series(const struct hr_osnoise_source *source, char series[OSNOISE_SERIES])
{
    const char *kind = hr_osnoise_kind_name(source->kind);
    const char *name = source->kind == HR_OSNOISE_NMI ? "all" : source->name;
    size_t length = strlen(name);
    const size_t room = OSNOISE_SERIES - 1 - strlen(kind) - strlen("__us");
    char mark[10] = "";

    if (source->kind == HR_OSNOISE_THREAD)
        length = length_of_thread(name, source->cpu);
    if (length > room) {
        snprintf(mark, sizeof(mark), "_%08x", hr_hash(name));
        length = room - strlen(mark);
    }
    snprintf(series, OSNOISE_SERIES, "%s_%.*s%s_us", kind, (int)length, name, mark);
    make_safe(series, source->kind == HR_OSNOISE_SOFTIRQ);
}
