/* SPDX-License-Identifier: MIT */
/*
 * top/print.h - the table, and alerts if there is to be any word of them, as plain lines and as
 * JSON.
 *
 * The caller sees to it that the locale (LC_NUMERIC) has a decimal point.
 */
#ifndef HEADROOM_COMMAND_TOP_PRINT_H
#define HEADROOM_COMMAND_TOP_PRINT_H

#include <stdio.h>

#include "top/alerts.h"
#include "top/table.h"

/**
 * Prints a heading (the columns' keys and the time of day) and a line per row, aligned. An absent
 * value is "-", and all columns are there, so that each keeps its place. A line "alert TIME-OF-DAY
 * SEVERITY MESSAGE" per alert that is fresh follows; behind "alert", its severity is a word where a
 * row has a value. Flushes.
 *
 * @param alerts  NULL: none are asked for.
 * @return 0, or the negative errno of writing.
 */
int print_lines(FILE *out, const struct table *table, const struct alert_list *alerts);

/**
 * Prints one line: {"time":SECONDS,"groups":[{"host":TEXT,"group":TEXT,KEY:NUMBER or
 * null,...},...]} It is valid JSON in UTF-8 whatever the names: a byte that is no character becomes
 * U+FFFD. Flushes.
 *
 * @param alerts  those that are fresh become a member more, "alerts":[{"time":TEXT,
 *                "severity":"failure", "warning" or "okay","host":TEXT,"instance":TEXT,
 *                "type_instance":TEXT,"message":TEXT},...], where null stands for an empty text.
 *                NULL: there is no such member.
 * @return 0, or the negative errno of writing.
 */
int print_json(FILE *out, const struct table *table, const struct alert_list *alerts);

#endif
