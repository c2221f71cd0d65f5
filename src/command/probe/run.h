/* SPDX-License-Identifier: MIT */
/*
 * probe/run.h - takes memory of a group, step by step.
 */
#ifndef HEADROOM_COMMAND_PROBE_RUN_H
#define HEADROOM_COMMAND_PROBE_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct probe_request {
    const char *title; /**< the subcommand's argv[0] */
    const char *root;
    const char *group;   /**< a path without a slash before it, or a name in series */
    uint64_t longest_ns; /**< after which it ends */
    bool yes, json;
};

/** Asks, unless it may do without, and runs it. @return an exit status, see common/usage.h. */
int probe_run(const struct probe_request *request);

#endif
