#include "columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * The limits of pressure: below 10 % nobody notices; a task that waits 40 % of its time takes
 * nearly twice as long.
 */
const struct column columns[] = {
    {"cpu", "psi", "percent", "cpu-some", "cpu_some", "% of time", 1, COLUMN_BAR, true, 10, 40,
     "cpu", 'c'},
    {"full", "psi", "percent", "cpu-full", "cpu_full", "% of time", 1, COLUMN_NUMBER, false, 10, 40,
     NULL, '\0'},
    {"mem", "psi", "percent", "memory-some", "memory_some", "% of time", 1, COLUMN_BAR, true, 10,
     40, "memory", 'm'},
    {"full", "psi", "percent", "memory-full", "memory_full", "% of time", 1, COLUMN_NUMBER, false,
     10, 40, NULL, '\0'},
    {"io", "psi", "percent", "io-some", "io_some", "% of time", 1, COLUMN_BAR, true, 10, 40, "io",
     'i'},
    {"full", "psi", "percent", "io-full", "io_full", "% of time", 1, COLUMN_NUMBER, false, 10, 40,
     NULL, '\0'},
    {"irq", "psi", "percent", "irq-full", "irq_full", "% of time", 1, COLUMN_NUMBER, false, 10, 40,
     NULL, '\0'},
};

const size_t column_count = sizeof(columns) / sizeof(columns[0]);

_Static_assert(sizeof(columns) / sizeof(columns[0]) <= COLUMN_MAX, "raise COLUMN_MAX");

enum severity column_severity(const struct column *column, double value)
{
    if (isnan(value))
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

void format_value(double value, int decimals, char text[16])
{
    static const char suffixes[] = "kMGTPE";
    if (!isfinite(value) || fabs(value) >= 999.5e18) {
        strcpy(text, "-");
        return;
    }
    /* 999.5 and more would round to four digits. */
    if (fabs(value) < 999.5) {
        snprintf(text, 16, "%.*f", decimals, value);
        return;
    }
    size_t power = 0;
    for (value /= 1000; fabs(value) >= 999.5; value /= 1000)
        power++;
    snprintf(text, 16, "%.1f%c", value, suffixes[power]);
}
