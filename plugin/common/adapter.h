/*
 * common/adapter.h - what every plugin has to do towards collectd: identifiers, values, complaints.
 */
#ifndef HEADROOM_PLUGIN_COMMON_ADAPTER_H
#define HEADROOM_PLUGIN_COMMON_ADAPTER_H

#include "collectd.h"

#include "plugin.h"
#include "utils/common/common.h"

/**
 * Makes a plugin instance out of any text: slashes and control characters become "_", as collectd
 * does with slashes in values (but not in notifications, hence here).
 *
 * A text of more than DATA_MAX_NAME_LEN - 1 bytes is shortened to its head, "~", 8 hexadecimal
 * digits of a hash, and "_" with what follows the last slash, of which the end is kept if it is too
 * long itself. UTF-8 characters stay whole.
 *
 * @param text      what to show.
 * @param path      what is shown; the hash is that of the path.
 * @param distinct  append the hash even if the text isn't too long.
 * @param instance  receives DATA_MAX_NAME_LEN bytes at most, terminated.
 */
void adapter_instance(const char *text, const char *path, bool distinct,
                      char instance[DATA_MAX_NAME_LEN]);

/** Nanoseconds of CLOCK_MONOTONIC, as the collectors tell times. */
uint64_t adapter_clock_ns(void);

/** What the values of one snapshot of one instance have in common. */
struct submission {
    const char *plugin;
    const char *instance;
    cdtime_t time;
    cdtime_t interval; /**< until the next such values; 0: the plugin's. Where it is longer,
                          collectd must know, or it takes the series for missing. */
};

/** Hands a gauge to collectd; a value that isn't a number (NaN) is dropped. */
void adapter_submit_gauge(const struct submission *submission, const char *type,
                          const char *type_instance, double value);

/** Hands a cumulative counter to collectd. */
void adapter_submit_derive(const struct submission *submission, const char *type,
                           const char *type_instance, int64_t value);

/** How often something has happened that may come and go with every group; all zeros: never. */
struct tally {
    size_t told;
    cdtime_t last_seen;
};

/**
 * Tells whether a count is worth a line of the log: the first, and then each that is twice what was
 * told last. After an hour of zeros the first is news again.
 */
bool adapter_is_news(struct tally *tally, size_t count);

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
__attribute__((format(printf, 4, 5))) void
adapter_complain(struct complaint *complaint, int severity, int cause, const char *format, ...);

/** Logs, at LOG_INFO, that a trouble is over, if it was there. */
__attribute__((format(printf, 2, 3))) void adapter_relieve(struct complaint *complaint,
                                                           const char *format, ...);

#endif
