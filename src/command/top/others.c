/* SPDX-License-Identifier: MIT */
#include "top/others.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top/memory.h"

static bool is_group_of(const struct row *row, const char *host)
{
    return strcmp(row->host, host) == 0 && row_is_of_group(row);
}

/* Whether a group that is counted has its use, too. */
static bool is_counted_above(const struct table *table, const struct row *inner, size_t uses)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (row != inner && is_group_of(row, inner->host) && !isnan(row->values[uses]) &&
            row_lies_within(inner, row))
            return true;
    }
    return false;
}

/* What the groups of a host use; NaN: not known of each. @param any  receives whether it is of any.
 */
static double sum_groups(const struct table *table, const char *host, bool *any)
{
    const size_t uses = column_find("cpus_used");
    double sum = 0;

    *any = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (!is_group_of(row, host))
            continue;
        *any |= !isnan(row->values[uses]);
        if (!is_counted_above(table, row, uses))
            sum += row->values[uses];
    }
    return sum;
}

static double count_cpus(const struct row *machine, const struct memory_reader *memory)
{
    if (!isnan(machine->cpu_count) || memory == NULL || !memory_is_of(memory, machine->host))
        return machine->cpu_count;
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (double)count : NAN;
}

static int add_row(struct table *table, const char *host, double cpus)
{
    struct row *row = &table->rows[table->count];

    *row = (struct row){
        .host = strdup(host), .group = strdup(OTHERS_NAME), .cpu_count = NAN, .is_others = true};
    table->count++;
    for (size_t i = 0; i < COLUMN_MAX; i++)
        row->values[i] = NAN;
    row->values[column_find("cpus_used")] = cpus;
    return row->host != NULL && row->group != NULL ? 0 : -ENOMEM;
}

int table_add_others(struct table *table, const struct memory_reader *memory)
{
    const size_t count = table->count, idle = column_find("cpu_idle");
    struct row *rows = reallocarray(table->rows, 2 * count + 1, sizeof(*rows));
    int status = 0;

    if (rows == NULL)
        return -ENOMEM;
    table->rows = rows;
    for (size_t i = 0; i < count && status == 0; i++) {
        const struct row *machine = &rows[i];
        bool any;
        if (!row_is_system(machine))
            continue;
        const double used = sum_groups(table, machine->host, &any);
        const double busy = count_cpus(machine, memory) * (1 - machine->values[idle] / 100);
        /* Plugins read at different moments. */
        if (any)
            status = add_row(table, machine->host, busy - used < 0 ? 0 : busy - used);
    }
    return status;
}
