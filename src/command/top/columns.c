/* SPDX-License-Identifier: MIT */
#include "top/columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "headroom/quantity.h"

/*
 * The limits of pressure: below 10 % users don't notice it; a task that waits 40 % of its time
 * takes nearly twice as long.
 */
#define PRESSURE                                                                                   \
    .plugin = "psi", .type = "percent", .unit = "% of time", .head_unit = "%", .divisor = 1,       \
    .decimals = 1, .warn = 10, .alarm = 40

#define UNCOLOURED .warn = INFINITY, .alarm = INFINITY

/* Counters have no limits: how much is too much depends on the load. */
#define COUNTER .plugin = "cgroup_perf", .drawn = COLUMN_NUMBER, UNCOLOURED

/* The less, the worse. */
#define CONCLUSION                                                                                 \
    .plugin = "headroom", .divisor = 1, .decimals = 0, .drawn = COLUMN_NUMBER, .low_is_bad = true

#define PER_SECOND .unit = "per second", .head_unit = "/s", .divisor = 1, .decimals = 0

/* Read from the cgroups of this machine, see top/memory.h. */
#define LOCAL .plugin = "", .type = "", .type_instance = ""

#define BYTES .unit = "bytes", .divisor = 1, .decimals = 0, .drawn = COLUMN_NUMBER, UNCOLOURED

const struct column columns[] = {
    {PRESSURE, .title = "cpu", .type_instance = "cpu-some", .key = "cpu_some", .rank = 1,
     .meaning = "% of the time in which a task of the group waits for a CPU", .drawn = COLUMN_BAR,
     .in_pressure = true, .sort_key = "cpu", .sort_letter = 'c'},
    {PRESSURE, .title = "full", .type_instance = "cpu-full", .key = "cpu_full", .rank = 4,
     .meaning = "all of its tasks wait, none runs: others have the CPUs", .drawn = COLUMN_NUMBER,
     .in_full = true},
    {.title = "id",
     .plugin = "psi",
     .type = "percent",
     .type_instance = "cpu-idle",
     .key = "cpu_idle",
     .rank = 16,
     .unit = "% of the CPUs",
     .head_unit = "%",
     .divisor = 1,
     .decimals = 0,
     .meaning = "% of the machine's CPUs that are idle, in the row of the system",
     .drawn = COLUMN_BESIDE,
     UNCOLOURED},
    {PRESSURE, .title = "mem", .type_instance = "memory-some", .key = "memory_some", .rank = 2,
     .meaning = "the same for memory: it is reclaimed, or read again", .drawn = COLUMN_BAR,
     .in_pressure = true, .sort_key = "memory", .sort_letter = 'm'},
    {PRESSURE, .title = "full", .type_instance = "memory-full", .key = "memory_full", .rank = 8,
     .meaning = "all of them wait for memory", .drawn = COLUMN_NUMBER, .in_full = true},
    {PRESSURE, .title = "io", .type_instance = "io-some", .key = "io_some", .rank = 3,
     .meaning = "the same for disks", .drawn = COLUMN_BAR, .in_pressure = true, .sort_key = "io",
     .sort_letter = 'i'},
    {PRESSURE, .title = "full", .type_instance = "io-full", .key = "io_full", .rank = 9,
     .meaning = "all of them wait for disks", .drawn = COLUMN_NUMBER, .in_full = true},
    {PRESSURE, .title = "irq", .type_instance = "irq-full", .key = "irq_full", .rank = 15,
     .meaning = "% of the time that interrupts take from it", .drawn = COLUMN_NUMBER},
    /* Less than a tenth is what <Alert> warns of by default. */
    {CONCLUSION, .title = "room", .type = "percent", .type_instance = "room", .key = "room_pct",
     .rank = 5, .unit = "% of what it can have", .head_unit = "%", .warn = 10, .alarm = 0,
     .meaning = "% left before trouble, the least of memory, I/O, CPU (over minutes)",
     .sort_key = "room", .sort_letter = 'r'},
    {CONCLUSION, .title = "left", .type = "duration", .type_instance = "to_trouble",
     .key = "trouble_s", .rank = 7, .unit = "s", .warn = 3600, .alarm = 0,
     .meaning = "time to trouble, by the trend of its memory; now: in any; >1d: no trend",
     .sort_key = "trouble", .sort_letter = 't'},
    /* The CPU time of tasks, in ns. The machine's also counts idle CPUs. */
    {COUNTER, .title = "cpus", .type_instance = "task-clock", .key = "cpus_used", .rank = 6,
     .type = "perf", .unit = "CPUs", .divisor = 1e9, .decimals = 2, .not_of_system = true,
     .meaning = "CPUs used: 0.50 is half of one", .sort_key = "cpus", .sort_letter = 'u'},
    {COUNTER, .title = "ipc", .type_instance = "", .key = "ipc", .rank = 13, .type = "ipc",
     .unit = "instructions/cycle", .divisor = 1, .decimals = 2,
     .meaning = "instructions per cycle: below 0.5 it waits for memory chips"},
    {COUNTER, PER_SECOND, .title = "csw/s", .type_instance = "context-switches",
     .key = "context_switches", .rank = 14, .type = "perf",
     .meaning = "context switches per second", .sort_key = "switches", .sort_letter = 's'},
    {COUNTER, PER_SECOND, .title = "flt/s", .type_instance = "page-faults", .key = "page_faults",
     .rank = 17, .type = "perf", .meaning = "page faults per second", .sort_key = "faults",
     .sort_letter = 'f'},
    {BYTES, .title = "wss", .plugin = "wss", .type = "memory", .type_instance = "referenced",
     .key = "referenced_bytes", .rank = 12, .meaning = "working set: memory touched in the window",
     .sort_key = "wss", .sort_letter = 'w'},
    {BYTES, LOCAL, .title = "used", .key = "memory_used_bytes", .rank = 10,
     .meaning = "memory of the group with its page cache: memory.current"},
    {BYTES, LOCAL, .title = "limit", .key = "memory_limit_bytes", .rank = 11,
     .meaning = "the tightest memory.high or memory.max, its own or above it"},
    {BYTES, .title = "rss", .plugin = "wss", .type = "memory", .type_instance = "rss",
     .key = "rss_bytes", .rank = 18, .meaning = "memory resident, touched or not"},
    {.title = "proc",
     .plugin = "wss",
     .type = "count",
     .type_instance = "processes",
     .key = "processes",
     .rank = 19,
     .unit = "processes",
     .divisor = 1,
     .decimals = 0,
     .meaning = "",
     .drawn = COLUMN_LABEL,
     UNCOLOURED},
};

