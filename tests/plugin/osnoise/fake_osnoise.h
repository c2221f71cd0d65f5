/* SPDX-License-Identifier: MIT */
/*
 * osnoise/fake_osnoise.h - a stand-in for the collector of noise: its functions return what a test
 * has prepared, in that order, so that parts of the plugin can be tested without a kernel that has
 * the tracer.
 *
 * The functions may be called by several threads at once.
 */
#ifndef HEADROOM_TESTS_PLUGIN_OSNOISE_FAKE_OSNOISE_H
#define HEADROOM_TESTS_PLUGIN_OSNOISE_FAKE_OSNOISE_H

#include "headroom/osnoise.h"

/** The functions that can return different results. */
enum fake_osnoise_call {
    FAKE_OSNOISE_OPEN,
    FAKE_OSNOISE_BEGIN,
    FAKE_OSNOISE_READ,
    FAKE_OSNOISE_END,
    FAKE_OSNOISE_CLOSE,
    FAKE_OSNOISE_CALLS
};

/** Forgets all that was written down, and counted. */
void fake_osnoise_reset(void);

/**
 * Writes down what a call returns next, after what was written down before. Without any it returns
 * 0, of a reading an empty one.
 *
 * @param reason  its text; NULL: none.
 */
void fake_osnoise_return(enum fake_osnoise_call call, int status, const char *reason);

/** Writes down a reading; what it points to must stay. */
void fake_osnoise_read(const struct hr_osnoise_reading *reading);

/** The same of a run that ended: the call returns an error, and what was measured until then. */
void fake_osnoise_read_last(const struct hr_osnoise_reading *reading, int status);

/** Has each call of a function call one of the test first. */
void fake_osnoise_on(enum fake_osnoise_call call, void (*function)(void *context), void *context);

/** How often a function was called. */
size_t fake_osnoise_count(enum fake_osnoise_call call);

/** When a function was called for the nth time, from 0, in milliseconds of CLOCK_MONOTONIC. */
uint64_t fake_osnoise_time_ms(enum fake_osnoise_call call, size_t n);

/** Whether a run has begun, and not ended. */
bool fake_osnoise_runs(void);

#endif
