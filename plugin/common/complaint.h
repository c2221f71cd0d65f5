/* SPDX-License-Identifier: MIT */
/*
 * common/complaint.h - logs a problem once per change of state, not at each interval.
 */
#ifndef HEADROOM_PLUGIN_COMMON_COMPLAINT_H
#define HEADROOM_PLUGIN_COMMON_COMPLAINT_H

#include "collectd.h"

#include "plugin.h"

#include <stdbool.h>
#include <stddef.h>

/** A count that is logged now and then, such as of groups with an error; all zeros: none yet. */
struct tally {
    size_t logged;
    uint64_t last_seen_ns; /**< hr_clock_ns() */
};

/**
 * Whether to log a count: the first, and then each that is at least twice what was logged last.
 * After an hour of zeros the next counts as the first.
 */
bool tally_should_log(struct tally *tally, size_t count);

/** A problem that lasts or not; all zeros: it doesn't. */
struct complaint {
    int cause;
};

/**
 * Logs a problem when it begins and when its cause changes, but not while it lasts.
 *
 * @param severity  LOG_ERR, LOG_WARNING, LOG_NOTICE or LOG_INFO.
 * @param cause     any number but 0.
 */
__attribute__((format(printf, 4, 5))) void complaint_log(struct complaint *complaint, int severity,
                                                         int cause, const char *format, ...);

/** @return what helps where a file or directory can't be read; else the error's text, in the
 * buffer.
 * @param error  a negative errno. */
const char *complaint_read_remedy(int error, char *buffer, size_t size);

/** Logs, at LOG_INFO, that a problem is over, if it was logged. */
__attribute__((format(printf, 2, 3))) void complaint_resolve(struct complaint *complaint,
                                                             const char *format, ...);

#endif