#undef PRESSURE
#undef UNCOLOURED
#undef COUNTER
#undef CONCLUSION
#undef PER_SECOND
#undef LOCAL
#undef BYTES

const size_t column_count = sizeof(columns) / sizeof(columns[0]);

_Static_assert(sizeof(columns) / sizeof(columns[0]) <= COLUMN_MAX, "raise COLUMN_MAX");

size_t column_find(const char *key)
{
    size_t i = 0;
    while (strcmp(columns[i].key, key) != 0)
        i++;
    return i;
}

bool column_is_own(const struct column *column)
{
    return column->drawn == COLUMN_BAR || column->drawn == COLUMN_NUMBER;
}

enum severity column_severity(const struct column *column, double value)
{
    if (isnan(value) || (isinf(column->warn) && isinf(column->alarm)))
        return SEVERITY_NONE;
    if (column->low_is_bad ? value <= column->alarm : value >= column->alarm)
        return SEVERITY_ALARM;
    return (column->low_is_bad ? value <= column->warn : value >= column->warn) ? SEVERITY_WARN
                                                                                : SEVERITY_CALM;
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

/* In so few characters that a column holds it. */
static void format_time(double seconds, char text[16])
{
    if (isnan(seconds))
        strcpy(text, "-");
    else if (seconds <= 0)
        strcpy(text, "now");
    else if (seconds < 120)
        snprintf(text, 16, "%.0fs", seconds);
    else if (seconds < 99.5 * 60)
        snprintf(text, 16, "%.0fmin", seconds / 60);
    else if (seconds < 86400)
        snprintf(text, 16, "%.1fh", seconds / 3600);
    else
        strcpy(text, ">1d");
}

void column_format(const struct column *column, double value, int decimals, char text[16])
{
    /* None is left where it isn't a whole one, as in headroom report. */
    if (column->low_is_bad)
        value = floor(value);
    if (strcmp(column->unit, "bytes") == 0 && value >= 0 && value < 999.5e18)
        snprintf(text, 16, "%.15s", hr_quantity_short_bytes(value).text);
    else if (strcmp(column->unit, "s") == 0)
        format_time(value, text);
    else
        format_value(value, decimals, text);
}
