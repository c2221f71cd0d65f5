/* SPDX-License-Identifier: MIT */
/*
 * configured/backlog.h - whether collectd is behind: what its plugins read waits in a queue for its
 * write threads, which update its values and call its writers. Where these are slow or hang, its
 * values are late, and what isn't updated for two intervals it has no more. Seen from outside it is
 * the same where its threads get no CPU, or its plugins read nothing any more.
 *
 * Source: collectd's daemon/plugin.c (plugin_write_enqueue, plugin_dispatch_values_internal),
 * daemon/utils_cache.c (uc_update, uc_check_timeout), src/rrdtool.c.
 */
#ifndef HEADROOM_COMMAND_CONFIGURED_BACKLOG_H
#define HEADROOM_COMMAND_CONFIGURED_BACKLOG_H

#include <stdbool.h>

#include "configured/used_features.h"
#include "headroom/reason.h"

/** What is seen of a running collectd; times in seconds since 1970. */
struct backlog_seen {
    double now_s;
    double newest_s;    /**< when the newest of its values was read; NaN: it has none */
    double started_s;   /**< NaN: not known */
    double cpu_wait;    /**< the share of the last minute, in percent, in which tasks of the machine
                           waited for a CPU; NaN: not known, or CPUs idle */
    const char *takers; /**< what shows who takes the CPUs; NULL: "headroom top" */
};

/** Why values are late or missing. */
enum backlog_state {
    BACKLOG_NONE,        /**< they aren't, as far as is known */
    BACKLOG_BEHIND,      /**< collectd is behind */
    BACKLOG_OUTDATED,    /**< it was started before its configuration was changed */
    BACKLOG_STARTED,     /**< a moment ago */
    BACKLOG_UNEXPLAINED, /**< for another reason */
};

/** Looks at it now. @param socket  where it listens. @param newest_s  as above. */
struct backlog_seen backlog_look(const char *socket, double newest_s);

/**
 * Finds out whether collectd is behind.
 *
 * @param usage   its configuration; NULL: not known, as if it loads none of our plugins. The
 *                shortest interval of those that measure the system, or groups that are there,
 *                decides what is late.
 * @param reason  receives that it is, and what helps; empty if it isn't.
 * @return BACKLOG_NONE or BACKLOG_BEHIND.
 */
enum backlog_state backlog_find(const struct usage *usage, const struct backlog_seen *seen,
                                struct hr_reason *reason);

/**
 * Whether what is configured can be compared with the values that collectd has: it runs for so long
 * that its plugins have read everything, and was started after the configuration was changed.
 */
bool backlog_can_compare(const struct usage *usage, const struct backlog_seen *seen);

/**
 * Explains why collectd has no values of plugins that its configuration loads: it is behind, was
 * started a moment ago, or before its configuration was changed; or they have none.
 *
 * @param usage  its configuration.
 * @param of     "headroom's plugins".
 * @return any but BACKLOG_NONE.
 */
enum backlog_state backlog_explain_absence(const struct usage *usage,
                                           const struct backlog_seen *seen, const char *of,
                                           struct hr_reason *reason);

#endif
