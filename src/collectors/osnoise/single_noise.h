/*
 * osnoise/single_noise.h - single noises above a limit, each with what interfered in it.
 *
 * The kernel records an interference when it ends, and the noise after it: so the parts of a noise
 * are those records before it, of the same CPU, that began within it.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_SINGLE_NOISE_H
#define HEADROOM_COLLECTORS_OSNOISE_SINGLE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "osnoise/records.h"

/** How many interferences of a CPU are remembered, and how many noises between two takings. */
#define HR_OSNOISE_RECENT_PARTS  64
#define HR_OSNOISE_SINGLE_NOISES 32

struct hr_osnoise_single_noises;

/** @param cpu_count  how many CPUs there are; they are meant by their place among them. */
int hr_osnoise_single_noises_open(size_t cpu_count, uint64_t max_single_ns,
                                  struct hr_osnoise_single_noises **single_noises);

/** NULL is allowed. */
void hr_osnoise_single_noises_close(struct hr_osnoise_single_noises *single_noises);

/** Takes a record of a CPU; samples are passed over. @param cpu  its number, for the result. */
void hr_osnoise_single_noises_add_record(struct hr_osnoise_single_noises *single_noises,
                                         size_t place, unsigned cpu,
                                         const struct hr_osnoise_record *record);

/** Notes that records of a CPU were lost before those that come now. */
void hr_osnoise_single_noises_mark_lost(struct hr_osnoise_single_noises *single_noises,
                                        size_t place);

/** Gives the noises found since the last time, and forgets them; valid until the next add. Where
 * there were more than there is room for, they are the longest, and of each CPU some.
 * @param more_count  receives how many more there were. */
const struct hr_osnoise_single_noise *
hr_osnoise_single_noises_take(struct hr_osnoise_single_noises *single_noises, size_t *count,
                              uint64_t *more_count);

#endif
