/* SPDX-License-Identifier: MIT */
/*
 * osnoise/timerlat.h - latencies of the timers of the timerlat tracer, by CPU and context.
 *
 * Source: kernel/trace/trace_osnoise.c (timerlat_irq(), timerlat_main()).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_TIMERLAT_H
#define HEADROOM_COLLECTORS_OSNOISE_TIMERLAT_H

#include <stddef.h>

#include "headroom/osnoise.h"
#include "osnoise/records.h"

/** The rank with which the kernel starts the threads, of a struct hr_priority, within braces. */
#define HR_OSNOISE_TIMERLAT_RANK HR_POLICY_FIFO, 95

struct hr_osnoise_timerlat;

/** Makes room for so many CPUs. @return 0 or -ENOMEM. */
int hr_osnoise_timerlat_open(size_t cpu_count, struct hr_osnoise_timerlat **timerlat);

/** NULL is allowed. */
void hr_osnoise_timerlat_close(struct hr_osnoise_timerlat *timerlat);

/** Forgets the latencies of the CPU at a place. */
void hr_osnoise_timerlat_clear(struct hr_osnoise_timerlat *timerlat, size_t place);

/** Counts a record of HR_OSNOISE_RECORD_LATENCY. A thread that was woken before the time of its
 * timer has no latency. */
void hr_osnoise_timerlat_add_record(struct hr_osnoise_timerlat *timerlat, size_t place,
                                    const struct hr_osnoise_record *record);

/** @return how often the thread of a CPU has run. */
uint64_t hr_osnoise_timerlat_period_count(const struct hr_osnoise_timerlat *timerlat, size_t place);

/** Finds the latencies of some CPUs. @param rows  all CPUs, at their places. @param reported  some
 * of them, in the same order. @return an entry for each of the reported; valid until the next call.
 */
const struct hr_osnoise_cpu_latencies *
hr_osnoise_timerlat_take(struct hr_osnoise_timerlat *timerlat, const struct hr_osnoise_cpu *rows,
                         const struct hr_osnoise_cpu *reported, size_t reported_count);

#endif
