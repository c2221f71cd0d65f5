/* SPDX-License-Identifier: MIT */
#include "top/others.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top/memory.h"

/* The groups of a machine; there may be a thousand. */
struct groups {
    const struct row **rows;
    size_t count;
};

static void find_groups(const struct table *table, const char *host, struct groups *groups)
{
    groups->count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (strcmp(row->host, host) == 0 && row_is_of_group(row))
            groups->rows[groups->count++] = row;
    }
}

/* Whether a group that is counted has its use, too. */
static bool is_counted_above(const struct groups *groups, const struct row *inner, size_t uses)
{
    for (size_t i = 0; i < groups->count; i++) {
        const struct row *row = groups->rows[i];
        if (row != inner && !isnan(row->values[uses]) && row_lies_within(inner, row))
            return true;
    }
    return false;
}

/* What they use; NaN: not known of each. @param any  receives whether it is of any. */
static double sum_uses(const struct groups *groups, bool *any)
{
    const size_t uses = column_find("cpus_used");
    double sum = 0;

    *any = false;
    for (size_t i = 0; i < groups->count; i++) {
        const struct row *row = groups->rows[i];
        *any |= !isnan(row->values[uses]);
        if (!is_counted_above(groups, row, uses))
            sum += row->values[uses];
    }
    return sum;
}

/* Those that are counted on; the idle share is of all, so that both must be the same, which is
 * known of this machine. */
static double count_cpus(const struct row *machine, const struct memory_reader *memory)
{
    if (memory == NULL || !memory_is_of(memory, machine->host))
        return machine->cpu_count;
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count <= 0 || fabs(machine->cpu_count - (double)count) > 0.5 /* false of NaN */)
        return NAN;
    return (double)count;
}

/* Plugins read at different moments; what is far too little shows that groups within others were
 * counted twice, as their names don't show it. */
static double rest_of(double cpus, double busy, double used)
{
    const double rest = busy - used;

    if (isnan(rest) || rest < -0.1 * cpus)
        return NAN;
    return rest > 0 ? rest : 0;
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

static int add_others_of(struct table *table, const struct row *machine,
                         const struct memory_reader *memory, struct groups *groups)
{
    bool any;

    find_groups(table, machine->host, groups);
    const double used = sum_uses(groups, &any), cpus = count_cpus(machine, memory);
    const double busy = cpus * (1 - machine->values[column_find("cpu_idle")] / 100);

    if (!any)
        return 0;
    return add_row(table, machine->host, rest_of(cpus, busy, used));
}

int table_add_others(struct table *table, const struct memory_reader *memory)
{
    const size_t count = table->count;
    struct row *rows = reallocarray(table->rows, 2 * count + 1, sizeof(*rows));
    struct groups groups = {.count = 0};
    int status = 0;

    if (rows == NULL)
        return -ENOMEM;
    table->rows = rows;
    groups.rows = calloc(count + 1, sizeof(*groups.rows));
    if (groups.rows == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count && status == 0; i++)
        if (row_is_system(&rows[i]))
            status = add_others_of(table, &rows[i], memory, &groups);
    free(groups.rows);
    return status;
}
