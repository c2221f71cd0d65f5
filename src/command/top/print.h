/* SPDX-License-Identifier: MIT */
/*
 * top/print.h - the table, and alerts if asked for, as plain lines and as JSON.
 *
 * The caller ensures that the locale (LC_NUMERIC) has a decimal point.
 */
#ifndef HEADROOM_COMMAND_TOP_PRINT_H
#define HEADROOM_COMMAND_TOP_PRINT_H

#include <stdio.h>

#include "top/alerts.h"
#include "top/table.h"

/**
 * Prints a heading (the columns' keys with their units, and the time of day) and a line per row,
 * aligned. All columns are printed, so that each keeps its place; an absent value is "-". Each new
 * alert follows as a line "alert TIME-OF-DAY SEVERITY MESSAGE"; a row of a group called "alert" has
 * a number or "-" where that has its severity. Flushes.
 *
 * @param alerts  NULL: not asked for.
 * @return 0, or the negative errno of writing.
 */
int print_lines(FILE *out, const struct table *table, const struct alert_list *alerts);

/**
 * Prints the table for a reader, as the screen has it, without bars; the line that explains it; and
 * alerts in the order of the screen, up to ALERTS_SHOWN. Flushes.
 *
 * @param width  of the terminal, in columns; alerts may be longer.
 * @return 0, or the negative errno of writing.
 */
int print_readable(FILE *out, const struct table *table, const struct alert_list *alerts,
                   int width);

/**
 * Prints one line: {"time":SECONDS,"groups":[{"host":TEXT,"group":TEXT,KEY:NUMBER or
 * null,...,"takes_most_cpu":BOOLEAN},...]} It is valid JSON in UTF-8 whatever the names: bytes that
 * are not UTF-8 become U+FFFD. Flushes.
 *
 * @param alerts  the new ones become another member, "alerts":[{"time":TEXT,
 *                "severity":"failure", "warning" or "okay","host":TEXT,"instance":TEXT,
 *                "type_instance":TEXT,"message":TEXT},...], where null stands for an empty text.
 *                NULL: there is no such member.
 * @return 0, or the negative errno of writing.
 */
int print_json(FILE *out, const struct table *table, const struct alert_list *alerts);

#endif
