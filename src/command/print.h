/*
 * print.h - the table as plain lines and as JSON.
 *
 * The caller sees to it that the locale (LC_NUMERIC) has a decimal point.
 */
#ifndef HEADROOM_PRINT_H
#define HEADROOM_PRINT_H

#include "table.h"

#include <stdio.h>

/**
 * Prints a heading (the columns' keys and the time of day) and a line per row, aligned. An absent
 * value is "-". Flushes.
 *
 * @return 0, or the negative errno of writing.
 */
int print_lines(FILE *out, const struct table *table);

/**
 * Prints one line: {"time":SECONDS,"groups":[{"host":TEXT,"group":TEXT,KEY:NUMBER or
 * null,...},...]} It is valid JSON in UTF-8 whatever the names: a byte that is no character becomes
 * U+FFFD. Flushes.
 *
 * @return 0, or the negative errno of writing.
 */
int print_json(FILE *out, const struct table *table);

/** Prints a text as a JSON string, with its quotes. */
void print_json_string(FILE *out, const char *text);

#endif
