/* SPDX-License-Identifier: MIT */
/*
 * support/loads.h - levels of memory, as services have them that don't leak, in compressed time;
 * the same numbers on every machine. All are about 60 to 100.
 */
#ifndef HEADROOM_TESTS_SUPPORT_LOADS_H
#define HEADROOM_TESTS_SUPPORT_LOADS_H

#include <stddef.h>
#include <stdint.h>

/** How many loads there are. */
#define LOADS_COUNT 8

/** Seconds between two levels. */
#define LOADS_STEP_S 10

const char *loads_name(size_t load);

/**
 * Begins with one of several groups that have a load.
 *
 * @return the time that loads_level() begins with: not all are at the same time of day, or of what
 *         they do, but for those that have just been started.
 */
double loads_begin(size_t load, int group, int groups);

/** @return the level of one time; to be called once a step, as some depend on the one before. */
double loads_level(size_t load, double t);

/** Sets the random numbers back to a beginning. */
void loads_seed(uint64_t number);

/** @return a number in 0..1, each as likely as the others. */
double loads_uniform(void);

/** @return a number that is about normally distributed, with a deviation of 1. */
double loads_normal(void);

#endif
