/*
 * common/complaint.h - logs a trouble once per change of state, not at each interval.
 */
#ifndef HEADROOM_PLUGIN_COMMON_COMPLAINT_H
#define HEADROOM_PLUGIN_COMMON_COMPLAINT_H

#include "collectd.h"

#include "plugin.h"

#include <stdbool.h>
#include <stddef.h>

/** How often something has happened that may come and go with every group; all zeros: never. */
struct tally {
    size_t told;
    cdtime_t last_seen;
};

/**
 * Tells whether a count is worth a line of the log: the first, and then each that is twice what was
 * told last. After an hour of zeros the first is news again.
 */
bool tally_should_log(struct tally *tally, size_t count);

/** A trouble that may be there or not; all zeros: it isn't. */
struct complaint {
    int cause;
};

/**
 * Logs a trouble when it begins and when its cause changes, but not while it lasts.
 *
 * @param severity  LOG_ERR, LOG_WARNING, LOG_NOTICE or LOG_INFO.
 * @param cause     any number but 0.
 */
__attribute__((format(printf, 4, 5))) void complaint_log(struct complaint *complaint, int severity,
                                                         int cause, const char *format, ...);

/** Logs, at LOG_INFO, that a trouble is over, if it was there. */
__attribute__((format(printf, 2, 3))) void complaint_resolve(struct complaint *complaint,
                                                             const char *format, ...);

#endif
