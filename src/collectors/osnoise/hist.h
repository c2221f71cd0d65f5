/*
 * osnoise/hist.h - the tables that hist triggers fill, as the kernel prints them.
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
    struct hr_text name; /**< IRQ, THREAD: without the blanks behind it; any bytes but NUL */
    int64_t vector;      /**< SOFTIRQ */
    unsigned log2;       /**< DURATION: up to 2^log2 ns, and above half of that */
    uint64_t count;
    uint64_t duration_ns; /**< their sum; not of DURATION */
};

struct hr_osnoise_hist_totals {
    uint64_t hit_count, entry_count, dropped_count;
};

/** Walks a text. A name may have any bytes in it, even a newline or what looks like an entry. */
struct hr_osnoise_hist_reader {
    struct hr_text rest;
    enum hr_osnoise_table table;
    struct hr_osnoise_hist_totals totals; /**< known once next() has returned 0 */
    bool is_inside;                       /**< the rest are ours */
    uint64_t entry_count;
};

/**
 * Takes the next entry. That the kernel has printed just as many as it says itself is checked at
 * the end: so what was taken before is to be used only after that.
 *
 * @param reader  at first only with the text and the table.
 * @return 1: an entry; 0: there is none any more; -EBADMSG.
 */
int hr_osnoise_hist_next(struct hr_osnoise_hist_reader *reader,
                         struct hr_osnoise_hist_entry *entry);

#endif
