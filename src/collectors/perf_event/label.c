/* SPDX-License-Identifier: MIT */
#include "perf_event/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "headroom/hash.h"

static char label_character(char c)
{
    return c < ' ' || c > '~' || c == '/' || c == ',' ? '_' : c;
}

/* ":uk", ":u", ":H" … */
static void print_modifier(const struct hr_perf_modifier *modifier, char text[8])
{
    const bool any = modifier->user || modifier->kernel || modifier->guest || modifier->host;

    snprintf(text, 8, "%s%s%s%s%s", any ? ":" : "", modifier->user ? "u" : "",
             modifier->kernel ? "k" : "", modifier->guest ? "G" : "", modifier->host ? "H" : "");
}

/* Strips characters from the end that would become "_". */
static struct hr_text trim_name(struct hr_text name)
{
    while (name.length > 0 && label_character(name.start[name.length - 1]) == '_')
        name.length--;
    return name;
}

char *hr_perf_label(const char *text, struct hr_text name, const struct hr_perf_modifier *modifier)
{
    char *label = NULL, cut[16] = "", end[8];

    print_modifier(modifier, end);
    size_t room = HR_PERF_LABEL_LENGTH - strlen(end);

    name = trim_name(name);
    if (name.length == 0) /* a name= that consists of such characters only */
        name = trim_name(hr_text_of(text));
    if (name.length == 0)
        name = hr_text_of("event");
    if (name.length > room) {
        snprintf(cut, sizeof(cut), "~%08" PRIx32, hr_hash(text));
        name.length = room - strlen(cut);
    }
    if (asprintf(&label, "%.*s%s%s", (int)name.length, name.start, cut, end) < 0)
        return NULL;
    for (char *c = label; *c != '\0'; c++)
        *c = label_character(*c);
    return label;
}
