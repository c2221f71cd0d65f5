/* SPDX-License-Identifier: MIT */
/*
 * osnoise/json.h - operating system noise as JSON.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_JSON_H
#define HEADROOM_COMMAND_OSNOISE_JSON_H

#include <stdio.h>

#include "osnoise/report.h"

/**
 * Prints one line, an object as headroom(1) describes it, with null for unknown values. It is valid
 * JSON in UTF-8 whatever the names. LC_NUMERIC must be a locale with a decimal point.
 *
 * Write errors are left to the file's error indicator.
 */
void osnoise_json_print(FILE *file, const struct osnoise_report *report);

/** Prints the members "p50_ns" to "p999_ns" of a histogram as osnoise_percentile() takes it.
 * @param buckets  NULL: it isn't known. */
void osnoise_json_print_percentiles(FILE *file, const uint64_t *buckets);

#endif
