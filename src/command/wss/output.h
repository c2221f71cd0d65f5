/* SPDX-License-Identifier: MIT */
/*
 * wss/output.h - readings of a working set as columns, as JSON and as CSV.
 *
 * The caller ensures that the locale (LC_NUMERIC) has a decimal point. All functions flush, so that
 * the reader of a pipe gets each line at once, and return 0 or the negative errno of writing.
 */
#ifndef HEADROOM_COMMAND_WSS_OUTPUT_H
#define HEADROOM_COMMAND_WSS_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "headroom/wss.h"

enum wss_format {
    WSS_COLUMNS, /**< aligned, in seconds and MiB, "-" for unknown values */
    WSS_JSON,    /**< an object per line, in seconds and bytes, null for unknown values */
    WSS_CSV,     /**< RFC 4180, but lines end in a line feed; unknown values are empty */
};

struct wss_output {
    FILE *file;
    enum wss_format format;
    bool timestamps; /**< COLUMNS: with the local time of the reading; the others always have it */
    bool scans;      /**< COLUMNS: with how long scanning took; the others always have it */
};

struct wss_reading {
    struct timespec time; /**< when it was read, since 1970 */
    enum hr_wss_method method;
    uint64_t asked_ns; /**< the requested window */
    struct hr_wss_sample sample;
};

/** Prints the columns' names, where the format has them. */
int wss_output_heading(const struct wss_output *output);

/** Prints a line. */
int wss_output_reading(const struct wss_output *output, const struct wss_reading *reading);

#endif
