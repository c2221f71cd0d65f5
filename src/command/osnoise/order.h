/* SPDX-License-Identifier: MIT */
/*
 * osnoise/order.h - the rows of tables of CPUs: in which order, and sums of several.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_ORDER_H
#define HEADROOM_COMMAND_OSNOISE_ORDER_H

#include "headroom/numa.h"
#include "osnoise/totals.h"

/** In which order CPUs are printed. */
enum osnoise_order {
    OSNOISE_BY_NUMBER,
    /** By the longest latency of timers, of threads and then of interrupts; the longest single
     * noise; the noise of periods; or the time of sources: whichever was measured. */
    OSNOISE_WORST_FIRST
};

/** One CPU, or several as one. */
struct osnoise_row {
    char label[24];                      /**< "3", "node 0", "others" or "all" */
    const struct osnoise_cpu_total *cpu; /**< of several owned by struct osnoise_rows */
    struct osnoise_sum sources;          /**< all of them */
    bool is_sum;
};

/** All zeros is none. */
struct osnoise_rows {
    struct osnoise_row *rows; /**< sums first; owned */
    size_t count;
    struct osnoise_cpu_total *sums; /**< owned */
};

/**
 * Lists the CPUs, the worst first with a sum of each NUMA node, or where it isn't known which there
 * are, or there is one, of all.
 *
 * @param totals  with its sources sorted; outlives the rows.
 * @param numa    NULL: not known.
 * @param rows    empty; the caller frees it with osnoise_rows_free().
 * @return 0 or -ENOMEM; then there are none.
 */
int osnoise_rows_make(const struct osnoise_totals *totals, enum osnoise_order order,
                      const struct hr_numa *numa, struct osnoise_rows *rows);

/** Frees what it holds, and empties it. */
void osnoise_rows_free(struct osnoise_rows *rows);

#endif
