/* SPDX-License-Identifier: MIT */
/*
 * blame/run.h - one run of `headroom blame`.
 */
#ifndef HEADROOM_COMMAND_BLAME_RUN_H
#define HEADROOM_COMMAND_BLAME_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the user requests. */
struct blame_request {
    const char *title;         /**< the prefix of messages */
    const char *const *groups; /**< as of group_find_patterns() */
    size_t group_count;        /**< 0: every group */
    uint64_t interval_ns;
    bool live; /**< a matrix each interval, until Ctrl-C; else one */
    bool by_task;
    bool all; /**< rows, not only those that waited most */
    bool json;
};

/**
 * Measures, and prints.
 *
 * @return an enum command_status. If a signal other than Ctrl-C came, it prints what was measured,
 * and lets the signal end the process.
 */
int blame_run(const struct blame_request *request);

#endif
