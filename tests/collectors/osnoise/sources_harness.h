/* SPDX-License-Identifier: MIT */
/*
 * collectors/osnoise/sources_harness.h - an instance named "ours" whose tables are written by the
 * test, and what is read of them. To be linked with hr_osnoise_instance_clear_table() and
 * reallocarray() wrapped.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_OSNOISE_SOURCES_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_OSNOISE_SOURCES_HARNESS_H

#include <check.h>
#include <stdint.h>

#include "osnoise/instance.h"
#include "osnoise/sources.h"

extern struct hr_tracefs tracefs;
extern struct hr_osnoise_sources *sources; /**< of all tables */
extern struct hr_osnoise_counts counts;    /**< of the last reading */
extern struct hr_cpu_set all_cpus;

/** How often each table was cleared, what that returns, and what comes meanwhile; NULL: nothing. */
extern unsigned cleared[HR_OSNOISE_TABLE_COUNT];
extern int clear_status;
extern void (*on_clear)(void);

/** How many allocations there were, and how many succeed from now on; -1: all. */
extern int allocations, allocations_left;

/** A test case, each test of which has all this, and tables that are empty. */
TCase *new_sources_tests(const char *name);

/* --- A table's text ------------------------------------------------------- */

extern unsigned entry_count; /**< that its end will print */

/** Begins a histogram; after others, behind them. */
void add_header(const char *keys, unsigned size);

/** Begins the text of a table with one histogram, of up to 4096 entries. */
void begin_table(void);

/** Begins one with a histogram of the sums by CPU; and ends that, so that one by name follows. */
void begin_sums(void);
void end_sums(void);

void add_irq(unsigned cpu, const char *name, unsigned long count, unsigned long duration);
void add_thread(unsigned cpu, const char *name, unsigned long count, unsigned long duration);
void add_softirq(unsigned cpu, unsigned vector, unsigned long count, unsigned long duration);
void add_nmi(unsigned cpu, unsigned long count, unsigned long duration);
void add_power(unsigned cpu, unsigned log2, unsigned long count);

/** Ends a histogram. */
void add_totals(unsigned long dropped);

/** Ends the last one, and writes the text. */
void end_table(enum hr_osnoise_table table, unsigned long dropped);

void remove_table(enum hr_osnoise_table table);

/** Writes a table of one entry, "local_timer" on CPU 1. */
void write_irq(unsigned long count, unsigned long duration);

/* --- Reading -------------------------------------------------------------- */

void read_counts(void);

/** Asserts that reading fails, and leaves `counts` alone. */
void read_fails(int status);

/** Asserts what `counts` has of a source. */
void assert_source(unsigned cpu, enum hr_osnoise_kind kind, const char *name, uint64_t count,
                   uint64_t duration_ns);

/** Appends two empty lines, as between histograms. */
void add_gap(void);

#endif
