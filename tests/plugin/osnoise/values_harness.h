/* SPDX-License-Identifier: MIT */
/*
 * plugin/osnoise/values_harness.h - the values that the plugin osnoise publishes of made-up
 * readings.
 */
#ifndef HEADROOM_TESTS_PLUGIN_OSNOISE_VALUES_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_OSNOISE_VALUES_HARNESS_H

#include "support/fake_collectd.h"

#include <check.h>

#include "osnoise/values.h"

extern struct osnoise_values *values; /**< NULL until begin_values() */

/** Has each test end without a message, or a value that was rejected or cut off. */
void add_values_fixture(TCase *tests);

void begin_values(bool has_samples, size_t top);

/** Publishes what was added, and asserts that no counter goes back. */
void publish(void);

/** The number that was published last; there must be one. */
double number(const char *identifier);

void add_cpus(const struct hr_osnoise_cpu *cpus, size_t count);

/** A second of a CPU, and its sources; with a sample. */
void add_sources(unsigned cpu, const struct hr_osnoise_source *sources, size_t count);

#endif
