/* SPDX-License-Identifier: MIT */
/*
 * top/alerts.h - the notifications of headroom's plugins, read from a log file of collectd as it
 * grows.
 *
 * collectd's logfile plugin writes each notification as one line:
 *
 *     [2026-11-21 02:31:12] [info] Notification: severity = WARNING, host = h, plugin = psi,
 *     plugin_instance = system, type = derive, type_instance = trigger_x, message = memory some
 *
 * The options Timestamp and PrintSeverity add the two brackets. The fields come in this order;
 * empty ones are left out. Nothing is quoted: texts are any bytes but NUL.
 */
#ifndef HEADROOM_COMMAND_TOP_ALERTS_H
#define HEADROOM_COMMAND_TOP_ALERTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/short_name.h"
#include "top/known_series.h"
#include "top/memory.h"

enum alert_severity { ALERT_FAILURE, ALERT_WARNING, ALERT_OKAY };

/** One notification. Texts are as in the file, "" where it has none; longer ones are cut. */
struct alert {
    char time[20]; /**< "2026-11-21 02:31:12", local time */
    enum alert_severity severity;
    char host[128];
    char plugin[32];
    char type[64];
    char instance[128];          /**< the plugin instance: the group */
    char place[SHORT_NAME_SIZE]; /**< of the group, by its path, see alerts_read(); "": not known */
    char path[512];              /**< of the group, by which it has that; "": not known */
    enum group_state group;      /**< of an end by alert_lacks_group(), when it was first known */
    char type_instance[128];
    char message[512]; /**< collectd's have up to 255 bytes */
    bool lasts;        /**< it has begun an alarm that hasn't ended, see alerts_found() */
    bool is_over;      /**< it has begun an alarm whose end is known */
    bool is_replaced;  /**< a later one says how that goes on */
    bool lacks_values; /**< it lasts, but collectd has no value of its series, by which the plugin
                            threshold would end it, see known_series_miss_one_of_kind() */
    bool is_unwatched; /**< so it was at the previous reading, too, or there was none */
    bool is_old;       /**< it has begun an alarm a day ago, whose end may have passed unnoticed */
    bool takes;        /**< it lasts, and its group takes the CPU for which others wait, ... */
    bool is_wider;     /**< or it is the machine's, and a group's says more, see alert_order.h */
};

/** Alerts, the oldest first. */
struct alert_list {
    struct alert *entries;
    size_t count;
    size_t fresh; /**< how many of the last are new since the previous reading */
};

/** How many alerts are kept, however old, and shown on the screen. */
#define ALERTS_SHOWN 5

/** How many are kept of alarms that last; others go before them. */
#define ALERTS_LASTING 100

/**
 * Parses a line of a log file.
 *
 * @param line    without its line feed; need not be terminated.
 * @param alert   receives the notification; untouched on failure.
 * @return 0, -ENOENT for a notification of a plugin that is not headroom's, or -EBADMSG for any
 *         other line.
 */
int alert_parse(const char *line, size_t length, struct alert *alert);

/** @return whether an alert has begun an alarm that lasts, as far as that is known. */
bool alert_lasts(const struct alert *alert);

/** @return how many alarms last: a trigger's and a threshold's of one wait are one, and those of
 * who takes the CPU, or of a machine whose group is named, count as little as they are mailed. */
size_t alerts_count_lasting(const struct alert_list *list);

/** @return the word in the file: "FAILURE", "WARNING" or "OKAY". */
const char *alert_word(enum alert_severity severity);

/** @return the time of day, "02:31:12", or "-" where there is none. */
const char *alert_clock(const struct alert *alert);

struct table;

/** A log file that is read as it grows. Used by one thread at a time. */
struct alerts;

/**
 * Prepares to read a file. It is not opened yet, and need not exist.
 *
 * @param result  the caller ends it with alerts_close(); untouched on failure.
 * @return 0 or -ENOMEM.
 */
int alerts_open(const char *path, struct alerts **result);

/** Closes the file and frees everything. NULL is allowed. */
void alerts_close(struct alerts *alerts);

/**
 * Reads what was appended to the file since the last reading; alerts_found() returns the alerts.
 * Doesn't block.
 *
 * A reading takes up to the last 1 MiB of the file, or of what was appended; the first one of these
 * the last ALERTS_SHOWN alerts, or those of alarms that last. Those that say nothing new are passed
 * over, see top/alarms.h, and dropped if a later one says more. A line is parsed once it has its
 * line feed. A file that got shorter is read from its beginning. If another file has replaced it at
 * the path, the rest of the old one is read first, then all of the new one.
 *
 * An alarm of a threshold whose series collectd has no value of is kept no longer than others, and
 * covers none of another group: if it was there before collectd was restarted, and its group went
 * away meanwhile, it has no end.
 *
 * @param known   which series collectd has; all zeros: not known.
 * @param memory  knows the paths of this machine's groups, of which an alert keeps what it shows;
 *                NULL: none.
 * @return 0; -EINVAL if the path is neither a file nor a directory; -ENOMEM; or the negative errno
 *         of open(2) or read(2). After a failure the next reading continues where this one stopped.
 */
int alerts_read(struct alerts *alerts, const struct known_series *known,
                const struct memory_reader *memory);

/** Marks those that others say more of, after a reading: see alert_order_mark(). */
void alerts_mark(struct alerts *alerts, const struct table *table);

/** @return ALERTS_SHOWN alerts, or up to ALERTS_LASTING of alarms that last, and then the last of
 * the others; and all that are fresh. Valid until the next reading. */
const struct alert_list *alerts_found(const struct alerts *alerts);

#endif
