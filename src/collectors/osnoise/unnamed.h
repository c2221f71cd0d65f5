/* SPDX-License-Identifier: MIT */
/*
 * osnoise/unnamed.h - what the names in a table lack of its sums by CPU.
 *
 * The sums are read a moment before the names: what came in between is in the names alone, and is
 * missing only if the sums exceed the names by more than ever before.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_UNNAMED_H
#define HEADROOM_COLLECTORS_OSNOISE_UNNAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_osnoise_excess;

/** Of one table; all zeros at first. */
struct hr_osnoise_unnamed {
    struct hr_osnoise_excess *cpus; /**< by CPU */
    unsigned cpu_end;               /**< 1 + the highest CPU with a sum */
    size_t cpu_capacity;
};

/** Makes room for a CPU. @return 0 or -ENOMEM. */
int hr_osnoise_unnamed_reserve(struct hr_osnoise_unnamed *unnamed, unsigned cpu);

/** Frees what it holds. */
void hr_osnoise_unnamed_end(struct hr_osnoise_unnamed *unnamed);

/** Adds what is new in a sum, or under a name. CPUs without room are ignored. @param duration_ns
 * may be negative: the kernel's sums can fall. */
void hr_osnoise_unnamed_add(struct hr_osnoise_unnamed *unnamed, unsigned cpu, bool is_sum,
                            uint64_t count, uint64_t duration_ns);

/** Finds what is missing, and wasn't at an earlier call. @return whether there is anything. */
bool hr_osnoise_unnamed_take(struct hr_osnoise_unnamed *unnamed, unsigned cpu, uint64_t *count,
                             uint64_t *duration_ns);

/** Begins again, as the sums do. */
void hr_osnoise_unnamed_reset(struct hr_osnoise_unnamed *unnamed);

#endif
