/* SPDX-License-Identifier: MIT */
/*
 * osnoise/hist.h - parsing the tables that hist triggers fill, as the kernel prints them.
 *
 * Source: Documentation/trace/histogram.rst; kernel/trace/trace_events_hist.c (hist_trigger_show).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_HIST_H
#define HEADROOM_COLLECTORS_OSNOISE_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "osnoise/instance.h"

struct hr_osnoise_hist_entry {
    unsigned cpu;
    struct hr_text name; /**< IRQ, THREAD: without trailing blanks; any bytes but NUL */
    int64_t vector;      /**< SOFTIRQ */
    unsigned log2;       /**< DURATION: up to 2^log2 ns, and above half of that */
    uint64_t count;
    uint64_t duration_ns; /**< their sum; not of DURATION */
};

struct hr_osnoise_hist_totals {
    uint64_t hit_count, entry_count, dropped_count;
};

/** Walks a text, which has a histogram for each trigger. A name may contain any bytes, even a
 * newline or what looks like an entry. */
struct hr_osnoise_hist_reader {
    struct hr_text rest;
    enum hr_osnoise_table table;
    /** Valid once hr_osnoise_hist_next() has returned 1 or 0: this histogram is by CPU alone, of a
     * table that has names. */
    bool is_sum;
    uint64_t size;                        /**< likewise: how many entries fit; 0: unknown */
    struct hr_osnoise_hist_totals totals; /**< valid once hr_osnoise_hist_next() has returned 0 */
    bool is_inside;                       /**< the members from here on are the parser's */
    uint64_t entry_count;
};

/**
 * Parses the next entry. Only at the end is the number of entries compared with the one that the
 * kernel prints: use the entries only after that.
 *
 * @param reader  at first only with the text and the table.
 * @return 1: an entry; 0: there are no more in this histogram, and if `rest` isn't empty, the next
 * call begins another; -EBADMSG.
 */
int hr_osnoise_hist_next(struct hr_osnoise_hist_reader *reader,
                         struct hr_osnoise_hist_entry *entry);

#endif
