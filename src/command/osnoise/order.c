/* SPDX-License-Identifier: MIT */
#include "osnoise/order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* --- CPUs ----------------------------------------------------------------- */

static void make_row(const struct osnoise_totals *totals, const struct osnoise_cpu_total *cpu,
                     struct osnoise_row *row)
{
    const struct hr_osnoise_source *first;

    *row = (struct osnoise_row){.cpu = cpu};
    snprintf(row->label, sizeof(row->label), "%u", cpu->sums.cpu);
    osnoise_totals_top(totals, cpu, 0, &first, &row->sources);
}

/* What CPUs are compared by, the most important first. */
enum { CRITERIA = 5 };

static void list_criteria(const struct osnoise_row *row, uint64_t criteria[CRITERIA])
{
    criteria[0] = row->cpu->latencies[HR_OSNOISE_TIMER_THREAD].max_ns;
    criteria[1] = row->cpu->latencies[HR_OSNOISE_TIMER_IRQ].max_ns;
    criteria[2] = row->cpu->sums.max_single_us;
    criteria[3] = row->cpu->sums.noise_us;
    criteria[4] = row->sources.duration_ns;
}

static int compare_rows(const void *a, const void *b)
{
    const struct osnoise_row *first = a, *second = b;
    uint64_t of_first[CRITERIA], of_second[CRITERIA];

    list_criteria(first, of_first);
    list_criteria(second, of_second);
    for (int i = 0; i < CRITERIA; i++)
        if (of_first[i] != of_second[i])
            return of_first[i] > of_second[i] ? -1 : 1;
    return first->cpu->sums.cpu < second->cpu->sums.cpu ? -1 : 1;
}

/* --- Sums ----------------------------------------------------------------- */

/* How many nodes have a sum of their own: one alone would have all CPUs. */
static size_t count_nodes(const struct hr_numa *numa)
{
    return numa != NULL && numa->count > 1 ? numa->count : 0;
}

/* The index of a CPU's node; if it has none, how many there are. */
static size_t find_node(const struct hr_numa *numa, unsigned cpu)
{
    const size_t count = count_nodes(numa);
    size_t node = 0;

    while (node < count && !hr_cpu_set_has(&numa->nodes[node].cpus, cpu))
        node++;
    return node;
}

static void add_to_row(struct osnoise_row *row, struct osnoise_cpu_total *sum,
                       const struct osnoise_row *added)
{
    osnoise_cpu_total_add(sum, added->cpu);
    row->cpu = sum;
    row->is_sum = true;
    row->sources.source_count += added->sources.source_count;
    row->sources.count += added->sources.count;
    row->sources.duration_ns += added->sources.duration_ns;
}

/* Makes a row of the CPUs of a node, by its index; of those of none, such as have come online since
 * the nodes were read, where there are no more. Returns how many rows that are: none without a CPU.
 */
static size_t make_sum(const struct osnoise_row *cpus, size_t count, const struct hr_numa *numa,
                       size_t node, struct osnoise_row *row, struct osnoise_cpu_total *sum)
{
    bool is_any = false;

    for (size_t i = 0; i < count; i++)
        if (find_node(numa, cpus[i].cpu->sums.cpu) == node) {
            add_to_row(row, sum, &cpus[i]);
            is_any = true;
        }
    return is_any;
}

static size_t make_sums(const struct osnoise_row *cpus, size_t cpu_count,
                        const struct hr_numa *numa, struct osnoise_rows *rows)
{
    const size_t node_count = count_nodes(numa);
    size_t count = 0;

    for (size_t i = 0; i <= node_count; i++) {
        struct osnoise_row *row = &rows->rows[count];
        if (i < node_count)
            snprintf(row->label, sizeof(row->label), "node %u", numa->nodes[i].number);
        else
            snprintf(row->label, sizeof(row->label), "%s", node_count > 0 ? "others" : "all");
        count += make_sum(cpus, cpu_count, numa, i, row, &rows->sums[count]);
    }
    return count;
}

/* --- All ------------------------------------------------------------------ */

int osnoise_rows_make(const struct osnoise_totals *totals, enum osnoise_order order,
                      const struct hr_numa *numa, struct osnoise_rows *rows)
{
    const size_t sums = order == OSNOISE_WORST_FIRST ? count_nodes(numa) + 1 : 0;
    const size_t all = sums + totals->cpu_count;
    struct osnoise_row *cpus;

    rows->rows = calloc(all + 1, sizeof(*rows->rows));
    rows->sums = calloc(sums + 1, sizeof(*rows->sums));
    if (rows->rows == NULL || rows->sums == NULL) {
        osnoise_rows_free(rows);
        return -ENOMEM;
    }
    /* A node may have none of the CPUs, so that the rows of CPUs begin earlier. */
    cpus = rows->rows + sums;
    for (size_t i = 0; i < totals->cpu_count; i++)
        make_row(totals, &totals->cpus[i], &cpus[i]);
    if (order == OSNOISE_WORST_FIRST) {
        qsort(cpus, totals->cpu_count, sizeof(*cpus), compare_rows);
        rows->count = make_sums(cpus, totals->cpu_count, numa, rows);
    }
    for (size_t i = 0; i < totals->cpu_count; i++)
        rows->rows[rows->count++] = cpus[i];
    return 0;
}

void osnoise_rows_free(struct osnoise_rows *rows)
{
    free(rows->rows);
    free(rows->sums);
    *rows = (struct osnoise_rows){0};
}
