/* SPDX-License-Identifier: MIT */
#include "top/help.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What needs most to be said is the first. */
static const struct {
    const char *text;
    const char *key; /* said where this column is present */
    bool of_mark;    /* and a row is marked */
} legend[] = {
    {"% of time a task waits (full: all)", "cpu_some", false},
    {"* uses most CPU", "cpus_used", true},
    {"id: CPUs idle", "cpu_idle", false},
    {"cpus: CPUs used", "cpus_used", false},
    {"room: left before trouble", "room_pct", false},
    {"used: memory", "memory_used_bytes", false},
    {"wss: touched of it", "referenced_bytes", false},
};

void legend_fit(int width, const bool present[COLUMN_MAX], bool marked, const char *last,
                char text[HELP_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < COUNT(legend); i++) {
        size_t length = strlen(legend[i].text) + 2;
        if (!present[column_find(legend[i].key)] || (legend[i].of_mark && !marked))
            continue;
        if (used + length + strlen(last) > (size_t)width)
            break;
        memcpy(text + used, legend[i].text, length - 2);
        memcpy(text + used + length - 2, "  ", 2);
        used += length;
    }
    strcpy(text + used, last);
}

/* Behind the columns; with all of them 21 lines, which a terminal of 24 shows. */
static const char *const remarks[] = {
    "*      uses most of the CPUs that another group, with a higher full, waits for",
    "id     % of the machine's CPUs that are idle: while some are, it isn't full",
    "Sorted by pressure: full, then cpu, mem and io some. -: not known",
    "? goes back. More: man headroom",
};

bool help_line(size_t number, const bool present[COLUMN_MAX], char text[HELP_SIZE])
{
    for (size_t i = 0; i < column_count; i++) {
        if (!present[i] || !column_is_own(&columns[i]))
            continue;
        if (number-- == 0) {
            snprintf(text, HELP_SIZE, "%-6s %s", columns[i].title, columns[i].meaning);
            return true;
        }
    }
    if (number >= COUNT(remarks))
        return false;
    snprintf(text, HELP_SIZE, "%s", remarks[number]);
    return true;
}
