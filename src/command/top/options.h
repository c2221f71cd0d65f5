/* SPDX-License-Identifier: MIT */
/*
 * top/options.h - the options of `headroom top`.
 */
#ifndef HEADROOM_COMMAND_TOP_OPTIONS_H
#define HEADROOM_COMMAND_TOP_OPTIONS_H

#include <stdbool.h>

#include "top/table.h"

/** The strings are those of the command line. */
struct top_options {
    const char *socket;
    const char *alerts; /**< the log file; NULL: none */
    const char *config; /**< NULL: collectd's own, for its own socket */
    struct sort_key sort;
    double interval; /**< between refreshes, in seconds */
    bool once, json;
};

/**
 * Parses the command line, from the defaults on; reports what is wrong in it.
 *
 * @param argv     [0] begins each message.
 * @param options  receives them; complete with COMMAND_DONE only.
 * @return COMMAND_DONE, COMMAND_MISUSED, or -1 for --help.
 */
int top_options_parse(int argc, char **argv, struct top_options *options);

/** Prints the text for --help. */
void top_options_print_help(void);

#endif
