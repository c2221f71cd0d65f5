/* SPDX-License-Identifier: MIT */
/*
 * top/alerts.h - the notifications of headroom's plugins, found in a log file of collectd, which is
 * followed as it grows.
 *
 * collectd's logfile plugin writes each notification as one line:
 *
 *     [2026-11-21 02:31:12] [info] Notification: severity = WARNING, host = h, plugin = psi,
 *     plugin_instance = system, type = derive, type_instance = trigger_x, message = memory some
 *
 * Its Timestamp and PrintSeverity decide on the two brackets. The fields come in this order; one
 * that is empty is left out. Nothing is quoted: texts are bytes, and may hold anything but NUL.
 */
#ifndef HEADROOM_COMMAND_TOP_ALERTS_H
#define HEADROOM_COMMAND_TOP_ALERTS_H

#include <stdbool.h>
#include <stddef.h>

enum alert_severity { ALERT_FAILURE, ALERT_WARNING, ALERT_OKAY };

/** One notification. Texts are as in the file, "" where it has none; what is longer is cut. */
struct alert {
    char time[20]; /**< "2026-11-21 02:31:12", local time */
    enum alert_severity severity;
    char host[128];
    char instance[128]; /**< the plugin instance: the group */
    char type_instance[128];
    char message[512]; /**< collectd's have up to 255 bytes */
};

/** Alerts, the oldest first. */
struct alert_list {
    struct alert *entries;
    size_t count;
    size_t fresh; /**< so many of the last are new since the reading before */
};

/** So many alerts are remembered, however old, and shown at once on the screen. */
#define ALERTS_SHOWN 5

/**
 * Parses a line of a log file.
 *
 * @param line    without its line feed; need not be terminated.
 * @param alert   receives the notification; untouched on failure.
 * @return 0, -ENOENT for a notification of a plugin that is not headroom's, or -EBADMSG for any
 *         other line.
 */
int alert_parse(const char *line, size_t length, struct alert *alert);

/** @return the word that stands in the file: "FAILURE", "WARNING" or "OKAY". */
const char *alert_word(enum alert_severity severity);

/** @return the time of day, "02:31:12", or "-" where there is none. */
const char *alert_clock(const struct alert *alert);

/** Any text fits that alert_text() makes. */
#define ALERT_TEXT_SIZE 1024

/** Writes the message, "-" for none, behind "HOST: " if asked for. */
void alert_text(const struct alert *alert, bool with_host, char text[ALERT_TEXT_SIZE]);

/** A log file that is followed. Used by one thread at a time. */
struct alerts;

/**
 * Prepares to follow a file. It is not opened yet, and need not exist.
 *
 * @param result  receives what is to be given to alerts_close(); untouched on failure.
 * @return 0 or -ENOMEM.
 */
int alerts_open(const char *path, struct alerts **result);

/** Ends the following and frees everything. NULL is fine. */
void alerts_close(struct alerts *alerts);

/**
 * Reads what was added to the file since the reading before; then alerts_found() tells the alerts.
 * It never waits.
 *
 * The first reading takes the end of a file that is there, of 64 KiB, and of that the last
 * ALERTS_SHOWN alerts; any other up to 1 MiB: what was added before that is passed over. A line
 * that has no end yet waits for it. A file that got shorter is read from its beginning. Where
 * another file took the path, the rest of the old one is read first, then all of the other.
 *
 * @return 0; -EINVAL if the path leads to neither a file nor a directory; -ENOMEM; or the negative
 *         errno of open(2) or read(2). After a failure the next reading goes on where this one
 * came.
 */
int alerts_read(struct alerts *alerts);

/** @return the last ALERTS_SHOWN alerts, and all that are fresh. Valid until the next reading. */
const struct alert_list *alerts_found(const struct alerts *alerts);

#endif
