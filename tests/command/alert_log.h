/* SPDX-License-Identifier: MIT */
/*
 * command/alert_log.h - a log of collectd's that grows, and the alerts that are read from it.
 */
#ifndef HEADROOM_TESTS_COMMAND_ALERT_LOG_H
#define HEADROOM_TESTS_COMMAND_ALERT_LOG_H

#include <check.h>
#include <stddef.h>

#include "top/alerts.h"
#include "top/known_series.h"

#define NOTIFICATION "Notification: severity = "
#define SYSTEM       ", host = h, plugin = psi, plugin_instance = system, type = derive"
#define TRIGGER      SYSTEM ", type_instance = trigger_x, message = "

#define LINE "[2026-11-21 02:31:12] " NOTIFICATION "WARNING" TRIGGER

extern char path[128], old_path[128]; /**< the log, and where a test rotates it to */
extern struct alerts *alerts;         /**< of the log, opened for each test */
extern struct known_series known;     /**< that collectd has; none at first */

/** Has each test begin without a log. The directory goes also when a test fails. */
void add_alert_log(TCase *tests);

/** Appends as collectd does. */
__attribute__((format(printf, 1, 2))) void append(const char *format, ...);

/** Appends alerts with the messages "FIRST" to "LAST". */
void append_alerts(int first, int last);

/** Reads, and expects these messages, each followed by a space; a bar precedes those not fresh. */
void expect_alerts(int status, const char *expected);

#endif
