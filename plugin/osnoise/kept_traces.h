/* SPDX-License-Identifier: MIT */
/*
 * osnoise/kept_traces.h - keeps what the kernel recorded around noises that are notified, each in a
 * file; the oldest files are removed.
 *
 * They are in a folder of their own beside the state file, and only collectd's user may read them.
 * A thread writes them, as disks may be what is stalled. put() is called by the thread that reads.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_KEPT_TRACES_H
#define HEADROOM_PLUGIN_OSNOISE_KEPT_TRACES_H

#include "collectd.h"

#include "headroom/osnoise.h"

struct kept_traces;

/**
 * Starts the thread; no folder is made yet.
 *
 * @param state_path  the folder is called that, with ".traces" appended.
 * @param most        how many files there may be at most; not 0.
 * @param traces      receives it; untouched on failure.
 * @return 0 or a negative errno.
 */
int kept_traces_open(const char *state_path, size_t most, struct kept_traces **traces);

/** Writes what waits, ends the thread, and frees. The files stay. NULL is allowed. */
void kept_traces_close(struct kept_traces *traces);

/** Begins a reading: noises on many CPUs at once don't have all older files removed. NULL is
 * allowed. */
void kept_traces_begin_reading(struct kept_traces *traces);

/**
 * Has a file written with what was recorded around the longest noise of a CPU.
 *
 * @param traces   NULL: none are kept.
 * @param reading  the last one.
 * @param title    what the file is about, its first line.
 * @return its path, valid until the next call; NULL: there is none, many wait for the disk, or half
 *         of as many as are kept are of this reading.
 */
const char *kept_traces_put(struct kept_traces *traces, const struct hr_osnoise_reading *reading,
                            unsigned cpu, const char *title);

#endif
