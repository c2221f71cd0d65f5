/* SPDX-License-Identifier: MIT */
#include "top/takers.h"

#include <math.h>
#include <string.h>

/* A taker uses at least this many times the CPUs of its victim, and, in CPUs, this share of the
 * time in which the victim had none. */
#define TAKEN_FACTOR 1.5
#define TAKEN_PART   0.5

/* The table, and the indexes of the columns that it takes. */
struct view {
    const struct table *table;
    size_t waits, suffers, uses, idle;
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

/* Whether a row that may take CPUs lies within this one, and has at least half of its use. */
static bool has_inner_taker(const struct view *view, const struct row *outer, bool full)
{
    for (size_t i = 0; i < view->table->count; i++) {
        const struct row *row = &view->table->rows[i];
        if (row_lies_within(row, outer) && may_take(view, row, full) &&
            row->values[view->uses] >= outer->values[view->uses] / 2)
            return true;
    }
    return false;
}

/* While some of its tasks wait and others run, a group uses a CPU. If it has used far less, as
 * after its end, its pressure is that of an older interval. */
static bool is_of_one_interval(const struct view *view, const struct row *row)
{
    const double ran_pct = row->values[view->waits] - row->values[view->suffers];

    return !(100 * row->values[view->uses] < ran_pct / 2);
}

/* Of the groups but `taker` and those above and below it, the one that suffers most; NULL: none is
 * known. */
static const struct row *find_worst_victim(const struct view *view, const struct row *taker)
{
    const struct row *worst = NULL;
    for (size_t i = 0; i < view->table->count; i++) {
        const struct row *row = &view->table->rows[i];
        if (row != taker && strcmp(row->host, taker->host) == 0 && !row_is_system(row) &&
            !isnan(row->values[view->suffers]) && is_of_one_interval(view, row) &&
            !row_lies_within(row, taker) && !row_lies_within(taker, row) &&
            (worst == NULL || row->values[view->suffers] > worst->values[view->suffers]))
            worst = row;
    }
    return worst;
}

/* The part of the CPU time it wanted, at least, that a group had to do without. */
static double missed_part(const struct view *view, const struct row *row)
{
    const double missed = row->values[view->suffers] / 100;

    return missed / (missed + row->values[view->uses]);
}

/* Where a group that wants more than its share competes with one that wants less, both are without
 * a CPU for about as long; but of what it wants that is little for the first. */
static bool suffers_less(const struct view *view, const struct row *taker, const struct row *victim)
{
    const double its_full = taker->values[view->suffers], full = victim->values[view->suffers];

    return its_full < full || (its_full <= TAKER_FULL_FACTOR * full &&
                               missed_part(view, taker) < missed_part(view, victim));
}

/* Victims among themselves take as much from each other, and wait as much; one that suffers most
 * is none to blame, whoever has the CPUs. */
static bool has_victim(const struct view *view, const struct row *taker)
{
    const struct row *victim = find_worst_victim(view, taker);
    return victim != NULL && suffers_less(view, taker, victim) &&
           taker->values[view->uses] >= TAKEN_FACTOR * victim->values[view->uses] &&
           taker->values[view->uses] >= TAKEN_PART * victim->values[view->suffers] / 100;
}

static void mark_host(const struct view *view, const char *host)
{
    bool contended, full;
    struct row *best = NULL;
    find_contention(view, host, &contended, &full);
    for (size_t i = 0; contended && i < view->table->count; i++) {
        struct row *row = &view->table->rows[i];
        if (strcmp(row->host, host) == 0 && may_take(view, row, full) &&
            (best == NULL || row->values[view->uses] > best->values[view->uses]) &&
            !has_inner_taker(view, row, full))
            best = row;
    }
    if (best != NULL && has_victim(view, best))
        best->takes_most = true;
}

void table_mark_takers(struct table *table)
{
    const struct view view = {
        .table = table,
        .waits = column_find("cpu_some"),
        .suffers = column_find("cpu_full"),
        .uses = column_find("cpus_used"),
        .idle = column_find("cpu_idle"),
    };
    for (size_t i = 0; i < table->count; i++) {
        if (i == 0 || strcmp(table->rows[i - 1].host, table->rows[i].host) != 0)
            mark_host(&view, table->rows[i].host);
    }
}
