/* SPDX-License-Identifier: MIT */
#include "top/columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * The limits of pressure: below 10 % users don't notice it; a task that waits 40 % of its time
 * takes nearly twice as long.
 */
#define PRESSURE                                                                                   \
    .plugin = "psi", .type = "percent", .unit = "% of time", .divisor = 1, .decimals = 1,          \
    .warn = 10, .alarm = 40

/* Counters have no limits: how much is too much depends on the load. */
#define COUNTER .plugin = "cgroup_perf", .drawn = COLUMN_NUMBER, .warn = INFINITY, .alarm = INFINITY

#define MEMORY                                                                                     \
    .plugin = "wss", .type = "memory", .unit = "bytes", .divisor = 1, .decimals = 0,               \
    .drawn = COLUMN_NUMBER, .warn = INFINITY, .alarm = INFINITY

const struct column columns[] = {
    {PRESSURE, .title = "cpu", .type_instance = "cpu-some", .key = "cpu_some", .rank = 1,
     .drawn = COLUMN_BAR, .in_pressure = true, .sort_key = "cpu", .sort_letter = 'c'},
    {PRESSURE, .title = "full", .type_instance = "cpu-full", .key = "cpu_full", .rank = 8,
     .drawn = COLUMN_NUMBER},
    {PRESSURE, .title = "mem", .type_instance = "memory-some", .key = "memory_some", .rank = 2,
     .drawn = COLUMN_BAR, .in_pressure = true, .sort_key = "memory", .sort_letter = 'm'},
    {PRESSURE, .title = "full", .type_instance = "memory-full", .key = "memory_full", .rank = 6,
     .drawn = COLUMN_NUMBER},
    {PRESSURE, .title = "io", .type_instance = "io-some", .key = "io_some", .rank = 3,
     .drawn = COLUMN_BAR, .in_pressure = true, .sort_key = "io", .sort_letter = 'i'},
    {PRESSURE, .title = "full", .type_instance = "io-full", .key = "io_full", .rank = 7,
     .drawn = COLUMN_NUMBER},
    {PRESSURE, .title = "irq", .type_instance = "irq-full", .key = "irq_full", .rank = 11,
     .drawn = COLUMN_NUMBER},
    /* The CPU time of tasks, in ns. The machine's also counts idle CPUs. */
    {COUNTER, .title = "cpus", .type_instance = "task-clock", .key = "cpus_used", .rank = 4,
     .type = "perf", .unit = "CPUs", .divisor = 1e9, .decimals = 2, .not_of_system = true,
     .sort_key = "cpus", .sort_letter = 'u'},
    {COUNTER, .title = "ipc", .type_instance = "", .key = "ipc", .rank = 9, .type = "ipc",
     .unit = "instructions/cycle", .divisor = 1, .decimals = 2},
    {COUNTER, .title = "csw/s", .type_instance = "context-switches", .key = "context_switches",
     .rank = 10, .type = "perf", .unit = "per second", .divisor = 1, .decimals = 0,
     .sort_key = "switches", .sort_letter = 's'},
    {COUNTER, .title = "flt/s", .type_instance = "page-faults", .key = "page_faults", .rank = 12,
     .type = "perf", .unit = "per second", .divisor = 1, .decimals = 0, .sort_key = "faults",
     .sort_letter = 'f'},
    {MEMORY, .title = "wss", .type_instance = "referenced", .key = "referenced_bytes", .rank = 5,
     .sort_key = "wss", .sort_letter = 'w'},
    {MEMORY, .title = "rss", .type_instance = "rss", .key = "rss_bytes", .rank = 13},
};

#undef PRESSURE
#undef COUNTER
#undef MEMORY

const size_t column_count = sizeof(columns) / sizeof(columns[0]);

_Static_assert(sizeof(columns) / sizeof(columns[0]) <= COLUMN_MAX, "raise COLUMN_MAX");

enum severity column_severity(const struct column *column, double value)
{
    if (isnan(value) || (isinf(column->warn) && isinf(column->alarm)))
        return SEVERITY_NONE;
    if (value >= column->alarm)
        return SEVERITY_ALARM;
    return value >= column->warn ? SEVERITY_WARN : SEVERITY_CALM;
}

size_t sort_keys(struct sort_key keys[SORT_KEY_MAX])
{
    size_t count = 0;
    keys[count++] = (struct sort_key){"pressure", 'p', SORT_PRESSURE};
    for (size_t i = 0; i < column_count; i++) {
        if (columns[i].sort_key != NULL)
            keys[count++] = (struct sort_key){columns[i].sort_key, columns[i].sort_letter, (int)i};
    }
    keys[count++] = (struct sort_key){"name", 'n', SORT_NAME};
    return count;
}

int sort_key_find(const char *name, int letter, struct sort_key *found)
{
    struct sort_key keys[SORT_KEY_MAX];
    size_t count = sort_keys(keys);
    for (size_t i = 0; i < count; i++) {
        if (name != NULL ? strcmp(keys[i].name, name) == 0 : keys[i].letter == letter) {
            *found = keys[i];
            return 0;
        }
    }
    return -ENOENT;
}

/* Prints as many of the decimals as fit. */
static void format_digits(double value, int decimals, size_t width, char text[16])
{
    do
        snprintf(text, 16, "%.*f", decimals, value);
    while (strlen(text) > width && decimals-- > 0);
}

void format_value(double value, int decimals, char text[16])
{
    static const char suffixes[] = "kMGTPE";
    if (!isfinite(value) || fabs(value) >= 999.5e18) {
        strcpy(text, "-");
        return;
    }
    /* 999.5 and more would round to four digits. */
    if (fabs(value) < 999.5) {
        format_digits(value, decimals, VALUE_WIDTH, text);
        return;
    }
    size_t power = 0;
    for (value /= 1000; fabs(value) >= 999.5; value /= 1000)
        power++;
    format_digits(value, 1, VALUE_WIDTH - 1, text);
    const char suffix[] = {suffixes[power], '\0'};
    strcat(text, suffix);
}
