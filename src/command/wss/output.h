/* SPDX-License-Identifier: MIT */
/*
 * wss/output.h - readings of a working set as columns, as JSON and as CSV.
 *
 * The caller sees to it that the locale (LC_NUMERIC) has a decimal point. All functions flush, so
 * that who reads a pipe sees each line at once, and return 0 or the negative errno of writing.
 */
#ifndef HEADROOM_COMMAND_WSS_OUTPUT_H
#define HEADROOM_COMMAND_WSS_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "headroom/wss.h"

enum wss_format {
    WSS_COLUMNS, /**< aligned, in seconds and MiB, "-" for what isn't known */
    WSS_JSON,    /**< an object a line, in seconds and bytes, null for what isn't known */
    WSS_CSV,     /**< RFC 4180 but for lines that end as Unix has it; empty for what isn't known */
};

struct wss_output {
    FILE *file;
    enum wss_format format;
    bool timestamps; /**< COLUMNS: with the local time of the reading; the others always have it */
};

struct wss_reading {
    struct timespec time; /**< when it was read, since 1970 */
    enum hr_wss_method method;
    uint64_t asked_ns; /**< the window that was asked for */
    struct hr_wss_sample sample;
};

/** Prints the columns' names, where the format has them. */
int wss_output_heading(const struct wss_output *output);

/** Prints a line. */
int wss_output_reading(const struct wss_output *output, const struct wss_reading *reading);

#endif
