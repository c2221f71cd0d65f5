/* SPDX-License-Identifier: MIT */
/*
 * perf/closing.h - closes the counters of targets, in slices as perf/opening.h opens them: as far
 * as the time allows that closing may take between two hr_perf_read(). What is left stays open, and
 * among struct hr_perf_files, until the next.
 *
 * Each event that is closed interrupts its CPU, unless that is offline.
 */
#ifndef HEADROOM_COLLECTORS_PERF_CLOSING_H
#define HEADROOM_COLLECTORS_PERF_CLOSING_H

#include "perf/target.h"

/** Closes a group of events, or lets its descriptors wait. */
void hr_perf_closing_close_group(struct hr_perf *perf, struct hr_perf_open_group *open_group);

/** Closes what waits, as far as the slice allows, which has begun. */
void hr_perf_closing_continue(struct hr_perf *perf);

/** Closes all that waits. */
void hr_perf_closing_end(struct hr_perf *perf);

/** How far closing goes beyond its share of a slice, which opening then has less. */
uint64_t hr_perf_closing_excess_ns(const struct hr_perf_slice *slice);

#endif
