/* SPDX-License-Identifier: MIT */
#include "command/table_rows.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "top/columns.h"

int column_of_key(const char *key)
{
    for (size_t i = 0; i < column_count; i++) {
        if (strcmp(columns[i].key, key) == 0)
            return (int)i;
    }
    ck_abort_msg("no column %s", key);
    return -1;
}

/* cpu, memory, io some, CPUs used; cpu full, which must not count as pressure, is 99 everywhere. */
static const struct {
    const char *host, *group;
    double cpu, memory, io, cpus;
} groups[FILLED_ROWS] = {
    {"h", "b", 1, 20, 3, 0.5},         {"h", "a", 1, NAN, NAN, 99}, {"h", "system", 0, 0, 0, NAN},
    {"h", "void", NAN, NAN, NAN, NAN}, {"h", "c", 30, 2, NAN, 0},   {"g", "b", 1, 20, 3, 1.5},
};

void fill_table(struct table *table)
{
    table->rows = calloc(FILLED_ROWS, sizeof(*table->rows));
    table->count = FILLED_ROWS;
    for (int i = 0; i < FILLED_ROWS; i++) {
        struct row *row = &table->rows[i];
        row->host = strdup(groups[i].host);
        row->group = strdup(groups[i].group);
        for (int column = 0; column < COLUMN_MAX; column++)
            row->values[column] = NAN;
        row->cpu_count = NAN;
        row->values[column_of_key("cpu_some")] = groups[i].cpu;
        row->values[column_of_key("memory_some")] = groups[i].memory;
        row->values[column_of_key("io_some")] = groups[i].io;
        row->values[column_of_key("cpus_used")] = groups[i].cpus;
        row->values[column_of_key("cpu_full")] = 99;
    }
}
