/* SPDX-License-Identifier: MIT */
/*
 * osnoise/single_noise.h - single noises above a limit, each with its interferences.
 *
 * The kernel records an interference when it ends, and the noise after it: so the parts of a noise
 * are the preceding records of the same CPU that began within it.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_SINGLE_NOISE_H
#define HEADROOM_COLLECTORS_OSNOISE_SINGLE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "osnoise/causes.h"
#include "osnoise/records.h"

/** The number of interferences of a CPU that are kept, and of its noises between two calls of
 * hr_osnoise_single_noises_take(). */
#define HR_OSNOISE_RECENT_PARTS  64
#define HR_OSNOISE_SINGLE_NOISES 4

struct hr_osnoise_single_noises;

/** @param cpu_count  the number of CPUs, which the other functions identify by `place`, from 0. */
int hr_osnoise_single_noises_open(size_t cpu_count, uint64_t max_single_ns,
                                  struct hr_osnoise_single_noises **single_noises);

/** NULL is allowed. */
void hr_osnoise_single_noises_close(struct hr_osnoise_single_noises *single_noises);

/** Adds a record of a CPU; samples are ignored. @param cpu  its number, for the result. */
void hr_osnoise_single_noises_add_record(struct hr_osnoise_single_noises *single_noises,
                                         size_t place, unsigned cpu,
                                         const struct hr_osnoise_record *record);

/** Marks that records of a CPU were lost before the next ones. */
void hr_osnoise_single_noises_mark_lost(struct hr_osnoise_single_noises *single_noises,
                                        size_t place);

/** How many noises above the limit a CPU had since the last hr_osnoise_single_noises_take(). */
uint64_t hr_osnoise_single_noises_count(const struct hr_osnoise_single_noises *single_noises,
                                        size_t place);

/** Gives the noises found since the last call, and forgets them; valid until the next record is
 * added. They are in the order of places, and of each in order of time: of a CPU with more than
 * HR_OSNOISE_SINGLE_NOISES the longest, and the last ones besides. */
const struct hr_osnoise_single_noise *
hr_osnoise_single_noises_take(struct hr_osnoise_single_noises *single_noises,
                              const struct hr_osnoise_namer *namer, size_t *count);

#endif
