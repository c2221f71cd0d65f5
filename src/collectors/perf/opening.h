/* SPDX-License-Identifier: MIT */
/*
 * perf/opening.h - opens the counters of targets by descriptors, in slices: as far as the time
 * allows that opening may take between two hr_perf_read(). What is left waits for the next, the
 * machine first, then in the order of coming; so none waits for ever.
 *
 * Each event that is opened interrupts its CPU: some 30 us each, so a cgroup with five on 256 CPUs
 * takes 45 ms.
 */
#ifndef HEADROOM_COLLECTORS_PERF_OPENING_H
#define HEADROOM_COLLECTORS_PERF_OPENING_H

#include "perf/target.h"

/** Opens what waits, as far as the slice allows, which has begun. */
void hr_perf_opening_continue(struct hr_perf *perf);

/**
 * Opens the counters of a target that are missing, or lets it wait for the next slice; tries again
 * what failed, when that is due.
 *
 * @return as hr_perf_target_read(); -EINPROGRESS as long as the target isn't whole.
 */
int hr_perf_opening_update(struct hr_perf_target *target);

/** By BPF: whether nothing of a target is to be opened or closed by hr_perf_opening_update(). */
bool hr_perf_opening_is_needless(const struct hr_perf_target *target);

/** Removes a target from those that wait. */
void hr_perf_opening_cancel(struct hr_perf_target *target);

#endif
