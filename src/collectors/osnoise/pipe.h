/* SPDX-License-Identifier: MIT */
/*
 * osnoise/pipe.h - reading the trace buffers of an instance, one for each CPU, without blocking.
 *
 * Source: per_cpu/cpuN/trace_pipe_raw. An open file keeps the instance from being removed.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_PIPE_H
#define HEADROOM_COLLECTORS_OSNOISE_PIPE_H

#include <stddef.h>
#include <stdint.h>

#include "headroom/cpu_set.h"
#include "osnoise/records.h"

struct hr_osnoise_pipe;

/**
 * Opens the buffers of CPUs, as far as possible: one that can't be opened is retried at each
 * reading.
 *
 * @param cpus      all that may be read; of those that are in `now`, too, the buffers are opened at
 *                  once, of others when they are read.
 * @param instance  its name.
 * @param decoder   must outlive the pipe.
 * @return 0 or -ENOMEM.
 */
int hr_osnoise_pipe_open(const struct hr_tracefs *tracefs, const char *instance,
                         const struct hr_cpu_set *cpus, const struct hr_cpu_set *now,
                         struct hr_osnoise_decoder *decoder, struct hr_osnoise_pipe **pipe);

/** NULL is allowed. */
void hr_osnoise_pipe_close(struct hr_osnoise_pipe *pipe);

/**
 * Reads all records in a CPU's buffer. Allocates nothing.
 *
 * @param cpu   one of the CPUs.
 * @param lost  receives the number of records lost since the last reading, also on failure. It
 * grows before the first record after a loss is handled.
 * @return 0; a negative errno: the buffer can't be opened or read now, or -EBADMSG: a page wasn't
 *         understood; it was skipped, and counts as one lost record.
 */
int hr_osnoise_pipe_read(struct hr_osnoise_pipe *pipe, const struct hr_tracefs *tracefs,
                         unsigned cpu,
                         void (*handle)(const struct hr_osnoise_record *record, void *context),
                         void *context, uint64_t *lost);

#endif
