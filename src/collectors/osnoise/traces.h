/* SPDX-License-Identifier: MIT */
/*
 * osnoise/traces.h - what the kernel recorded of each CPU around its longest single noise of a
 * reading. A record that was read is gone from the kernel's buffer, so the last ones are kept here.
 *
 * Source: kernel/trace/trace_output.c (trace_print_context(), trace_print_lat_fmt()), the text in
 * which tracefs' `trace` has records.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_TRACES_H
#define HEADROOM_COLLECTORS_OSNOISE_TRACES_H

#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "osnoise/causes.h"
#include "osnoise/records.h"

/** How many records are kept: before a noise, its own included, and behind it. */
#define HR_OSNOISE_TRACE_BEFORE 128
#define HR_OSNOISE_TRACE_AFTER  16

/** @param cpu_count  the number of CPUs, which are identified by `place`, from 0.
 * @return 0 or -ENOMEM. */
int hr_osnoise_traces_open(size_t cpu_count, uint64_t max_single_ns,
                           struct hr_osnoise_traces **traces);

/** NULL is allowed. */
void hr_osnoise_traces_close(struct hr_osnoise_traces *traces);

/** Begins a reading: what was kept is forgotten. */
void hr_osnoise_traces_begin(struct hr_osnoise_traces *traces);

/** Adds a record of a CPU. @param lost_count  how many were lost before it. */
void hr_osnoise_traces_add(struct hr_osnoise_traces *traces, size_t place, unsigned cpu,
                           const struct hr_osnoise_record *record, uint64_t lost_count);

/** Ends a reading: the functions that are kept get their names. */
void hr_osnoise_traces_end(struct hr_osnoise_traces *traces, const struct hr_osnoise_namer *namer);

#endif
