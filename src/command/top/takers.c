/* SPDX-License-Identifier: MIT */
#include "top/takers.h"

#include <string.h>

/* The columns that it takes. */
struct view {
    const struct table *table;
    size_t waits, uses, idle;
};

static bool waits_for_cpus(const struct view *view, const struct row *row)
{
    return !row_is_system(row) && row->values[view->waits] >= columns[view->waits].warn;
}

/* Whether a host has a group that waits, and whether it is known to have no idle CPU. */
static void find_contention(const struct view *view, const char *host, bool *contended, bool *full)
{
    *contended = *full = false;
    for (size_t i = 0; i < view->table->count; i++) {
        const struct row *row = &view->table->rows[i];
        if (strcmp(row->host, host) != 0)
            continue;
        *contended |= waits_for_cpus(view, row);
        *full |= row_is_system(row) && row->values[view->idle] < IDLE_PCT;
    }
}

static bool may_take(const struct view *view, const struct row *row, bool full)
{
    return !row_is_system(row) && row->values[view->uses] > 0 &&
           (full || waits_for_cpus(view, row));
}

/* Whether a row that may take CPUs lies within this one, and has at least half of its use. Names
 * are paths with underscores for slashes; those that begin alike follow one another. */
static bool has_inner_taker(const struct view *view, size_t outer, bool full)
{
    const struct row *rows = view->table->rows;
    const size_t length = strlen(rows[outer].group);
    for (size_t i = outer + 1; i < view->table->count; i++) {
        if (strcmp(rows[i].host, rows[outer].host) != 0 ||
            strncmp(rows[i].group, rows[outer].group, length) != 0)
            break;
        if (rows[i].group[length] == '_' && may_take(view, &rows[i], full) &&
            rows[i].values[view->uses] >= rows[outer].values[view->uses] / 2)
            return true;
    }
    return false;
}

static void mark_host(const struct view *view, const char *host)
{
    bool contended, full;
    struct row *best = NULL;
    find_contention(view, host, &contended, &full);
    for (size_t i = 0; contended && i < view->table->count; i++) {
        struct row *row = &view->table->rows[i];
        if (strcmp(row->host, host) == 0 && may_take(view, row, full) &&
            !has_inner_taker(view, i, full) &&
            (best == NULL || row->values[view->uses] > best->values[view->uses]))
            best = row;
    }
    if (best != NULL)
        best->takes_most = true;
}

void table_mark_takers(struct table *table)
{
    const struct view view = {
        .table = table,
        .waits = column_find("cpu_some"),
        .uses = column_find("cpus_used"),
        .idle = column_find("cpu_idle"),
    };
    for (size_t i = 0; i < table->count; i++) {
        if (i == 0 || strcmp(table->rows[i - 1].host, table->rows[i].host) != 0)
            mark_host(&view, table->rows[i].host);
    }
}
